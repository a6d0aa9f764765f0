package parquet

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// A codec compresses pages. Its state is reused from page to page without a trace in the output.
type codec struct {
	format   format.CompressionCodec
	compress func(dst, src []byte) []byte // compresses src into the memory of dst where it is large enough
}

// newCodec returns the codec of the given name. Snappy is not among them: the assembly of klauspost/compress writes other bytes than
// its Go code, so that a file would depend on the machine.
func newCodec(name string) (codec, error) {
	switch name {
	case "", "zstd":
		return newZstd(zstd.SpeedFastest)
	case "zstd-3":
		return newZstd(zstd.SpeedDefault)
	case "none":
		return codec{format.Uncompressed, func(_, src []byte) []byte { return src }}, nil
	}
	return codec{}, fmt.Errorf("compression %q: want zstd, zstd-3 or none", name)
}

// newZstd returns a codec whose frames carry no checksum, since pages have one, and are never empty, which is what an empty page would
// otherwise become and some readers cannot take.
func newZstd(level zstd.EncoderLevel) (codec, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
		zstd.WithZeroFrames(true))
	if err != nil {
		return codec{}, fmt.Errorf("zstd: %w", err)
	}
	return codec{format.Zstd, func(dst, src []byte) []byte { return e.EncodeAll(src, dst[:0]) }}, nil
}

package parquet

import (
	"bytes"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// A decompressor undoes the compression of pages. None of its ways takes more memory than a page claims to need, nor does a page that
// claims too much get it: before memory is taken the compressed form has to bear the claim out, as far as it can.
type decompressor struct {
	zstd   *zstd.Decoder
	gzip   gzip.Reader
	brotli brotli.Reader
}

// decompress returns what src holds, in the memory of dst if it is large enough, or src itself. It is an error unless that has the
// given size.
func (d *decompressor) decompress(codec format.CompressionCodec, dst, src []byte, size int) (_ []byte, err error) {
	defer recovered("the compressed page", &err)
	switch codec {
	case format.Uncompressed:
		dst = src
	case format.Snappy:
		n, err := snappy.DecodedLen(src)
		if err != nil {
			return nil, err
		}
		if n != size {
			return nil, sizeError(n, size)
		}
		dst, err = snappy.Decode(grow(dst, size), src)
		if err != nil {
			return nil, err
		}
	case format.Zstd:
		dst, err = d.unzstd(dst, src, size)
	case format.Lz4Raw:
		if size/255 > len(src) {
			return nil, fmt.Errorf("%d bytes of lz4: want %d bytes of them", len(src), size)
		}
		dst = grow(dst, size)
		n, err := lz4.UncompressBlock(src, dst)
		if err != nil {
			return nil, err
		}
		dst = dst[:n]
	case format.Gzip:
		if err = d.gzip.Reset(bytes.NewReader(src)); err == nil {
			dst, err = d.read(dst, &d.gzip, size)
		}
	case format.Brotli:
		if err = d.brotli.Reset(bytes.NewReader(src)); err == nil {
			dst, err = d.read(dst, &d.brotli, size)
		}
	default:
		return nil, fmt.Errorf("compressed by %v: want ZSTD, SNAPPY, GZIP, LZ4_RAW, BROTLI or nothing", codec)
	}
	if err == nil && len(dst) != size {
		err = sizeError(len(dst), size)
	}
	return dst, err
}

func (d *decompressor) unzstd(dst, src []byte, size int) (_ []byte, err error) {
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	if size>>15 > len(src) { // a block has at most 128 KiB, and takes 4 bytes at least
		return nil, fmt.Errorf("%d bytes of zstd: want %d bytes of them", len(src), size)
	}
	return d.zstd.DecodeAll(src, grow(dst, size)[:0:size])
}

// read returns the first bytes of r, at most one more than size.
func (d *decompressor) read(dst []byte, r io.Reader, size int) ([]byte, error) {
	b := bytes.NewBuffer(dst[:0])
	_, err := b.ReadFrom(io.LimitReader(r, int64(size)+1))
	return b.Bytes(), err
}

func sizeError(got, want int) error {
	return fmt.Errorf("%d bytes after decompression: want %d", got, want)
}

// grow returns n bytes, of b if it has so many.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

package parquet_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream/parquet"
)

// TestBombs reads small pages that claim to hold much.
func TestBombs(t *testing.T) {
	zeros := []byte{128, 1, 4} // differences of 0 bits
	zeros = binary.AppendUvarint(zeros, 1<<31-1)
	zeros = append(zeros, 10)
	dictionary := dictionaryPage(1<<31-1, zeros)
	dictionary.header.DictionaryPageHeader.V.Encoding = format.DeltaBinaryPacked
	claim := v1(1, format.Plain, runs(1), runs(0, 1), plain(5))
	claim.header.UncompressedPageSize = 500 << 20
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"levels", handmade(t, 1, 1<<40, v1(1<<31-1, format.Plain, runs(1, 1<<40), runs(0, 1<<40), plain(5))), "a page of 2147483647 values: want at most 67108864"},
		{"levels of few values", handmade(t, 1, 100, v1(100, format.Plain, runs(1, 1<<40), runs(0, 1<<40), plain(5))), "4 bytes for 100 values of 4"},
		{"differences", handmade(t, 1, 1, v1(1, format.DeltaBinaryPacked, runs(1), runs(0, 1), zeros)), "2147483647 values: want 1"},
		{"dictionary", handmade(t, 1, 1, dictionary), "a dictionary encoded as DELTA_BINARY_PACKED"},
		{"zstd", codec(t, handmade(t, 1, 1, claim), format.Zstd), "a:1: input_ids: a page: "},
		{"snappy", codec(t, handmade(t, 1, 1, claim), format.Snappy), "a:1: input_ids: a page: "},
		{"lz4", codec(t, handmade(t, 1, 1, claim), format.Lz4Raw), "bytes of lz4: want 524288000 bytes of them"},
		{"gzip", codec(t, handmade(t, 1, 1, claim), format.Gzip), "a:1: input_ids: a page: "},
		{"brotli", codec(t, handmade(t, 1, 1, claim), format.Brotli), "a:1: input_ids: a page: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(test.file, parquet.ReadOptions{})
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, test.want)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
		})
	}
}

// TestCompressedSizes reads pages that hold more or less than they claim.
func TestCompressedSizes(t *testing.T) {
	body := v1(1000, format.Plain, runs(1, 999), runs(0, 1000), plain(make([]int32, 1000)...)).body
	streamed := func() []byte {
		var b bytes.Buffer
		w, err := kzstd.NewWriter(&b, kzstd.WithEncoderConcurrency(1))
		require.NoError(t, err)
		_, err = w.Write(body[:10])
		require.NoError(t, err)
		require.NoError(t, w.Flush()) // so that the frame begins without a size
		_, err = w.Write(body[10:])
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.Bytes()
	}()
	for _, c := range []struct {
		name  string
		codec compress.Codec
		body  []byte
	}{
		{"zstd", new(zstd.Codec), nil},
		{"zstd, streamed", new(zstd.Codec), streamed},
		{"snappy", new(snappy.Codec), nil},
		{"gzip", new(gzip.Codec), nil},
		{"lz4", &lz4.Codec{Level: lz4.Fastest}, nil},
		{"brotli", new(brotli.Codec), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := v1(1000, format.Plain, nil)
			if p.body = c.body; p.body == nil {
				var err error
				p.body, err = c.codec.Encode(nil, body)
				require.NoError(t, err)
			}
			for _, size := range []int{len(body), len(body) - 1, len(body) + 1, 1, 500 << 20} {
				p.header.UncompressedPageSize = int32(size)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got, err := read(codec(t, handmade(t, 1, 1000, p), c.codec.CompressionCodec()), parquet.ReadOptions{})
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
				if size == len(body) {
					require.NoError(t, err)
					require.Equal(t, make([]int32, 1000), got[0].Tokens)
				} else {
					require.ErrorContains(t, err, "a:1: input_ids: a page: ", "%d bytes", size)
				}
			}
			p.header.UncompressedPageSize = int32(len(body))
			for at := range p.body { // none of the formats may be cut anywhere
				q := p
				q.body = p.body[:at]
				_, err := read(codec(t, handmade(t, 1, 1000, q), c.codec.CompressionCodec()), parquet.ReadOptions{})
				require.Error(t, err, "cut at %d of %d", at, len(p.body))
			}
		})
	}
}

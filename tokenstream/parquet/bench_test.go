package parquet_test

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/parquet"
)

// fullRows returns n rows of 4096 tokens: ids of a vocabulary of 152,000, frequent ones small, of which 35 % are not supervised (the
// prompts, at the front of the segments), in segments of 350 tokens in the middle.
func fullRows(n int) []*tokenstream.Batch {
	const capacity, vocabulary = 4096, 152_000
	r := rand.New(rand.NewPCG(1, 1))
	ids := rand.NewZipf(r, 1.3, 8, vocabulary-1)
	batches := make([]*tokenstream.Batch, n)
	for i := range batches {
		b := new(tokenstream.Batch)
		for left := capacity; left > 0; {
			length := min(left, 1+int(math.Exp(5.86+0.7*r.NormFloat64())))
			b.Segments = append(b.Segments, tokenstream.Segment{Sample: r.Int64N(1 << 20), Length: int32(length)})
			for j := range length {
				id := int32(ids.Uint64())
				b.Tokens = append(b.Tokens, id)
				if j == 0 || j < length*35/100 {
					id = tokenstream.Ignore
				}
				b.Labels = append(b.Labels, id)
			}
			left -= length
		}
		batches[i] = b
	}
	return batches
}

var benchLayout = tokenstream.Layout{Name: "bench", Columns: []tokenstream.Column{
	{Name: "input_ids", Kind: tokenstream.Tokens},
	{Name: "labels", Kind: tokenstream.Labels},
	{Name: "position_ids", Kind: tokenstream.PositionIDs},
	{Name: "cu_seqlens", Kind: tokenstream.CuSeqlens},
}}

// A benchRow is a row of benchLayout for parquet-go's own writer, with the encodings of this package.
type benchRow struct {
	InputIDs    []int32 `parquet:"input_ids,list"`
	Labels      []int32 `parquet:"labels,list"`
	PositionIDs []int32 `parquet:"position_ids,list" parquet-element:",delta"`
	CuSeqlens   []int32 `parquet:"cu_seqlens,list" parquet-element:",delta"`
}

func rawBytes(batches []*tokenstream.Batch) (n int64) {
	for _, b := range batches {
		for _, c := range benchLayout.Columns {
			n += 4 * int64(len(c.Kind.AppendInt32(nil, b)))
		}
	}
	return n
}

// A counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// BenchmarkWrite gives the speed in MB of plain values, and the size of the file in percent of them.
func BenchmarkWrite(b *testing.B) {
	batches := fullRows(2000)
	raw := rawBytes(batches)
	report := func(b *testing.B, written counter) {
		b.SetBytes(raw)
		b.ReportAllocs()
		b.ReportMetric(100*float64(written)/float64(raw), "%size")
	}
	for _, codec := range []struct {
		name string
		peer compress.Codec
	}{
		{"zstd", &zstd.Codec{Level: zstd.SpeedFastest}},
		{"zstd-3", &zstd.Codec{Level: zstd.SpeedDefault}},
		{"none", &uncompressed.Codec{}},
	} {
		b.Run("codec="+codec.name+"/writer=brimful", func(b *testing.B) {
			var written counter
			for b.Loop() {
				written = 0
				w, err := parquet.NewWriter(&written, benchLayout, parquet.Options{Compression: codec.name})
				require.NoError(b, err)
				for _, batch := range batches {
					require.NoError(b, w.Write(batch))
				}
				require.NoError(b, w.Close())
			}
			report(b, written)
		})
		// The peer is handed whole columns and is told to leave out what can be left out.
		b.Run("codec="+codec.name+"/writer=parquet-go", func(b *testing.B) {
			rows := make([]benchRow, len(batches))
			for i, batch := range batches {
				rows[i] = benchRow{batch.Tokens, batch.Labels, tokenstream.PositionIDs.AppendInt32(nil, batch), tokenstream.CuSeqlens.AppendInt32(nil, batch)}
			}
			var written counter
			for b.Loop() {
				written = 0
				options := []pq.WriterOption{pq.Compression(codec.peer), pq.PageBufferSize(1 << 20), pq.DataPageStatistics(false)}
				for _, c := range benchLayout.Columns {
					options = append(options, pq.SkipPageBounds(c.Name, "list", "element"))
				}
				w := pq.NewGenericWriter[benchRow](&written, options...)
				for i := 0; i < len(rows); i += 650 { // about 32 MiB
					_, err := w.Write(rows[i:min(i+650, len(rows))])
					require.NoError(b, err)
					require.NoError(b, w.Flush())
				}
				require.NoError(b, w.Close())
			}
			report(b, written)
		})
	}
	b.Run("copy", func(b *testing.B) {
		src, dst := make([]byte, raw), make([]byte, raw)
		for b.Loop() {
			copy(dst, src)
		}
		b.SetBytes(raw)
	})
}

// BenchmarkRead gives the speed in MB of plain values of two columns, ids and labels; a million tokens are 8 of them.
func BenchmarkRead(b *testing.B) {
	type row struct {
		IDs    []int32 `parquet:"input_ids,list"`
		Labels []int32 `parquet:"labels,list"`
	}
	layout := tokenstream.Layout{Columns: benchLayout.Columns[:2]}
	batches := fullRows(1000)
	raw := int64(1000 * 4096 * 8)
	var dictionary bytes.Buffer
	w := pq.NewGenericWriter[struct {
		IDs    []int32 `parquet:"input_ids,list" parquet-element:",dict"`
		Labels []int32 `parquet:"labels,list" parquet-element:",dict"`
	}](&dictionary, pq.DataPageVersion(1), pq.Compression(&snappy.Codec{}))
	for _, batch := range batches {
		_, err := w.Write([]struct {
			IDs    []int32 `parquet:"input_ids,list" parquet-element:",dict"`
			Labels []int32 `parquet:"labels,list" parquet-element:",dict"`
		}{{batch.Tokens, batch.Labels}})
		require.NoError(b, err)
	}
	require.NoError(b, w.Close())
	for _, form := range []struct {
		name string
		file []byte
	}{
		{"plain", write(b, layout, parquet.Options{Compression: "none"}, batches...)},
		{"zstd", write(b, layout, parquet.Options{}, batches...)},
		{"dictionary-snappy", dictionary.Bytes()},
	} {
		b.Run("file="+form.name+"/reader=brimful", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for s, err := range parquet.Read(bytes.NewReader(form.file), int64(len(form.file)), parquet.ReadOptions{}) {
					require.NoError(b, err)
					n += len(s.Tokens)
				}
				require.Equal(b, 1000*4096, n)
			}
			b.SetBytes(raw)
		})
		b.Run("file="+form.name+"/reader=parquet-go", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				r := pq.NewGenericReader[row](bytes.NewReader(form.file))
				rows := make([]row, 100)
				for {
					m, err := r.Read(rows)
					for _, row := range rows[:m] {
						n += len(row.IDs)
					}
					if err == io.EOF {
						break
					}
					require.NoError(b, err)
				}
				require.Equal(b, 1000*4096, n)
			}
			b.SetBytes(raw)
		})
	}
}

package arrow_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
)

// BenchmarkWriter compares with copying the values, in one run.
func BenchmarkWriter(b *testing.B) {
	rows := randomRows(1, 200, 3000)
	bytes := int64(0)
	for _, row := range rows {
		bytes += int64(4 * 3 * len(row.Tokens))
	}
	for name, o := range map[string]arrow.Options{
		"arrow": {}, "arrow-stream": {Form: arrow.Stream}, "arrow-lz4": {Compression: arrow.LZ4}, "arrow-zstd": {Compression: arrow.Zstd},
	} {
		b.Run("by="+name, func(b *testing.B) {
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				w, err := arrow.NewWriter(discard{}, tokenstream.HF, o)
				require.NoError(b, err)
				for _, row := range rows {
					require.NoError(b, w.Write(row))
				}
				require.NoError(b, w.Close())
			}
		})
	}
	b.Run("by=copy", func(b *testing.B) {
		b.SetBytes(bytes)
		dst := make([]int32, 0, bytes/4)
		for b.Loop() {
			dst = dst[:0]
			for _, row := range rows {
				dst = append(append(append(dst, row.Tokens...), row.Labels...), row.Labels...)
			}
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// samples has the columns of a file of samples.
var samples = tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids"}, {Name: "labels", Kind: tokenstream.Labels}}}

// BenchmarkRead compares with copying the file, in one run; a token is 8 bytes of it.
func BenchmarkRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 7))
	var rows []*tokenstream.Batch
	for range 20_000 {
		rows = append(rows, randomRow(r, 1+r.IntN(300)))
	}
	wide := tokenstream.Layout{Columns: []tokenstream.Column{
		{Name: "input_ids", Type: tokenstream.Int64}, {Name: "labels", Kind: tokenstream.Labels, Type: tokenstream.Int64},
	}}
	for _, c := range []struct {
		name   string
		layout tokenstream.Layout
		o      arrow.Options
	}{
		{"int32", samples, arrow.Options{}},
		{"int64", wide, arrow.Options{}},
		{"lz4", samples, arrow.Options{Compression: arrow.LZ4}},
		{"zstd", samples, arrow.Options{Compression: arrow.Zstd}},
	} {
		file := write(b, c.layout, c.o, rows)
		b.Run("file="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			tokens := 0
			for b.Loop() {
				for s, err := range arrow.Read(bytes.NewReader(file), arrow.ReadOptions{}) {
					if err != nil {
						b.Fatal(err)
					}
					tokens += len(s.Tokens)
				}
			}
			b.ReportMetric(float64(tokens)/1e6/b.Elapsed().Seconds(), "Mtok/s")
		})
	}
	file := write(b, samples, arrow.Options{}, rows)
	b.Run("by=copy", func(b *testing.B) {
		dst, n := make([]byte, len(file)), 0
		for b.Loop() {
			n += copy(dst, file)
		}
		b.ReportMetric(float64(n)/8/1e6/b.Elapsed().Seconds(), "Mtok/s")
	})
}

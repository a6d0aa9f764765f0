package parquet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/parquet"
)

var update = flag.Bool("update", false, "write the golden files")

// everything is a layout of every kind, and of every type that a kind's values fit.
var everything = tokenstream.Layout{Name: "everything", Columns: []tokenstream.Column{
	{Name: "input_ids", Kind: tokenstream.Tokens, Type: tokenstream.Int32},
	{Name: "input_ids_wide", Kind: tokenstream.Tokens, Type: tokenstream.Int64},
	{Name: "labels", Kind: tokenstream.Labels, Type: tokenstream.Int32},
	{Name: "shifted", Kind: tokenstream.ShiftedLabels, Type: tokenstream.Int32},
	{Name: "position_ids", Kind: tokenstream.PositionIDs, Type: tokenstream.Int32},
	{Name: "position_ids_wide", Kind: tokenstream.PositionIDs, Type: tokenstream.Int64},
	{Name: "seq_idx", Kind: tokenstream.SeqIdx, Type: tokenstream.Int32},
	{Name: "cu_seqlens", Kind: tokenstream.CuSeqlens, Type: tokenstream.Int32},
	{Name: "cu_seqlens_wide", Kind: tokenstream.CuSeqlens, Type: tokenstream.Int64},
	{Name: "seq_lengths", Kind: tokenstream.Lengths, Type: tokenstream.Int32},
	{Name: "loss_mask", Kind: tokenstream.LossMask, Type: tokenstream.Int8},
	{Name: "loss_mask_wide", Kind: tokenstream.LossMask, Type: tokenstream.Int64},
	{Name: "max_seqlen", Kind: tokenstream.MaxSeqlen, Type: tokenstream.Int32},
	{Name: "max_seqlen_wide", Kind: tokenstream.MaxSeqlen, Type: tokenstream.Int64},
	{Name: "pad_length", Kind: tokenstream.PadLength, Type: tokenstream.Int32},
	{Name: "sample_index", Kind: tokenstream.SampleIndex, Type: tokenstream.Int64},
	{Name: "sample_index_narrow", Kind: tokenstream.SampleIndex, Type: tokenstream.Int32},
}}

// rows returns n rows of up to most tokens in segments of uneven lengths, some with a pad tail and some of nothing but pad.
func rows(seed uint64, n, most int) []*tokenstream.Batch {
	r := rand.New(rand.NewPCG(seed, 1))
	batches := make([]*tokenstream.Batch, n)
	sample := int64(0)
	for i := range batches {
		b := new(tokenstream.Batch)
		left := 1 + r.IntN(most)
		if r.IntN(4) == 0 {
			b.Pad = int32(1 + r.IntN(left))
			left -= int(b.Pad)
		}
		for left > 0 {
			length := 1 + r.IntN(left)
			b.Segments = append(b.Segments, tokenstream.Segment{Sample: sample, Length: int32(length)})
			for j := range length {
				id := int32(r.IntN(152_000))
				b.Tokens = append(b.Tokens, id)
				if j == 0 || r.IntN(3) == 0 {
					id = tokenstream.Ignore
				}
				b.Labels = append(b.Labels, id)
			}
			sample += 1 + int64(r.IntN(3))
			left -= length
		}
		for range b.Pad {
			b.Tokens = append(b.Tokens, 0)
			b.Labels = append(b.Labels, tokenstream.Ignore)
		}
		batches[i] = b
	}
	return batches
}

// write returns the file of rows. Each row is handed over in memory that is overwritten afterwards.
func write(t testing.TB, layout tokenstream.Layout, o parquet.Options, batches ...*tokenstream.Batch) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := parquet.NewWriter(&file, layout, o)
	require.NoError(t, err)
	for _, b := range batches {
		b = b.Clone()
		require.NoError(t, w.Write(b))
		for i := range b.Tokens {
			b.Tokens[i], b.Labels[i] = -7, -7
		}
		clear(b.Segments)
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

func requireRows(t testing.TB, layout tokenstream.Layout, file []byte, batches ...*tokenstream.Batch) {
	t.Helper()
	got := readRows(t, file, len(layout.Columns))
	require.Len(t, got, len(batches))
	for i, b := range batches {
		for c, column := range layout.Columns {
			if want := column.Kind.AppendInt64(nil, b); !slices.Equal(want, got[i][c]) {
				require.Equal(t, want, got[i][c], "row %d, column %s", i, column.Name)
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	filler := &tokenstream.Batch{Tokens: []int32{0, 0}, Labels: []int32{-100, -100}, Pad: 2}
	batches := map[string][]*tokenstream.Batch{
		"no row":            nil,
		"one row":           rows(1, 1, 20),
		"a row of no token": {{}},
		"one of one token":  {{Tokens: []int32{7}, Labels: []int32{-100}, Segments: []tokenstream.Segment{{Sample: 3, Length: 1}}}},
		"nothing but pad":   {filler, filler},
		"pad in between":    {filler, rows(2, 1, 20)[0], filler, filler, rows(3, 1, 20)[0]},
		"many short rows":   rows(4, 1500, 3),
		"several pages":     rows(5, 70, 9000),
		"longer than pages": rows(6, 2, 400_000),
	}
	layouts := []tokenstream.Layout{tokenstream.HF, everything}
	for name, batches := range batches {
		for _, layout := range layouts {
			t.Run(name+"/"+layout.Name, func(t *testing.T) {
				if name == "a row of no token" && layout.Name == everything.Name {
					t.Skip("a row without tokens has no shifted labels")
				}
				file := write(t, layout, parquet.Options{}, batches...)
				requireRows(t, layout, file, batches...)
				walk(t, file)
			})
		}
	}
}

func TestOptions(t *testing.T) {
	batches := rows(8, 8, 60)
	for _, compression := range []string{"", "zstd", "zstd-3", "none"} {
		for _, plain := range []bool{false, true} {
			for _, groupRows := range []int{0, 1, 7, 1000} {
				for _, groupBytes := range []int64{0, 1, 50_000} {
					o := parquet.Options{RowGroupBytes: groupBytes, RowGroupRows: groupRows, Compression: compression, Plain: plain}
					file := write(t, everything, o, batches...)
					requireRows(t, everything, file, batches...)
					walk(t, file)
				}
			}
		}
	}
}

// TestRowGroups holds the sizes of row groups to the rows that fit.
func TestRowGroups(t *testing.T) {
	layout := tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids", Kind: tokenstream.Tokens}}}
	row := func(n int) *tokenstream.Batch {
		return &tokenstream.Batch{Tokens: make([]int32, n), Labels: make([]int32, n), Segments: []tokenstream.Segment{{Length: int32(n)}}}
	}
	repeat := func(n, times int) (rows []*tokenstream.Batch) {
		for range times {
			rows = append(rows, row(n))
		}
		return rows
	}
	for _, test := range []struct {
		name  string
		o     parquet.Options
		rows  []*tokenstream.Batch
		sizes []int64
	}{
		{"none", parquet.Options{}, nil, nil},
		{"by rows", parquet.Options{RowGroupRows: 3}, repeat(10, 8), []int64{3, 3, 2}},
		{"by rows, even", parquet.Options{RowGroupRows: 4}, repeat(10, 8), []int64{4, 4}},
		{"by bytes", parquet.Options{RowGroupBytes: 120}, repeat(10, 8), []int64{3, 3, 2}},
		{"one byte short", parquet.Options{RowGroupBytes: 119}, repeat(10, 8), []int64{2, 2, 2, 2}},
		{"the first bound reached", parquet.Options{RowGroupBytes: 120, RowGroupRows: 2}, repeat(10, 4), []int64{2, 2}},
		{"rows larger than a group", parquet.Options{RowGroupBytes: 39}, repeat(10, 3), []int64{1, 1, 1}},
		{"a large one between", parquet.Options{RowGroupBytes: 80}, append(append(repeat(10, 2), row(100)), repeat(10, 2)...), []int64{2, 1, 2}},
		{"default", parquet.Options{}, repeat(1<<20, 17), []int64{8, 8, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var sizes []int64
			for _, g := range footer(t, write(t, layout, test.o, test.rows...)).RowGroups {
				sizes = append(sizes, g.NumRows)
			}
			require.Equal(t, test.sizes, sizes)
		})
	}
}

// TestSchema prints the schema as parquet-go reads it, which adds the logical type to plain integers.
func TestSchema(t *testing.T) {
	layout := tokenstream.Layout{Columns: []tokenstream.Column{
		{Name: "ids", Kind: tokenstream.Tokens, Type: tokenstream.Int32},
		{Name: "mask", Kind: tokenstream.LossMask, Type: tokenstream.Int8},
		{Name: "index", Kind: tokenstream.SampleIndex, Type: tokenstream.Int64},
		{Name: "longest", Kind: tokenstream.MaxSeqlen, Type: tokenstream.Int32},
	}}
	for _, batches := range [][]*tokenstream.Batch{nil, rows(1, 2, 5)} {
		require.Equal(t, strings.TrimSpace(`
message schema {
	required group ids (LIST) {
		repeated group list {
			required int32 element (INT(32,true));
		}
	}
	required group mask (LIST) {
		repeated group list {
			required int32 element (INT(8,true));
		}
	}
	required group index (LIST) {
		repeated group list {
			required int64 element (INT(64,true));
		}
	}
	required int32 longest (INT(32,true));
}`), open(t, write(t, layout, parquet.Options{}, batches...)).Schema().String())
	}
}

func TestMetadata(t *testing.T) {
	o := parquet.Options{Metadata: map[string]string{"b": "2", "a": "1", "brimful.c": "\"x\"\n", "e": ""}}
	file := open(t, write(t, tokenstream.HF, o, rows(1, 2, 9)...))
	for key, value := range o.Metadata {
		got, ok := file.Lookup(key)
		require.True(t, ok)
		require.Equal(t, value, got)
	}
	require.Len(t, file.Metadata().KeyValueMetadata, len(o.Metadata), "no key of its own")
	require.Empty(t, open(t, write(t, tokenstream.HF, parquet.Options{})).Metadata().KeyValueMetadata)
}

// TestGolden holds the bytes of some files. A change of a compressor may change them, and must be meant.
func TestGolden(t *testing.T) {
	var sums strings.Builder
	for _, compression := range []string{"zstd", "zstd-3", "none"} {
		for _, layout := range []tokenstream.Layout{tokenstream.HF, everything} {
			for _, n := range []int{0, 1, 100} {
				o := parquet.Options{Compression: compression, RowGroupRows: 30, Metadata: map[string]string{"b": "2", "a": "1"}}
				sum := sha256.Sum256(write(t, layout, o, rows(1, n, 2000)...))
				fmt.Fprintf(&sums, "%s %s %s %d\n", hex.EncodeToString(sum[:]), compression, layout.Name, n)
			}
		}
	}
	golden := filepath.Join("testdata", "golden.sha256")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(golden, []byte(sums.String()), 0o666))
	}
	expected, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(expected), sums.String())
}

// TestSameBytesAfterOtherRows shows that a compressor keeps nothing of the pages before: equal row groups have equal bytes.
func TestSameBytesAfterOtherRows(t *testing.T) {
	group := rows(1, 20, 4000)
	for _, compression := range []string{"zstd", "zstd-3"} {
		o := parquet.Options{Compression: compression, RowGroupRows: len(group)}
		var all []*tokenstream.Batch
		for i := range 4 {
			all = append(all, group...)
			all = append(all, rows(uint64(i+2), len(group), 4000)...)
		}
		file := write(t, tokenstream.HF, o, all...)
		chunks := func(group int) (bytes [][]byte) {
			for _, c := range footer(t, file).RowGroups[group].Columns {
				bytes = append(bytes, file[c.MetaData.DataPageOffset:][:c.MetaData.TotalCompressedSize])
			}
			return bytes
		}
		require.NotEqual(t, chunks(0), chunks(1))
		for _, g := range []int{2, 4, 6} {
			require.Equal(t, chunks(0), chunks(g))
		}
	}
}

func FuzzWriter(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint16(100), uint16(0), uint8(0), uint8(0))
	f.Add(uint64(2), uint8(200), uint16(1), uint16(500), uint8(3), uint8(1))
	f.Add(uint64(3), uint8(5), uint16(30000), uint16(1), uint8(0), uint8(9))
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, most, groupBytes uint16, groupRows, choice uint8) {
		batches := rows(seed, int(n), 1+int(most))
		o := parquet.Options{RowGroupBytes: int64(groupBytes), RowGroupRows: int(groupRows),
			Compression: []string{"zstd", "zstd-3", "none"}[choice%3], Plain: choice/3%2 == 1}
		file := write(t, everything, o, batches...)
		requireRows(t, everything, file, batches...)
		walk(t, file)
	})
}

package inspect_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/inspect"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
	"github.com/brimful/brimful/tokenstream/parquet"
)

const x = tokenstream.Ignore

// rows are packed by hand: two samples and a pad tail; one of two tokens after one of one; a row of one sample.
var rows = []tokenstream.Batch{
	{Tokens: []int32{11, 12, 13, 21, 22, 0, 0}, Labels: []int32{x, x, 13, x, 22, x, x}, Pad: 2,
		Segments: []tokenstream.Segment{{Sample: 4, Length: 3}, {Sample: 2, Length: 2}}},
	{Tokens: []int32{31, 41, 42}, Labels: []int32{x, x, 42}, Segments: []tokenstream.Segment{{Sample: 0, Length: 1}, {Sample: 7, Length: 2}}},
	{Tokens: []int32{51, 52, 53, 54, 55}, Labels: []int32{x, 52, x, 54, 55}, Segments: []tokenstream.Segment{{Sample: 9, Length: 5}}},
}

// layout returns a layout of some kinds, under names of its own.
func layout(kinds ...tokenstream.Kind) tokenstream.Layout {
	l := tokenstream.Layout{Name: "mine"}
	for _, k := range kinds {
		element := tokenstream.Int32
		if k == tokenstream.SampleIndex {
			element = tokenstream.Int64
		}
		l.Columns = append(l.Columns, tokenstream.Column{Name: "my_" + k.String(), Kind: k, Type: element})
	}
	return l
}

// write writes the rows in a form into a new file.
func write(t testing.TB, form string, l tokenstream.Layout) string {
	var b bytes.Buffer
	var sink tokenstream.Sink
	var err error
	switch form {
	case "parquet":
		sink, err = parquet.NewWriter(&b, l, parquet.Options{RowGroupRows: 2})
	case "arrow":
		sink, err = arrow.NewWriter(&b, l, arrow.Options{})
	case "arrow-stream":
		sink, err = arrow.NewWriter(&b, l, arrow.Options{Form: arrow.Stream, BatchRows: 1})
	}
	require.NoError(t, err)
	for i := range rows {
		require.NoError(t, sink.Write(&rows[i]))
	}
	require.NoError(t, sink.Close())
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

func TestFile(t *testing.T) {
	for _, form := range []string{"parquet", "arrow", "arrow-stream"} {
		f, err := inspect.Open(write(t, form, tokenstream.HF), nil)
		require.NoError(t, err, form)
		require.Equal(t, form, f.Format)
		require.Len(t, f.Columns, 8)
		require.Equal(t, "cu_seqlens", f.Columns[3].Name)
		require.True(t, f.Columns[3].List)
		require.False(t, f.Columns[6].List)

		c, err := f.Count(t.Context())
		require.NoError(t, err, form)
		require.Equal(t, inspect.Counts{Rows: 3, Slots: 15, Padding: 2, Segments: 5, Supervised: 6, Shortest: 3, Longest: 7, MostInRow: 2}, c, form)
		require.InDelta(t, 13./15, c.Fill(), 1e-12)

		r, err := f.Row(t.Context(), 0)
		require.NoError(t, err, form)
		require.Equal(t, &inspect.Row{
			Length: 7, Bounded: true, Tokens: []int64{11, 12, 13, 21, 22, 0, 0}, Positions: []int64{0, 1, 2, 0, 1, 0, 1},
			Targets: []int64{x, x, 13, x, 22, x, x}, Segments: []inspect.Segment{
				{From: 0, To: 3, Sample: 4, Source: -1, Supervised: []inspect.Run{{2, 3}}}, {From: 3, To: 5, Sample: 2, Source: -1, Supervised: []inspect.Run{{4, 5}}},
				{From: 5, To: 7, Sample: -1, Source: -1, Pad: true},
			},
		}, r, form)
		r, err = f.Row(t.Context(), 2)
		require.NoError(t, err, form)
		require.Equal(t, int64(2), r.Number)
		require.Equal(t, []inspect.Segment{{From: 0, To: 5, Sample: 9, Source: -1, Supervised: []inspect.Run{{1, 2}, {3, 5}}}}, r.Segments)

		for _, n := range []int64{3, 1 << 40} {
			_, err = f.Row(t.Context(), n)
			require.ErrorContains(t, err, fmt.Sprintf("row %d: want 0 to 2", n), form)
		}
	}
}

// Every set of columns from which boundaries and targets follow gives the same segments.
func TestLayouts(t *testing.T) {
	boundaries := []tokenstream.Kind{tokenstream.CuSeqlens, tokenstream.Lengths, tokenstream.PositionIDs, tokenstream.SeqIdx, tokenstream.SegmentIDs}
	targets := []tokenstream.Kind{tokenstream.Labels, tokenstream.ShiftedLabels, tokenstream.LossMask, tokenstream.ShiftedLossMask,
		tokenstream.TargetSegmentIDs}
	for _, b := range boundaries {
		for _, k := range targets {
			for _, tail := range []tokenstream.Kind{tokenstream.PadLength, tokenstream.SampleIndex} {
				l := layout(tokenstream.Tokens, k, b, tail)
				f, err := inspect.Open(write(t, "arrow", l), l.Columns)
				require.NoError(t, err)
				r, err := f.Row(t.Context(), 0)
				require.NoError(t, err)
				what := fmt.Sprint(b, k, tail)
				require.Len(t, r.Segments, 3, what)
				require.True(t, r.Segments[2].Pad, what)
				require.Equal(t, []int64{x, x, 13, x, 22, x, x}, r.Targets, what)
				require.True(t, f.HasTargets(), what)
				c, err := f.Count(t.Context())
				require.NoError(t, err)
				require.Equal(t, []int64{6, 2, 5}, []int64{c.Supervised, c.Padding, c.Segments}, what)
			}
		}
	}

	// Segment ids say by themselves what is padding; starts leave it to another column, or don't know.
	l := layout(tokenstream.Tokens, tokenstream.SegmentIDs)
	f, err := inspect.Open(write(t, "parquet", l), l.Columns)
	require.NoError(t, err)
	require.False(t, f.HasTargets())
	r, err := f.Row(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, []inspect.Segment{{From: 0, To: 3, Sample: -1, Source: -1}, {From: 3, To: 5, Sample: -1, Source: -1}, {From: 5, To: 7, Sample: -1, Source: -1, Pad: true}}, r.Segments)
	l = layout(tokenstream.Tokens, tokenstream.SegmentStarts)
	f, err = inspect.Open(write(t, "parquet", l), l.Columns)
	require.NoError(t, err)
	r, err = f.Row(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, []inspect.Segment{{From: 0, To: 1, Sample: -1, Source: -1}, {From: 1, To: 3, Sample: -1, Source: -1}}, r.Segments)

	l = layout(tokenstream.Tokens)
	f, err = inspect.Open(write(t, "parquet", l), l.Columns)
	require.NoError(t, err)
	r, err = f.Row(t.Context(), 1)
	require.NoError(t, err)
	require.False(t, r.Bounded)
	require.Equal(t, []inspect.Segment{{From: 0, To: 3, Sample: -1, Source: -1}}, r.Segments)

	_, err = inspect.Open(write(t, "parquet", l), []tokenstream.Column{{Name: "other", Kind: tokenstream.Tokens}})
	require.NoError(t, err)
}

// wrong is a row whose columns may contradict each other.
type wrong struct {
	IDs []int32 `parquet:"input_ids,list"`
	Cu  []int32 `parquet:"cu_seqlens,list"`
	Pad int32   `parquet:"pad_length"`
}

func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		row  wrong
		want string
	}{
		{wrong{[]int32{1, 2, 3}, []int32{0, 2}, 0}, "row 0: column cu_seqlens: segments of 2 tokens in all: the row has 3"},
		{wrong{[]int32{1, 2}, []int32{0, 2, 1}, 0}, "row 0: column cu_seqlens"},
		{wrong{[]int32{1, 2}, nil, 0}, "row 0: column cu_seqlens"},
		{wrong{[]int32{1, 2}, []int32{0, 2}, 1}, "row 0: a pad tail of 1 tokens: the last segment has 2"},
		{wrong{[]int32{1, 2}, []int32{0, 2}, -1}, "a pad tail of -1 tokens"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, pq.WriteFile(path, []wrong{c.row}))
		f, err := inspect.Open(path, nil)
		require.NoError(t, err)
		_, err = f.Row(t.Context(), 0)
		require.ErrorContains(t, err, c.want)
		_, err = f.Count(t.Context())
		require.ErrorContains(t, err, c.want)
	}

	type numbered struct {
		IDs      []int32 `parquet:"inputs,list"`
		Segments []int32 `parquet:"inputs_segmentation,list"`
		Starts   []int32 `parquet:"seq_start_id,list"`
	}
	type started struct {
		IDs    []int32 `parquet:"input_ids,list"`
		Starts []int32 `parquet:"seq_start_id,list"`
	}
	three := []int32{7, 8, 9}
	for _, c := range []struct {
		write func(path string) error
		want  string
	}{
		{func(p string) error { return pq.WriteFile(p, []numbered{{three, []int32{1, 3, 3}, nil}}) }, "segment 3 at 1: want 2, or 0"},
		{func(p string) error { return pq.WriteFile(p, []numbered{{three, []int32{1, 0, 3}, nil}}) }, "segment 3 at 2"},
		{func(p string) error { return pq.WriteFile(p, []numbered{{three, []int32{-1, 1, 2}, nil}}) }, "segment -1 at 0"},
		{func(p string) error { return pq.WriteFile(p, []started{{three, []int32{1, 2}}}) }, "the first segment begins at 1: want 0"},
		{func(p string) error { return pq.WriteFile(p, []started{{three, []int32{0, 2, 2}}}) }, "a segment begins at 2"},
		{func(p string) error { return pq.WriteFile(p, []started{{three, []int32{0, 3}}}) }, "a segment begins at 3, in a row of 3 tokens"},
		{func(p string) error { return pq.WriteFile(p, []started{{three, nil}}) }, "segments of 0 tokens in all: the row has 3"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, c.write(path))
		f, err := inspect.Open(path, nil)
		require.NoError(t, err)
		_, err = f.Row(t.Context(), 0)
		require.ErrorContains(t, err, c.want)
	}

	// A label on a first token is no target: nothing comes before it that could predict it.
	type labelled struct {
		IDs    []int32 `parquet:"input_ids,list"`
		Labels []int32 `parquet:"labels,list"`
		Cu     []int32 `parquet:"cu_seqlens,list"`
	}
	first := filepath.Join(t.TempDir(), "file")
	require.NoError(t, pq.WriteFile(first, []labelled{{[]int32{1, 2, 3}, []int32{1, 2, 3}, []int32{0, 1, 3}}}))
	labels, err := inspect.Open(first, nil)
	require.NoError(t, err)
	c, err := labels.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1), c.Supervised)

	type strange struct {
		Name string `parquet:"name"`
	}
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, pq.WriteFile(path, []strange{{"x"}}))
	f, err := inspect.Open(path, nil)
	require.NoError(t, err)
	require.False(t, f.Columns[0].Integers)
	_, err = f.Count(t.Context())
	require.ErrorContains(t, err, "no column of token ids or boundaries that is known")
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := inspect.Open(filepath.Join(dir, "none"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	for name, content := range map[string]string{"empty": "", "text": "{\"input_ids\":[1]}", "cut": "PAR1"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := inspect.Open(path, nil)
		require.ErrorContains(t, err, path)
	}
	f, err := inspect.Open(write(t, "parquet", tokenstream.HF), nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.Count(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// A file with changed bytes is an error or rows that hold together, never a panic.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, form := range []string{"parquet", "arrow", "arrow-stream"} {
		whole, err := os.ReadFile(write(t, form, tokenstream.HF))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "damaged")
		for range 300 {
			b := slices.Clone(whole)
			for range 1 + r.IntN(4) {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
			if r.IntN(4) == 0 {
				b = b[:r.IntN(len(b))]
			}
			require.NoError(t, os.WriteFile(path, b, 0o600))
			f, err := inspect.Open(path, nil)
			if err != nil {
				continue
			}
			for n := range int64(4) {
				row, err := f.Row(t.Context(), n)
				if err != nil {
					continue
				}
				at := 0
				for _, s := range row.Segments {
					require.Equal(t, at, s.From)
					require.Greater(t, s.To, s.From)
					at = s.To
				}
				require.Equal(t, row.Length, at)
			}
		}
	}
}

func ExampleFile_Row() {
	dir, err := os.MkdirTemp("", "inspect")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "rows.arrow")
	file, err := os.Create(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	sink, err := arrow.NewWriter(file, tokenstream.HF, arrow.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := sink.Write(&rows[0]); err != nil {
		fmt.Println(err)
		return
	}
	if err := sink.Close(); err != nil {
		fmt.Println(err)
		return
	}
	file.Close()

	f, err := inspect.Open(path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	row, err := f.Row(context.Background(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range row.Segments {
		fmt.Println(s.From, s.To, s.Sample, s.Pad)
	}
	// Output:
	// 0 3 4 false
	// 3 5 2 false
	// 5 7 -1 true
}

package parquet_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/parquet"
)

func TestNewWriterErrors(t *testing.T) {
	column := tokenstream.Column{Name: "a"}
	one := tokenstream.Layout{Name: "l", Columns: []tokenstream.Column{column}}
	for _, test := range []struct {
		layout tokenstream.Layout
		o      parquet.Options
		err    string
	}{
		{tokenstream.Layout{Name: "l"}, parquet.Options{}, `parquet: layout "l" has no columns`},
		{tokenstream.Layout{Name: "l", Columns: []tokenstream.Column{column, column}}, parquet.Options{}, `parquet: layout "l": two columns are named "a"`},
		{tokenstream.Layout{Name: "l", Columns: make([]tokenstream.Column, 1)}, parquet.Options{}, `parquet: layout "l": column 0 has no name`},
		{tokenstream.Layout{Name: "l", Columns: []tokenstream.Column{{Name: "a", Type: 9}}}, parquet.Options{}, `parquet: layout "l": column "a" of tokens, Type(9): there is no such kind or type`},
		{one, parquet.Options{RowGroupBytes: -1}, "parquet: row groups of -1 bytes and 0 rows: neither may be negative"},
		{one, parquet.Options{RowGroupRows: -1}, "parquet: row groups of 0 bytes and -1 rows: neither may be negative"},
		{one, parquet.Options{Compression: "zip"}, `parquet: compression "zip": want zstd, zstd-3 or none`},
	} {
		_, err := parquet.NewWriter(io.Discard, test.layout, test.o)
		require.EqualError(t, err, test.err)
	}
}

func TestWriteErrors(t *testing.T) {
	segments := func(lengths ...int32) (s []tokenstream.Segment) {
		for i, n := range lengths {
			s = append(s, tokenstream.Segment{Sample: int64(i), Length: n})
		}
		return s
	}
	tokens := func(n int) []int32 { return make([]int32, n) }
	long := make([]int32, 300)
	for i := range long {
		long[i] = 1
	}
	for _, test := range []struct {
		column tokenstream.Column
		b      tokenstream.Batch
		err    string
	}{
		{tokenstream.Column{}, tokenstream.Batch{Tokens: tokens(3), Labels: tokens(2), Segments: segments(3)}, "3 tokens, but 2 labels"},
		{tokenstream.Column{}, tokenstream.Batch{Tokens: tokens(3), Labels: tokens(3), Segments: segments(2)}, "3 tokens, but segments and pad tail of 2"},
		{tokenstream.Column{}, tokenstream.Batch{Tokens: tokens(3), Labels: tokens(3), Segments: segments(3), Pad: 1}, "3 tokens, but segments and pad tail of 4"},
		{tokenstream.Column{}, tokenstream.Batch{Tokens: tokens(3), Labels: tokens(3), Segments: segments(3, 0)}, "segment 1 has 0 tokens and 0 of padding: want at least 1 and 0"},
		{tokenstream.Column{}, tokenstream.Batch{Tokens: tokens(3), Labels: tokens(3), Segments: segments(4), Pad: -1}, "pad tail of -1 tokens: want at least 0"},
		{tokenstream.Column{}, tokenstream.Batch{Segments: segments(1<<30, 1<<30, 1<<30, 1<<30)}, "4294967296 tokens: want at most 67108864"},
		{tokenstream.Column{Kind: tokenstream.SeqIdx, Type: tokenstream.Int8}, tokenstream.Batch{Tokens: tokens(300), Labels: tokens(300), Segments: segments(long...)},
			"x[128] = 128: want -128 to 127, the range of the column's type"},
		{tokenstream.Column{Kind: tokenstream.Labels, Type: tokenstream.Int8}, tokenstream.Batch{Tokens: tokens(1), Labels: []int32{-129}, Segments: segments(1)},
			"x[0] = -129: want -128 to 127, the range of the column's type"},
		{tokenstream.Column{Kind: tokenstream.SampleIndex, Type: tokenstream.Int32}, tokenstream.Batch{Tokens: tokens(1), Labels: tokens(1), Segments: []tokenstream.Segment{{Sample: 1 << 31, Length: 1}}},
			"x[0] = 2147483648: want -2147483648 to 2147483647, the range of the column's type"},
		{tokenstream.Column{Kind: tokenstream.SampleIndex, Type: tokenstream.Int8}, tokenstream.Batch{Tokens: tokens(1), Labels: tokens(1), Segments: []tokenstream.Segment{{Sample: 128, Length: 1}}},
			"x[0] = 128: want -128 to 127, the range of the column's type"},
	} {
		test.column.Name = "x"
		w, err := parquet.NewWriter(io.Discard, tokenstream.Layout{Columns: []tokenstream.Column{test.column}}, parquet.Options{})
		require.NoError(t, err)
		require.NoError(t, w.Write(rows(1, 1, 1)[0]))
		require.EqualError(t, w.Write(&test.b), "parquet: row 1: "+test.err)
		require.EqualError(t, w.Write(rows(1, 1, 1)[0]), "parquet: row 1: "+test.err, "an error stays")
		require.EqualError(t, w.Close(), "parquet: row 1: "+test.err)
	}
}

var errDisk = errors.New("disk full")

// A failing writer takes n bytes in all, or n writes, and fails from then on.
type failing struct {
	n      int
	writes bool
	short  bool // return fewer bytes and no error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.writes {
		if f.n--; f.n < 0 {
			return 0, errDisk
		}
		return len(p), nil
	}
	n := min(f.n, len(p))
	f.n -= n
	if n < len(p) && !f.short {
		return n, errDisk
	}
	return n, nil
}

func TestSinkFails(t *testing.T) {
	batches := rows(9, 20, 5)
	o := parquet.Options{RowGroupRows: 5, Compression: "none"}
	run := func(f *failing) error {
		w, err := parquet.NewWriter(f, tokenstream.HF, o)
		require.NoError(t, err)
		var failed error
		for _, b := range batches {
			err := w.Write(b)
			if failed != nil {
				require.Equal(t, failed, err, "an error stays")
			}
			failed = err
		}
		err = w.Close()
		if failed != nil {
			require.Equal(t, failed, err)
		}
		require.Equal(t, err, w.Close())
		return err
	}
	size := len(write(t, tokenstream.HF, o, batches...))
	for n := range size {
		require.ErrorIs(t, run(&failing{n: n}), errDisk, "after %d bytes", n)
		if n%8 == 0 {
			require.ErrorIs(t, run(&failing{n: n, short: true}), io.ErrShortWrite, "after %d bytes", n)
		}
	}
	require.NoError(t, run(&failing{n: size}))
	writes := 0
	for ; run(&failing{n: writes, writes: true}) != nil; writes++ {
		require.Less(t, writes, 1000)
	}
	require.Equal(t, 1+4*len(tokenstream.HF.Columns)+1, writes, "one for the magic, the chunks of each row group, and the footer")
}

func TestClosed(t *testing.T) {
	var file bytes.Buffer
	w, err := parquet.NewWriter(&file, tokenstream.HF, parquet.Options{})
	require.NoError(t, err)
	require.Zero(t, file.Len(), "nothing is written before there is anything to write")
	require.NoError(t, w.Close())
	n := file.Len()
	require.NoError(t, w.Close())
	require.EqualError(t, w.Write(rows(1, 1, 1)[0]), "parquet: write after close")
	require.NoError(t, w.Close())
	require.Equal(t, n, file.Len())
}

// TestOptionsAreCopied changes what NewWriter was given before the file ends.
func TestOptionsAreCopied(t *testing.T) {
	batches := rows(1, 3, 9)
	o := parquet.Options{Metadata: map[string]string{"a": "1"}}
	expected := write(t, tokenstream.HF, o, batches...)
	layout := tokenstream.Layout{Name: "hf", Columns: append([]tokenstream.Column(nil), tokenstream.HF.Columns...)}
	var file bytes.Buffer
	w, err := parquet.NewWriter(&file, layout, o)
	require.NoError(t, err)
	o.Metadata["a"] = "2"
	clear(layout.Columns)
	for _, b := range batches {
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Close())
	require.Equal(t, expected, file.Bytes())
}

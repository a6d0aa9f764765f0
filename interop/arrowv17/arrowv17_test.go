// Package arrowv17_test proves that the older Go module of Arrow, whose path ended in 2024 and which many programs still use, reads what
// brimful writes, and brimful what it writes. It is a module of its own, so that the dependency stays out of the main one.
package arrowv17_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	brimful "github.com/brimful/brimful/tokenstream/arrow"
)

// rows packs some samples.
func rows(t *testing.T) []*tokenstream.Batch {
	source := func(yield func(tokenstream.Sample, error) bool) {
		for i := range int32(100) {
			s := tokenstream.Sample{}
			for k := range 2 + i%30 {
				s.Tokens = append(s.Tokens, 1000*i+k)
			}
			if !yield(s, nil) {
				return
			}
		}
	}
	var list []*tokenstream.Batch
	for row, err := range tokenstream.Pack(source, tokenstream.Options{Capacity: 64}) {
		require.NoError(t, err)
		list = append(list, row.Clone())
	}
	return list
}

// check compares a record with rows, and returns the rows that it does not hold.
func check(t *testing.T, rec arrow.Record, rows []*tokenstream.Batch) []*tokenstream.Batch {
	for i := range int(rec.NumRows()) {
		for k, c := range tokenstream.HF.Columns {
			require.Equal(t, c.Name, rec.ColumnName(k))
			want := c.Kind.AppendInt64(nil, rows[i])
			var got []int64
			values, from, to := rec.Column(k), int64(i), int64(i+1)
			if list, ok := values.(*array.List); ok {
				from, to = list.ValueOffsets(i)
				values = list.ListValues()
			}
			for j := from; j < to; j++ {
				switch v := values.(type) {
				case *array.Int32:
					got = append(got, int64(v.Value(int(j))))
				case *array.Int64:
					got = append(got, v.Value(int(j)))
				}
			}
			require.Equal(t, want, got, c.Name)
		}
	}
	return rows[rec.NumRows():]
}

// options are those under which the two must agree.
var options = []brimful.Options{{}, {BatchRows: 7}, {BatchRows: 7, Compression: brimful.LZ4}, {BatchRows: 7, Compression: brimful.Zstd}}

func write(t *testing.T, o brimful.Options, rows []*tokenstream.Batch) []byte {
	var b bytes.Buffer
	w, err := brimful.NewWriter(&b, tokenstream.HF, o)
	require.NoError(t, err)
	for _, row := range rows {
		require.NoError(t, w.Write(row))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestReadsFile(t *testing.T) {
	for _, o := range options {
		for _, rows := range [][]*tokenstream.Batch{rows(t), nil} {
			r, err := ipc.NewFileReader(bytes.NewReader(write(t, o, rows)))
			require.NoError(t, err)
			require.Equal(t, len(tokenstream.HF.Columns), r.Schema().NumFields())
			for i := range r.NumRecords() {
				rec, err := r.Record(i)
				require.NoError(t, err)
				rows = check(t, rec, rows)
			}
			require.Empty(t, rows)
		}
	}
}

func TestReadsStream(t *testing.T) {
	for _, o := range options {
		o.Form = brimful.Stream
		for _, rows := range [][]*tokenstream.Batch{rows(t), nil} {
			r, err := ipc.NewReader(bytes.NewReader(write(t, o, rows)))
			require.NoError(t, err)
			require.Equal(t, len(tokenstream.HF.Columns), r.Schema().NumFields())
			for r.Next() {
				rows = check(t, r.Record(), rows)
			}
			require.NoError(t, r.Err())
			require.Empty(t, rows)
		}
	}
}

// samples are what this module writes and brimful reads; labels are absent in every third.
func samples() []tokenstream.Sample {
	var list []tokenstream.Sample
	for i := range int32(50) {
		s := tokenstream.Sample{ID: fmt.Sprint("sample ", i), Tokens: []int32{}, Place: tokenstream.Place{Name: "a", Row: int64(i) + 1}}
		for k := range i % 17 {
			s.Tokens = append(s.Tokens, 1000*i+k)
		}
		if i%3 > 0 {
			s.Labels = append([]int32{}, s.Tokens...)
			if len(s.Labels) > 0 {
				s.Labels[0] = tokenstream.Ignore
			}
		}
		list = append(list, s)
	}
	return list
}

// record returns samples as a record with ids and labels in lists of the type dt.
func record(t *testing.T, dt arrow.DataType, samples []tokenstream.Sample) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "input_ids", Type: dt}, {Name: "labels", Type: dt, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, s := range samples {
		b.Field(0).(*array.StringBuilder).Append(s.ID)
		for i, values := range [][]int32{s.Tokens, s.Labels} {
			if values == nil {
				b.Field(i + 1).AppendNull()
				continue
			}
			list := b.Field(i + 1).(array.ListLikeBuilder)
			if sized, ok := list.(array.VarLenListLikeBuilder); ok {
				sized.AppendWithSize(true, len(values))
			} else {
				list.Append(true)
			}
			for _, v := range values {
				require.NoError(t, list.ValueBuilder().AppendValueFromString(fmt.Sprint(v)))
			}
		}
	}
	return b.NewRecord()
}

// brimful reads the samples that the older module writes, as a file and as a stream.
func TestIsRead(t *testing.T) {
	i32, i64 := arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	want := samples()
	for _, dt := range []arrow.DataType{arrow.ListOf(i32), arrow.ListOfNonNullable(i64), arrow.LargeListOf(i32), arrow.ListViewOf(i32), arrow.LargeListViewOf(i64)} {
		parts := []arrow.Record{record(t, dt, want[:20]), record(t, dt, nil), record(t, dt, want[20:])} // not slices: of a list view it cannot write one
		for _, compress := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
			o := append([]ipc.Option{ipc.WithSchema(parts[0].Schema())}, compress...)
			file, err := os.Create(filepath.Join(t.TempDir(), "file.arrow"))
			require.NoError(t, err)
			defer file.Close()
			var stream bytes.Buffer
			f, err := ipc.NewFileWriter(file, o...)
			require.NoError(t, err)
			s := ipc.NewWriter(&stream, o...)
			for _, part := range parts {
				require.NoError(t, f.Write(part))
				require.NoError(t, s.Write(part))
			}
			require.NoError(t, f.Close())
			require.NoError(t, s.Close())
			_, err = file.Seek(0, io.SeekStart)
			require.NoError(t, err)
			for _, r := range []io.Reader{file, &stream} {
				var got []tokenstream.Sample
				for sample, err := range brimful.Read(r, brimful.ReadOptions{Name: "a"}) {
					require.NoError(t, err, dt)
					got = append(got, sample.Clone())
				}
				require.Equal(t, want, got, dt)
			}
		}
	}
}

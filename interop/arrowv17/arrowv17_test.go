// Package arrowv17_test proves that the older Go module of Arrow, whose path ended in 2024 and which many programs still use, reads what
// brimful writes, and brimful what it writes. It is a module of its own, so that the dependency stays out of the main one.
package arrowv17_test

import (
	"bytes"
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

func write(t *testing.T, form brimful.Form, rows []*tokenstream.Batch) []byte {
	var b bytes.Buffer
	w, err := brimful.NewWriter(&b, tokenstream.HF, brimful.Options{Form: form, BatchRows: 7})
	require.NoError(t, err)
	for _, row := range rows {
		require.NoError(t, w.Write(row))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestReadsFile(t *testing.T) {
	rows := rows(t)
	r, err := ipc.NewFileReader(bytes.NewReader(write(t, brimful.File, rows)))
	require.NoError(t, err)
	for i := range r.NumRecords() {
		rec, err := r.Record(i)
		require.NoError(t, err)
		rows = check(t, rec, rows)
	}
	require.Empty(t, rows)
}

func TestReadsStream(t *testing.T) {
	rows := rows(t)
	r, err := ipc.NewReader(bytes.NewReader(write(t, brimful.Stream, rows)))
	require.NoError(t, err)
	for r.Next() {
		rows = check(t, r.Record(), rows)
	}
	require.NoError(t, r.Err())
	require.Empty(t, rows)
}

// brimful reads the samples that the older module writes, as a file and as a stream.
func TestIsRead(t *testing.T) {
	pool := memory.NewGoAllocator()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "input_ids", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "labels", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(pool, schema)
	defer b.Release()
	ids, labels := b.Field(0).(*array.ListBuilder), b.Field(1).(*array.LargeListBuilder)
	for n := range int32(20) {
		ids.Append(true)
		labels.Append(true)
		for k := range n + 1 {
			ids.ValueBuilder().(*array.Int32Builder).Append(100*n + k)
			labels.ValueBuilder().(*array.Int64Builder).Append(-100)
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	file, err := os.Create(filepath.Join(t.TempDir(), "file.arrow"))
	require.NoError(t, err)
	defer file.Close()
	fw, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	require.NoError(t, err)
	require.NoError(t, fw.Write(rec))
	require.NoError(t, fw.Close())
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	var stream bytes.Buffer
	sw := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	require.NoError(t, sw.Write(rec))
	require.NoError(t, sw.Close())
	for _, data := range []io.Reader{file, &stream} {
		n := int32(0)
		for s, err := range brimful.Read(data, brimful.ReadOptions{Name: "v17"}) {
			require.NoError(t, err)
			require.Len(t, s.Tokens, int(n+1))
			require.Len(t, s.Labels, int(n+1))
			for k, id := range s.Tokens {
				require.Equal(t, 100*n+int32(k), id)
				require.EqualValues(t, tokenstream.Ignore, s.Labels[k])
			}
			n++
		}
		require.EqualValues(t, 20, n)
	}
}

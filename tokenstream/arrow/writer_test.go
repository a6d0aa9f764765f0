package arrow_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everything has a column of every kind, and of every type.
var everything = tokenstream.Layout{Name: "everything", Columns: append([]tokenstream.Column{
	{Name: "shifted", Kind: tokenstream.ShiftedLabels}, {Name: "seq_idx", Kind: tokenstream.SeqIdx},
	{Name: "loss_mask", Kind: tokenstream.LossMask, Type: tokenstream.Int8}, {Name: "wide", Kind: tokenstream.Tokens, Type: tokenstream.Int64},
	{Name: "pad64", Kind: tokenstream.PadLength, Type: tokenstream.Int64},
}, tokenstream.HF.Columns...)}

// randomRow returns a row of n tokens or more.
func randomRow(r *rand.Rand, n int) *tokenstream.Batch {
	b := &tokenstream.Batch{}
	for k := 0; len(b.Tokens) < n; k++ {
		length := 1 + r.IntN(n)
		b.Segments = append(b.Segments, tokenstream.Segment{Sample: r.Int64N(1 << 40), Length: int32(length)})
		for i := range length {
			id := r.Int32N(152_000)
			b.Tokens = append(b.Tokens, id)
			if i == 0 || r.IntN(3) == 0 {
				id = tokenstream.Ignore
			}
			b.Labels = append(b.Labels, id)
		}
	}
	b.Pad = r.Int32N(3)
	for range b.Pad {
		b.Tokens, b.Labels = append(b.Tokens, 0), append(b.Labels, tokenstream.Ignore)
	}
	return b
}

func randomRows(seed uint64, rows, n int) []*tokenstream.Batch {
	r := rand.New(rand.NewPCG(seed, 7))
	var list []*tokenstream.Batch
	for range rows {
		list = append(list, randomRow(r, n))
	}
	return list
}

// write writes rows and overwrites each after it was written, to catch a writer that keeps it.
func write(t require.TestingT, l tokenstream.Layout, o arrow.Options, rows []*tokenstream.Batch) []byte {
	var buf bytes.Buffer
	w, err := arrow.NewWriter(&buf, l, o)
	require.NoError(t, err)
	for _, row := range rows {
		row = row.Clone()
		require.NoError(t, w.Write(row))
		clear(row.Tokens)
		clear(row.Labels)
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// records returns the record batches of a file or a stream.
func records(t require.TestingT, b []byte, form arrow.Form) (*lib.Schema, []lib.RecordBatch) {
	var list []lib.RecordBatch
	if form == arrow.File {
		r, err := ipc.NewFileReader(bytes.NewReader(b))
		require.NoError(t, err)
		for i := range r.NumRecords() {
			rec, err := r.RecordBatch(i)
			require.NoError(t, err)
			rec.Retain()
			list = append(list, rec)
		}
		return r.Schema(), list
	}
	r, err := ipc.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	for r.Next() {
		r.RecordBatch().Retain()
		list = append(list, r.RecordBatch())
	}
	require.NoError(t, r.Err())
	return r.Schema(), list
}

// values returns the values of row i of a column.
func values(a lib.Array, i int) []int64 {
	if list, ok := a.(*array.List); ok {
		from, to := list.ValueOffsets(i)
		var v []int64
		for k := from; k < to; k++ {
			v = append(v, values(list.ListValues(), int(k))...)
		}
		return v
	}
	switch a := a.(type) {
	case *array.Int32:
		return []int64{int64(a.Value(i))}
	case *array.Int64:
		return []int64{a.Value(i)}
	case *array.Int8:
		return []int64{int64(a.Value(i))}
	}
	panic(fmt.Sprintf("%T", a))
}

// check reads b and compares it with rows.
func check(t require.TestingT, b []byte, form arrow.Form, l tokenstream.Layout, rows []*tokenstream.Batch) []lib.RecordBatch {
	schema, list := records(t, b, form)
	require.Equal(t, len(l.Columns), schema.NumFields())
	n := 0
	for _, rec := range list {
		for i := range int(rec.NumRows()) {
			for k, c := range l.Columns {
				require.Equal(t, c.Name, schema.Field(k).Name)
				require.Zero(t, rec.Column(k).NullN())
				require.Equal(t, c.Kind.AppendInt64(nil, rows[n]), values(rec.Column(k), i), c.Name)
			}
			n++
		}
	}
	require.Equal(t, len(rows), n)
	return list
}

func TestWriter(t *testing.T) {
	for _, form := range []arrow.Form{arrow.File, arrow.Stream} {
		for _, count := range []int{0, 1, 2, 17} {
			rows := randomRows(uint64(count), count, 50)
			for _, batch := range []int{0, 1, 5} {
				b := write(t, everything, arrow.Options{Form: form, BatchRows: batch}, rows)
				require.Equal(t, b, write(t, everything, arrow.Options{Form: form, BatchRows: batch}, rows), "the same bytes again")
				check(t, b, form, everything, rows)
			}
		}
	}
}

func TestSchema(t *testing.T) {
	metadata := map[string]string{}
	var keys []string
	for k := range 10 {
		keys = append(keys, fmt.Sprint("key ", k))
		metadata[keys[k]] = fmt.Sprint(k)
	}
	b := write(t, tokenstream.HF, arrow.Options{Metadata: metadata}, nil)
	schema, list := records(t, b, arrow.File)
	require.Empty(t, list)
	require.Equal(t, keys, schema.Metadata().Keys())
	ids := schema.Field(0)
	require.Equal(t, "list<item: int32, nullable>", ids.Type.String())
	index, _ := schema.FieldsByName("sample_index")
	require.Equal(t, "list<item: int64, nullable>", index[0].Type.String())
	longest, _ := schema.FieldsByName("max_seqlen")
	require.Equal(t, "int32", longest[0].Type.String())
}

// rowsOf returns rows of zeros of the given lengths, each one sample.
func rowsOf(lengths ...int) []*tokenstream.Batch {
	var rows []*tokenstream.Batch
	for _, n := range lengths {
		rows = append(rows, &tokenstream.Batch{Tokens: make([]int32, n), Labels: make([]int32, n), Segments: []tokenstream.Segment{{Length: int32(n)}}})
	}
	return rows
}

// A record batch ends before its values are too many, here above 1,000 of 4 bytes.
func TestBatchLimit(t *testing.T) {
	one := tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids"}}}
	two := tokenstream.Layout{Columns: append(slices.Clone(one.Columns), tokenstream.Column{Name: "wide", Type: tokenstream.Int64})}
	for _, c := range []struct {
		layout tokenstream.Layout
		rows   []int // their lengths
		want   []int // rows of the record batches
	}{
		{one, []int{400, 400, 400}, []int{2, 1}},
		{one, []int{500, 500, 1, 999, 1}, []int{2, 2, 1}},
		{one, []int{1000, 1, 1}, []int{1, 2}},
		{one, []int{5000, 1, 5000, 5000}, []int{1, 1, 1, 1}},
		{one, []int{1, 5000}, []int{1, 1}},
		{two, []int{200, 133, 1, 100}, []int{2, 2}}, // 12 bytes a token
	} {
		for _, form := range []arrow.Form{arrow.File, arrow.Stream} {
			rows := rowsOf(c.rows...)
			list := check(t, write(t, c.layout, arrow.WithBatchBytes(arrow.Options{Form: form}, 4*1000), rows), form, c.layout, rows)
			var got []int
			for _, rec := range list {
				got = append(got, int(rec.NumRows()))
			}
			require.Equal(t, c.want, got, "%v", c.rows)
		}
	}
}

// Without an option a record batch has at most 4 MiB of values, of all columns together, and 1,000 rows in a file.
func TestDefaultLimit(t *testing.T) {
	for _, c := range []struct{ length, rows, want int }{
		{1 << 17, 5, 2}, // three columns of 4 bytes, and a little, each row
		{1 << 16, 12, 5},
		{10, 1200, 1000},
	} {
		rows := rowsOf(slices.Repeat([]int{c.length}, c.rows)...)
		_, list := records(t, write(t, tokenstream.HF, arrow.Options{}, rows), arrow.File)
		require.EqualValues(t, c.want, list[0].NumRows())
	}
}

// A reader of a stream has a row before many others are written.
func TestStreamIsLive(t *testing.T) {
	var buf bytes.Buffer
	w, err := arrow.NewWriter(&buf, tokenstream.HF, arrow.Options{Form: arrow.Stream})
	require.NoError(t, err)
	row := rowsOf(10)[0]
	for range 99 {
		require.NoError(t, w.Write(row))
		require.Less(t, buf.Len(), 2000, "no more than the schema")
	}
	require.NoError(t, w.Write(row))
	r, err := ipc.NewReader(&buf)
	require.NoError(t, err)
	require.True(t, r.Next())
	require.EqualValues(t, 100, r.RecordBatch().NumRows())
}

func TestCompression(t *testing.T) {
	rows := randomRows(5, 40, 200)
	for _, form := range []arrow.Form{arrow.File, arrow.Stream} {
		plain := write(t, everything, arrow.Options{Form: form}, rows)
		for c, magic := range map[arrow.Compression]string{arrow.LZ4: "\x04\x22\x4d\x18", arrow.Zstd: "\x28\xb5\x2f\xfd"} {
			o := arrow.Options{Form: form, Compression: c, BatchRows: 7}
			b := write(t, everything, o, rows)
			check(t, b, form, everything, rows)
			require.Less(t, len(b), len(plain)*3/4)
			require.True(t, bytes.Contains(b, []byte(magic)))
			threads := runtime.GOMAXPROCS(1)
			again := write(t, everything, o, rows)
			runtime.GOMAXPROCS(threads)
			require.True(t, bytes.Equal(b, again), "the same bytes, whatever the number of threads")
			check(t, write(t, everything, o, nil), form, everything, nil)
		}
	}
}

// failing fails at its n-th write.
type failing struct{ n int }

var errDisk = errors.New("disk")

func (f *failing) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

// A sink below that fails at write N, for every N, makes the writer fail, once and for all.
func TestFailingWriter(t *testing.T) {
	rows := randomRows(3, 4, 20)
	for _, form := range []arrow.Form{arrow.File, arrow.Stream} {
		failed := 0
		for n := 0; ; n++ {
			w, err := arrow.NewWriter(&failing{n}, tokenstream.HF, arrow.Options{Form: form, BatchRows: 2})
			if err != nil {
				require.ErrorIs(t, err, errDisk)
				failed++
				continue
			}
			for _, row := range rows {
				if err = w.Write(row); err != nil {
					require.ErrorIs(t, err, errDisk)
					require.ErrorIs(t, w.Write(row), errDisk, "it stays broken")
					break
				}
			}
			closed := w.Close()
			if err == nil && closed == nil {
				break
			}
			failed++
			require.ErrorIs(t, closed, errDisk)
		}
		require.Greater(t, failed, 5)
	}
}

func TestClosed(t *testing.T) {
	w, err := arrow.NewWriter(&bytes.Buffer{}, tokenstream.HF, arrow.Options{})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.ErrorContains(t, w.Write(randomRows(1, 1, 5)[0]), "closed")
	require.ErrorContains(t, w.Close(), "closed")
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]arrow.Options{
		"batch rows -1: want 0..2147483647":     {BatchRows: -1},
		"form 2: want File or Stream":           {Form: 2},
		"compression 3: want None, LZ4 or Zstd": {Compression: 3},
	} {
		_, err := arrow.NewWriter(&bytes.Buffer{}, tokenstream.HF, o)
		require.EqualError(t, err, "arrow: "+want)
	}
	_, err := arrow.NewWriter(&bytes.Buffer{}, tokenstream.Layout{}, arrow.Options{})
	require.EqualError(t, err, "arrow: a layout without columns")
	_, err = arrow.NewWriter(&bytes.Buffer{}, tokenstream.Layout{Columns: []tokenstream.Column{{Name: "x", Type: 9}}}, arrow.Options{})
	require.EqualError(t, err, "arrow: column \"x\" of tokens, Type(9): there is no such kind or type")
}

// A value that a narrow column cannot hold is an error that says where, not another value.
func TestNarrow(t *testing.T) {
	narrow := tokenstream.Layout{Columns: []tokenstream.Column{{Name: "ids", Type: tokenstream.Int8}}}
	for id, good := range map[int32]bool{127: true, 128: false, -128: true, -129: false, 1 << 24: false} {
		w, err := arrow.NewWriter(&bytes.Buffer{}, narrow, arrow.Options{})
		require.NoError(t, err)
		require.NoError(t, w.Write(rowsOf(3)[0]))
		row := rowsOf(3)[0]
		row.Tokens[1] = id
		err = w.Write(row)
		if good {
			require.NoError(t, err)
			continue
		}
		want := fmt.Sprintf("arrow: row 1: column ids: value %d: want -128..127 for int8", id)
		require.EqualError(t, err, want)
		require.EqualError(t, w.Close(), want, "it stays broken")
	}
}

// The bytes are the same on every machine and in every version, or the change shows here.
func TestGolden(t *testing.T) {
	got := map[string]string{}
	rows := randomRows(11, 20, 100)
	for name, form := range map[string]arrow.Form{"file": arrow.File, "stream": arrow.Stream} {
		sum := sha256.Sum256(write(t, tokenstream.HF, arrow.Options{Form: form, BatchRows: 7}, rows))
		got[name] = hex.EncodeToString(sum[:])
	}
	const path = "testdata/golden.json"
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(b, '\n'), 0o644))
	}
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	want := map[string]string{}
	require.NoError(t, json.Unmarshal(b, &want))
	require.Equal(t, want, got)
}

func TestHuggingFace(t *testing.T) {
	require.JSONEq(t, `{"_data_files":[{"filename":"a"},{"filename":"b"}],"_fingerprint":"f","_format_columns":null,"_format_kwargs":{},
		"_format_type":null,"_output_all_columns":false,"_split":null}`, string(arrow.HFState([]string{"a", "b"}, "f")))
	require.JSONEq(t, `{"citation":"","description":"","homepage":"","license":"","features":{
		"x":{"feature":{"dtype":"int32","_type":"Value"},"_type":"Sequence"},"n":{"dtype":"int64","_type":"Value"}}}`,
		string(arrow.HFInfo(tokenstream.Layout{Columns: []tokenstream.Column{{Name: "x"}, {Name: "n", Kind: tokenstream.PadLength, Type: tokenstream.Int64}}})))
	require.JSONEq(t, `{"splits":["train","validation"]}`, string(arrow.HFDict([]string{"train", "validation"})))
}

func FuzzWriter(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(2), true)
	f.Add(uint64(2), uint8(0), uint8(0), false)
	f.Fuzz(func(t *testing.T, seed uint64, count, batch uint8, stream bool) {
		form := arrow.File
		if stream {
			form = arrow.Stream
		}
		rows := randomRows(seed, int(count)%20, 1+int(seed%40))
		check(t, write(t, everything, arrow.Options{Form: form, BatchRows: int(batch)}, rows), form, everything, rows)
	})
}

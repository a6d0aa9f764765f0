package arrow_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
)

// empty returns a stream of a schema and no rows.
func empty(t testing.TB, schema *lib.Schema) []byte {
	var b bytes.Buffer
	require.NoError(t, ipc.NewWriter(&b, ipc.WithSchema(schema)).Close())
	return b.Bytes()
}

// patched returns a copy of b in which the number at i is another.
func patched(b []byte, i int, v uint32) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[i:], v)
	return b
}

func TestNotArrow(t *testing.T) {
	stream := write(t, samples, arrow.Options{Form: arrow.Stream}, randomRows(1, 3, 9))
	feather := append([]byte("FEA1"), make([]byte, 100)...)
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"nothing", "no data: want an Arrow file or stream", nil},
		{"JSON lines", "neither an Arrow file nor an Arrow stream", []byte(`{"input_ids":[1,2]}`)},
		{"three bytes", "neither an Arrow file nor an Arrow stream", []byte{255, 255, 255}},
		{"Parquet", "neither an Arrow file nor an Arrow stream", []byte("PAR1aaaaaaaaaaPAR1")},
		{"Feather", "a Feather file of version 1: want an Arrow file or stream (Feather of version 2 is one)", feather},
		{"only the magic", "the data end without their end mark: they are cut off, or their writer was not closed", []byte("ARROW1")},
		{"only the end mark", "the data end before their schema", []byte{255, 255, 255, 255, 0, 0, 0, 0}},
		{"zeros", "the data end before their schema", make([]byte, 4)},
		{"two streams", "there are data behind the end mark of the stream; are these several streams, one after another?", append(bytes.Clone(stream), stream...)},
		{"no end mark", "the data end without their end mark: they are cut off, or their writer was not closed", stream[:len(stream)-8]},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.file, arrow.ReadOptions{})
			require.EqualError(t, err, "a: "+c.want)
			var at *tokenstream.InputError
			require.ErrorAs(t, err, &at)
		})
	}
}

// A footer that does not list what is in the file is an error: readers that seek would read other rows.
func TestFooter(t *testing.T) {
	file := write(t, samples, arrow.Options{BatchRows: 1}, randomRows(1, 3, 9))
	_, err := read(file, arrow.ReadOptions{})
	require.NoError(t, err)
	size := int(binary.LittleEndian.Uint32(file[len(file)-10:]))
	footer := len(file) - 10 - size
	var blocks []int // where the footer says where the batches begin
	marks := markers(file)
	for _, mark := range marks[1:4] {
		i := bytes.Index(file[footer:], binary.LittleEndian.AppendUint64(nil, uint64(mark)))
		require.Positive(t, i)
		blocks = append(blocks, footer+i)
	}
	const want = "a: the footer does not list the 3 record batches that are in the file, in their order"
	swapped := patched(patched(file, blocks[0], uint32(marks[2])), blocks[1], uint32(marks[1]))
	_, err = read(swapped, arrow.ReadOptions{})
	require.EqualError(t, err, want)
	first := min(blocks[0], blocks[1], blocks[2])
	require.EqualValues(t, 3, binary.LittleEndian.Uint32(file[first-4:]))
	_, err = read(patched(file, first-4, 2), arrow.ReadOptions{})
	require.EqualError(t, err, want, "one fewer")
	_, err = read(patched(file, first-4, 1<<30), arrow.ReadOptions{})
	require.EqualError(t, err, "a: the footer: the metadata points outside itself")
	_, err = read(patched(file, len(file)-10, uint32(len(file))), arrow.ReadOptions{})
	require.ErrorContains(t, err, "a: a footer of ")

	mark := marks[len(marks)-1]
	got, err := read(append(bytes.Clone(file[:mark]), file[mark+8:]...), arrow.ReadOptions{})
	require.NoError(t, err, "Go's older module writes no end mark before the footer")
	require.Len(t, got, 3)
	begin := marks[2]
	_, err = read(append(bytes.Clone(file[:begin]), file[marks[3]:]...), arrow.ReadOptions{})
	require.EqualError(t, err, "a: the footer does not list the 2 record batches that are in the file, in their order", "a batch cut out")
}

func TestLimitsOfSchema(t *testing.T) {
	deep := func(n int) lib.DataType {
		var dt lib.DataType = i32
		for range n {
			dt = list(dt)
		}
		return dt
	}
	wide := func(n int) (f []lib.Field) {
		for i := range n {
			f = append(f, lib.Field{Name: fmt.Sprint("c", i), Type: i32})
		}
		return f
	}
	ids := fields("input_ids", list(i32))
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"31 deep", "", empty(t, lib.NewSchema(append(fields("x", deep(31)), ids...), nil))},
		{"32 deep", "the columns are nested more than 32 deep", empty(t, lib.NewSchema(append(fields("x", deep(32)), ids...), nil))},
		{"9,998 others", "", empty(t, lib.NewSchema(append(wide(9_998), ids...), nil))},
		{"9,999 others", "more than 10000 columns", empty(t, lib.NewSchema(append(wide(9_999), ids...), nil))},
		{"big-endian", "the values are big-endian: want little-endian", empty(t, lib.NewSchemaWithEndian(ids, nil, endian.BigEndian))},
		{"metadata of 17 MiB", "a message with 17825792 bytes of metadata: want at most 16777216", patched(empty(t, lib.NewSchema(ids, nil)), 4, 17<<20)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.file, arrow.ReadOptions{})
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, "a: "+c.want)
			}
		})
	}
}

// Pairs that share a large text are not copied out of all proportion.
func TestSharedText(t *testing.T) {
	const pairs = 1000
	text := strings.Repeat("x", 1<<20)
	keys, values := []string{"0"}, []string{text}
	for i := 1; i < pairs; i++ {
		keys, values = append(keys, fmt.Sprint(i)), append(values, "y")
	}
	metadata := lib.NewMetadata(keys, values)
	file := empty(t, lib.NewSchema(fields("input_ids", list(i32)), &metadata))
	_, err := read(file, arrow.ReadOptions{})
	require.NoError(t, err)
	shared := arrow.SharePairs(file[8:])
	require.Equal(t, pairs, shared)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = read(file, arrow.ReadOptions{})
	runtime.ReadMemStats(&after)
	require.EqualError(t, err, "a: the metadata has more than 67108864 bytes of content")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

func TestLimitsOfBatches(t *testing.T) {
	rows := rowsOf(1000, 1000, 1000)
	plain := write(t, samples, arrow.Options{Form: arrow.Stream}, rows) // 24,000 bytes, and 32 for the ends of the rows
	_, err := read(plain, arrow.ReadOptions{MaxBatchBytes: 24_200})
	require.NoError(t, err)
	_, err = read(plain, arrow.ReadOptions{MaxBatchBytes: 23_999})
	require.ErrorContains(t, err, "want at most 23999; write the data in smaller batches or allow more")

	for name, c := range map[string]arrow.Compression{"lz4": arrow.LZ4, "zstd": arrow.Zstd} {
		b := write(t, samples, arrow.Options{Compression: c}, rows)
		require.Less(t, len(b), 3000)
		_, err = read(b, arrow.ReadOptions{MaxBatchBytes: 25_000})
		require.NoError(t, err, name)
		_, err = read(b, arrow.ReadOptions{MaxBatchBytes: 23_999})
		require.EqualError(t, err, "a: a record batch takes more than 23999 bytes once it is decompressed; write the data in smaller batches or allow more")

		b = write(t, samples, arrow.Options{Compression: c, BatchRows: 3}, rowsOf(slices.Repeat([]int{1000}, 300)...))
		_, err = read(b, arrow.ReadOptions{MaxBatchBytes: 25_000})
		require.NoError(t, err, "many batches, one after another")
	}
}

// A message that claims to be large does not take the room before it has shown to be.
func TestClaims(t *testing.T) {
	file := write(t, samples, arrow.Options{Form: arrow.Stream}, rowsOf(1000))
	batch := markers(file)[1]
	at := bytes.Index(file[batch:], binary.LittleEndian.AppendUint64(nil, uint64(len(file)-8-batch-8-int(binary.LittleEndian.Uint32(file[batch+4:])))))
	require.Positive(t, at, "the length of the body")
	claim := patched(file, batch+at, 1000<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := read(claim, arrow.ReadOptions{})
	runtime.ReadMemStats(&after)
	require.EqualError(t, err, "a: the data end without their end mark: they are cut off, or their writer was not closed")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
}

// Dictionaries together have the limit of a batch; one that takes the place of another counts alone.
func TestLimitsOfDictionaries(t *testing.T) {
	dt := &lib.DictionaryType{IndexType: i8, ValueType: text}
	stream := func(deltas bool) []byte {
		schema := lib.NewSchema(fields("id", dt, "input_ids", list(i32)), nil)
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(schema), ipc.WithDictionaryDeltas(deltas))
		for i := range 10 {
			dictionary := []string{}
			for k := range i + 1 {
				if deltas || k == i {
					dictionary = append(dictionary, strings.Repeat(fmt.Sprint(k), 200))
				}
			}
			row := fmt.Sprintf(`[{"id":%q,"input_ids":[1]}]`, dictionary[len(dictionary)-1])
			rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(row))
			require.NoError(t, err)
			words, _, err := array.FromJSON(memory.DefaultAllocator, text, strings.NewReader(`["`+strings.Join(dictionary, `","`)+`"]`))
			require.NoError(t, err)
			index, _, err := array.FromJSON(memory.DefaultAllocator, i8, strings.NewReader(fmt.Sprint("[", len(dictionary)-1, "]")))
			require.NoError(t, err)
			id := array.NewDictionaryArray(dt, index, words)
			require.NoError(t, w.Write(array.NewRecordBatch(schema, []lib.Array{id, rec.Column(1)}, 1)))
		}
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	for _, deltas := range []bool{true, false} {
		got, err := read(stream(deltas), arrow.ReadOptions{MaxBatchBytes: 10_000})
		require.NoError(t, err)
		require.Len(t, got, 10)
		require.Equal(t, strings.Repeat("9", 200), got[9].ID)
		got, err = read(stream(deltas), arrow.ReadOptions{MaxBatchBytes: 1000})
		if deltas {
			require.EqualError(t, err, "a: a record batch takes more than 1000 bytes once it is decompressed; write the data in smaller batches or allow more")
			require.NotEmpty(t, got)
		} else {
			require.NoError(t, err)
		}
	}
	x := strings.Repeat("x", 600)
	two := encode(t, fields("id", dt, "other", dt, "input_ids", list(i32)), fmt.Sprintf(`[{"id":%q,"other":%q,"input_ids":[1]}]`, x, x))
	_, err := read(two, arrow.ReadOptions{MaxBatchBytes: 2000})
	require.NoError(t, err)
	_, err = read(two, arrow.ReadOptions{MaxBatchBytes: 1000})
	require.EqualError(t, err, "a: dictionaries of more than 1000 bytes")
}

// Rows of a list view may share elements, but not so that a small batch is a very large one.
func TestSharedElements(t *testing.T) {
	const rows, elements = 1000, 1000
	ints := memory.NewBufferBytes(make([]byte, 4*elements))
	from := memory.NewBufferBytes(make([]byte, 4*rows))
	sizes := memory.NewBufferBytes(bytes.Repeat(binary.LittleEndian.AppendUint32(nil, elements), rows))
	child := array.NewData(i32, elements, []*memory.Buffer{nil, ints}, nil, 0, 0)
	dt := lib.ListViewOf(i32)
	column := array.MakeFromData(array.NewData(dt, rows, []*memory.Buffer{nil, from, sizes}, []lib.ArrayData{child}, 0, 0))
	schema := lib.NewSchema(fields("input_ids", dt), nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	require.NoError(t, w.Write(array.NewRecordBatch(schema, []lib.Array{column}, rows)))
	require.NoError(t, w.Close())
	got, err := read(b.Bytes(), arrow.ReadOptions{})
	require.NoError(t, err)
	require.Len(t, got, rows)
	got, err = read(b.Bytes(), arrow.ReadOptions{MaxBatchBytes: 100_000})
	require.EqualError(t, err, "a:101: input_ids: the rows of the record batch share their elements too often")
	require.Len(t, got, 100)
}

// TestEveryByte sets each byte of the metadata of some files to several values, one at a time: nothing worse than an error may come of
// it, and memory stays bounded.
func TestEveryByte(t *testing.T) {
	for _, name := range []string{"pyarrow-dictionary-stream.arrow", "pyarrow-list-view-file.arrow", "polars-zstd-file.arrow"} {
		file, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		var before, after runtime.MemStats
		for _, mark := range append(markers(file), 8) {
			size := 300 // of what Polars does not frame
			if binary.LittleEndian.Uint32(file[mark:]) == 0xffffffff {
				size = 8 + int(binary.LittleEndian.Uint32(file[mark+4:]))
			}
			for i := mark; i < min(mark+size, len(file)); i++ {
				was := file[i]
				runtime.ReadMemStats(&before)
				for _, file[i] = range []byte{0, 0xff, was + 1, was ^ 0x80} {
					_, _ = drain(arrow.Read(bytes.NewReader(file), arrow.ReadOptions{MaxBatchBytes: 16 << 20}))
				}
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "%s: byte %d", name, i)
				file[i] = was
			}
		}
	}
}

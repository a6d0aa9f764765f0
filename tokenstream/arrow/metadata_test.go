package arrow_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream/arrow"
)

// TestBadMetadata damages what a good record batch says about itself: one with a column of views, or a compressed one.
func TestBadMetadata(t *testing.T) {
	const views, compressed = "pyarrow-list-view-stream.arrow", "pyarrow-zstd-stream.arrow"
	put16 := func(b []byte, i int, v uint16) { binary.LittleEndian.PutUint16(b[i:], v) }
	put32 := func(b []byte, i int, v uint32) { binary.LittleEndian.PutUint32(b[i:], v) }
	put64 := func(b []byte, i int, v int64) { binary.LittleEndian.PutUint64(b[i:], uint64(v)) }
	for _, c := range []struct {
		name   string
		file   string
		damage func(b []byte, at arrow.Places)
		want   string
	}{
		{"nothing", views, func(b []byte, at arrow.Places) {}, ""},
		{"half an entry", views, func(b []byte, at arrow.Places) { put16(b, at.Entries, 13) }, "a table of 13 bytes of entries in the metadata"},
		{"no entries", views, func(b []byte, at arrow.Places) { put16(b, at.Entries, 2) }, "a table of 2 bytes of entries in the metadata"},
		{"fewer arrays", views, func(b []byte, at arrow.Places) { put32(b, at.Nodes-4, 4) }, "4 arrays in a record batch: want 5"},
		{"fewer buffers", views, func(b []byte, at arrow.Places) { put32(b, at.Buffers-4, 12) }, "12 buffers in a record batch: want 13"},
		{"fewer counts", views, func(b []byte, at arrow.Places) { put32(b, at.Counts-4, 0) }, "0 counts of buffers in a record batch: want 1"},
		{"a large count", views, func(b []byte, at arrow.Places) { put64(b, at.Counts, 14) }, "14 buffers for a column: want at most 13"},
		{"a count too large", views, func(b []byte, at arrow.Places) { put64(b, at.Counts, 2) }, "13 buffers in a record batch: want 14"},
		{"a count below 0", views, func(b []byte, at arrow.Places) { put64(b, at.Counts, -1) }, "18446744073709551615 buffers for a column: want at most 13"},
		{"an array below 0", views, func(b []byte, at arrow.Places) { put64(b, at.Nodes, -1) }, "a column of -1 values, 0 of which are null"},
		{"more nulls than values", views, func(b []byte, at arrow.Places) { put64(b, at.Nodes+8, 12) }, "a column of 11 values, 12 of which are null"},
		{"a crooked buffer", views, func(b []byte, at arrow.Places) { put64(b, at.Buffers+16, 4) }, "a buffer at 4: want a multiple of 8"},
		{"a buffer below 0", views, func(b []byte, at arrow.Places) { put64(b, at.Buffers+16, -8) }, "a buffer of 176 bytes at -8 in a body of 2672 bytes"},
		{"a buffer behind the body", views, func(b []byte, at arrow.Places) { put64(b, at.Buffers+16, 2504) }, "a buffer of 176 bytes at 2504 in a body of 2672 bytes"},
		{"a short compressed buffer", compressed, func(b []byte, at arrow.Places) { put64(b, at.Buffers+24, 7) }, "a compressed buffer of 7 bytes: want 8 or more"},
		{"an unknown compression", compressed, func(b []byte, at arrow.Places) { b[at.Codec] = 2 }, "compression 2 by method 0: want LZ4 or Zstandard by buffer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := bytes.Clone(theirs(t)[c.file])
			batch := markers(file)[1] + 8
			metadata := file[batch : batch+int(binary.LittleEndian.Uint32(file[batch-4:]))]
			c.damage(metadata, arrow.PlacesOf(metadata))
			_, err := read(file, arrow.ReadOptions{})
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, "a: "+c.want)
			}
		})
	}
}

// The schema that Polars does not frame may have the mark of a message where no message can begin.
func TestUnframed(t *testing.T) {
	file := bytes.Clone(theirs(t)["polars-file.arrow"])
	name := bytes.Index(file, []byte("labels"))
	require.Equal(t, 4, name%8)
	copy(file[name:], []byte{255, 255, 255, 255})
	got, err := read(file, arrow.ReadOptions{})
	require.NoError(t, err)
	want := original(t)
	for i := range want {
		want[i].Labels = nil
	}
	require.Equal(t, want, got)

	for i := 12; i < 1<<10; i++ { // no other mark
		file[i] = 1
	}
	_, err = read(append(file[:1<<10:1<<10], bytes.Repeat([]byte{1}, 17<<20)...), arrow.ReadOptions{})
	require.EqualError(t, err, "a: a schema of more than 16777216 bytes")
}

// Rows that lie outside the elements are an error even if the library's validation lets them pass.
func TestRowsOutside(t *testing.T) {
	dt := lib.ListViewOf(i32)
	child := array.NewData(i32, 3, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 12))}, nil, 0, 0)
	for _, c := range []struct {
		from, size int32
		want       string
	}{
		{0, 3, ""}, {3, 0, ""}, {2, 1, ""},
		{0, 4, "elements 0 to 4 of 3"}, {3, 1, "elements 3 to 4 of 3"}, {-1, 1, "elements -1 to 0 of 3"}, {2, -1, "elements 2 to 1 of 3"},
	} {
		from := binary.LittleEndian.AppendUint32(nil, uint32(c.from))
		size := binary.LittleEndian.AppendUint32(nil, uint32(c.size))
		data := array.NewData(dt, 1, []*memory.Buffer{nil, memory.NewBufferBytes(from), memory.NewBufferBytes(size)}, []lib.ArrayData{child}, 0, 0)
		row, err := arrow.Row(array.MakeFromData(data), 0)
		if c.want == "" {
			require.NoError(t, err)
			require.Len(t, row, int(c.size))
		} else {
			require.EqualError(t, err, c.want)
		}
	}
}

// The room for a record batch is used again for the next one.
func TestRoomIsUsedAgain(t *testing.T) {
	var lengths []int
	for i := range 300 {
		lengths = append(lengths, 20_000+10*i) // 160 KB and growing a little each time
	}
	file := write(t, samples, arrow.Options{BatchRows: 1}, rowsOf(lengths...))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := read(file, arrow.ReadOptions{})
	require.NoError(t, err)
	kept := 0 // by read
	for _, n := range lengths {
		kept += 8 * n
	}
	runtime.ReadMemStats(&after)
	require.Less(t, int(after.TotalAlloc-before.TotalAlloc), kept*5/4)
}

package arrow

import (
	"encoding/binary"
	"fmt"
)

// What the metadata of a message may hold. The Arrow library believes the counts that it finds there and makes room for as many
// fields; it goes as deep as they are nested; it copies a string as often as it is pointed to; and of a record batch it reads what the
// schema makes it expect, also behind the end of a vector. So it gets nothing to see that has not passed here.
const (
	maxMetadata = 16 << 20 // bytes of the metadata of a message
	maxContent  = 64 << 20 // bytes that a message's tables and vectors have together, each counted as often as it is reached
	maxFields   = 10_000   // columns and their children
	maxDepth    = 32       // of nested columns
)

// A flat is a flatbuffer that is being checked: every table, vector and string that the Arrow library reads lies inside it, and
// together they are no more than the limits. After the first fault everything reads as absent. The numbers of tables' entries are
// those of Message.fbs, Schema.fbs and File.fbs in Arrow's format folder.
type flat struct {
	b      []byte
	spent  int
	fields int
	schema *schema
	err    error
}

// A schema is what a schema message makes the library expect of those that follow.
type schema struct {
	columns      shape
	dictionaries map[int64]shape
}

// A shape is how many things a record batch or a dictionary consists of.
type shape struct {
	nodes   int // arrays, nested ones too
	buffers int // without those of views that hold their text
	views   int // arrays of views
	unions  int // which have one more buffer in metadata of version 4
}

func (s *shape) add(o shape) {
	s.nodes += o.nodes
	s.buffers += o.buffers
	s.views += o.views
	s.unions += o.unions
}

// buffersOf are the buffers of arrays by the number of their type in Schema.fbs, validity included.
var buffersOf = [...]int{1: 0, 2: 2, 3: 2, 4: 3, 5: 3, 6: 2, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2, 13: 1, 14: 1, 15: 2, 16: 1, 17: 2, 18: 2, 19: 3, 20: 3, 21: 2,
	22: 0, 23: 2, 24: 2, 25: 3, 26: 3}

// Types that are not like the others.
const (
	timestampType  = 10
	unionType      = 14
	binaryViewType = 23
	textViewType   = 24
)

func (f *flat) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// inside returns whether the n bytes from p on are inside the buffer, and books them.
func (f *flat) inside(p, n int) bool {
	if f.err == nil && (p < 0 || n < 0 || p > len(f.b)-n) {
		f.fail("the metadata points outside itself")
	}
	if f.spent += n; f.spent > maxContent {
		f.fail("the metadata has more than %d bytes of content", maxContent)
	}
	return f.err == nil
}

// A tableAt is a table of a flat; the zero value is an absent one.
type tableAt struct {
	f           *flat
	at          int
	vtable, end int // where the offsets of the entries are
}

// table returns the table to which the offset at p points.
func (f *flat) table(p int) tableAt {
	if !f.inside(p, 4) {
		return tableAt{}
	}
	p += int(binary.LittleEndian.Uint32(f.b[p:]))
	if !f.inside(p, 4) {
		return tableAt{}
	}
	t := tableAt{f: f, at: p, vtable: p - int(int32(binary.LittleEndian.Uint32(f.b[p:])))}
	if !f.inside(t.vtable, 4) {
		return tableAt{}
	}
	size := int(binary.LittleEndian.Uint16(f.b[t.vtable:]))
	if size < 4 || size%2 != 0 { // the library would take half an entry for one
		f.fail("a table of %d bytes of entries in the metadata", size)
	}
	if !f.inside(t.vtable, size) {
		return tableAt{}
	}
	t.end = t.vtable + size
	return t
}

// entry returns where entry i of n bytes is, or -1.
func (t tableAt) entry(i, n int) int {
	p := t.vtable + 4 + 2*i
	if t.f == nil || p+2 > t.end {
		return -1
	}
	o := int(binary.LittleEndian.Uint16(t.f.b[p:]))
	if o == 0 || !t.f.inside(t.at+o, n) {
		return -1
	}
	return t.at + o
}

func (t tableAt) byte(i int) byte {
	if p := t.entry(i, 1); p >= 0 {
		return t.f.b[p]
	}
	return 0
}

func (t tableAt) int16(i int) int16 {
	if p := t.entry(i, 2); p >= 0 {
		return int16(binary.LittleEndian.Uint16(t.f.b[p:]))
	}
	return 0
}

func (t tableAt) int64(i int) int64 {
	if p := t.entry(i, 8); p >= 0 {
		return int64(binary.LittleEndian.Uint64(t.f.b[p:]))
	}
	return 0
}

func (t tableAt) table(i int) tableAt {
	if p := t.entry(i, 4); p >= 0 {
		return t.f.table(p)
	}
	return tableAt{}
}

// vector returns where the elements of a vector or string are, and how many of them there are, each of size bytes.
func (t tableAt) vector(i, size int) (p, n int) {
	if p = t.entry(i, 4); p < 0 {
		return 0, 0
	}
	p += int(binary.LittleEndian.Uint32(t.f.b[p:]))
	if !t.f.inside(p, 4) {
		return 0, 0
	}
	n = int(binary.LittleEndian.Uint32(t.f.b[p:]))
	if n > len(t.f.b) || !t.f.inside(p+4, n*size) {
		t.f.fail("the metadata points outside itself")
		return 0, 0
	}
	return p + 4, n
}

// A message is what its metadata say about it.
type message struct {
	kind  byte
	body  int64
	id    int64 // of a dictionary
	delta bool
}

// Kinds of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// checkMessage returns an error if the metadata of a message are not such that the Arrow library can be given them. What it learns of
// a schema message it keeps in s, for the messages that follow.
func checkMessage(metadata []byte, s *schema) (message, error) {
	f := &flat{b: metadata, schema: s}
	root := f.table(0)
	m := message{kind: root.byte(1), body: root.int64(3)}
	header, version := root.table(2), root.int16(0)
	f.pairs(root, 4)
	if version < 3 || version > 4 {
		f.fail("version %d of the metadata: want 4 or 5", int(version)+1)
	}
	if m.body < 0 {
		f.fail("a body of %d bytes", m.body)
	}
	switch m.kind {
	case schemaMessage:
		if header.int16(0) != 0 {
			f.fail("the values are big-endian: want little-endian")
		}
		s.dictionaries = map[int64]shape{}
		s.columns = f.fieldsOf(header, 1, 0)
		f.pairs(header, 2)
	case dictionaryMessage:
		m.id, m.delta = header.int64(0), header.byte(2) != 0
		want, ok := s.dictionaries[m.id]
		if !ok {
			f.fail("a dictionary with the id %d, which no column has", m.id)
		}
		f.batch(header.table(1), m.body, want, version)
	case batchMessage:
		f.batch(header, m.body, s.columns, version)
	default:
		f.fail("a message of kind %d: want a schema, a dictionary or a record batch", m.kind)
	}
	return m, f.err
}

// pairs checks the vector of key-value pairs in entry i of t.
func (f *flat) pairs(t tableAt, i int) {
	p, n := t.vector(i, 4)
	for k := 0; k < n && f.err == nil; k++ {
		pair := f.table(p + 4*k)
		pair.vector(0, 1)
		pair.vector(1, 1)
	}
}

// fieldsOf checks the vector of fields in entry i of t, and returns the shape of the arrays of these fields.
func (f *flat) fieldsOf(t tableAt, i, depth int) (sum shape) {
	p, n := t.vector(i, 4)
	if f.fields += n; f.fields > maxFields {
		f.fail("more than %d columns", maxFields)
	}
	if n > 0 && depth == maxDepth {
		f.fail("the columns are nested more than %d deep", maxDepth)
	}
	for k := 0; k < n && f.err == nil; k++ {
		field := f.table(p + 4*k)
		field.vector(0, 1)
		sum.add(f.field(field, depth))
		f.pairs(field, 6)
	}
	return sum
}

// field checks the type of a field and returns the shape of its arrays.
func (f *flat) field(field tableAt, depth int) shape {
	number, t := int(field.byte(2)), field.table(3)
	if number < 1 || number >= len(buffersOf) {
		f.fail("a column of type %d: want 1 to %d", number, len(buffersOf)-1)
		return shape{}
	}
	is := shape{nodes: 1, buffers: buffersOf[number]}
	switch number {
	case timestampType:
		t.vector(1, 1) // the name of its zone
	case unionType:
		t.vector(1, 4) // the ids of its members
		is.unions = 1
		if t.int16(0) != 0 {
			is.buffers++ // a dense one has offsets
		}
	case binaryViewType, textViewType:
		is.views = 1
	}
	is.add(f.fieldsOf(field, 5, depth+1))
	if dictionary := field.table(4); dictionary.f != nil {
		dictionary.table(1)
		f.schema.dictionaries[dictionary.int64(0)] = is
		return shape{nodes: 1, buffers: 2}
	}
	return is
}

// batch checks the table of a record batch of a shape, with a body of so many bytes.
func (f *flat) batch(t tableAt, body int64, want shape, version int16) {
	if t.f == nil || t.int64(0) < 0 {
		f.fail("a record batch of %d rows", t.int64(0))
	}
	p, n := t.vector(1, 16)
	if n < want.nodes {
		f.fail("%d arrays in a record batch: want %d", n, want.nodes)
	}
	for k := 0; k < n && f.err == nil; k++ {
		length, nulls := f.pair(p + 16*k)
		if length < 0 || nulls < 0 || nulls > length {
			f.fail("a column of %d values, %d of which are null", length, nulls)
		}
	}
	compressed := t.table(3)
	if codec, method := compressed.byte(0), compressed.byte(1); codec > 1 || method > 0 {
		f.fail("compression %d by method %d: want LZ4 or Zstandard by buffer", codec, method)
	}
	p, n = t.vector(2, 16)
	for k := 0; k < n && f.err == nil; k++ {
		offset, length := f.pair(p + 16*k)
		switch {
		case offset < 0 || length < 0 || length > body || offset > body-length:
			f.fail("a buffer of %d bytes at %d in a body of %d bytes", length, offset, body)
		case offset%8 != 0:
			f.fail("a buffer at %d: want a multiple of 8", offset)
		case compressed.f != nil && length > 0 && length < 8:
			f.fail("a compressed buffer of %d bytes: want 8 or more", length)
		}
	}
	p, counts := t.vector(4, 8)
	if counts < want.views {
		f.fail("%d counts of buffers in a record batch: want %d", counts, want.views)
	}
	for k := 0; k < counts && f.err == nil; k++ {
		c := binary.LittleEndian.Uint64(f.b[p+8*k:])
		if c > uint64(n) {
			f.fail("%d buffers for a column: want at most %d", c, n)
		}
		want.buffers += int(c)
	}
	if version < 4 {
		want.buffers += want.unions
	}
	if n < want.buffers {
		f.fail("%d buffers in a record batch: want %d", n, want.buffers)
	}
}

// pair returns the two numbers at p, which is inside.
func (f *flat) pair(p int) (int64, int64) {
	return int64(binary.LittleEndian.Uint64(f.b[p:])), int64(binary.LittleEndian.Uint64(f.b[p+8:]))
}

// batchesOf returns where, by a file's footer, its record batches begin.
func batchesOf(footer []byte) ([]int64, error) {
	f := &flat{b: footer}
	p, n := f.table(0).vector(3, 24)
	var at []int64
	for k := range n {
		offset, _ := f.pair(p + 24*k)
		at = append(at, offset)
	}
	return at, f.err
}

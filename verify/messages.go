package verify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	maxMetadata = 1 << 24 // bytes of the metadata of a message
	maxFields   = 1 << 10 // of a schema, nested ones included
	maxDepth    = 8       // of nested fields
)

// messages reads the messages of an Arrow stream. It gives the library only what it has checked: the library believes what is said of
// lengths and allocates for it. It is an [ipc.MessageReader].
type messages struct {
	file     *os.File
	at, size int64
	message  *ipc.Message
	body     []byte
	batches  [][2]int64 // where record batches begin and end
	begun    bool       // the schema was read
	err      error      // that ended the messages, of which the library may make another
}

// Retain and Release are for the library; there is nothing to be counted.
func (m *messages) Retain()  {}
func (m *messages) Release() {}

// start checks how the file begins.
func (m *messages) start(isFile bool) error {
	var head [8]byte
	if _, err := io.ReadFull(m.file, head[:]); err != nil {
		return system(err)
	}
	switch is := string(head[:6]) == "ARROW1"; {
	case is && !isFile:
		return errors.New("an Arrow file: want an Arrow stream")
	case !is && isFile:
		return errors.New("no Arrow file")
	case isFile:
		m.at = 8
		return nil
	}
	_, err := m.file.Seek(0, io.SeekStart)
	return system(err)
}

// Message returns the next message, which is valid until the following call, or io.EOF at the end mark.
func (m *messages) Message() (*ipc.Message, error) {
	if m.message != nil {
		m.message.Release()
		m.message = nil
	}
	if m.err != nil {
		return nil, m.err
	}
	err := m.next()
	if err == nil {
		return m.message, nil
	}
	if err != io.EOF {
		m.err = err
	}
	return nil, err
}

func (m *messages) next() error {
	begin := m.at
	var prefix [8]byte
	if err := m.read(prefix[:]); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(prefix[4:]))
	switch {
	case binary.LittleEndian.Uint32(prefix[:]) != 0xffffffff:
		return fmt.Errorf("no message at %d", begin)
	case length == 0:
		return io.EOF
	case length > min(maxMetadata, m.size-m.at):
		return fmt.Errorf("a message at %d with %d bytes of metadata", begin, length)
	}
	metadata := make([]byte, length)
	if err := m.read(metadata); err != nil {
		return err
	}
	bodyLength, err := m.check(metadata)
	if err != nil {
		return fmt.Errorf("the message at %d: %w", begin, err)
	}
	if int64(cap(m.body)) < bodyLength {
		m.body = make([]byte, bodyLength)
	}
	m.body = m.body[:bodyLength]
	if err := m.read(m.body); err != nil {
		return err
	}
	if m.begun {
		m.batches = append(m.batches, [2]int64{begin, m.at})
	}
	m.begun = true
	m.message = ipc.NewMessage(memory.NewBufferBytes(metadata), memory.NewBufferBytes(m.body))
	return nil
}

// read fills b.
func (m *messages) read(b []byte) error {
	n, err := io.ReadFull(m.file, b)
	m.at += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends without an end mark: it was cut")
	}
	return system(err)
}

// check checks the metadata of a message, a schema at first and a record batch afterwards, and returns the length of its body.
func (m *messages) check(b []byte) (int64, error) {
	message := root(b)
	kind, want := message.field(1), byte(1)
	if m.begun {
		want = 3
	}
	if kind == 0 || b[kind] != want {
		return 0, errors.New("a message of another kind than is to be there")
	}
	length := int64(0)
	if at := message.field(3); at > 0 {
		length = int64(binary.LittleEndian.Uint64(b[at:]))
	}
	if length < 0 || length > m.size-m.at {
		return 0, fmt.Errorf("a body of %d bytes in a file with %d more", length, m.size-m.at)
	}
	header := message.table(2)
	message.vector(4, 4)
	if !m.begun {
		return length, checkSchema(header)
	}
	header.vector(1, 16)
	header.vector(2, 16)
	header.vector(4, 8)
	return length, nil
}

// footer checks the footer of a file: its schema is that of the stream, and it names the record batches that were read.
func (m *messages) footer(schema *arrow.Schema) error {
	tail := make([]byte, 10)
	if _, err := m.file.ReadAt(tail, m.size-10); err != nil {
		return system(err)
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != "ARROW1" || length > m.size-10-m.at {
		return errors.New("no footer of an Arrow file at the end")
	}
	b := make([]byte, length)
	if _, err := m.file.ReadAt(b, m.size-10-length); err != nil {
		return system(err)
	}
	f := root(b)
	if err := checkSchema(f.table(1)); err != nil {
		return fmt.Errorf("the footer: %w", err)
	}
	f.vector(4, 4)
	if n, _ := f.vector(2, 24); n > 0 {
		return errors.New("the footer names dictionaries")
	}
	n, at := f.vector(3, 24)
	if n != len(m.batches) {
		return fmt.Errorf("the footer names %d record batches: the file has %d", n, len(m.batches))
	}
	for i, want := range m.batches {
		block := b[at+24*i:]
		start := int64(binary.LittleEndian.Uint64(block))
		end := start + int64(binary.LittleEndian.Uint32(block[8:])) + int64(binary.LittleEndian.Uint64(block[16:]))
		if start != want[0] || end != want[1] {
			return fmt.Errorf("the footer says that record batch %d is at %d to %d: it is at %d to %d", i, start, end, want[0], want[1])
		}
	}
	r, err := ipc.NewFileReader(m.file, ipc.WithAllocator(new(allocator)))
	if err != nil {
		return err
	}
	defer r.Close()
	if !r.Schema().Equal(schema) {
		return errors.New("the footer has another schema than the stream")
	}
	return nil
}

// flat is a table of a flat buffer. What leads out of the buffer panics.
//
// See https://flatbuffers.dev/internals.
type flat struct {
	b  []byte
	at int
}

func root(b []byte) flat { return flat{b, int(binary.LittleEndian.Uint32(b))} }

// field returns where field i is, or 0 if it is not there.
func (f flat) field(i int) int {
	vtable := f.at - int(int32(binary.LittleEndian.Uint32(f.b[f.at:])))
	if 4+2*i >= int(binary.LittleEndian.Uint16(f.b[vtable:])) {
		return 0
	}
	if offset := int(binary.LittleEndian.Uint16(f.b[vtable+4+2*i:])); offset > 0 {
		return f.at + offset
	}
	return 0
}

// table returns the table in field i, or one that is empty.
func (f flat) table(i int) flat {
	at := f.field(i)
	if at == 0 {
		return flat{[]byte{4, 0, 4, 0, 4, 0, 0, 0}, 4}
	}
	return flat{f.b, at + int(binary.LittleEndian.Uint32(f.b[at:]))}
}

// vector returns how many elements of a size the vector in field i has, and where they are.
func (f flat) vector(i, size int) (n, at int) {
	if at = f.field(i); at == 0 {
		return 0, 0
	}
	at += int(binary.LittleEndian.Uint32(f.b[at:]))
	n = int(binary.LittleEndian.Uint32(f.b[at:]))
	at += 4
	_ = f.b[at : at+n*size]
	return n, at
}

// unionType is the type of a field that is itself one of several types.
const unionType = 14

// checkSchema walks through the fields of a schema, whose offsets may make few bytes look like very many fields.
func checkSchema(schema flat) error {
	left := maxFields
	var walk func(f flat, children, metadata, depth int) error
	walk = func(f flat, children, metadata, depth int) error {
		n, at := f.vector(children, 4)
		more, _ := f.vector(metadata, 4)
		if left -= n + more; left < 0 || depth > maxDepth {
			return fmt.Errorf("a schema of more than %d fields and metadata, or nested deeper than %d", maxFields, maxDepth)
		}
		for i := range n {
			p := at + 4*i
			child := flat{f.b, p + int(binary.LittleEndian.Uint32(f.b[p:]))}
			if child.field(4) != 0 {
				return errors.New("a field with a dictionary")
			}
			if kind := child.field(2); kind > 0 && child.b[kind] == unionType {
				return errors.New("a field of a union of types")
			}
			if err := walk(child, 5, 6, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	schema.vector(3, 8)
	return walk(schema, 1, 2, 0)
}

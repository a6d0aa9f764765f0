package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// magic begins and ends an IPC file.
const magic = "ARROW1"

// continuation begins a message, unless the data are from before Arrow 0.15.
const continuation = 0xffffffff

// messages reads the messages of a stream, or of a file in the order in which they stand in it. It gives the Arrow library only what
// has been checked, makes room for no more than has been read, and uses the room again for the next record batch. It is an
// [ipc.MessageReader].
type messages struct {
	r       io.Reader
	at      int64 // bytes read
	isFile  bool
	begun   bool // the continuation mark of the next message has been read
	marked  bool // a message before had the mark
	max     int  // bytes of a body, and of all dictionaries
	message *ipc.Message
	body    []byte
	batches []int64 // where they begin
	schema  schema
	sizes   map[int64]int // of dictionaries, by id
	err     error         // what ended the messages, if it is an error
}

var errCut = errors.New("the data end without their end mark: they are cut off, or their writer was not closed")

// newMessages reads the beginning of r.
func newMessages(r io.Reader, maxBytes int) (*messages, error) {
	m := &messages{r: r, max: maxBytes, sizes: map[int64]int{}}
	var head [8]byte
	switch n, err := io.ReadFull(r, head[:]); {
	case n == 0 && err == io.EOF:
		return nil, errors.New("no data: want an Arrow file or stream")
	case err != nil && err != io.ErrUnexpectedEOF:
		return nil, err
	case bytes.HasPrefix(head[:n], []byte(magic)):
		m.isFile = true
		m.at = 8
		if n < len(head) {
			return nil, errCut
		}
		return m, nil
	case bytes.HasPrefix(head[:n], []byte("FEA1")):
		return nil, errors.New("a Feather file of version 1: want an Arrow file or stream (Feather of version 2 is one)")
	default:
		m.r = io.MultiReader(bytes.NewReader(head[:n]), r)
		if first := binary.LittleEndian.Uint32(head[:]); n < 4 || first != continuation && first > maxMetadata {
			return nil, errors.New("neither an Arrow file nor an Arrow stream")
		}
		return m, nil
	}
}

// Retain and Release are for the Arrow library; there is nothing to be counted.
func (m *messages) Retain()  {}
func (m *messages) Release() {}

// Message returns the next message, which is valid until the following call. It returns [io.EOF] after the last one, and keeps every
// other error for whoever gets to see but what the library makes of it.
func (m *messages) Message() (*ipc.Message, error) {
	if m.message != nil {
		m.message.Release()
		m.message = nil
	}
	err := m.next()
	if err == nil {
		return m.message, nil
	}
	if err == io.EOF {
		if err = m.end(); err == nil {
			return nil, io.EOF
		}
	}
	m.err = err
	return nil, err
}

// next reads the next message. It returns io.EOF at the end mark.
func (m *messages) next() error {
	start := m.at
	n, err := uint32(continuation), error(nil)
	if m.begun {
		start -= 4
	} else {
		n, err = m.word()
	}
	m.begun = false
	switch {
	case err != nil:
	case n == continuation:
		m.marked = true
		n, err = m.word()
	case m.isFile && m.marked: // the older Go module writes no end mark before the footer, which proves in the end that this is one
		m.r = io.MultiReader(bytes.NewReader(binary.LittleEndian.AppendUint32(nil, n)), m.r)
		return io.EOF
	}
	switch {
	case err != nil:
		return err
	case n == 0:
		return io.EOF
	case n > maxMetadata:
		return fmt.Errorf("a message with %d bytes of metadata: want at most %d", n, maxMetadata)
	}
	var metadata []byte
	if m.isFile && start == 8 && n == planusRoot {
		metadata, err = m.unframed()
	} else {
		metadata, err = m.read(nil, int(n))
	}
	if err != nil {
		return err
	}
	is, err := checkMessage(metadata, &m.schema)
	if err != nil {
		return err
	}
	if is.body > int64(m.max) {
		return fmt.Errorf("a record batch of %d bytes: want at most %d; write the data in smaller batches or allow more", is.body, m.max)
	}
	var body []byte
	if is.kind == batchMessage {
		m.batches = append(m.batches, start)
		m.body, err = m.read(m.body, int(is.body))
		body = m.body
	} else {
		body, err = m.read(nil, int(is.body)) // dictionaries are kept
	}
	if err != nil {
		return err
	}
	if is.kind == dictionaryMessage {
		if err := m.book(is); err != nil {
			return err
		}
	}
	m.message = ipc.NewMessage(memory.NewBufferBytes(metadata), memory.NewBufferBytes(body))
	return nil
}

// planusRoot is how the metadata of a message begin when Polars writes them: with the place of the root table.
const planusRoot = 4

// unframed returns the schema message of a file by Polars. It stands behind the magic without a mark, a length and, as its first word
// has been read, this; it ends where the mark of the next message is. No metadata can contain the mark at such a place: it is neither an
// offset between tables nor text. That the mark is one, the footer proves in the end.
func (m *messages) unframed() ([]byte, error) {
	b := binary.LittleEndian.AppendUint32(nil, planusRoot)
	for len(b) < maxMetadata {
		n, err := m.word()
		if err != nil {
			return nil, err
		}
		if n == continuation && len(b)%8 == 0 {
			m.begun = true
			return b, nil
		}
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return nil, fmt.Errorf("a schema of more than %d bytes", maxMetadata)
}

// book keeps account of what the dictionaries take.
func (m *messages) book(is message) error {
	if !is.delta {
		m.sizes[is.id] = 0
	}
	m.sizes[is.id] += int(is.body)
	total := 0
	for _, n := range m.sizes {
		total += n
	}
	if total > m.max {
		return fmt.Errorf("dictionaries of more than %d bytes", m.max)
	}
	return nil
}

// word reads four bytes.
func (m *messages) word() (uint32, error) {
	var b [4]byte
	n, err := io.ReadFull(m.r, b[:])
	if m.at += int64(n); err != nil {
		return 0, noEOF(err)
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// read reads n bytes into the room of b. If that is too small, it grows as the bytes come, in the end to a little more than it takes,
// since the next record batch may be a little larger.
func (m *messages) read(b []byte, n int) ([]byte, error) {
	const step = 1 << 20
	for b = b[:0]; len(b) < n; {
		have := len(b)
		if n > cap(b) {
			grown := make([]byte, have, min(n+n/4, max(2*have, step)))
			copy(grown, b)
			b = grown
		}
		b = b[:min(n, cap(b))]
		n, err := io.ReadFull(m.r, b[have:])
		if m.at += int64(n); err != nil {
			return b, noEOF(err)
		}
	}
	return b, nil
}

// end checks what is behind the end mark.
func (m *messages) end() error {
	if !m.isFile {
		var b [1]byte
		if n, err := io.ReadFull(m.r, b[:]); n > 0 {
			return errors.New("there are data behind the end mark of the stream; are these several streams, one after another?")
		} else if err != io.EOF {
			return err
		}
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(m.r, int64(m.max)+1))
	if err != nil {
		return err
	}
	footer, whole := bytes.CutSuffix(rest, []byte(magic))
	if !whole || len(footer) < 4 {
		return errCut
	}
	size := int64(int32(binary.LittleEndian.Uint32(footer[len(footer)-4:])))
	footer = footer[:len(footer)-4]
	if size < 4 || size > int64(len(footer)) {
		return fmt.Errorf("a footer of %d bytes in %d", size, len(footer))
	}
	listed, err := batchesOf(footer[int64(len(footer))-size:])
	if err != nil {
		return fmt.Errorf("the footer: %w", err)
	}
	if !slices.Equal(listed, m.batches) {
		return fmt.Errorf("the footer does not list the %d record batches that are in the file, in their order", len(m.batches))
	}
	return nil
}

func noEOF(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errCut
	}
	return err
}

// room is the memory that the Arrow library may have for what it makes of the messages: decompressed values, and dictionaries that came
// in parts. It is a [memory.Allocator] and panics when there is no more, which the library turns into an error.
type room struct {
	left int
	max  int
}

type roomError struct{ max int }

func (e *roomError) Error() string {
	return fmt.Sprintf("a record batch takes more than %d bytes once it is decompressed; write the data in smaller batches or allow more", e.max)
}

func (r *room) Allocate(n int) []byte {
	if n < 0 || n > r.left {
		panic(error(&roomError{r.max}))
	}
	r.left -= n
	return memory.NewGoAllocator().Allocate(n)
}

func (r *room) Reallocate(n int, b []byte) []byte {
	if n == len(b) {
		return b
	}
	grown := r.Allocate(n)
	copy(grown, b)
	r.Free(b)
	return grown
}

func (r *room) Free(b []byte) { r.left += len(b) }

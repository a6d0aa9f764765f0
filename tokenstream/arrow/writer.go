package arrow

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/brimful/brimful/tokenstream"
)

// Form is the form of the data: a file ends with a footer and can be mapped and sought in, a stream can be read from a pipe.
type Form uint8

const (
	File Form = iota
	Stream
)

// Compression is how the values of record batches are stored.
type Compression uint8

const (
	None Compression = iota // as they are in memory, so that readers can map them
	LZ4
	Zstd
)

// Options say how rows are written. The zero value is the default.
type Options struct {
	Form        Form
	Compression Compression

	// BatchRows is the most rows in a record batch; 0 is 1000 in a file and 100 in a stream, whose reader gets no row before the batch is
	// complete. A batch also ends before it holds more than 4 MiB of values, unless a single row does.
	BatchRows int

	Metadata map[string]string // goes into the schema, sorted by key

	batchBytes int // most bytes of values in a record batch; 0 is 4 MiB
}

const (
	fileBatchRows   = 1000
	streamBatchRows = 100

	// defaultBatchBytes lets a record batch stay in the cache between the rows that are gathered and the write, and its memory be used
	// again: batches of 64 MiB take eight times as long and thirty times the memory. It is far from where the 32-bit offsets of a list
	// end, and from the 256 MiB above which readers in Go refuse a record batch.
	defaultBatchBytes = 4 << 20
)

// check returns an error if an option is out of its range, and fills in what was left to the defaults.
func (o *Options) check() error {
	switch {
	case o.Form > Stream:
		return fmt.Errorf("form %d: want File or Stream", o.Form)
	case o.Compression > Zstd:
		return fmt.Errorf("compression %d: want None, LZ4 or Zstd", o.Compression)
	case o.BatchRows < 0 || o.BatchRows > math.MaxInt32:
		return fmt.Errorf("batch rows %d: want 0..%d", o.BatchRows, math.MaxInt32)
	}
	if o.BatchRows == 0 {
		o.BatchRows = fileBatchRows
		if o.Form == Stream {
			o.BatchRows = streamBatchRows
		}
	}
	if o.batchBytes == 0 {
		o.batchBytes = defaultBatchBytes
	}
	return nil
}

// A Writer is a [tokenstream.Sink]. It holds one record batch of rows. After an error it stays broken.
type Writer struct {
	o   Options
	out interface { // the library's writer
		Write(arrow.RecordBatch) error
		Close() error
	}
	schema  *arrow.Schema
	columns []column
	rows    int   // in the columns
	written int64 // in record batches
	err     error
}

var _ tokenstream.Sink = (*Writer)(nil)

var errClosed = errors.New("arrow: the writer is closed")

// NewWriter returns a writer to w of rows in the columns of l. Its bytes depend on l, o and the rows only. Nothing is complete before
// Close, which does not close w.
func NewWriter(w io.Writer, l tokenstream.Layout, o Options) (*Writer, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	if len(l.Columns) == 0 {
		return nil, errors.New("arrow: a layout without columns")
	}
	x := &Writer{o: o}
	var fields []arrow.Field
	for _, c := range l.Columns {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("arrow: %w", err)
		}
		t := elementTypes[c.Type]
		if c.Kind.List() {
			t = arrow.ListOf(t)
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: t, Nullable: true})
		x.columns = append(x.columns, column{Column: c, ends: []int32{0}})
	}
	keys := slices.Sorted(maps.Keys(o.Metadata))
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = o.Metadata[k]
	}
	metadata := arrow.NewMetadata(keys, values)
	x.schema = arrow.NewSchema(fields, &metadata)
	options := []ipc.Option{ipc.WithSchema(x.schema)}
	switch o.Compression {
	case LZ4:
		options = append(options, ipc.WithLZ4())
	case Zstd:
		options = append(options, ipc.WithZstd())
	}
	if o.Form == Stream {
		x.out = ipc.NewWriter(w, options...)
		return x, nil
	}
	out, err := ipc.NewFileWriter(w, options...)
	if err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	x.out = out
	return x, nil
}

var elementTypes = [...]arrow.DataType{
	tokenstream.Int32: arrow.PrimitiveTypes.Int32, tokenstream.Int64: arrow.PrimitiveTypes.Int64, tokenstream.Int8: arrow.PrimitiveTypes.Int8,
	tokenstream.Float32: arrow.PrimitiveTypes.Float32, tokenstream.String: arrow.BinaryTypes.String,
}

// Write adds a row.
func (w *Writer) Write(b *tokenstream.Batch) error {
	if w.err == nil {
		w.err = w.add(b)
	}
	return w.err
}

func (w *Writer) add(b *tokenstream.Batch) error {
	bytes := 0
	for i := range w.columns {
		c := &w.columns[i]
		if err := c.add(b); err != nil {
			return fmt.Errorf("arrow: row %d: column %s: %w", w.written+int64(w.rows), c.Name, err)
		}
		bytes += c.bytes()
	}
	w.rows++
	if w.rows > 1 && bytes > w.o.batchBytes {
		if err := w.flush(w.rows - 1); err != nil {
			return err
		}
	}
	if w.rows == w.o.BatchRows {
		return w.flush(w.rows)
	}
	return nil
}

// flush writes the first rows that are in the columns as a record batch and keeps the others.
func (w *Writer) flush(rows int) error {
	arrays := make([]arrow.Array, len(w.columns))
	for i := range w.columns {
		arrays[i] = array.MakeFromData(w.columns[i].data(w.schema.Field(i).Type, rows))
	}
	if err := w.out.Write(array.NewRecordBatch(w.schema, arrays, int64(rows))); err != nil {
		return fmt.Errorf("arrow: writing rows %d to %d: %w", w.written, w.written+int64(rows)-1, err)
	}
	for i := range w.columns {
		w.columns[i].cut(rows)
	}
	w.written += int64(rows)
	w.rows -= rows
	return nil
}

// Close writes what is left and, of a file, the footer. Data of no rows are whole and have the schema.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.rows > 0 {
		w.err = w.flush(w.rows)
	}
	if w.err == nil {
		if w.err = w.out.Close(); w.err != nil {
			w.err = fmt.Errorf("arrow: closing: %w", w.err)
		}
	}
	if w.err != nil {
		return w.err
	}
	w.err = errClosed
	return nil
}

// A column gathers the values of one column of a record batch, in the slice of its type.
type column struct {
	tokenstream.Column
	i32  []int32
	i64  []int64
	i8   []int8
	text []byte  // of strings, whose ends are in i32 after a leading 0
	ends []int32 // where each row ends in the values, after a leading 0
}

// add appends the values of a row.
func (c *column) add(b *tokenstream.Batch) error {
	n, most := 0, len(b.Tokens)+1
	switch c.Type {
	case tokenstream.String:
		if len(c.i32) == 0 {
			c.i32 = append(c.i32, 0)
		}
		for _, s := range b.Segments {
			if c.text = append(c.text, s.ID...); len(c.text) > math.MaxInt32 {
				return fmt.Errorf("%d bytes of strings in a record batch: want at most %d", len(c.text), math.MaxInt32)
			}
			c.i32 = append(c.i32, int32(len(c.text)))
		}
		n = len(c.i32) - 1
	case tokenstream.Int32, tokenstream.Float32:
		c.i32 = c.Kind.AppendInt32(doubled(c.i32, most), b)
		n = len(c.i32)
	case tokenstream.Int64:
		c.i64 = c.Kind.AppendInt64(doubled(c.i64, most), b)
		n = len(c.i64)
	case tokenstream.Int8:
		c.i32 = c.Kind.AppendInt32(c.i32[:0], b)
		c.i8 = doubled(c.i8, most)
		for _, v := range c.i32 {
			if v < math.MinInt8 || v > math.MaxInt8 {
				return fmt.Errorf("value %d: want %d..%d for int8", v, math.MinInt8, math.MaxInt8)
			}
			c.i8 = append(c.i8, int8(v))
		}
		n = len(c.i8)
	}
	if n > math.MaxInt32 {
		return fmt.Errorf("%d values in a record batch: want at most %d", n, math.MaxInt32)
	}
	c.ends = append(c.ends, int32(n))
	return nil
}

// doubled returns s with room for n more, or twice as much room: append would grow a large slice by a quarter at a time, which costs
// five copies of all values instead of one.
func doubled[T any](s []T, n int) []T {
	if cap(s)-len(s) < n {
		s = slices.Grow(s, max(n, len(s)))
	}
	return s
}

// bytes returns the size of the values.
func (c *column) bytes() int {
	n := int(c.ends[len(c.ends)-1])
	switch c.Type {
	case tokenstream.Int64:
		return 8 * n
	case tokenstream.Int8:
		return n
	case tokenstream.String:
		return 4*n + len(c.text)
	}
	return 4 * n
}

// data returns the values of the first rows as the library's data of type t, without a copy.
func (c *column) data(t arrow.DataType, rows int) arrow.ArrayData {
	n := int(c.ends[rows])
	buffers := []*memory.Buffer{nil}
	var values *memory.Buffer
	switch c.Type {
	case tokenstream.String:
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(c.i32[:n+1])))
		values = memory.NewBufferBytes(c.text[:c.i32[n]])
	case tokenstream.Int32, tokenstream.Float32:
		values = memory.NewBufferBytes(bytesOf(c.i32[:n]))
	case tokenstream.Int64:
		values = memory.NewBufferBytes(bytesOf(c.i64[:n]))
	case tokenstream.Int8:
		values = memory.NewBufferBytes(bytesOf(c.i8[:n]))
	}
	buffers = append(buffers, values)
	list, ok := t.(*arrow.ListType)
	if !ok {
		return array.NewData(t, rows, buffers, nil, 0, 0)
	}
	child := array.NewData(list.Elem(), n, buffers, nil, 0, 0)
	ends := memory.NewBufferBytes(bytesOf(c.ends[:rows+1]))
	return array.NewData(t, rows, []*memory.Buffer{nil, ends}, []arrow.ArrayData{child}, 0, 0)
}

// cut removes the first rows.
func (c *column) cut(rows int) {
	n := c.ends[rows]
	switch c.Type {
	case tokenstream.String:
		bytes := c.i32[n]
		c.text = append(c.text[:0], c.text[bytes:]...)
		c.i32 = append(c.i32[:0], c.i32[n:]...)
		for i := range c.i32 {
			c.i32[i] -= bytes
		}
	case tokenstream.Int32, tokenstream.Float32:
		c.i32 = append(c.i32[:0], c.i32[n:]...)
	case tokenstream.Int64:
		c.i64 = append(c.i64[:0], c.i64[n:]...)
	case tokenstream.Int8:
		c.i8 = append(c.i8[:0], c.i8[n:]...)
	}
	c.ends = append(c.ends[:0], c.ends[rows:]...)
	for i := range c.ends {
		c.ends[i] -= n
	}
}

// bytesOf returns the memory of s. Arrow data is little endian, as every machine is that Arrow's Go library supports without a swap.
func bytesOf[T int8 | int32 | int64](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// Package arrow writes packed rows as Arrow IPC files and streams, and the companions of a Hugging Face save_to_disk folder.
//
// A column that is a list has the type list<item: int32>, never large_list, which datasets refuses to concatenate. Values are never
// null; the fields are nullable all the same, as pyarrow makes them, so that schemas compare equal. No type of the Arrow library is in
// a signature of this package.
package arrow

import (
	"errors"
	"fmt"
	"io"
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
	File   Form = iota // what pyarrow.ipc.open_file, feather and load_dataset("arrow") read
	Stream             // what pyarrow.ipc.open_stream and load_from_disk read
)

// Options say how rows are written. The zero value is the default.
type Options struct {
	Form       Form
	BatchRows  int               // most rows in a record batch; 0 is 1000, or as many as make 64 MiB of values if that is less
	Metadata   map[string]string // goes into the schema
	batchBytes int               // most bytes of values of one column in a record batch; 0 is 64 MiB
}

const (
	defaultBatchRows  = 1000
	defaultBatchBytes = 64 << 20 // far from where the 32-bit offsets of a list end
)

// A Writer is a [tokenstream.Sink]. After an error it stays broken.
type Writer struct {
	o       Options
	out     *ipc.FileWriter // or
	stream  *ipc.Writer
	schema  *arrow.Schema
	columns []column
	rows    int
	written int64
	err     error
}

// column gathers the values of one column of a record batch.
type column struct {
	tokenstream.Column
	ints    []int32 // what is not int64, before it is narrowed
	longs   []int64
	offsets []int32 // of lists: where each row ends, after a leading 0
}

var _ tokenstream.Sink = (*Writer)(nil)

// NewWriter returns a writer of rows in the columns of l.
func NewWriter(w io.Writer, l tokenstream.Layout, o Options) (*Writer, error) {
	if o.BatchRows < 0 {
		return nil, fmt.Errorf("arrow: batch rows %d: want 0 or more", o.BatchRows)
	}
	if o.BatchRows == 0 {
		o.BatchRows = defaultBatchRows
	}
	if o.batchBytes == 0 {
		o.batchBytes = defaultBatchBytes
	}
	x := &Writer{o: o}
	var fields []arrow.Field
	for _, c := range l.Columns {
		t, err := elementType(c.Type)
		if err != nil {
			return nil, fmt.Errorf("arrow: column %s: %w", c.Name, err)
		}
		if c.Kind.List() {
			t = arrow.ListOf(t)
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: t, Nullable: true})
		x.columns = append(x.columns, column{Column: c, offsets: []int32{0}})
	}
	var metadata *arrow.Metadata
	if len(o.Metadata) > 0 {
		keys := make([]string, 0, len(o.Metadata))
		for k := range o.Metadata {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		values := make([]string, len(keys))
		for i, k := range keys {
			values[i] = o.Metadata[k]
		}
		m := arrow.NewMetadata(keys, values)
		metadata = &m
	}
	x.schema = arrow.NewSchema(fields, metadata)
	if o.Form == Stream {
		x.stream = ipc.NewWriter(w, ipc.WithSchema(x.schema))
		return x, nil
	}
	var err error
	if x.out, err = ipc.NewFileWriter(w, ipc.WithSchema(x.schema)); err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	return x, nil
}

func elementType(t tokenstream.Type) (arrow.DataType, error) {
	switch t {
	case tokenstream.Int32:
		return arrow.PrimitiveTypes.Int32, nil
	case tokenstream.Int64:
		return arrow.PrimitiveTypes.Int64, nil
	case tokenstream.Int8:
		return arrow.PrimitiveTypes.Int8, nil
	}
	return nil, fmt.Errorf("no Arrow type for %v", t)
}

// Write adds a row.
func (w *Writer) Write(b *tokenstream.Batch) error {
	if w.err != nil {
		return w.err
	}
	if w.rows == w.o.BatchRows || w.rows > 0 && w.full(len(b.Tokens)) {
		if w.err = w.flush(); w.err != nil {
			return w.err
		}
	}
	for i := range w.columns {
		if w.err = w.columns[i].add(b); w.err != nil {
			w.err = fmt.Errorf("arrow: row %d: column %s: %w", w.written+int64(w.rows), w.columns[i].Name, w.err)
			return w.err
		}
	}
	w.rows++
	return nil
}

// full reports whether n more values might be too many for a column.
func (w *Writer) full(n int) bool {
	for i := range w.columns {
		c := &w.columns[i]
		if 4*(len(c.ints)+n+1)+8*len(c.longs) > w.o.batchBytes {
			return true
		}
	}
	return false
}

// add appends the values of a row.
func (c *column) add(b *tokenstream.Batch) error {
	if c.Type == tokenstream.Int64 {
		c.longs = c.Kind.AppendInt64(c.longs, b)
	} else {
		c.ints = c.Kind.AppendInt32(c.ints, b)
	}
	n := len(c.ints) + len(c.longs)
	if n > math.MaxInt32 {
		return fmt.Errorf("%d values in a record batch: want at most %d", n, math.MaxInt32)
	}
	c.offsets = append(c.offsets, int32(n))
	return nil
}

// flush writes the rows gathered so far as a record batch.
func (w *Writer) flush() error {
	arrays := make([]arrow.Array, len(w.columns))
	for i := range w.columns {
		data, err := w.columns[i].data(w.schema.Field(i).Type, w.rows)
		if err != nil {
			return fmt.Errorf("arrow: column %s: %w", w.columns[i].Name, err)
		}
		arrays[i] = array.MakeFromData(data)
	}
	record := array.NewRecordBatch(w.schema, arrays, int64(w.rows))
	var err error
	if w.stream != nil {
		err = w.stream.Write(record)
	} else {
		err = w.out.Write(record)
	}
	if err != nil {
		return fmt.Errorf("arrow: writing rows %d to %d: %w", w.written, w.written+int64(w.rows)-1, err)
	}
	for i := range w.columns {
		c := &w.columns[i]
		c.ints, c.longs, c.offsets = c.ints[:0], c.longs[:0], c.offsets[:1]
	}
	w.written += int64(w.rows)
	w.rows = 0
	return nil
}

// data returns the column's values as the library's data, without a copy where the type allows it.
func (c *column) data(t arrow.DataType, rows int) (arrow.ArrayData, error) {
	n := len(c.ints) + len(c.longs)
	var values *memory.Buffer
	switch c.Type {
	case tokenstream.Int64:
		values = memory.NewBufferBytes(bytesOf(c.longs))
	case tokenstream.Int32:
		values = memory.NewBufferBytes(bytesOf(c.ints))
	case tokenstream.Int8:
		narrow := make([]int8, n)
		for i, v := range c.ints {
			if v < math.MinInt8 || v > math.MaxInt8 {
				return nil, fmt.Errorf("value %d: want %d..%d for int8", v, math.MinInt8, math.MaxInt8)
			}
			narrow[i] = int8(v)
		}
		values = memory.NewBufferBytes(bytesOf(narrow))
	}
	list, ok := t.(*arrow.ListType)
	if !ok {
		return array.NewData(t, rows, []*memory.Buffer{nil, values}, nil, 0, 0), nil
	}
	child := array.NewData(list.Elem(), n, []*memory.Buffer{nil, values}, nil, 0, 0)
	return array.NewData(t, rows, []*memory.Buffer{nil, memory.NewBufferBytes(bytesOf(c.offsets))}, []arrow.ArrayData{child}, 0, 0), nil
}

// bytesOf returns the memory of s. Arrow data is little endian, as every machine is that Arrow's Go library supports without a swap.
func bytesOf[T int8 | int32 | int64](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// Close writes what is left and, of a file, the footer. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.rows > 0 {
		w.err = w.flush()
	}
	if w.err == nil {
		if w.stream != nil {
			w.err = w.stream.Close()
		} else {
			w.err = w.out.Close()
		}
		if w.err != nil {
			w.err = fmt.Errorf("arrow: closing: %w", w.err)
		}
	}
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("arrow: the writer is closed")
	return nil
}

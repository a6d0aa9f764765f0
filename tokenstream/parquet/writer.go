package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/brimful/brimful/tokenstream"
)

const (
	magic           = "PAR1"
	createdBy       = "brimful version 1"
	defaultRowGroup = 32 << 20
	maxRowTokens    = 1 << 26 // an int64 column of so many is far from the largest page, whose size is an int32
	maxRowGroups    = math.MaxInt16
	maxMetadata     = 1 << 20
)

// Options are the choices a [Writer] leaves to its caller. The zero value is the default.
type Options struct {
	// RowGroupBytes is the most that the plain values of a row group take, in bytes; 0 is 32 MiB. A row that is larger alone is a row
	// group of its own.
	RowGroupBytes int64
	// RowGroupRows is the most rows in a row group; 0 is no bound.
	RowGroupRows int
	// Compression of the pages: "zstd" (level 1, also if empty), "zstd-3" or "none".
	Compression string
	// Plain stores every column in the PLAIN encoding, for readers that do not know DELTA_BINARY_PACKED.
	Plain bool
	// Metadata are key-value pairs for the footer. They are written in the order of the keys.
	Metadata map[string]string
}

// A Writer encodes rows into one Parquet file. It is a [tokenstream.Sink]; a file without any row is valid and has the columns and
// types of the layout. The bytes depend on nothing but the rows, the layout and the options.
//
// A Writer holds the compressed pages of one row group in memory, and a page of plain values a column. Once a call has failed, so does
// every further one, with the same error, and what was written is no Parquet file.
type Writer struct {
	w       io.Writer
	layout  tokenstream.Layout
	options Options
	columns []*column
	offset  int64 // bytes written
	rows    int64 // rows taken
	grouped int64 // those of them that are in a row group
	bytes   int64 // plain bytes of the others
	groups  []format.RowGroup
	err     error
	closed  bool
}

// NewWriter returns a Writer of the columns of layout to w. It returns an error when the layout or the options make no file, and
// writes nothing itself. Close does not close w.
func NewWriter(w io.Writer, layout tokenstream.Layout, o Options) (*Writer, error) {
	if err := checkLayout(layout); err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	if o.RowGroupBytes < 0 || o.RowGroupRows < 0 {
		return nil, fmt.Errorf("parquet: row groups of %d bytes and %d rows: neither may be negative", o.RowGroupBytes, o.RowGroupRows)
	}
	if o.RowGroupBytes == 0 {
		o.RowGroupBytes = defaultRowGroup
	}
	codec, err := newCodec(o.Compression)
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	o.Metadata = maps.Clone(o.Metadata)
	writer := &Writer{w: w, layout: layout, options: o}
	writer.layout.Columns = slices.Clone(layout.Columns)
	for _, c := range layout.Columns {
		writer.columns = append(writer.columns, newColumn(c, codec, o.Plain))
	}
	return writer, nil
}

// Write adds a row. It returns an error when b contradicts itself or has a value that a column's type cannot hold.
func (w *Writer) Write(b *tokenstream.Batch) error {
	if w.closed && w.err == nil {
		return errors.New("parquet: write after close")
	}
	if w.err == nil {
		if err := w.add(b); err != nil {
			w.err = fmt.Errorf("parquet: row %d: %w", w.rows, err)
		}
	}
	return w.err
}

func (w *Writer) add(b *tokenstream.Batch) error {
	if err := check(b); err != nil {
		return err
	}
	size := int64(0)
	for _, c := range w.columns {
		n, err := c.add(b)
		if err != nil {
			return err
		}
		size += n
	}
	open := w.rows - w.grouped // rows in the row group before this one
	if open > 0 && (w.bytes+size > w.options.RowGroupBytes || w.options.RowGroupRows > 0 && open >= int64(w.options.RowGroupRows)) {
		if err := w.endRowGroup(1); err != nil {
			return err
		}
	}
	w.rows++
	w.bytes += size
	return nil
}

// check returns an error when the parts of a row do not fit each other or its tokens are too many.
func check(b *tokenstream.Batch) error {
	sum := int64(b.Pad)
	if b.Pad < 0 {
		return fmt.Errorf("pad tail of %d tokens: want at least 0", b.Pad)
	}
	for i, s := range b.Segments {
		if s.Length < 1 || s.Pad < 0 {
			return fmt.Errorf("segment %d has %d tokens and %d of padding: want at least 1 and 0", i, s.Length, s.Pad)
		}
		sum += int64(s.Length) + int64(s.Pad)
	}
	switch {
	case sum > maxRowTokens:
		return fmt.Errorf("%d tokens: want at most %d", sum, maxRowTokens)
	case sum != int64(len(b.Tokens)):
		return fmt.Errorf("%d tokens, but segments and pad tail of %d", len(b.Tokens), sum)
	case len(b.Tokens) != len(b.Labels):
		return fmt.Errorf("%d tokens, but %d labels", len(b.Tokens), len(b.Labels))
	}
	return nil
}

// Close writes what is left, and the footer. A second Close does nothing.
func (w *Writer) Close() error {
	if w.closed || w.err != nil {
		w.closed = true
		return w.err
	}
	w.closed = true
	if err := w.end(); err != nil {
		w.err = fmt.Errorf("parquet: closing after %d rows: %w", w.rows, err)
	}
	w.columns = nil
	return w.err
}

func (w *Writer) end() error {
	if err := w.endRowGroup(0); err != nil {
		return err
	}
	meta := format.FileMetaData{
		Version:   2,
		Schema:    schemaOf(w.layout),
		NumRows:   w.rows,
		RowGroups: w.groups,
		CreatedBy: createdBy,
	}
	for _, key := range slices.Sorted(maps.Keys(w.options.Metadata)) {
		meta.KeyValueMetadata = append(meta.KeyValueMetadata, format.KeyValue{Key: key, Value: w.options.Metadata[key]})
	}
	for range w.layout.Columns {
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	if err := w.begin(); err != nil {
		return err
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return fmt.Errorf("encoding the footer: %w", err)
	}
	if len(footer) > math.MaxInt32 {
		return fmt.Errorf("a footer of %d bytes: want at most %d", len(footer), math.MaxInt32)
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, magic...))
}

// endRowGroup writes the open row group but for the last rows added, which are the first of the next one. Nothing is written if it
// would be empty.
func (w *Writer) endRowGroup(left int) error {
	rows := w.rows - w.grouped
	if rows == 0 {
		return nil
	}
	if len(w.groups) == maxRowGroups {
		return fmt.Errorf("more than %d row groups: want larger ones, or fewer rows in a file", maxRowGroups)
	}
	if err := w.begin(); err != nil {
		return err
	}
	group := format.RowGroup{NumRows: rows, Ordinal: int16(len(w.groups))}
	for i, c := range w.columns {
		if err := c.endPage(len(c.rows) - left); err != nil {
			return err
		}
		chunk := c.meta(w.offset)
		if i == 0 {
			group.FileOffset = w.offset
		}
		group.Columns = append(group.Columns, chunk)
		group.TotalByteSize += chunk.MetaData.TotalUncompressedSize
		group.TotalCompressedSize += chunk.MetaData.TotalCompressedSize
		if err := w.write(c.chunk.Bytes()); err != nil {
			return err
		}
		c.resetChunk()
	}
	w.groups = append(w.groups, group)
	w.grouped += rows
	w.bytes = 0
	return nil
}

// begin writes what a file begins with, unless that is done.
func (w *Writer) begin() error {
	if w.offset > 0 {
		return nil
	}
	return w.write([]byte(magic))
}

func (w *Writer) write(p []byte) error {
	at := w.offset
	n, err := w.w.Write(p)
	w.offset += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("writing %d bytes at offset %d: %w", len(p), at, err)
	}
	return nil
}

package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/brimful/brimful/tokenstream"
)

// pageBytes is the size at which a page of more than one row ends, in bytes of its plain values.
const pageBytes = 1 << 20

// A column encodes one column chunk after the other. Rows are added to the open page, and pages go to the chunk, encoded and
// compressed, when they are full; so a column holds a page of plain values and a chunk of compressed ones.
type column struct {
	tokenstream.Column
	path     []string
	codec    codec
	encoding encoding.Encoding
	width    int // bytes of a plain value, 0 for strings

	lowest, highest int64 // what the type can hold

	// The open page: values in one of two types, and how many of them are in each row.
	i32  []int32
	i64  []int64
	rows []int32

	// Of a column of strings: their PLAIN encoding, and how many bytes each row takes of it.
	text     []byte
	textRows []int

	// The chunk: pages, one behind the other, and what the footer says about them.
	chunk        bytes.Buffer
	header       *thrift.Encoder // writes to chunk
	pages        int32
	entries      int64 // values, plus one for each empty list
	empty        int64 // empty lists
	uncompressed int64 // bytes of the pages before compression, with their headers
	least, most  int64 // of a column that is no list

	// Buffers used again for each page.
	repetition, definition levels
	plain, compressed      []byte
	wide                   []int64
}

func newColumn(c tokenstream.Column, codec codec, allPlain bool) *column {
	col := &column{Column: c, path: path(c), codec: codec, encoding: new(plain.Encoding)}
	switch c.Type {
	case tokenstream.Int64:
		col.width, col.lowest, col.highest = 8, math.MinInt64, math.MaxInt64
	case tokenstream.Int32:
		col.width, col.lowest, col.highest = 4, math.MinInt32, math.MaxInt32
	case tokenstream.Int8:
		col.width, col.lowest, col.highest = 4, math.MinInt8, math.MaxInt8
	case tokenstream.Float32:
		col.width = 4 // the bits of each value
	}
	switch c.Kind {
	case tokenstream.PositionIDs, tokenstream.SeqIdx, tokenstream.CuSeqlens, tokenstream.TrueCuSeqlens:
		if !allPlain {
			col.encoding = new(delta.BinaryPackedEncoding)
		}
	}
	col.header = thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&col.chunk))
	col.resetChunk()
	return col
}

// add appends a row to the open page and returns the bytes of its plain values. If that is more than the page may hold, the rows
// before go to the chunk.
func (c *column) add(b *tokenstream.Batch) (int64, error) {
	n, err := c.appendValues(b)
	if err != nil {
		return 0, err
	}
	c.rows = append(c.rows, int32(n))
	size := n * c.width
	if c.Type == tokenstream.String {
		size = c.textRows[len(c.textRows)-1]
	}
	if (len(c.i32)+len(c.i64))*c.width+len(c.text) > pageBytes || len(c.rows) > pageBytes {
		if err := c.endPage(len(c.rows) - 1); err != nil {
			return 0, err
		}
	}
	return int64(size), nil
}

// appendValues appends the values of a row to the open page and returns their number.
func (c *column) appendValues(b *tokenstream.Batch) (int, error) {
	before := len(c.i32) + len(c.i64)
	switch {
	case c.Type == tokenstream.String:
		start := len(c.text)
		for _, s := range b.Segments {
			c.text = binary.LittleEndian.AppendUint32(c.text, uint32(len(s.ID)))
			c.text = append(c.text, s.ID...)
		}
		c.textRows = append(c.textRows, len(c.text)-start)
		return len(b.Segments), nil
	case c.Type == tokenstream.Int64:
		c.i64 = c.Kind.AppendInt64(c.i64, b)
	case c.Kind == tokenstream.SampleIndex:
		c.wide = c.Kind.AppendInt64(c.wide[:0], b)
		for i, v := range c.wide {
			if v < c.lowest || v > c.highest {
				return 0, c.rangeError(i, v)
			}
			c.i32 = append(c.i32, int32(v))
		}
	default:
		c.i32 = c.Kind.AppendInt32(c.i32, b)
		if c.Type == tokenstream.Int8 {
			for i, v := range c.i32[before:] {
				if v != int32(int8(v)) {
					return 0, c.rangeError(i, int64(v))
				}
			}
		}
	}
	return len(c.i32) + len(c.i64) - before, nil
}

func (c *column) rangeError(i int, v int64) error {
	return fmt.Errorf("%s[%d] = %d: want %d to %d, the range of the column's type", c.Name, i, v, c.lowest, c.highest)
}

// endPage moves the first rows of the open page to the chunk, as a page, and leaves the others open. Nothing happens if that is none.
func (c *column) endPage(rows int) error {
	if rows == 0 {
		return nil
	}
	n, empty := 0, 0
	c.repetition.reset()
	c.definition.reset()
	if c.Kind.List() {
		for _, length := range c.rows[:rows] {
			c.repetition.add(0, 1)
			if length == 0 {
				c.definition.add(0, 1)
				empty++
				continue
			}
			c.repetition.add(1, int(length)-1)
			c.definition.add(1, int(length))
			n += int(length)
		}
	} else {
		n = rows
	}
	c.rows = c.rows[:copy(c.rows, c.rows[rows:])]

	var err error
	switch c.Type {
	case tokenstream.String:
		size := 0
		for _, bytes := range c.textRows[:rows] {
			size += bytes
		}
		c.plain = append(c.plain[:0], c.text[:size]...)
		c.text = c.text[:copy(c.text, c.text[size:])]
		c.textRows = c.textRows[:copy(c.textRows, c.textRows[rows:])]
	case tokenstream.Int64:
		widen(c, c.i64[:n])
		c.plain, err = c.encoding.EncodeInt64(c.plain, c.i64[:n])
		c.i64 = c.i64[:copy(c.i64, c.i64[n:])]
	default:
		widen(c, c.i32[:n])
		c.plain, err = c.encoding.EncodeInt32(c.plain, c.i32[:n])
		c.i32 = c.i32[:copy(c.i32, c.i32[n:])]
	}
	if err != nil {
		return fmt.Errorf("encoding a page of %s: %w", c.Name, err)
	}
	return c.writePage(rows, n, empty)
}

// writePage appends a page of the encoded values in c.plain and the levels to the chunk.
func (c *column) writePage(rows, n, empty int) error {
	c.compressed = c.codec.compress(c.compressed, c.plain)
	repetition, definition := c.repetition.end(), c.definition.end()
	size := len(repetition) + len(definition)
	if size+max(len(c.plain), len(c.compressed)) > math.MaxInt32 {
		return fmt.Errorf("encoding a page of %s: a row of %d values is too long", c.Name, n)
	}
	crc := crc32.ChecksumIEEE(repetition)
	crc = crc32.Update(crc, crc32.IEEETable, definition)
	crc = crc32.Update(crc, crc32.IEEETable, c.compressed)
	before := c.chunk.Len()
	err := c.header.Encode(&format.PageHeader{
		Type:                 format.DataPageV2,
		UncompressedPageSize: int32(size + len(c.plain)),
		CompressedPageSize:   int32(size + len(c.compressed)),
		CRC:                  int32(crc),
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues:                  int32(n + empty),
			NumNulls:                   int32(empty),
			NumRows:                    int32(rows),
			Encoding:                   c.encoding.Encoding(),
			RepetitionLevelsByteLength: int32(len(repetition)),
			DefinitionLevelsByteLength: int32(len(definition)),
			IsCompressed:               thrift.New(c.codec.format != format.Uncompressed),
		}),
	})
	if err != nil {
		return fmt.Errorf("encoding a page header of %s: %w", c.Name, err)
	}
	c.uncompressed += int64(c.chunk.Len() - before + size + len(c.plain))
	c.chunk.Write(repetition)
	c.chunk.Write(definition)
	c.chunk.Write(c.compressed)
	c.pages++
	c.entries += int64(n + empty)
	c.empty += int64(empty)
	return nil
}

// widen widens the bounds of the chunk to take in values, which are those of a column that is no list: of lists, bounds help no reader.
func widen[T int32 | int64](c *column, values []T) {
	if c.Kind.List() {
		return
	}
	for _, v := range values {
		c.least, c.most = min(c.least, int64(v)), max(c.most, int64(v))
	}
}

// meta describes the chunk that begins at an offset of the file.
func (c *column) meta(offset int64) format.ColumnChunk {
	m := format.ColumnMetaData{
		Type:                  physical(c.Type),
		Encoding:              []format.Encoding{c.encoding.Encoding(), format.RLE},
		PathInSchema:          c.path,
		Codec:                 c.codec.format,
		NumValues:             c.entries,
		TotalUncompressedSize: c.uncompressed,
		TotalCompressedSize:   int64(c.chunk.Len()),
		DataPageOffset:        offset,
		Statistics:            format.Statistics{NullCount: c.empty},
		EncodingStats:         []format.PageEncodingStats{{PageType: format.DataPageV2, Encoding: c.encoding.Encoding(), Count: c.pages}},
	}
	if !c.Kind.List() {
		m.Encoding = m.Encoding[:1]
		m.Statistics.MinValue = c.plainValue(c.least)
		m.Statistics.MaxValue = c.plainValue(c.most)
	}
	return format.ColumnChunk{MetaData: m}
}

// plainValue returns the PLAIN encoding of one value.
func (c *column) plainValue(v int64) []byte {
	b := make([]byte, c.width)
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
	return b
}

func (c *column) resetChunk() {
	c.chunk.Reset()
	c.pages, c.entries, c.empty, c.uncompressed = 0, 0, 0, 0
	c.least, c.most = math.MaxInt64, math.MinInt64
}

package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// What is refused before the library allocates for it.
const (
	maxFooter     = 64 << 20
	maxPageValues = 1 << 27
	maxPageBytes  = 1 << 30
	maxRatio      = 1 << 16 // zstd makes at most half as many bytes of one
)

// decodeParquet decodes a file page by page, with the pages of parquet-go.
func decodeParquet(path string, begin func([]column) error, each func([][]int64) error) error {
	file, err := os.Open(path)
	if err != nil {
		return system(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return system(err)
	}
	end, err := checkFooter(file, info.Size())
	if err != nil {
		return err
	}
	p, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<20))
	if err != nil {
		return system(err)
	}
	var columns []column
	var cursors []*cursor
	for _, f := range p.Schema().Fields() {
		c, have := newCursor(f)
		columns = append(columns, have)
		cursors = append(cursors, c)
	}
	if err := begin(columns); err != nil {
		return err
	}
	values := make([][]int64, len(columns))
	for i, group := range p.RowGroups() {
		chunks := group.ColumnChunks()
		leaves := p.Metadata().RowGroups[i].Columns
		leaf := 0
		for k, c := range cursors {
			if columns[k].usable {
				if err := checkPages(file, &leaves[leaf].MetaData, end); err != nil {
					return fmt.Errorf("row group %d, column %s: %w", i, columns[k].Name, err)
				}
				c.open(chunks[leaf].Pages())
				defer c.pages.Close()
			}
			leaf += c.leaves
		}
		for range group.NumRows() {
			for k, c := range cursors {
				if !columns[k].usable {
					continue
				}
				v, err := c.next(values[k][:0])
				if err != nil {
					return fmt.Errorf("row group %d, column %s: %w", i, columns[k].Name, system(err))
				}
				values[k] = v
			}
			if err := each(values); err != nil {
				return err
			}
		}
		for k, c := range cursors {
			if !columns[k].usable {
				continue
			}
			if more, err := c.more(); err != nil || more {
				return fmt.Errorf("row group %d, column %s: values behind the last row, or an error where they would be: %w", i, columns[k].Name, err)
			}
			if err := c.pages.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkFooter checks what the library would otherwise allocate for unseen, and returns where the pages end.
func checkFooter(r io.ReaderAt, size int64) (end int64, err error) {
	var tail [8]byte
	if size < 12 {
		return 0, fmt.Errorf("%d bytes are no Parquet file", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return 0, system(err)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != "PAR1" || n > min(size-12, maxFooter) {
		return 0, errors.New("no footer of a Parquet file at the end")
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-8-n); err != nil {
		return 0, system(err)
	}
	if _, err := thriftLength(b); err != nil {
		return 0, fmt.Errorf("the footer: %w", err)
	}
	var meta format.FileMetaData
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(b)).Decode(&meta); err != nil {
		return 0, fmt.Errorf("the footer: %w", err)
	}
	rows := int64(0)
	for _, g := range meta.RowGroups {
		if g.NumRows < 0 {
			return 0, fmt.Errorf("a row group of %d rows", g.NumRows)
		}
		rows += g.NumRows
	}
	if rows != meta.NumRows {
		return 0, fmt.Errorf("row groups of %d rows in a file of %d", rows, meta.NumRows)
	}
	return size - 8 - n, nil
}

// checkPages walks through the page headers of a column chunk.
func checkPages(r io.ReaderAt, m *format.ColumnMetaData, end int64) error {
	at, left := m.DataPageOffset, m.TotalCompressedSize
	if d := m.DictionaryPageOffset; d > 0 {
		at = d
	}
	if at < 4 || left < 0 || at > end || left > end-at {
		return fmt.Errorf("%d bytes at %d: want them between 4 and %d", left, at, end)
	}
	buffer := make([]byte, 1<<16)
	for left > 0 {
		b := buffer[:min(left, int64(len(buffer)))]
		short := b[:min(len(b), 256)]
		if _, err := r.ReadAt(short, at); err != nil {
			return system(err)
		}
		n, err := thriftLength(short)
		if err != nil {
			if _, err := r.ReadAt(b, at); err != nil {
				return system(err)
			}
			if n, err = thriftLength(b); err != nil {
				return fmt.Errorf("the page header at %d: %w", at, err)
			}
		}
		var h format.PageHeader
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), b[:n], &h); err != nil {
			return fmt.Errorf("the page header at %d: %w", at, err)
		}
		stored, raw := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		values := max(h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues, h.DictionaryPageHeader.V.NumValues)
		at, left = at+int64(n)+stored, left-int64(n)-stored
		if stored < 0 || left < 0 || raw < 0 || raw > min(maxPageBytes, stored*maxRatio+1<<20) || values > maxPageValues {
			return fmt.Errorf("a page of %d values in %d bytes, stored in %d, of which %d are there", values, raw, stored, left+stored)
		}
	}
	return nil
}

// cursor goes through the values of a field, a number or a list of them.
type cursor struct {
	leaves int // columns of the file that the field takes
	list   bool
	wide   bool // 64 bits a value
	float  bool // the value is the bits of a float32
	empty  int  // definition level of an empty list
	full   int  // of a value

	pages      parquet.Pages
	page       parquet.Page
	rep, def   []byte // levels of the page; def is empty where all are full
	n, at, val int    // levels in the page, the next one, the next value
	ints       []int32
	longs      []int64
}

// newCursor returns a cursor for a field, and the column that the field is. A list is one only in the form of three levels that the
// format asks for: some readers take any other form, such as a field that is just repeated, for empty lists.
func newCursor(f parquet.Field) (*cursor, column) {
	c, have := &cursor{leaves: countLeaves(f)}, column{Name: f.Name(), Type: "neither numbers nor lists of numbers"}
	var element parquet.Node = f
	if f.Optional() {
		c.full++
	}
	if c.list = !f.Leaf(); c.list {
		list := only(f, "list")
		if f.Type().String() != "LIST" || f.Repeated() || list == nil || !list.Repeated() {
			return c, have
		}
		c.empty = c.full
		c.full++
		if element = only(list, "element"); element == nil {
			return c, have
		}
		if element.Optional() {
			c.full++
		}
	}
	if !element.Leaf() || element.Repeated() {
		return c, have
	}
	have.list, have.usable = c.list, true
	switch have.Type = element.Type().String(); have.Type {
	case "INT(8,true)":
		have.Type = "int8"
	case "INT32", "INT(32,true)":
		have.Type = "int32"
	case "INT64", "INT(64,true)":
		have.Type, c.wide = "int64", true
	case "FLOAT":
		have.Type, c.float = "float32", true
	case "STRING":
		have.Type, have.usable = "string", false
	default:
		have.usable = false
	}
	return c, have
}

// only returns the only field of a group, if it has that name.
func only(n parquet.Node, name string) parquet.Node {
	if n.Leaf() || len(n.Fields()) != 1 || n.Fields()[0].Name() != name {
		return nil
	}
	return n.Fields()[0]
}

func countLeaves(n parquet.Node) int {
	if n.Leaf() {
		return 1
	}
	sum := 0
	for _, f := range n.Fields() {
		sum += countLeaves(f)
	}
	return sum
}

// open begins a column chunk.
func (c *cursor) open(pages parquet.Pages) {
	c.pages, c.n, c.at = pages, 0, 0
}

// more reports whether there is another level, and loads the page in which it is.
func (c *cursor) more() (bool, error) {
	for c.at == c.n {
		if c.page != nil {
			parquet.Release(c.page)
			c.page = nil
		}
		page, err := c.pages.ReadPage()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if err := c.load(page); err != nil {
			return false, err
		}
	}
	return true, nil
}

// load takes up a page.
func (c *cursor) load(page parquet.Page) error {
	c.page, c.n, c.at, c.val = page, int(page.NumValues()), 0, 0
	c.rep, c.def = page.RepetitionLevels(), page.DefinitionLevels()
	if c.list && len(c.rep) != c.n || len(c.def) > 0 && len(c.def) != c.n {
		return fmt.Errorf("%d and %d levels for %d values", len(c.rep), len(c.def), c.n)
	}
	present := c.n
	if len(c.def) > 0 {
		if present = bytes.Count(c.def, []byte{byte(c.full)}); present == c.n {
			c.def = nil
		}
	}
	data := page.Data()
	if d := page.Dictionary(); d != nil {
		return c.lookUp(data.Int32(), d.Page().Data(), present)
	}
	have := 0
	switch {
	case c.float:
		c.ints = bitsOf(c.ints[:0], data.Float())
		have = len(c.ints)
	case c.wide:
		c.longs = data.Int64()
		have = len(c.longs)
	default:
		c.ints = data.Int32()
		have = len(c.ints)
	}
	if have != present {
		return fmt.Errorf("a page has %d values for %d levels", have, present)
	}
	return nil
}

// lookUp takes the values of the page from a dictionary. An index that is out of range panics.
func (c *cursor) lookUp(indexes []int32, entries encoding.Values, present int) error {
	c.ints, c.longs = nil, nil
	if len(indexes) != present {
		return fmt.Errorf("a page has %d indexes for %d levels", len(indexes), present)
	}
	for _, k := range indexes {
		switch {
		case c.float:
			c.ints = append(c.ints, int32(math.Float32bits(entries.Float()[k])))
		case c.wide:
			c.longs = append(c.longs, entries.Int64()[k])
		default:
			c.ints = append(c.ints, entries.Int32()[k])
		}
	}
	return nil
}

// bitsOf appends the bits of values.
func bitsOf(dst []int32, values []float32) []int32 {
	for _, v := range values {
		dst = append(dst, int32(math.Float32bits(v)))
	}
	return dst
}

// next appends the values of the next row to dst. It returns nil for a null.
func (c *cursor) next(dst []int64) ([]int64, error) {
	if more, err := c.more(); err != nil || !more {
		if err == nil {
			err = errors.New("fewer rows than the file says")
		}
		return nil, err
	}
	if dst == nil {
		dst = []int64{}
	}
	if !c.list {
		return c.take(dst, c.at+1, false), nil
	}
	if c.rep[c.at] != 0 {
		return nil, errors.New("the first row of a page begins inside another")
	}
	null := false
	for from := c.at + 1; ; from = c.at { // a row may go on in the next page
		end := c.n
		if i := bytes.IndexByte(c.rep[from:], 0); i >= 0 {
			end = from + i
		}
		if dst = c.take(dst, end, end == c.at+1 && len(dst) == 0); dst == nil {
			null, dst = true, []int64{}
		}
		if c.at < c.n {
			break
		}
		if more, err := c.more(); err != nil {
			return nil, err
		} else if !more || c.rep[c.at] == 0 {
			break
		}
	}
	if null {
		return nil, nil
	}
	return dst, nil
}

// take appends the values of the levels up to end to dst. It returns nil if one is null; lone is whether a level may be an empty list.
func (c *cursor) take(dst []int64, end int, lone bool) []int64 {
	n := end - c.at
	if len(c.def) > 0 {
		null := false
		n = 0
		for _, d := range c.def[c.at:end] {
			if int(d) == c.full {
				n++
			} else {
				null = null || !lone || int(d) != c.empty
			}
		}
		if null {
			dst = nil
		}
	}
	from := c.val
	c.at, c.val = end, c.val+n
	if dst == nil {
		return nil
	}
	if c.wide {
		return append(dst, c.longs[from:c.val]...)
	}
	for _, v := range c.ints[from:c.val] {
		dst = append(dst, int64(v))
	}
	return dst
}

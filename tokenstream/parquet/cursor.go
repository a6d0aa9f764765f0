package parquet

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"

	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// plainDictionary is an older number for the encoding of dictionaries and of indexes into them.
const plainDictionary format.Encoding = 2

// A cursor goes through the rows of one field.
type cursor struct {
	field      field
	pages      pages
	dictionary *values // of the chunk at hand, or nil
	left       int64   // levels of the chunk that are in no page read so far

	// The page at hand.
	values                 values
	n                      int    // levels
	at                     int    // the next one
	value                  int    // the next value
	repetition, definition []byte // levels; definition is empty when all are the largest
	good                   int    // the values before are such that fit an int32
	row                    []int32
}

func newCursor(f field, maxBytes int) *cursor {
	c := &cursor{field: f}
	c.pages.r = bufio.NewReaderSize(nil, maxPageHeader)
	c.pages.maxBytes = maxBytes
	return c
}

// open begins a chunk.
func (c *cursor) open(r io.ReaderAt, chunk *format.ColumnChunk, rows, end int64) error {
	start, length, err := checkChunk(chunk, &c.field, rows, end)
	if err != nil {
		return err
	}
	c.pages.reset(r, start, length, chunk.MetaData.Codec)
	c.dictionary = nil
	c.left = chunk.MetaData.NumValues
	c.n, c.at = 0, 0
	return nil
}

// close returns an error if something is left of the chunk after its last row.
func (c *cursor) close() error {
	if c.at < c.n || c.left > 0 {
		return fmt.Errorf("%d values behind the last row", int64(c.n-c.at)+c.left)
	}
	return nil
}

// load reads the next page of values.
func (c *cursor) load() error {
	for {
		c.pages.limit = min(c.left, maxRowTokens)
		p, err := c.pages.next(&c.field)
		if err != nil {
			return noEOF(err)
		}
		switch {
		case p.dictionary && c.dictionary != nil:
			return fmt.Errorf("a second dictionary")
		case p.dictionary:
			if p.encoding != format.Plain && p.encoding != plainDictionary {
				return fmt.Errorf("a dictionary encoded as %v", p.encoding)
			}
			c.dictionary = new(values)
			if err := c.dictionary.decode(&c.field, format.Plain, p.values, p.n); err != nil {
				return fmt.Errorf("a dictionary: %w", err)
			}
		case p.n > 0:
			return c.loadValues(p)
		}
	}
}

func (c *cursor) loadValues(p page) (err error) {
	c.n, c.at, c.value = p.n, 0, 0
	c.left -= int64(p.n)
	c.repetition, c.definition = c.repetition[:0], c.definition[:0]
	if c.field.rep > 0 {
		if c.repetition, err = appendLevels(c.repetition, p.repetition, bits.Len(uint(c.field.rep)), c.field.rep, p.n); err != nil {
			return fmt.Errorf("the repetition levels of a page: %w", err)
		}
	}
	present := p.n
	if c.field.def > 0 {
		width := bits.Len(uint(c.field.def))
		if level, ok := constantLevel(p.definition, width, p.n); !ok || int(level) != c.field.def {
			if c.definition, err = appendLevels(c.definition, p.definition, width, c.field.def, p.n); err != nil {
				return fmt.Errorf("the definition levels of a page: %w", err)
			}
			if present = bytes.Count(c.definition, []byte{byte(c.field.def)}); present == p.n {
				c.definition = c.definition[:0]
			}
		}
	}
	switch p.encoding {
	case format.RLEDictionary, plainDictionary:
		if c.dictionary == nil {
			return fmt.Errorf("a page of indexes without a dictionary")
		}
		err = c.values.lookUp(c.dictionary, p.values, present)
	default:
		err = c.values.decode(&c.field, p.encoding, p.values, present)
	}
	c.good = present
	if err == nil && c.field.list && len(c.values.wide) > 0 {
		c.good = c.values.narrow(&c.field)
	}
	return err
}

// next returns the elements of a list in the next row, which are valid until the following call.
func (c *cursor) next() (row []int32, isNull bool, err error) {
	if c.at == c.n {
		if err := c.load(); err != nil {
			return nil, false, err
		}
	}
	if c.repetition[c.at] != 0 {
		return nil, false, fmt.Errorf("a page begins inside a row")
	}
	if len(c.definition) > 0 && int(c.definition[c.at]) < c.field.present {
		isNull = int(c.definition[c.at]) < c.field.present-1
		c.at++
		if more, err := c.more(); more || err != nil {
			if err == nil {
				err = fmt.Errorf("an element in a list that is null or empty")
			}
			return nil, false, err
		}
		return emptyList, isNull, nil
	}
	first := c.at
	c.at++
	if i := bytes.IndexByte(c.repetition[c.at:], 0); i >= 0 {
		c.at += i
		row, err = c.take(first, 0)
		return row, false, err
	}
	// The row may go on in the next page, whose values take the place of these.
	c.at = c.n
	row, err = c.take(first, 0)
	if err != nil || c.left == 0 {
		return row, false, err
	}
	c.row = append(c.row[:0], row...)
	for {
		more, err := c.more()
		if err != nil || !more {
			return c.row, false, err
		}
		first := c.at
		if i := bytes.IndexByte(c.repetition[c.at:], 0); i >= 0 {
			c.at += i
		} else {
			c.at = c.n
		}
		row, err := c.take(first, len(c.row))
		if err != nil {
			return nil, false, err
		}
		if len(c.row)+len(row) > maxRowTokens {
			return nil, false, fmt.Errorf("a list of more than %d elements", maxRowTokens)
		}
		c.row = append(c.row, row...)
	}
}

// emptyList is a list that is there, but has no elements.
var emptyList = []int32{}

// more reports whether the row at hand goes on, and reads the next page if that is where it would.
func (c *cursor) more() (bool, error) {
	if c.at == c.n {
		if c.left == 0 {
			return false, nil
		}
		if err := c.load(); err != nil {
			return false, err
		}
	}
	return c.repetition[c.at] != 0, nil
}

// take returns the values of the levels from first on. They are elements of a list from its index on.
func (c *cursor) take(first, index int) ([]int32, error) {
	if len(c.definition) > 0 {
		for i, level := range c.definition[first:c.at] {
			switch {
			case int(level) == c.field.def:
			case int(level) >= c.field.present:
				return nil, &columns.ElementError{Index: index + i, Found: "null"}
			default:
				return nil, fmt.Errorf("an element in a list that is null or empty")
			}
		}
	}
	from := c.value
	c.value += c.at - first
	if c.good < c.value {
		i := max(c.good, from)
		return nil, &columns.ElementError{Index: index + i - from, Found: c.values.text(&c.field, i)}
	}
	return c.values.ints[from:c.value:c.value], nil
}

// nextText returns the value in the next row of a field that is one value a row, as it is written.
func (c *cursor) nextText() (s string, isNull bool, err error) {
	if c.at == c.n {
		if err := c.load(); err != nil {
			return "", false, err
		}
	}
	c.at++
	if len(c.definition) > 0 && int(c.definition[c.at-1]) < c.field.def {
		return "", true, nil
	}
	c.value++
	return c.values.text(&c.field, c.value-1), false, nil
}

package parquet

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/brimful/brimful/tokenstream"
)

// A sampler makes samples of the rows of all columns.
type sampler struct {
	rd      *Reader
	cursors []*cursor
	lists   [][]int32 // by column, nil for a null
	labels  []int32
}

func newSampler(rd *Reader) *sampler {
	s := &sampler{rd: rd, lists: make([][]int32, len(rd.columns))}
	for _, c := range rd.columns {
		s.cursors = append(s.cursors, newCursor(c.field, rd.o.MaxPageBytes))
	}
	return s
}

func (s *sampler) open(group *format.RowGroup) error {
	for i, c := range s.cursors {
		if err := c.open(s.rd.r, &group.Columns[s.rd.columns[i].leaf], group.NumRows, s.rd.end); err != nil {
			return &tokenstream.InputError{Field: s.rd.columns[i].name, Err: err}
		}
	}
	return nil
}

func (s *sampler) close() error {
	for i, c := range s.cursors {
		if err := c.close(); err != nil {
			return &tokenstream.InputError{Field: s.rd.columns[i].name, Err: err}
		}
	}
	return nil
}

// next returns the sample of the next row. Its slices are valid until the following call.
func (s *sampler) next() (tokenstream.Sample, error) {
	var sample tokenstream.Sample
	ids, labels, mask, attention := -1, -1, -1, -1
	for i, c := range s.cursors {
		column := &s.rd.columns[i]
		if column.role == roleID || column.role == roleKey {
			if err := s.text(&sample, i, c); err != nil {
				return sample, err
			}
			continue
		}
		v, isNull, err := c.next()
		if err != nil {
			return sample, s.element(column, err)
		}
		if isNull {
			s.lists[i] = nil
			continue
		}
		s.lists[i] = v
		switch column.role {
		case roleIDs:
			ids = i
		case roleLabels:
			labels = i
		case roleMask:
			mask = i
		case roleAttention:
			attention = i
		}
	}
	if ids < 0 {
		return sample, wrong(s.rd.o.IDs, "null: want a list of token ids")
	}
	tokens := s.lists[ids]
	if anyNegative(tokens) {
		i := slices.IndexFunc(tokens, func(id int32) bool { return id < 0 })
		return sample, wrongAt(s.rd.o.IDs, i, "%d: want 0..%d", tokens[i], math.MaxInt32)
	}
	for i := range s.rd.columns {
		if err := s.check(i, len(tokens)); err != nil {
			return sample, err
		}
	}
	if mask >= 0 && labels >= 0 {
		return sample, wrong(s.rd.columns[mask].name, "both a mask and %s: want one of them", s.rd.o.Labels)
	}
	from, to := 0, len(tokens)
	if attention >= 0 {
		var err error
		if from, to, err = ones(s.lists[attention]); err != nil {
			return sample, err
		}
	}
	sample.Tokens = tokens[from:to:to]
	switch {
	case labels >= 0:
		sample.Labels = s.lists[labels][from:to:to]
	case mask >= 0:
		sample.Labels = s.masked(tokens, from, to)
	}
	return sample, nil
}

// anyNegative reports whether a value is below 0, without a branch for each.
func anyNegative(values []int32) bool {
	signs := int32(0)
	for _, v := range values {
		signs |= v
	}
	return signs < 0
}

// text sets the sample's id or key to the value of column i.
func (s *sampler) text(sample *tokenstream.Sample, i int, c *cursor) error {
	column := &s.rd.columns[i]
	value, isNull, err := c.nextText()
	isKey := column.name == s.rd.o.KeyField
	if err == nil && isNull && isKey {
		err = errors.New("null: want a string or an integer")
	}
	if err != nil {
		return &tokenstream.InputError{Field: column.name, Err: err}
	}
	if column.role == roleID {
		sample.ID = value
	}
	if isKey {
		sample.Key = value
	}
	return nil
}

// element returns err as one about an element of the column, if that is what it is about.
func (s *sampler) element(column *source, err error) error {
	var e *elementError
	switch {
	case !errors.As(err, &e):
		return &tokenstream.InputError{Field: column.name, Err: err}
	case e.found == "null":
		return wrongAt(column.name, e.index, "null: want an integer")
	case column.role == roleIDs:
		return wrongAt(column.name, e.index, "%s: want 0..%d", e.found, math.MaxInt32)
	}
	return wrongAt(column.name, e.index, "%s: want %d..%d", e.found, math.MinInt32, math.MaxInt32)
}

// check returns an error when the list in column i is none for a sample of n tokens.
func (s *sampler) check(i, n int) error {
	column, v := &s.rd.columns[i], s.lists[i]
	if v == nil {
		return nil
	}
	if len(v) != n {
		return wrong(column.name, "%d values for %d ids: want as many", len(v), n)
	}
	switch column.role {
	case roleMask, roleAttention:
		for k, x := range v {
			if x != 0 && x != 1 {
				return wrongAt(column.name, k, "%d: want 0 or 1", x)
			}
		}
	case rolePositions:
		for k, x := range v {
			if int(x) != k {
				return wrongAt(column.name, k, "%d: want %d; does the row hold several samples, packed already?", x, k)
			}
		}
	}
	return nil
}

// masked returns the labels of tokens[from:to] under all masks that are there.
func (s *sampler) masked(tokens []int32, from, to int) []int32 {
	s.labels = append(s.labels[:0], tokens[from:to]...)
	for i, column := range s.rd.columns {
		if column.role != roleMask || s.lists[i] == nil {
			continue
		}
		for k, x := range s.lists[i][from:to] {
			if x == 0 {
				s.labels[k] = tokenstream.Ignore
			}
		}
	}
	return s.labels
}

// ones returns where the ones of an attention mask begin and end.
func ones(mask []int32) (from, to int, err error) {
	from, to = slices.Index(mask, 1), len(mask)
	if from < 0 {
		return 0, 0, nil
	}
	if i := slices.Index(mask[from:], 0); i >= 0 {
		to = from + i
	}
	if slices.Contains(mask[to:], 1) {
		return 0, 0, wrongAt("attention_mask", to, "0 between ones: want one run of ones, with padding at the ends only")
	}
	return from, to, nil
}

// wrong returns an error about a column.
func wrong(column, format string, args ...any) error {
	return &tokenstream.InputError{Field: column, Err: fmt.Errorf(format, args...)}
}

// wrongAt returns an error about an element of a column.
func wrongAt(column string, i int, format string, args ...any) error {
	return wrong(fmt.Sprintf("%s[%d]", column, i), format, args...)
}

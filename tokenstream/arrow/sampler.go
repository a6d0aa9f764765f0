package arrow

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/brimful/brimful/tokenstream"
)

// A sampler makes samples of the rows of record batches.
type sampler struct {
	o       *ReadOptions
	columns []source
	lists   [][]int32 // by column, nil for a null
	labels  []int32
}

// sample returns the sample of row i of the record batch at hand. Its slices are valid until the following call.
func (s *sampler) sample(i int) (tokenstream.Sample, error) {
	var sample tokenstream.Sample
	s.lists = slices.Grow(s.lists[:0], len(s.columns))[:len(s.columns)]
	ids, labels, mask, attention := -1, -1, -1, -1
	for k := range s.columns {
		c := &s.columns[k]
		if c.role == roleID || c.role == roleKey {
			if err := s.text(&sample, c, i); err != nil {
				return sample, err
			}
			continue
		}
		v, isNull, err := c.list.next(i)
		if err != nil {
			return sample, s.element(c, err)
		}
		s.lists[k] = v
		if isNull {
			continue
		}
		switch c.role {
		case roleIDs:
			ids = k
		case roleLabels:
			labels = k
		case roleMask:
			mask = k
		case roleAttention:
			attention = k
		}
	}
	if ids < 0 {
		return sample, wrong(s.o.IDs, "null: want a list of token ids")
	}
	tokens := s.lists[ids]
	if anyNegative(tokens) {
		i := slices.IndexFunc(tokens, func(id int32) bool { return id < 0 })
		return sample, wrongAt(s.o.IDs, i, "%d: want 0..%d", tokens[i], math.MaxInt32)
	}
	for k := range s.columns {
		if err := s.check(k, len(tokens)); err != nil {
			return sample, err
		}
	}
	if mask >= 0 && labels >= 0 {
		return sample, wrong(s.columns[mask].name, "both a mask and %s: want one of them", s.o.Labels)
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
	for ; len(values) >= 8; values = values[8:] {
		v := values[:8:8]
		signs |= v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]
	}
	for _, v := range values {
		signs |= v
	}
	return signs < 0
}

// text sets the sample's id or key to the value in row i of the column.
func (s *sampler) text(sample *tokenstream.Sample, c *source, i int) error {
	value, isNull, err := textOf(c.text, i)
	isKey := c.name == s.o.KeyField
	if err == nil && isNull && isKey {
		err = errors.New("null: want a string or an integer")
	}
	if err != nil {
		return &tokenstream.InputError{Field: c.name, Err: err}
	}
	if c.role == roleID {
		sample.ID = value
	}
	if isKey {
		sample.Key = value
	}
	return nil
}

// element returns err as one about an element of the column, if that is what it is about.
func (s *sampler) element(c *source, err error) error {
	var e *elementError
	switch {
	case !errors.As(err, &e):
		return &tokenstream.InputError{Field: c.name, Err: err}
	case e.found == "null":
		return wrongAt(c.name, e.index, "null: want an integer")
	case c.role == roleIDs:
		return wrongAt(c.name, e.index, "%s: want 0..%d", e.found, math.MaxInt32)
	}
	return wrongAt(c.name, e.index, "%s: want %d..%d", e.found, math.MinInt32, math.MaxInt32)
}

// check returns an error when the list in column k is none for a sample of n tokens.
func (s *sampler) check(k, n int) error {
	c, v := &s.columns[k], s.lists[k]
	if v == nil {
		return nil
	}
	if len(v) != n {
		return wrong(c.name, "%d values for %d ids: want as many", len(v), n)
	}
	switch c.role {
	case roleMask, roleAttention:
		for i, x := range v {
			if x != 0 && x != 1 {
				return wrongAt(c.name, i, "%d: want 0 or 1", x)
			}
		}
	case rolePositions:
		for i, x := range v {
			if int(x) != i {
				return wrongAt(c.name, i, "%d: want %d; does the row hold several samples, packed already?", x, i)
			}
		}
	}
	return nil
}

// masked returns the labels of tokens[from:to] under all masks that are there.
func (s *sampler) masked(tokens []int32, from, to int) []int32 {
	s.labels = append(s.labels[:0], tokens[from:to]...)
	for k, c := range s.columns {
		if c.role != roleMask || s.lists[k] == nil {
			continue
		}
		for i, x := range s.lists[k][from:to] {
			if x == 0 {
				s.labels[i] = tokenstream.Ignore
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

// Package npy reads token ids from the files of numpy.save: arrays of integers of any width, little-endian.
//
// An array of two dimensions is one sample a row. One of one dimension holds all samples one after another; a second array of one
// dimension, the offsets, says where: sample i has the tokens from offsets[i] up to offsets[i+1], so that the first is 0 and the last is
// the number of tokens. A third, of the shape of the first, may hold the labels, unshifted, or, if its type is bool, a mask of what is
// to be learnt.
//
// Raw files without a header, as numpy.memmap makes them, have neither a type nor a shape: give them a header by numpy.save, or use
// [Source.Raw] from Go.
package npy

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/internal/columns"
	"github.com/brimful/brimful/tokenstream/internal/words"
)

// A File is an array.
type File struct {
	io.ReaderAt
	Size int64  // bytes
	Name string // for errors and the ledger
}

// A Source is the arrays of a data set.
type Source struct {
	Tokens  File
	Offsets *File // nil of a two-dimensional array
	Labels  *File // nil: every token is a target
	Raw     int   // 0: the tokens have a header; otherwise they have none and are unsigned integers of so many bytes
}

// Samples returns the samples. An error is a [*tokenstream.InputError]; its row is the sample, from 1. The source can be ranged over more
// than once, and takes little memory but for the longest sample.
func (s Source) Samples() tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		row, err := s.read(yield)
		if err == nil {
			return
		}
		var at *tokenstream.InputError
		if !errors.As(err, &at) {
			at = &tokenstream.InputError{Err: err}
		}
		if at.Place.Name == "" {
			at.Place = tokenstream.Place{Name: s.Tokens.Name, Row: row}
		}
		yield(tokenstream.Sample{}, at)
	}
}

// of returns err as one about a file.
func (f *File) of(err error) error {
	if err == nil {
		return nil
	}
	return &tokenstream.InputError{Place: tokenstream.Place{Name: f.Name}, Err: err}
}

// open returns the array in a file and a reader of its elements.
func (f *File) open() (array, *words.Reader, error) {
	a, err := parse(f, f.Size)
	if err != nil {
		return a, nil, f.of(err)
	}
	return a, words.NewReader(io.NewSectionReader(f, a.data, f.Size-a.data), a.t), nil
}

func (s *Source) tokens() (array, *words.Reader, error) {
	if s.Raw == 0 {
		return s.Tokens.open()
	}
	t := words.Type{Size: s.Raw}
	if s.Raw != 1 && s.Raw != 2 && s.Raw != 4 && s.Raw != 8 || s.Tokens.Size%int64(s.Raw) != 0 {
		return array{}, nil, s.Tokens.of(fmt.Errorf("%d bytes of raw integers of %d bytes: want a multiple, of 1, 2, 4 or 8", s.Tokens.Size, s.Raw))
	}
	return array{t: t, flat: true, n: s.Tokens.Size / int64(s.Raw)}, words.NewReader(io.NewSectionReader(s.Tokens, 0, s.Tokens.Size), t), nil
}

// read yields the samples. It returns an error and the sample that it is about, if it is about one.
func (s *Source) read(yield func(tokenstream.Sample, error) bool) (row int64, err error) {
	a, tokens, err := s.tokens()
	if err != nil {
		return 0, err
	}
	var labels *words.Reader
	mask := false
	if s.Labels != nil {
		var l array
		if l, labels, err = s.Labels.open(); err != nil {
			return 0, err
		}
		if l.n != a.n || l.rows != a.rows {
			return 0, s.Labels.of(fmt.Errorf("%d labels in %d rows for %d ids in %d: want as many", l.n, l.rows, a.n, a.rows))
		}
		mask = l.flag
	}
	next, count, err := s.lengths(a)
	if err != nil {
		return 0, err
	}
	names := &tokenstream.Fields{IDs: "tokens"}
	if mask {
		names.Masks = []string{"labels"}
		names.Labels = "no labels"
	}
	if _, err := columns.Roles(names); err != nil {
		return 0, err
	}
	r := columns.NewRow(names)
	var ids, targets []int32
	for row = 1; row <= count; row++ {
		n, err := next()
		if err != nil {
			return row, err
		}
		ids, err = tokens.Append(ids[:0], n)
		if err := r.Set(columns.IDs, ids, false, err); err != nil {
			return row, err
		}
		if labels != nil {
			role := columns.Labels
			if mask {
				role = columns.Mask
			}
			targets, err = labels.Append(targets[:0], n)
			if err := r.Set(role, targets, false, err); err != nil {
				return row, err
			}
		}
		sample := tokenstream.Sample{Place: tokenstream.Place{Name: s.Tokens.Name, Row: row}}
		if sample.Tokens, sample.Labels, err = r.Sample(); err != nil {
			return row, err
		}
		if !yield(sample, nil) {
			return 0, nil
		}
	}
	return 0, nil
}

// lengths returns a function that returns the length of one sample after another, and how many there are.
func (s *Source) lengths(a array) (next func() (int64, error), count int64, err error) {
	if s.Offsets == nil {
		if a.flat {
			return nil, 0, s.Tokens.of(errors.New("an array of one dimension without offsets: want two dimensions, or the offsets of the samples"))
		}
		n := a.n / max(a.rows, 1)
		return func() (int64, error) { return n, nil }, a.rows, nil
	}
	o, _, err := s.Offsets.open()
	switch {
	case err != nil:
		return nil, 0, err
	case !a.flat || !o.flat:
		return nil, 0, s.Offsets.of(errors.New("offsets with an array of two dimensions: want one dimension in both"))
	case o.t != words.Type{Size: 8, Signed: true} && o.t != words.Type{Size: 8}:
		return nil, 0, s.Offsets.of(fmt.Errorf("offsets of type %v: want int64 or uint64", o.t))
	case o.n == 0:
		return nil, 0, s.Offsets.of(errors.New("no offsets: want at least 1, which is 0"))
	}
	offsets := words.NewInt64s(io.NewSectionReader(s.Offsets, o.data, s.Offsets.Size-o.data))
	last, i := int64(0), int64(0)
	step := func() (int64, error) {
		at, err := offsets.Next()
		switch {
		case err != nil:
			return 0, s.Offsets.of(err)
		case i == 0 && at != 0:
			return 0, s.Offsets.of(fmt.Errorf("offset 0 is %d: want 0", at))
		case at < last || at > a.n:
			return 0, s.Offsets.of(fmt.Errorf("offset %d is %d: want %d..%d", i, at, last, a.n))
		case i == o.n-1 && at != a.n:
			return 0, s.Offsets.of(fmt.Errorf("the last offset is %d: want %d, the number of tokens", at, a.n))
		case at-last > math.MaxInt32:
			return 0, s.Offsets.of(fmt.Errorf("offset %d: a sample of %d tokens: want at most %d", i, at-last, math.MaxInt32))
		}
		n := at - last
		last, i = at, i+1
		return n, nil
	}
	if _, err := step(); err != nil {
		return nil, 0, err
	}
	return step, o.n - 1, nil
}

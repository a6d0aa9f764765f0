// Package megatron reads token ids from the indexed data sets of Megatron: an index, NAME.idx, and the tokens of all documents one after
// another, NAME.bin. A document is a sample; every token of it is a target, since the format knows no labels.
//
// The index is a header (MMIDIDX, version 1, the type of the tokens, the numbers of sequences and of document boundaries), the lengths of
// the sequences (int32), the bytes at which they begin (int64), and the sequence at which each document begins and the last one ends
// (int64). Indices of several modalities are refused. The two files have to agree in every length.
package megatron

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/internal/columns"
	"github.com/brimful/brimful/tokenstream/internal/words"
)

// Magic is what an index begins with.
const Magic = "MMIDIDX\x00\x00"

// headerSize is the size of what comes before the lengths.
const headerSize = len(Magic) + 8 + 1 + 8 + 8

// types are the types of tokens by their code. 6 and 7 are floating point.
var types = map[byte]words.Type{1: {Size: 1}, 2: {Size: 1, Signed: true}, 3: {Size: 2, Signed: true}, 4: {Size: 4, Signed: true}, 5: {Size: 8, Signed: true}, 8: {Size: 2}}

// An Input is one of the two files.
type Input struct {
	io.ReaderAt
	Size int64 // bytes
}

// Read returns the documents of a data set. Name is that of the index, for errors and the ledger. An error is a
// [*tokenstream.InputError]; its row is the document, from 1. The source can be ranged over more than once, and takes little memory but
// for the longest document.
func Read(index, tokens Input, name string) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		d := &data{index: index, tokens: tokens}
		row, err := d.read(func(row int64, ids []int32) bool {
			return yield(tokenstream.Sample{Tokens: ids, Place: tokenstream.Place{Name: name, Row: row}}, nil)
		})
		if err == nil {
			return
		}
		var at *tokenstream.InputError
		if !errors.As(err, &at) {
			at = &tokenstream.InputError{Err: err}
		}
		at.Place = tokenstream.Place{Name: name, Row: row}
		yield(tokenstream.Sample{}, at)
	}
}

type data struct {
	index, tokens    Input
	t                words.Type
	sequences, marks int64
}

// section returns a part of the index.
func (d *data) section(at, size int64) io.Reader { return io.NewSectionReader(d.index, at, size) }

// open reads the header and compares the sizes.
func (d *data) open() error {
	b := make([]byte, headerSize)
	if n, err := d.index.ReadAt(b, 0); n < len(b) {
		if err == io.EOF {
			err = fmt.Errorf("the index has %d bytes: want at least %d", n, len(b))
		}
		return err
	}
	if string(b[:len(Magic)]) != Magic {
		return fmt.Errorf("it begins with %q: want %q", b[:len(Magic)], Magic)
	}
	b = b[len(Magic):]
	if v := binary.LittleEndian.Uint64(b); v != 1 {
		return fmt.Errorf("version %d: want 1", v)
	}
	t, ok := types[b[8]]
	if !ok {
		return fmt.Errorf("tokens of type %d: want integers: 1 to 5, or 8", b[8])
	}
	d.t = t
	sequences, marks := binary.LittleEndian.Uint64(b[9:]), binary.LittleEndian.Uint64(b[17:])
	if most := uint64(d.index.Size); sequences > most/12 || marks > most/8 {
		return fmt.Errorf("%d sequences and %d document boundaries: an index of %d bytes has no room for them", sequences, marks, d.index.Size)
	}
	d.sequences, d.marks = int64(sequences), int64(marks)
	switch want := int64(headerSize) + 12*d.sequences + 8*d.marks; {
	case d.index.Size == want:
	case d.index.Size == want+d.sequences && d.sequences > 0:
		return errors.New("the index has modes: it is of several modalities, which rows have no place for")
	default:
		return fmt.Errorf("the index has %d bytes: want %d for %d sequences and %d document boundaries", d.index.Size, want, d.sequences, d.marks)
	}
	if d.marks == 0 {
		return errors.New("no document boundaries: want at least 1, which is 0")
	}
	return nil
}

// read yields the documents. It returns an error and the document that it is about, if it is about one.
func (d *data) read(yield func(int64, []int32) bool) (row int64, err error) {
	if err := d.open(); err != nil {
		return 0, err
	}
	lengths := words.NewReader(d.section(int64(headerSize), 4*d.sequences), words.Type{Size: 4, Signed: true})
	starts := words.NewInt64s(d.section(int64(headerSize)+4*d.sequences, 8*d.sequences))
	marks := words.NewInt64s(d.section(int64(headerSize)+12*d.sequences, 8*d.marks))
	tokens := words.NewReader(io.NewSectionReader(d.tokens, 0, d.tokens.Size), d.t)
	if first, err := marks.Next(); err != nil || first != 0 {
		return 0, errors.Join(err, fmt.Errorf("the first document begins at sequence %d: want 0", first))
	}
	sequence, at := int64(0), int64(0) // at hand: the next sequence, the byte at which it has to begin
	var ids, length []int32
	for row = 1; row < d.marks; row++ {
		end, err := marks.Next()
		if err != nil {
			return row, err
		}
		if end < sequence || end > d.sequences {
			return row, fmt.Errorf("the document ends before sequence %d: want %d..%d", end, sequence, d.sequences)
		}
		ids = ids[:0]
		for ; sequence < end; sequence++ {
			start, err := starts.Next()
			if err != nil {
				return row, err
			}
			if start != at {
				return row, fmt.Errorf("sequence %d begins at byte %d: want %d, where the one before ends", sequence, start, at)
			}
			if length, err = lengths.Append(length[:0], 1); err != nil {
				return row, err
			}
			n := int64(length[0])
			if at += n * int64(d.t.Size); n < 0 || at > d.tokens.Size {
				return row, fmt.Errorf("sequence %d has %d tokens from byte %d on: the tokens have %d bytes", sequence, n, start, d.tokens.Size)
			}
			from := len(ids)
			if ids, err = tokens.Append(ids, n); err != nil {
				return row, wrong(err, from)
			}
			for i, id := range ids[from:] {
				if id < 0 {
					return row, columns.WrongAt("tokens", from+i, "%d: want 0..%d", id, math.MaxInt32)
				}
			}
		}
		if !yield(row, ids) {
			return 0, nil
		}
	}
	if sequence != d.sequences || at != d.tokens.Size {
		return 0, fmt.Errorf("the documents end at sequence %d and byte %d: want %d and %d, where the data do", sequence, at, d.sequences, d.tokens.Size)
	}
	return 0, nil
}

// wrong returns an error about tokens that begin at a place in their document.
func wrong(err error, from int) error {
	var at *columns.ElementError
	if errors.As(err, &at) {
		return columns.WrongAt("tokens", from+at.Index, "%s: want 0..%d", at.Found, math.MaxInt32)
	}
	return &tokenstream.InputError{Field: "tokens", Err: err}
}

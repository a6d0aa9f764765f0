package arrow

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// ReadOptions say how samples are read. The zero value is the default.
type ReadOptions struct {
	tokenstream.Fields

	Name string // the file's name, for errors and the ledger

	// MaxBatchBytes is the most that a record batch, or all dictionaries, may have, as they are stored and once they are decompressed;
	// 0 is 1 GiB. A record batch is in memory as a whole.
	MaxBatchBytes int
}

const defaultMaxBatch = 1 << 30

func (o *ReadOptions) setDefaults() {
	if o.MaxBatchBytes <= 0 {
		o.MaxBatchBytes = defaultMaxBatch
	}
}

// Read returns the samples of r, an Arrow IPC file or stream, one a row, in the order of its record batches. It reads r to the end, and
// from the beginning on: a file need not be one that can be sought in. An error is a [*tokenstream.InputError]; that of an element names
// the row, the column and the index. The source can be ranged over once and does not close r. What it takes in memory is a record batch
// and the dictionaries.
func Read(r io.Reader, o ReadOptions) tokenstream.Source {
	o.setDefaults()
	return func(yield func(tokenstream.Sample, error) bool) {
		s := &sampler{o: &o}
		place, err := s.read(r, yield)
		if err == nil {
			return
		}
		var at *tokenstream.InputError
		if !errors.As(err, &at) {
			at = &tokenstream.InputError{Err: err}
		}
		at.Place = tokenstream.Place{Name: o.Name, Row: place}
		yield(tokenstream.Sample{}, at)
	}
}

// read yields the samples of r. It returns an error and the row that it is about, if it is about one.
func (s *sampler) read(r io.Reader, yield func(tokenstream.Sample, error) bool) (row int64, err error) {
	messages, err := newMessages(r, s.o.MaxBatchBytes)
	if err != nil {
		return 0, err
	}
	room := &room{left: s.o.MaxBatchBytes, max: s.o.MaxBatchBytes}
	batches, err := ipc.NewReaderFromMessageReader(messages, ipc.WithAllocator(room))
	if messages.err != nil {
		return 0, messages.err
	}
	if errors.Is(err, io.EOF) {
		return 0, errors.New("the data end before their schema")
	}
	if err != nil {
		return 0, err
	}
	defer batches.Release()
	if err := s.open(batches.Schema()); err != nil {
		return 0, err
	}
	for batches.Next() {
		batch := batches.RecordBatch()
		if err := s.reset(batch, len(messages.batches)); err != nil {
			return 0, err
		}
		for i := range int(batch.NumRows()) {
			row++
			sample, err := s.sample(i)
			if err != nil {
				return row, err
			}
			sample.Place = tokenstream.Place{Name: s.o.Name, Row: row}
			if !yield(sample, nil) {
				return 0, nil
			}
		}
	}
	if messages.err != nil {
		return 0, messages.err
	}
	var full *roomError
	if err := batches.Err(); errors.As(err, &full) {
		return 0, full
	} else if err != nil {
		return 0, fmt.Errorf("record batch %d: %w", len(messages.batches), err)
	}
	return 0, nil
}

// A source is a column and what it is for. There may be several masks, and one of every other role.
type source struct {
	name  string
	index int // in the schema
	role  columns.Role
	list  list        // of a list
	text  arrow.Array // of an id or a key
}

// open finds the columns of the samples.
func (s *sampler) open(schema *arrow.Schema) error {
	roles, err := columns.Roles(&s.o.Fields)
	if err != nil {
		return err
	}
	s.row = columns.NewRow(&s.o.Fields)
	seen := map[string]bool{}
	for i, f := range schema.Fields() {
		r, ok := roles[f.Name]
		if !ok {
			if numbers(f.Type) && s.o.Unused != nil {
				s.o.Unused(f.Name)
			}
			continue
		}
		if seen[f.Name] {
			return columns.Wrong(f.Name, "two columns have this name")
		}
		if f.Type.ID() == arrow.NULL {
			continue // nothing but nulls is no column
		}
		seen[f.Name] = true
		switch r {
		case columns.Packed:
			return columns.Wrong(f.Name, "the file is packed already: want single samples")
		case columns.ID, columns.Key:
			err = single(f.Type)
		default:
			err = integers(f.Type, r.IsFlag())
		}
		if err != nil {
			return &tokenstream.InputError{Field: f.Name, Err: err}
		}
		s.columns = append(s.columns, source{name: f.Name, index: i, role: r})
	}
	for _, name := range []string{s.o.IDs, s.o.KeyField} {
		if name != "" && !seen[name] {
			return columns.Wrong(name, "no such column")
		}
	}
	return nil
}

// reset begins a record batch, the n-th, whose values it does not trust.
func (s *sampler) reset(batch arrow.RecordBatch, n int) error {
	for i := range s.columns {
		c := &s.columns[i]
		column := withNulls(batch.Column(c.index))
		if err := validate(column); err != nil {
			return columns.Wrong(c.name, "record batch %d: %w", n, err)
		}
		if c.role.IsText() {
			c.text = column
		} else {
			c.list.reset(column, s.o.MaxBatchBytes)
		}
	}
	return nil
}

// validate returns an error if there is a value in the column that cannot be got at. Some faults make the library's validation itself
// panic.
func validate(column arrow.Array) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return array.ValidateFull(column)
}

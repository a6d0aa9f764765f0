package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// ReadOptions say how samples are read. The zero value is the default.
type ReadOptions struct {
	tokenstream.Fields

	Name string // the file's name, for errors and the ledger

	// MaxPageBytes is the most that a page may have once it is decompressed, in bytes; 0 is 512 MiB. It bounds what a column takes in
	// memory, whatever the size of the row groups.
	MaxPageBytes int
}

const defaultMaxPage = 512 << 20

func (o *ReadOptions) setDefaults() {
	if o.MaxPageBytes <= 0 {
		o.MaxPageBytes = defaultMaxPage
	}
}

// A Reader reads the samples of a Parquet file, one a row. Its methods may be called from several goroutines at once if that is true of
// the io.ReaderAt under it.
type Reader struct {
	r       io.ReaderAt
	o       ReadOptions
	meta    *format.FileMetaData
	end     int64 // of the pages
	columns []source
}

// A source is a column and what it is for. There may be several masks, and one of every other role.
type source struct {
	field
	role columns.Role
}

// NewReader reads the footer of the file of the given size and finds the columns of the samples. An error is a
// [*tokenstream.InputError].
func NewReader(r io.ReaderAt, size int64, o ReadOptions) (*Reader, error) {
	o.setDefaults()
	rd := &Reader{r: r, o: o}
	if err := rd.open(size); err != nil {
		var at *tokenstream.InputError
		if !errors.As(err, &at) {
			at = &tokenstream.InputError{Err: err}
		}
		at.Place.Name = o.Name
		return nil, at
	}
	return rd, nil
}

func (rd *Reader) open(size int64) (err error) {
	if rd.meta, rd.end, err = readFooter(rd.r, size); err != nil {
		return err
	}
	fields, leaves, err := fieldsOf(rd.meta.Schema)
	if err != nil {
		return err
	}
	for i := range rd.meta.RowGroups {
		if n := len(rd.meta.RowGroups[i].Columns); n != leaves {
			return fmt.Errorf("row group %d has %d columns: want %d", i, n, leaves)
		}
	}
	roles, err := columns.Roles(&rd.o.Fields)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range fields {
		r, ok := roles[f.name]
		if !ok {
			if f.numbers() && rd.o.Unused != nil {
				rd.o.Unused(f.name)
			}
			continue
		}
		if seen[f.name] {
			return columns.Wrong(f.name, "two columns have this name")
		}
		if f.kind == null && !f.list {
			continue // nothing but nulls is no column
		}
		seen[f.name] = true
		switch r {
		case columns.Packed:
			return columns.Wrong(f.name, "the file is packed already: want single samples")
		case columns.ID, columns.Key:
			err = f.single()
		default:
			err = f.integers(r.IsFlag())
		}
		if err != nil {
			return &tokenstream.InputError{Field: f.name, Err: err}
		}
		rd.columns = append(rd.columns, source{f, r})
	}
	for _, name := range []string{rd.o.IDs, rd.o.KeyField} {
		if name != "" && !seen[name] {
			return columns.Wrong(name, "no such column")
		}
	}
	return nil
}

// NumRows returns how many samples there are.
func (rd *Reader) NumRows() int64 { return rd.meta.NumRows }

// Read returns the samples of the file of the given size, as [NewReader] and [Reader.Samples] do. An error about the file as a whole is
// the source's first.
func Read(r io.ReaderAt, size int64, o ReadOptions) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		rd, err := NewReader(r, size, o)
		if err != nil {
			yield(tokenstream.Sample{}, err)
			return
		}
		rd.Samples()(yield)
	}
}

// A RowGroup is what is known of a row group before it is read.
type RowGroup struct {
	Rows   int64 // samples
	Values int64 // token ids, and one for each sample without any
}

// RowGroups returns what is known of each row group.
func (rd *Reader) RowGroups() []RowGroup {
	leaf := 0
	for _, c := range rd.columns {
		if c.role == columns.IDs {
			leaf = c.leaf
		}
	}
	var list []RowGroup
	for _, g := range rd.meta.RowGroups {
		list = append(list, RowGroup{g.NumRows, max(0, g.Columns[leaf].MetaData.NumValues)})
	}
	return list
}

// Samples returns the samples of the file, in its order. An error is a [*tokenstream.InputError]; that of an element names the row, the
// column and the index. The source can be ranged over more than once. It reads page by page: what it takes in memory is a page of each
// column.
func (rd *Reader) Samples() tokenstream.Source { return rd.Part(0, len(rd.meta.RowGroups)) }

// Part is [Reader.Samples] for the row groups from one number up to, not including, another, so that several goroutines can each read a
// part. Rows are numbered through the file. Numbers out of range are cut to the row groups that there are.
func (rd *Reader) Part(from, to int) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		s := newSampler(rd)
		row := int64(0)
		for i := range rd.meta.RowGroups {
			group := &rd.meta.RowGroups[i]
			if i >= to {
				break
			}
			if i < from || group.NumRows == 0 {
				row += group.NumRows
				continue
			}
			err := s.open(group)
			for n := int64(0); err == nil && n < group.NumRows; n++ {
				row++
				var sample tokenstream.Sample
				if sample, err = s.next(); err != nil {
					break
				}
				sample.Place = tokenstream.Place{Name: rd.o.Name, Row: row}
				if !yield(sample, nil) {
					return
				}
			}
			if err == nil {
				err = s.close()
			}
			if err != nil {
				var at *tokenstream.InputError
				if !errors.As(err, &at) {
					at = &tokenstream.InputError{Err: err}
				}
				at.Place = tokenstream.Place{Name: rd.o.Name, Row: row}
				yield(tokenstream.Sample{}, at)
				return
			}
		}
	}
}

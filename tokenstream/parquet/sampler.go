package parquet

import (
	"github.com/parquet-go/parquet-go/format"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// A sampler makes samples of the rows of all columns.
type sampler struct {
	rd      *Reader
	cursors []*cursor
	row     *columns.Row
}

func newSampler(rd *Reader) *sampler {
	s := &sampler{rd: rd, row: columns.NewRow(&rd.o.Fields)}
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
func (s *sampler) next() (sample tokenstream.Sample, err error) {
	for i, c := range s.cursors {
		if role := s.rd.columns[i].role; role.IsText() {
			text, isNull, failed := c.nextText()
			err = s.row.SetText(&sample, role, text, isNull, failed)
		} else {
			list, isNull, failed := c.next()
			err = s.row.Set(role, list, isNull, failed)
		}
		if err != nil {
			return sample, err
		}
	}
	sample.Tokens, sample.Labels, err = s.row.Sample()
	return sample, err
}

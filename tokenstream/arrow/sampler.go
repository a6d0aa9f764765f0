package arrow

import (
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// A sampler makes samples of the rows of record batches.
type sampler struct {
	o       *ReadOptions
	columns []source
	row     *columns.Row
}

// sample returns the sample of row i of the record batch at hand. Its slices are valid until the following call.
func (s *sampler) sample(i int) (sample tokenstream.Sample, err error) {
	for k := range s.columns {
		c := &s.columns[k]
		if c.role.IsText() {
			text, isNull, failed := textOf(c.text, i)
			err = s.row.SetText(&sample, c.role, text, isNull, failed)
		} else {
			list, isNull, failed := c.list.next(i)
			err = s.row.Set(c.role, list, isNull, failed)
		}
		if err != nil {
			return sample, err
		}
	}
	sample.Tokens, sample.Labels, err = s.row.Sample()
	return sample, err
}

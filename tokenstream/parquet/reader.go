package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/brimful/brimful/tokenstream"
)

// ReadOptions say how samples are read. The zero value is the default.
type ReadOptions struct {
	Name     string   // the file's name, for errors and the ledger
	IDs      string   // column of the token ids; "" is "input_ids"
	Labels   string   // column of the labels; "" is "labels"
	Masks    []string // columns of masks; nil is "loss_mask", "assistant_masks", "completion_mask"
	KeyField string   // column of strings or integers that become [tokenstream.Sample.Key], and are never null then; "" is none

	// Unused, if not nil, is called once with each column that is skipped although it holds a list of numbers, and so might have one for
	// each token.
	Unused func(column string)

	// MaxPageBytes is the most that a page may have once it is decompressed, in bytes; 0 is 512 MiB. It bounds what a column takes in
	// memory, whatever the size of the row groups.
	MaxPageBytes int
}

const defaultMaxPage = 512 << 20

func (o *ReadOptions) setDefaults() {
	if o.IDs == "" {
		o.IDs = "input_ids"
	}
	if o.Labels == "" {
		o.Labels = "labels"
	}
	if o.Masks == nil {
		o.Masks = []string{"loss_mask", "assistant_masks", "completion_mask"}
	}
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
	role role
}

type role uint8

const (
	roleIDs role = iota
	roleLabels
	roleMask
	roleAttention
	rolePositions
	roleID
	roleKey
	rolePacked // of columns that only packed rows have
)

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
	roles := rd.o.roles()
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
			return wrong(f.name, "two columns have this name")
		}
		seen[f.name] = true
		switch r {
		case rolePacked:
			return wrong(f.name, "the file is packed already: want single samples")
		case roleID, roleKey:
			err = f.single()
		default:
			err = f.integers(r == roleMask || r == roleAttention)
		}
		if err != nil {
			return &tokenstream.InputError{Field: f.name, Err: err}
		}
		rd.columns = append(rd.columns, source{f, r})
	}
	for _, name := range []string{rd.o.IDs, rd.o.KeyField} {
		if name != "" && !seen[name] {
			return wrong(name, "no such column")
		}
	}
	return nil
}

// roles returns what the columns are for.
func (o *ReadOptions) roles() map[string]role {
	roles := map[string]role{
		"attention_mask": roleAttention, "position_ids": rolePositions, "id": roleID,
		"cu_seqlens": rolePacked, "seq_lengths": rolePacked, "seq_idx": rolePacked,
	}
	for _, name := range o.Masks {
		roles[name] = roleMask
	}
	roles[o.Labels] = roleLabels
	roles[o.IDs] = roleIDs
	if _, taken := roles[o.KeyField]; o.KeyField != "" && !taken {
		roles[o.KeyField] = roleKey
	}
	return roles
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

// Samples returns the samples of the file, in its order. An error is a [*tokenstream.InputError]; that of an element names the row, the
// column and the index. The source can be ranged over more than once. It reads page by page: what it takes in memory is a page of each
// column.
func (rd *Reader) Samples() tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		s := newSampler(rd)
		row := int64(0)
		for i := range rd.meta.RowGroups {
			group := &rd.meta.RowGroups[i]
			if group.NumRows == 0 {
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
	if i := slices.IndexFunc(tokens, func(id int32) bool { return id < 0 }); i >= 0 {
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

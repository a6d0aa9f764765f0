package inspect

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/brimful/brimful/position"
	"github.com/brimful/brimful/tokenstream"
)

// A Row is one row of a file.
type Row struct {
	Number    int64 // in its file, from 0
	Length    int   // slots: tokens, pad tail included
	Segments  []Segment
	Bounded   bool    // the segments are known; otherwise there is one, the whole row
	Tokens    []int64 // ids; nil if there is no such column, like the next
	Positions []int64
	Targets   []int64 // what the model shall predict at each place from the tokens before it, or tokenstream.Ignore
	Masked    bool    // a mask says what is to be learnt, and Targets holds the ids there
}

// A Segment is a run of a row that attention may not cross.
type Segment struct {
	From, To   int
	Pad        bool  // it is the pad tail
	Sample     int64 // where the sample stands in the source, from 0; -1 if unknown
	Supervised []Run // tokens to be learnt, the segment's first never among them
}

// A Run is a run of places, from From up to, not including, To.
type Run struct{ From, To int }

// set makes r the row whose columns of f hold values, which it copies.
func (r *Row) set(f *File, values [][]int64) error {
	column := func(k tokenstream.Kind) []int64 {
		if f.at[k] < 0 {
			return nil
		}
		return values[f.at[k]]
	}
	for _, i := range f.at {
		if i >= 0 && values[i] == nil {
			return fmt.Errorf("column %s is null", f.Columns[i].Name)
		}
	}
	*r = Row{Number: r.Number, Tokens: slices.Clone(column(tokenstream.Tokens)), Positions: slices.Clone(column(tokenstream.PositionIDs))}
	lengths, err := r.boundaries(f, column)
	if err != nil {
		return err
	}
	if err := r.targets(f, column); err != nil {
		return err
	}
	index := column(tokenstream.SampleIndex)
	from := 0
	for i, n := range lengths {
		s := Segment{From: from, To: from + int(n), Sample: -1}
		if i < len(index) {
			s.Sample = index[i]
		}
		from = s.To
		r.Segments = append(r.Segments, s)
	}
	if n := len(r.Segments); n > 0 {
		last := &r.Segments[n-1]
		if pad := column(tokenstream.PadLength); pad != nil {
			last.Pad = pad[0] > 0 && pad[0] == int64(last.To-last.From)
			if pad[0] != 0 && !last.Pad {
				return fmt.Errorf("a pad tail of %d tokens: the last segment has %d", pad[0], last.To-last.From)
			}
		} else {
			last.Pad = index != nil && len(index) == n-1
		}
	}
	for i := range r.Segments {
		r.Segments[i].Supervised = r.runs(r.Segments[i])
	}
	return nil
}

// boundaries returns the lengths of the segments, from the column that says them most plainly, and sets the row's length.
func (r *Row) boundaries(f *File, column func(tokenstream.Kind) []int64) ([]int32, error) {
	r.Length = -1
	for _, k := range []tokenstream.Kind{tokenstream.Tokens, tokenstream.Labels, tokenstream.ShiftedLabels, tokenstream.PositionIDs,
		tokenstream.SeqIdx, tokenstream.LossMask} {
		if v := column(k); v != nil {
			if r.Length >= 0 && r.Length != len(v) {
				return nil, fmt.Errorf("column %s has %d values, another %d", f.Columns[f.at[k]].Name, len(v), r.Length)
			}
			r.Length = len(v)
		}
	}
	for _, way := range []struct {
		kind    tokenstream.Kind
		lengths func(dst, values []int32) ([]int32, error)
	}{
		{tokenstream.CuSeqlens, position.LengthsFromCuSeqlens},
		{tokenstream.Lengths, positive},
		{tokenstream.PositionIDs, position.LengthsFromIDs},
		{tokenstream.SeqIdx, position.LengthsFromSeqIdx},
	} {
		if column(way.kind) == nil {
			continue
		}
		name := f.Columns[f.at[way.kind]].Name
		narrow, err := narrow(column(way.kind))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		lengths, err := way.lengths(nil, narrow)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		sum := int64(0)
		for _, l := range lengths {
			sum += int64(l)
		}
		if r.Length >= 0 && sum != int64(r.Length) {
			return nil, fmt.Errorf("column %s: segments of %d tokens in all: the row has %d", name, sum, r.Length)
		}
		if sum > math.MaxInt32 {
			return nil, fmt.Errorf("column %s: segments of %d tokens in all: want at most %d", name, sum, math.MaxInt32)
		}
		r.Length, r.Bounded = int(sum), true
		return lengths, nil
	}
	if r.Length < 0 {
		return nil, errors.New("no column of token ids or boundaries that is known: want input_ids, cu_seqlens, seq_lengths or position_ids")
	}
	if r.Length == 0 {
		return nil, nil
	}
	return []int32{int32(r.Length)}, nil
}

// positive returns lengths if each is at least 1.
func positive(dst, lengths []int32) ([]int32, error) {
	for i, l := range lengths {
		if l < 1 {
			return dst, fmt.Errorf("length %d at %d: want 1 or more", l, i)
		}
	}
	return append(dst, lengths...), nil
}

// narrow returns values as int32.
func narrow(values []int64) ([]int32, error) {
	narrow := make([]int32, len(values))
	for i, v := range values {
		if v < math.MinInt32 || v > math.MaxInt32 {
			return nil, fmt.Errorf("value %d at %d: want %d to %d", v, i, math.MinInt32, math.MaxInt32)
		}
		narrow[i] = int32(v)
	}
	return narrow, nil
}

// targets sets Targets from the column that says what is to be learnt.
func (r *Row) targets(f *File, column func(tokenstream.Kind) []int64) error {
	switch labels, shifted, mask := column(tokenstream.Labels), column(tokenstream.ShiftedLabels), column(tokenstream.LossMask); {
	case labels != nil:
		r.Targets = slices.Clone(labels)
	case len(shifted) > 0:
		r.Targets = append([]int64{tokenstream.Ignore}, shifted[:len(shifted)-1]...)
	case mask != nil:
		r.Masked = true
		r.Targets = make([]int64, len(mask))
		for i, m := range mask {
			switch {
			case m != 0 && m != 1:
				return fmt.Errorf("column %s: %d at %d: want 0 or 1", f.Columns[f.at[tokenstream.LossMask]].Name, m, i)
			case m == 0:
				r.Targets[i] = tokenstream.Ignore
			case r.Tokens != nil:
				r.Targets[i] = r.Tokens[i]
			}
		}
	}
	return nil
}

// runs returns the supervised tokens of a segment.
func (r *Row) runs(s Segment) []Run {
	if r.Targets == nil {
		return nil
	}
	var runs []Run
	for i := s.From + 1; i < s.To; i++ {
		if r.Targets[i] == tokenstream.Ignore {
			continue
		}
		if k := len(runs); k > 0 && runs[k-1].To == i {
			runs[k-1].To++
		} else {
			runs = append(runs, Run{i, i + 1})
		}
	}
	return runs
}

// counts counts r alone.
func (r *Row) counts() Counts {
	c := Counts{Rows: 1, Slots: int64(r.Length), Shortest: int64(r.Length), Longest: int64(r.Length)}
	for _, s := range r.Segments {
		if s.Pad {
			c.Padding += int64(s.To - s.From)
			continue
		}
		c.Segments++
		for _, run := range s.Supervised {
			c.Supervised += int64(run.To - run.From)
		}
	}
	c.MostInRow = c.Segments
	return c
}

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
}

// A Segment is a run of a row that attention may not cross.
type Segment struct {
	From, To   int
	Pad        bool  // it is the pad tail
	Sample     int64 // where the sample stands in the source, from 0; -1 if unknown
	Source     int64 // the source of a mixture that it is of, from 0; -1 if unknown
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
	lengths, padded, err := r.boundaries(f, column)
	if err != nil {
		return err
	}
	if err := r.targets(f, column); err != nil {
		return err
	}
	index, sources := column(tokenstream.SampleIndex), column(tokenstream.Sources)
	from := 0
	for i, n := range lengths {
		s := Segment{From: from, To: from + int(n), Sample: -1, Source: -1}
		if i < len(sources) {
			s.Source = sources[i]
		}
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
			last.Pad = padded || index != nil && len(index) == n-1
		}
	}
	for i := range r.Segments {
		r.Segments[i].Supervised = r.runs(r.Segments[i])
	}
	return nil
}

// boundaryKinds are the columns that say where segments begin, in the order in which they are asked. lengths returns the segments' lengths
// in a row of that many tokens, and whether the last is known to be the pad tail.
var boundaryKinds = []struct {
	kind    tokenstream.Kind
	lengths func(values []int32, length int) ([]int32, bool, error)
}{
	{tokenstream.CuSeqlens, plainly(fromOffsets)},
	{tokenstream.Lengths, plainly(positive)},
	{tokenstream.SegmentIDs, fromSegmentIDs},
	{tokenstream.PositionIDs, plainly(position.LengthsFromIDs)},
	{tokenstream.SeqIdx, plainly(position.LengthsFromSeqIdx)},
	{tokenstream.SegmentStarts, fromStarts},
}

// tokenKinds are the columns with a value for each token.
var tokenKinds = []tokenstream.Kind{
	tokenstream.Tokens, tokenstream.Labels, tokenstream.ShiftedLabels, tokenstream.PositionIDs, tokenstream.SeqIdx, tokenstream.LossMask,
	tokenstream.ShiftedTokens, tokenstream.ShiftedLossMask, tokenstream.SegmentIDs, tokenstream.TargetSegmentIDs,
}

// boundaries returns the lengths of the segments, by the first column that says them, and whether the last is known to be the pad tail. It
// sets the row's length.
func (r *Row) boundaries(f *File, column func(tokenstream.Kind) []int64) ([]int32, bool, error) {
	r.Length = -1
	for _, k := range tokenKinds {
		if v := column(k); v != nil {
			if r.Length >= 0 && r.Length != len(v) {
				return nil, false, fmt.Errorf("column %s has %d values, another %d", f.Columns[f.at[k]].Name, len(v), r.Length)
			}
			r.Length = len(v)
		}
	}
	for _, way := range boundaryKinds {
		if column(way.kind) == nil {
			continue
		}
		bad := func(err error) ([]int32, bool, error) {
			return nil, false, fmt.Errorf("column %s: %w", f.Columns[f.at[way.kind]].Name, err)
		}
		values, err := narrow(column(way.kind))
		if err != nil {
			return bad(err)
		}
		lengths, padded, err := way.lengths(values, r.Length)
		if err != nil {
			return bad(err)
		}
		sum := int64(0)
		for _, l := range lengths {
			sum += int64(l)
		}
		if r.Length >= 0 && sum != int64(r.Length) {
			return bad(fmt.Errorf("segments of %d tokens in all: the row has %d", sum, r.Length))
		}
		if sum > math.MaxInt32 {
			return bad(fmt.Errorf("segments of %d tokens in all: want at most %d", sum, math.MaxInt32))
		}
		r.Length, r.Bounded = int(sum), true
		return lengths, padded, nil
	}
	if r.Length < 0 {
		return nil, false, errors.New("no column of token ids or boundaries that is known: want input_ids, cu_seqlens, seq_lengths or position_ids")
	}
	if r.Length == 0 {
		return nil, false, nil
	}
	return []int32{int32(r.Length)}, false, nil
}

// plainly is a way in which the column says nothing of the pad tail.
func plainly(lengths func(dst, values []int32) ([]int32, error)) func([]int32, int) ([]int32, bool, error) {
	return func(values []int32, _ int) ([]int32, bool, error) {
		l, err := lengths(nil, values)
		return l, false, err
	}
}

// fromOffsets returns the distances between offsets. The last may be there again, where columns have the same length in every row.
func fromOffsets(dst, offsets []int32) ([]int32, error) {
	for n := len(offsets); n > 2 && offsets[n-1] == offsets[n-2]; n-- {
		offsets = offsets[:n-1]
	}
	return position.LengthsFromCuSeqlens(dst, offsets)
}

// fromSegmentIDs counts the tokens of each segment, which are numbered from 1; 0 is the pad tail.
func fromSegmentIDs(ids []int32, _ int) ([]int32, bool, error) {
	var lengths []int32
	for i, id := range ids {
		switch {
		case i > 0 && id == ids[i-1]:
			lengths[len(lengths)-1]++
		case id == int32(len(lengths))+1 && (i == 0 || ids[i-1] != 0), id == 0:
			lengths = append(lengths, 1)
		default:
			return nil, false, fmt.Errorf("segment %d at %d: want %d, or 0 in the pad tail", id, i, len(lengths)+1)
		}
	}
	return lengths, len(ids) > 0 && ids[len(ids)-1] == 0, nil
}

// fromStarts returns the distances between the offsets at which segments begin, and to the row's end.
func fromStarts(starts []int32, length int) ([]int32, bool, error) {
	var lengths []int32
	for i, s := range starts {
		switch {
		case i == 0 && s != 0:
			return nil, false, fmt.Errorf("the first segment begins at %d: want 0", s)
		case i > 0 && s <= starts[i-1], int(s) >= length:
			return nil, false, fmt.Errorf("a segment begins at %d, in a row of %d tokens and behind %d", s, length, starts[max(0, i-1)])
		case i > 0:
			lengths = append(lengths, s-starts[i-1])
		}
	}
	if n := len(starts); n > 0 {
		lengths = append(lengths, int32(length)-starts[n-1])
	}
	return lengths, false, nil
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

// targetKinds are the columns that say what is to be learnt, in the order in which they are asked. In a mask, anything but 0 means that
// the id there is. What is shifted is said at the token before.
var targetKinds = []struct {
	kind          tokenstream.Kind
	mask, shifted bool
}{
	{kind: tokenstream.Labels},
	{kind: tokenstream.ShiftedLabels, shifted: true},
	{kind: tokenstream.LossMask, mask: true},
	{kind: tokenstream.ShiftedLossMask, mask: true, shifted: true},
	{kind: tokenstream.TargetSegmentIDs, mask: true, shifted: true},
}

// targets sets Targets from the column that says what is to be learnt.
func (r *Row) targets(f *File, column func(tokenstream.Kind) []int64) error {
	for _, t := range targetKinds {
		values := column(t.kind)
		if values == nil {
			continue
		}
		r.Targets = slices.Clone(values)
		if t.shifted && len(values) > 0 {
			r.Targets = append([]int64{0}, values[:len(values)-1]...)
			if !t.mask {
				r.Targets[0] = tokenstream.Ignore
			}
		}
		if !t.mask {
			return nil
		}
		for i, m := range r.Targets {
			switch {
			case t.kind != tokenstream.TargetSegmentIDs && m != 0 && m != 1:
				return fmt.Errorf("column %s: a mask of %d: want 0 or 1", f.Columns[f.at[t.kind]].Name, m)
			case m == 0:
				r.Targets[i] = tokenstream.Ignore
			case r.Tokens != nil:
				r.Targets[i] = r.Tokens[i]
			}
		}
		return nil
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

package tokenstream

import "github.com/brimful/brimful/packing"

// Stats describe what [Pack] read and made.
type Stats struct {
	Ledger     Ledger `json:"ledger"`
	Capacity   int    `json:"capacity"`
	Rows       int64  `json:"rows"`
	Placed     int64  `json:"placed"`      // tokens of all rows but their padding
	AlignPad   int64  `json:"align_pad"`   // tokens of padding that align segments
	Slots      int64  `json:"slots"`       // tokens of all rows, pad tails included
	LowerBound int64  `json:"lower_bound"` // no packing of the same samples has fewer rows
	Segments   int64  `json:"segments"`    // samples and pieces of samples in the rows
	MaxInRow   int    `json:"max_in_row"`  // most segments in a row
	Shortest   int    `json:"shortest"`    // tokens of the row that has the fewest, its pad tail left out
	Longest    int    `json:"longest"`     // tokens of the longest sample read
	Unlabelled int64  `json:"unlabelled"`  // samples without labels, of which every token is a target

	// What the same segments would have cost without packing, in token slots.
	PaddedToCapacity int64 `json:"padded_to_capacity"` // each padded to the capacity
	PaddedToLongest  int64 `json:"padded_to_longest"`  // each padded to the longest of its batch of BatchOf, in source order

	First, Last IDCount           `json:"-"` // how often each id is the first and the last of a sample
	Lengths     packing.Histogram `json:"-"` // how many segments take each number of slots
	Limits      packing.Limits    `json:"-"` // of a row

	inBatch int // segments in the batch of BatchOf that is being counted
	longest int // its longest
}

// An IDCount counts ids. It tells apart the 4096 that come first; what comes later is counted together, as -1.
type IDCount map[int32]int64

const maxIDs = 4096

func (c *IDCount) add(id int32) {
	if *c == nil {
		*c = IDCount{}
	}
	if _, ok := (*c)[id]; !ok && len(*c) >= maxIDs {
		id = -1
	}
	(*c)[id]++
}

// BatchOf is the size of the padded batches that Stats.PaddedToLongest counts.
const BatchOf = 8

// Fill is the share of the rows' capacity that holds samples, in [0, 1]; 0 without rows.
func (s *Stats) Fill() float64 {
	if s.Rows == 0 {
		return 0
	}
	return float64(s.Placed) / (float64(s.Rows) * float64(s.Capacity))
}

// FillAligned is Fill with the padding that aligns segments counted as if it were samples.
func (s *Stats) FillAligned() float64 {
	if s.Rows == 0 {
		return 0
	}
	return float64(s.Placed+s.AlignPad) / (float64(s.Rows) * float64(s.Capacity))
}

// segment counts a segment of n tokens that will take so many slots of a row.
func (s *Stats) segment(n, slots int) {
	for len(s.Lengths) <= slots {
		s.Lengths = append(s.Lengths, 0)
	}
	s.Lengths[slots]++
	s.Segments++
	s.PaddedToCapacity += int64(s.Capacity)
	s.inBatch++
	s.longest = max(s.longest, n)
	if s.inBatch == BatchOf {
		s.closeBatch()
	}
}

func (s *Stats) closeBatch() {
	s.PaddedToLongest += int64(s.inBatch) * int64(s.longest)
	s.inBatch, s.longest = 0, 0
}

// row counts a finished row.
func (s *Stats) row(b *Batch) {
	s.Rows++
	for _, g := range b.Segments {
		s.Placed += int64(g.Length)
		s.AlignPad += int64(g.Pad)
	}
	s.Slots += int64(len(b.Tokens))
	s.MaxInRow = max(s.MaxInRow, len(b.Segments))
	if n := len(b.Tokens) - int(b.Pad); s.Rows == 1 || n < s.Shortest {
		s.Shortest = n
	}
}

package packing

import (
	"math"
	"slices"
	"sync"
)

// Bulk packing. The decreasing strategies treat equal samples alike, so what they do with all samples of a length can be decided at
// once, from the histogram alone. That the histogram suffices was seen by Krell et al. ("Efficient sequence packing without
// cross-contamination", 2021); here the result is exactly that of the strategy sample by sample. One pass over the samples, with one
// small table, then gives each its bin.

// bulk is a strategy that decides in bulk.
type bulk struct {
	strategy bulkStrategy
	oneByOne Strategy // makes the same bins of samples sorted by descending length
	workers  int
	mixed    bool // see [Decorrelate]
	seed     uint64
}

// A bulkStrategy decides in bulk.
type bulkStrategy interface {
	// layOut packs samples of the given lengths, ascending, none of them 0 times. The layout may use m's memory.
	layOut(m *memory, lengths []lengthCount, limits Limits) *layout
}

// A layout is the decision of a bulk strategy.
type layout struct {
	bins   int
	runs   []run      // of the longest length first
	ends   []int32    // runs[ends[k-1]:ends[k]] are for the k-th longest length that occurs
	groups []binGroup // each bin is in one of them
	pieces []cursor   // of the runs, in their order
	starts []int32    // pieces[starts[k]:starts[k+1]] are for the k-th longest length that occurs

	// A layout that is mixed has one run for each length, of places. What it gives out is the number of the bin of the place.
	bin    []int32 // by place, its final number; nil if the layout is not mixed
	number []int32 // by bin, its final number
}

// memory is what one use of a bulk strategy needs besides its result. It is used again, because on ten thousand samples of up to 8192
// tokens it takes as long to allocate and clear as the work does: see BenchmarkBulk.
type memory struct {
	layout
	chunks  []chunk
	total   []int32       // samples by length
	present []lengthCount // the lengths that occur
	rooms   bitset
	top     []int32
	nodes   []groupNode
	cursors []cursor
	starts  []int32
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// sized returns a slice of n elements that are not cleared, the memory of s if that is enough.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// cleared returns a slice of n zeros, the memory of s if that is enough.
func cleared(s []int32, n int) []int32 {
	s = sized(s, n)
	clear(s)
	return s
}

// A run is a number of consecutive bins that get equally many samples of one length. The samples are given out round by round: one to
// each bin, then the next one to each bin.
type run struct {
	first, bins, rounds int32
}

// A binGroup is a range of consecutive bins that hold the same.
type binGroup struct {
	first, bins int32
	samples     int32 // in each bin
	down        bool  // what comes next goes into the last bin, then into the one before it; otherwise the first bin is next
	below       int32 // the group below it on its stack, or -1
}

// split removes the next n bins from g and returns them.
func (g *binGroup) split(n int32) binGroup {
	part := *g
	part.bins = n
	g.bins -= n
	if g.down {
		part.first += g.bins
	} else {
		g.first += n
	}
	return part
}

// most returns the most samples a bin may hold.
func (l Limits) most() int32 {
	if l.MaxSamples <= 0 {
		return math.MaxInt32
	}
	return int32(min(l.MaxSamples, math.MaxInt32))
}

// tableSize returns the size of a table by length, or 0 if tables cost more than work sample by sample does.
func tableSize(lengths []int32, limits Limits) int {
	// Tables by length are cleared and walked; the one by room is not, but its memory counts.
	n := len(lengths)
	few := 4*n + 1024
	switch {
	case n == 0 || limits.Capacity > 1<<16+64*n || limits.Capacity > 1<<20+2*n:
		return 0
	case limits.Capacity <= n/16:
		return limits.Capacity + 1
	}
	if longest := int(slices.Max(lengths)); longest <= few {
		return longest + 1
	}
	return 0
}

func (s bulk) Assign(bin, lengths []int32, limits Limits) int {
	size := tableSize(lengths, limits)
	if size == 0 {
		n := assignDecreasing(s.oneByOne, bin, lengths, limits)
		if s.mixed {
			decorrelate(bin, n, lengths, s.seed)
		}
		return n
	}
	m := memories.Get().(*memory)
	defer memories.Put(m)
	out := s.prepare(m, lengths, limits, size)
	each(m.chunks, func(c *chunk) { c.assign(bin[c.start:c.end], lengths[c.start:c.end]) })
	return out.bins
}

// group implements grouper.
func (s bulk) group(lengths []int32, limits Limits) *Plan {
	size := tableSize(lengths, limits)
	if size == 0 {
		return nil
	}
	s.workers = 1 // the samples of a bin come from everywhere
	m := memories.Get().(*memory)
	defer memories.Put(m)
	out := s.prepare(m, lengths, limits, size)
	ends := make([]int32, out.bins)
	for _, g := range out.groups {
		for b := g.first; b < g.first+g.bins; b++ {
			if s.mixed {
				ends[out.number[b]] = g.samples
			} else {
				ends[b] = g.samples
			}
		}
	}
	start := int32(0)
	for b, n := range ends {
		ends[b], start = start, start+n
	}
	samples := make([]int32, len(lengths))
	m.chunks[0].group(samples, ends, lengths)
	return &Plan{samples, ends, int(lowerBound(m.present, limits))}
}

// prepare decides and makes m.chunks give out the bins, one for each worker.
func (s bulk) prepare(m *memory, lengths []int32, limits Limits, size int) *layout {
	workers := max(1, min(s.workers, len(lengths)>>16))
	m.chunks = sized(m.chunks, workers)
	for k := range m.chunks {
		m.chunks[k].start, m.chunks[k].end = len(lengths)*k/workers, len(lengths)*(k+1)/workers
	}
	each(m.chunks, func(c *chunk) {
		c.counts = cleared(c.counts, size)
		c.second = cleared(c.second, size)
		tally(c.counts, c.second, lengths[c.start:c.end])
	})
	// From here on, the counts of a chunk are those of all chunks before it.
	m.total = cleared(m.total, size)
	for _, c := range m.chunks {
		for l, n := range c.counts {
			c.counts[l], m.total[l] = m.total[l], m.total[l]+n
		}
	}
	m.present = m.present[:0]
	for l, n := range m.total {
		if n > 0 {
			m.present = append(m.present, lengthCount{int32(l), int64(n)})
		}
	}
	out := s.strategy.layOut(m, m.present, limits)
	if s.mixed {
		out.mix(len(lengths), s.seed)
	}
	out.cut(m.cursors[:0], m.starts[:0])
	m.cursors, m.starts = out.pieces, out.starts
	each(m.chunks, func(c *chunk) { c.begin(out, m.present) })
	return out
}

// tally counts lengths. The second table, all zeros at first, is for every other sample: equal lengths often follow each other, and an
// increment has to wait for one in the same place. It saves a sixth of the time.
func tally(counts, second, lengths []int32) {
	second = second[:len(counts)]
	for len(lengths) >= 8 {
		l := (*[8]int32)(lengths)
		counts[l[0]]++
		second[l[1]]++
		counts[l[2]]++
		second[l[3]]++
		counts[l[4]]++
		second[l[5]]++
		counts[l[6]]++
		second[l[7]]++
		lengths = lengths[8:]
	}
	for _, l := range lengths {
		counts[l]++
	}
	for l, n := range second {
		counts[l] += n
	}
}

// each calls f for each chunk, at the same time if there is more than one.
func each(chunks []chunk, f func(*chunk)) {
	if len(chunks) == 1 {
		f(&chunks[0])
		return
	}
	var wg sync.WaitGroup
	for k := range chunks {
		wg.Go(func() { f(&chunks[k]) })
	}
	wg.Wait()
}

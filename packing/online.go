package packing

import (
	"cmp"
	"iter"
	"slices"
)

// defaultOpen is the most open bins of a stream where the option is 0.
const defaultOpen = 64

// A placer puts samples into open bins, one after another as they come. Bins are known by slots: small integers that are used again
// once a bin is closed.
type placer interface {
	// place puts a sample into a bin. If it closed an older bin to make room for a new one, evicted is that bin's slot, otherwise -1;
	// slot may be the same. opened tells that the bin is new, closed that the sample closed it.
	place(length int32) (slot, evicted int32, opened, closed bool)
}

// assign is [Strategy.Assign] by p. Bins are numbered in the order in which they are opened.
func assign(p placer, bin, lengths []int32) int {
	var number []int32 // by slot
	n := int32(0)
	for i, l := range lengths {
		slot, _, opened, _ := p.place(l)
		if opened {
			if int(slot) == len(number) {
				number = append(number, 0)
			}
			number[slot] = n
			n++
		}
		bin[i] = number[slot]
	}
	return int(n)
}

// stream is [Streamer.Stream] by a new p. Bins that are open at the end come in the order in which they were opened.
func stream(newPlacer func() placer, lengths iter.Seq[int32]) iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		p := newPlacer()
		var bins [][]int64 // by slot
		ordinal := int64(0)
		for l := range lengths {
			slot, evicted, _, closed := p.place(l)
			if evicted >= 0 {
				if !yield(bins[evicted]) {
					return
				}
				bins[evicted] = bins[evicted][:0]
			}
			for int(slot) >= len(bins) {
				bins = append(bins, nil)
			}
			bins[slot] = append(bins[slot], ordinal)
			ordinal++
			if closed {
				if !yield(bins[slot]) {
					return
				}
				bins[slot] = bins[slot][:0]
			}
		}
		bins = slices.DeleteFunc(bins, func(samples []int64) bool { return len(samples) == 0 })
		slices.SortFunc(bins, func(a, b []int64) int { return cmp.Compare(a[0], b[0]) })
		for _, samples := range bins {
			if !yield(samples) {
				return
			}
		}
	}
}

// slots hands out small integers for open bins and counts their samples.
type slots struct {
	unused []int32
	count  []int // samples, by slot
	most   int   // samples a bin; 0 is no bound
}

// take returns a slot for a new bin.
func (s *slots) take() int32 {
	if k := len(s.unused); k > 0 {
		slot := s.unused[k-1]
		s.unused = s.unused[:k-1]
		return slot
	}
	s.count = append(s.count, 0)
	return int32(len(s.count) - 1)
}

// add counts a sample and reports whether the bin can take no more.
func (s *slots) add(slot int32) bool {
	s.count[slot]++
	return s.count[slot] == s.most
}

// drop makes the slot of a closed bin unused.
func (s *slots) drop(slot int32) {
	s.count[slot] = 0
	s.unused = append(s.unused, slot)
}

// open returns the number of bins that are open.
func (s *slots) open() int { return len(s.count) - len(s.unused) }

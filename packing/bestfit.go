package packing

import "iter"

// BestFit puts each sample, in the order in which they come, into the open bin that it fills most; among equals into the one filled
// last. With no bound on open bins it needs at most 1.7 times the fewest bins (Dósa, Sgall 2014). O(log64 capacity) time a sample.
type BestFit struct {
	// Open is the most bins that are open at a time; when another is needed, the fullest is closed. 0 is no bound for Assign and 64
	// for Stream.
	Open int
}

// Assign implements [Strategy].
func (s BestFit) Assign(bin, lengths []int32, limits Limits) int {
	return assign(s.placer(limits, s.Open, len(lengths)), bin, lengths)
}

// Stream implements [Streamer].
func (s BestFit) Stream(lengths iter.Seq[int32], limits Limits) iter.Seq[[]int64] {
	open := s.Open
	if open <= 0 {
		open = defaultOpen
	}
	return stream(func() placer { return s.placer(limits, open, open) }, lengths)
}

func (BestFit) placer(limits Limits, open, puts int) placer {
	return &bestFit{
		slots:    slots{most: limits.MaxSamples},
		bins:     newResiduals(limits.Capacity, puts),
		capacity: int32(limits.Capacity),
		limit:    open,
	}
}

type bestFit struct {
	slots
	bins     residuals
	capacity int32
	limit    int
}

func (p *bestFit) place(length int32) (slot, evicted int32, opened, closed bool) {
	evicted = -1
	slot, room := p.bins.take(length)
	if slot < 0 {
		if p.limit > 0 && p.open() >= p.limit {
			evicted, _ = p.bins.take(1)
			p.drop(evicted)
		}
		slot, room, opened = p.take(), p.capacity, true
	}
	room -= length
	if full := p.add(slot); full || room == 0 {
		p.drop(slot)
		return slot, evicted, opened, true
	}
	p.bins.put(slot, room)
	return slot, evicted, opened, false
}

package packing

import (
	"iter"
	"math"
)

// FirstFit puts each sample, in the order in which they come, into the first open bin that has room, in the order in which they were
// opened. With no bound on open bins it needs at most 1.7 times the fewest bins (Dósa, Sgall 2013). O(log bins) time a sample.
type FirstFit struct {
	// Open is the most bins that are open at a time; when another is needed, the fullest is closed. 0 is no bound for Assign and 64
	// for Stream.
	Open int
}

// Assign implements [Strategy].
func (s FirstFit) Assign(bin, lengths []int32, limits Limits) int {
	return assign(s.placer(limits, s.Open), bin, lengths)
}

// Stream implements [Streamer].
func (s FirstFit) Stream(lengths iter.Seq[int32], limits Limits) iter.Seq[[]int64] {
	open := s.Open
	if open <= 0 {
		open = defaultOpen
	}
	return stream(func() placer { return s.placer(limits, open) }, lengths)
}

func (FirstFit) placer(limits Limits, open int) placer {
	return &firstFit{
		slots:    slots{most: limits.MaxSamples},
		room:     newMaxTree(64),
		slot:     make([]int32, 0, 64),
		capacity: int32(limits.Capacity),
		limit:    open,
	}
}

type firstFit struct {
	slots
	room     maxTree // by position, in the order of opening; 0 for closed bins
	slot     []int32 // by position
	capacity int32
	limit    int
}

func (p *firstFit) place(length int32) (slot, evicted int32, opened, closed bool) {
	evicted = -1
	at := p.room.first(length)
	room := p.capacity
	if at >= 0 {
		slot, room = p.slot[at], p.room.at(at)
	} else {
		if p.limit > 0 && p.open() >= p.limit {
			evicted = p.evict()
		}
		if len(p.slot) == p.room.len() {
			p.compact()
		}
		at, slot, opened = len(p.slot), p.take(), true
		p.slot = append(p.slot, slot)
	}
	room -= length
	if full := p.add(slot); full || room == 0 {
		p.drop(slot)
		room, closed = 0, true
	}
	p.room.set(at, room)
	return slot, evicted, opened, closed
}

// evict closes the fullest bin, the first of them among equals.
func (p *firstFit) evict() int32 {
	best, least := 0, uint32(math.MaxUint32)
	for i, room := range p.room.all()[:len(p.slot)] {
		if r := uint32(room) - 1; r < least { // closed bins are the largest
			best, least = i, r
		}
	}
	p.room.set(best, 0)
	p.drop(p.slot[best])
	return p.slot[best]
}

// compact forgets closed bins and makes sure that half of the positions are unused.
func (p *firstFit) compact() {
	open := 0
	for i, slot := range p.slot {
		if r := p.room.at(i); r > 0 {
			p.slot[open] = slot
			open++
		}
	}
	old := p.room
	p.room = newMaxTree(max(2*open, old.len()))
	k := 0
	for i := range old.len() {
		if r := old.at(i); r > 0 {
			p.room.set(k, r)
			k++
		}
	}
	p.slot = p.slot[:open]
}

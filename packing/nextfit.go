package packing

import "iter"

// NextFit keeps one open bin: it takes the next sample if it fits, and is closed otherwise. Samples stay in the order in which they
// came, all through the bins. O(n) time. It never needs twice the fewest bins.
type NextFit struct{}

// Assign implements [Strategy].
func (NextFit) Assign(bin, lengths []int32, limits Limits) int {
	return assign(&nextFit{limits: limits}, bin, lengths)
}

// Stream implements [Streamer].
func (NextFit) Stream(lengths iter.Seq[int32], limits Limits) iter.Seq[[]int64] {
	return stream(func() placer { return &nextFit{limits: limits} }, lengths)
}

type nextFit struct {
	limits Limits
	room   int
	count  int // samples in the open bin; 0 if there is none
}

func (p *nextFit) place(length int32) (slot, evicted int32, opened, closed bool) {
	evicted = -1
	if p.count > 0 && int(length) > p.room {
		evicted, p.count = 0, 0
	}
	if p.count == 0 {
		opened, p.room = true, p.limits.Capacity
	}
	p.room -= int(length)
	p.count++
	if p.room == 0 || p.count == p.limits.MaxSamples {
		closed, p.count = true, 0
	}
	return 0, evicted, opened, closed
}

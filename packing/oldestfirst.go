package packing

import (
	"cmp"
	"iter"
	"slices"
)

// OldestFirst packs a stream from a tiny pool, one bin at a time: the oldest sample of the pool first, then the longest that fits, again
// and again, until that would leave room for nothing in the pool; then whichever fills more, that sample or the best pair. A sample or
// pair that fills the bin to the last token is taken at once. No sample sees more bins closed than the pool has samples.
//
// For what little it holds it leaves remarkably few tokens empty, on lengths around a third of the capacity fewer than best-fit
// decreasing on the whole input. It takes O(pool) time for each step.
type OldestFirst struct {
	Pool int // samples; 0 is 64
}

// Assign implements [Strategy].
func (s OldestFirst) Assign(bin, lengths []int32, limits Limits) int {
	return assignStream(s, bin, lengths, limits)
}

// Stream implements [Streamer].
func (s OldestFirst) Stream(lengths iter.Seq[int32], limits Limits) iter.Seq[[]int64] {
	size := s.Pool
	if size <= 0 {
		size = 64
	}
	return func(yield func([]int64) bool) {
		p := pairLook{pool: make([]pooled, 0, size)}
		ordinal := int64(0)
		for l := range lengths {
			if len(p.pool) == size && !yield(p.pack(limits)) {
				return
			}
			p.put(pooled{l, ordinal})
			ordinal++
		}
		for len(p.pool) > 0 {
			if !yield(p.pack(limits)) {
				return
			}
		}
	}
}

// pairLook is the state of an OldestFirst.
type pairLook struct {
	pool []pooled // by length, then ordinal
	bin  []int64
}

type pooled struct {
	length  int32
	ordinal int64
}

func (a pooled) compare(b pooled) int {
	return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.ordinal, b.ordinal))
}

// put adds a sample to the pool.
func (p *pairLook) put(s pooled) {
	i, _ := slices.BinarySearchFunc(p.pool, s, pooled.compare)
	p.pool = slices.Insert(p.pool, i, s)
}

// take moves a sample from the pool into the bin and returns its length.
func (p *pairLook) take(i int) int32 {
	s := p.pool[i]
	p.pool = slices.Delete(p.pool, i, i+1)
	p.bin = append(p.bin, s.ordinal)
	return s.length
}

// pack takes the samples of one bin out of the pool, which is not empty.
func (p *pairLook) pack(limits Limits) []int64 {
	p.bin = p.bin[:0]
	oldest := 0
	for i, s := range p.pool {
		if s.ordinal < p.pool[oldest].ordinal {
			oldest = i
		}
	}
	room := int32(limits.Capacity) - p.take(oldest)
	most := limits.most()
	for {
		fitting, _ := slices.BinarySearchFunc(p.pool, room, func(s pooled, room int32) int {
			if s.length <= room {
				return -1
			}
			return 1
		})
		if fitting == 0 || len(p.bin) == int(most) {
			break
		}
		longest := p.pool[fitting-1].length
		// Of equally long ones the oldest.
		single, _ := slices.BinarySearchFunc(p.pool, pooled{longest, -1}, pooled.compare)
		if longest < room && len(p.bin)+2 <= int(most) {
			a, b, sum := p.bestPair(fitting, room)
			if sum == room || sum > longest && room-longest < p.pool[0].length {
				room -= p.take(b)
				room -= p.take(a)
				continue
			}
		}
		room -= p.take(single)
	}
	slices.Sort(p.bin)
	return p.bin
}

// bestPair returns the pair a < b among the first n samples of the pool that fills room most, and its sum; 0 if there is none.
func (p *pairLook) bestPair(n int, room int32) (a, b int, sum int32) {
	for i, j := 0, n-1; i < j; {
		if p.pool[i].length > room-p.pool[j].length {
			j--
			continue
		}
		if s := p.pool[i].length + p.pool[j].length; s > sum {
			a, b, sum = i, j, s
			if s == room {
				break
			}
		}
		i++
	}
	return a, b, sum
}

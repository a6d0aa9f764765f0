package packing

import (
	"fmt"
	"iter"
)

// A Plan says which samples are together in a bin.
type Plan struct {
	samples []int32 // sample indices, bin after bin, ascending within a bin
	ends    []int32 // ends[i] is where bin i ends in samples
	bound   int
}

// Len returns the number of bins.
func (p *Plan) Len() int { return len(p.ends) }

// Bound returns a number of bins that no plan for the same samples goes below: that of [LowerBound], or a better one that [Optimal] found.
func (p *Plan) Bound() int { return p.bound }

// Gap returns how many bins the plan has above the bound. With 0 it is proven to have the fewest.
func (p *Plan) Gap() int { return p.Len() - p.bound }

// Bin returns the indices of the samples in bin i in ascending order. It belongs to the plan.
func (p *Plan) Bin(i int) []int32 {
	start := int32(0)
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.samples[start:p.ends[i]:p.ends[i]]
}

// All returns the number and the samples of each bin, in order.
func (p *Plan) All() iter.Seq2[int, []int32] {
	return func(yield func(int, []int32) bool) {
		for i := range p.ends {
			if !yield(i, p.Bin(i)) {
				return
			}
		}
	}
}

// Verify returns an error unless p puts each sample of lengths into exactly one bin, in ascending order, and no bin is empty or exceeds
// a limit.
func (p *Plan) Verify(lengths []int32, limits Limits) error {
	if err := limits.check(); err != nil {
		return err
	}
	if len(p.samples) != len(lengths) {
		return fmt.Errorf("plan of %d samples: want %d", len(p.samples), len(lengths))
	}
	seen := make([]uint64, len(lengths)/64+1)
	for b, samples := range p.All() {
		if len(samples) == 0 {
			return fmt.Errorf("bin %d is empty", b)
		}
		if limits.MaxSamples > 0 && len(samples) > limits.MaxSamples {
			return fmt.Errorf("bin %d: %d samples: want at most %d", b, len(samples), limits.MaxSamples)
		}
		fill, last := int64(0), int32(-1)
		for _, i := range samples {
			if i < 0 || int(i) >= len(lengths) {
				return fmt.Errorf("bin %d: sample %d: want 0 to %d", b, i, len(lengths)-1)
			}
			if i <= last {
				return fmt.Errorf("bin %d: sample %d after %d: want ascending order", b, i, last)
			}
			last = i
			if seen[i/64]>>(i%64)&1 != 0 {
				return fmt.Errorf("bin %d: sample %d is in another bin too", b, i)
			}
			seen[i/64] |= 1 << (i % 64)
			l := lengths[i]
			if l < 1 || limits.takes(l) > int64(limits.Capacity) {
				return &LengthError{Index: int(i), Length: l, Capacity: limits.longest()}
			}
			fill += limits.takes(l)
		}
		if fill > int64(limits.Capacity) {
			return fmt.Errorf("bin %d: %d tokens: want at most %d", b, fill, limits.Capacity)
		}
	}
	return nil
}

// group returns the plan of n bins in which sample i is in bin[i], or an error if that breaks the contract of [Strategy.Assign].
func group(bin []int32, n int, lengths []int32, limits Limits) (*Plan, error) {
	if n < 0 || n > len(bin) {
		return nil, fmt.Errorf("strategy: %d bins for %d samples", n, len(bin))
	}
	// ends counts samples, then becomes the start of each bin, then, one sample after another, its end.
	ends := make([]int32, n)
	fill := make([]int64, n)
	for i, b := range bin {
		if b < 0 || int(b) >= n {
			return nil, fmt.Errorf("strategy: sample %d in bin %d: want 0 to %d", i, b, n-1)
		}
		ends[b]++
		fill[b] += int64(lengths[i])
	}
	start := int32(0)
	for b, count := range ends {
		switch {
		case count == 0:
			return nil, fmt.Errorf("strategy: bin %d of %d is empty", b, n)
		case limits.MaxSamples > 0 && int(count) > limits.MaxSamples:
			return nil, fmt.Errorf("strategy: bin %d: %d samples: want at most %d", b, count, limits.MaxSamples)
		case fill[b] > int64(limits.Capacity):
			return nil, fmt.Errorf("strategy: bin %d: %d tokens: want at most %d", b, fill[b], limits.Capacity)
		}
		ends[b] = start
		start += count
	}
	samples := make([]int32, len(bin))
	for i, b := range bin {
		samples[ends[b]] = int32(i)
		ends[b]++
	}
	return &Plan{samples: samples, ends: ends}, nil
}

// Package packing puts samples, known by their lengths, into as few bins of a fixed capacity as it can.
//
// A [Strategy] decides; [Pack] checks its input and its result and groups the samples by bin; [LowerBound] tells what no packing can
// beat. [Lookup] finds a strategy by name. The decreasing strategies look at all lengths at once and should be the choice wherever
// that is possible; a [Streamer] gives bins while lengths still arrive.
//
// Ties among bins and samples are broken by their order, randomness takes a seed, and nothing depends on the number of threads: equal
// input gives an equal plan. Worst cases are stated for bins without a bound on the samples.
package packing

import (
	"fmt"
	"iter"
	"math"
	"strings"
)

// Limits bound every bin.
type Limits struct {
	Capacity   int // most tokens, from 1 to math.MaxInt32
	MaxSamples int // most samples; 0 is no bound
	Align      int // a sample takes its length rounded up to a multiple of this; 0 is 1. Strategies are given rounded lengths, and 0
}

// A Strategy decides which sample goes into which bin.
type Strategy interface {
	// Assign sets bin[i] to the bin of the sample of length lengths[i] and returns the number of bins, which are numbered from 0
	// without gaps. Lengths are in [1, limits.Capacity]; bin and lengths are equally long. No bin may exceed a limit. Assign must not
	// modify lengths, retain its arguments or keep state between calls, and must be safe for concurrent use.
	Assign(bin, lengths []int32, limits Limits) int
}

// A Streamer is a strategy that also works on-line.
type Streamer interface {
	Strategy
	// Stream draws lengths one by one and yields each bin as soon as it is closed: the ordinals, from 0, of its samples in ascending
	// order, valid until the next iteration. Every sample is in exactly one bin by the time the sequence ends.
	Stream(lengths iter.Seq[int32], limits Limits) iter.Seq[[]int64]
}

// A LengthError is a sample that fits no bin.
type LengthError struct {
	Index    int // of the sample
	Length   int32
	Capacity int
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("sample %d: length %d: want 1 to %d", e.Index, e.Length, e.Capacity)
}

// Pack packs samples of the given lengths with s. The error is a [*LengthError] if a length fits no bin; limits out
// of range and a strategy that breaks its contract are errors too. The plan does not refer to lengths.
func Pack(s Strategy, lengths []int32, limits Limits) (*Plan, error) {
	if err := check(lengths, limits); err != nil {
		return nil, err
	}
	lengths, limits = align(lengths, limits)
	if g, ok := s.(grouper); ok {
		if p := g.group(lengths, limits); p != nil {
			return p, nil
		}
	}
	bin := make([]int32, len(lengths))
	n := s.Assign(bin, lengths, limits)
	p, err := group(bin, n, lengths, limits)
	if err == nil {
		p.bound = LowerBound(lengths, limits)
	}
	return p, err
}

// align returns what samples of the lengths take, and the limits without an alignment. The lengths have been checked.
func align(lengths []int32, limits Limits) ([]int32, Limits) {
	if limits.Align <= 1 {
		return lengths, limits
	}
	rounded := make([]int32, len(lengths))
	for i, l := range lengths {
		rounded[i] = int32(limits.takes(l))
	}
	limits.Align = 0
	return rounded, limits
}

// takes returns what a sample of a length takes.
func (l Limits) takes(length int32) int64 {
	if l.Align <= 1 {
		return int64(length)
	}
	return ceilDiv(int64(length), int64(l.Align)) * int64(l.Align)
}

// check returns an error if lengths or limits are out of range.
func check(lengths []int32, limits Limits) error {
	if err := limits.check(); err != nil {
		return err
	}
	if int64(len(lengths)) > math.MaxInt32 {
		return fmt.Errorf("%d samples: want at most %d", len(lengths), math.MaxInt32)
	}
	for i, l := range lengths {
		if l < 1 || limits.takes(l) > int64(limits.Capacity) {
			return &LengthError{Index: i, Length: l, Capacity: limits.longest()}
		}
	}
	return nil
}

// longest returns the length of the longest sample that fits a bin.
func (l Limits) longest() int {
	if l.Align <= 1 {
		return l.Capacity
	}
	return l.Capacity / l.Align * l.Align
}

// A grouper is a strategy of this package that can group samples by bin without knowing the bin of each, and keeps its contract.
type grouper interface {
	// group returns nil where [Strategy.Assign] is the better way.
	group(lengths []int32, limits Limits) *Plan
}

// check returns an error if l is out of range.
func (l Limits) check() error {
	if l.Capacity < 1 || l.Capacity > math.MaxInt32 {
		return fmt.Errorf("capacity %d: want 1 to %d", l.Capacity, math.MaxInt32)
	}
	if l.MaxSamples < 0 {
		return fmt.Errorf("%d samples a bin: want 1 or more, or 0 for no bound", l.MaxSamples)
	}
	if l.Align < 0 || l.Align > l.Capacity {
		return fmt.Errorf("alignment %d: want 0 to %d, the capacity", l.Align, l.Capacity)
	}
	return nil
}

// named lists the strategies that [Lookup] knows, in the order of [Names].
var named = []struct {
	name     string
	strategy Strategy
}{
	{"bfd", BestFitDecreasing{}},
	{"ffd", FirstFitDecreasing{}},
	{"best-fit", BestFit{}},
	{"first-fit", FirstFit{}},
	{"next-fit", NextFit{}},
	{"rolling", Rolling{}},
	{"oldest-first", OldestFirst{}},
	{"optimal", Optimal{}},
}

// Lookup returns the strategy of that name, with default options.
func Lookup(name string) (Strategy, error) {
	for _, s := range named {
		if s.name == name {
			return s.strategy, nil
		}
	}
	return nil, fmt.Errorf("strategy %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Names returns the names that [Lookup] knows.
func Names() []string {
	var names []string
	for _, s := range named {
		names = append(names, s.name)
	}
	return names
}

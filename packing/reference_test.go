package packing_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/brimful/brimful/packing"
	"github.com/stretchr/testify/require"
)

// The references look at every open bin, or every pair, for every sample. They are as slow and as plain as the definitions.

// openBin is a bin of a reference.
type openBin struct {
	number, room, samples int
	touched               int // the sample put in last
}

// online is a reference for first-fit and best-fit with at most open bins, 0 for no bound: better reports whether a is to be taken
// rather than b, both of which have room, where b was opened before a.
func online(better func(a, b openBin) bool, open int) func(lengths []int32, limits packing.Limits) []int32 {
	return func(lengths []int32, limits packing.Limits) []int32 {
		var bins []openBin
		bin := make([]int32, len(lengths))
		n := 0
		for i, l := range lengths {
			best := -1
			for k, b := range bins {
				if b.room >= int(l) && (best < 0 || better(b, bins[best])) {
					best = k
				}
			}
			if best < 0 {
				if open > 0 && len(bins) == open {
					bins = slices.Delete(bins, fullest(bins, better), 1+fullest(bins, better))
				}
				best = len(bins)
				bins = append(bins, openBin{number: n, room: limits.Capacity})
				n++
			}
			b := &bins[best]
			b.room -= int(l)
			b.samples++
			b.touched = i
			bin[i] = int32(b.number)
			if b.room == 0 || b.samples == limits.MaxSamples {
				bins = slices.Delete(bins, best, best+1)
			}
		}
		return bin
	}
}

// fullest returns the bin with the least room, among equals the one that is better.
func fullest(bins []openBin, better func(a, b openBin) bool) int {
	best := 0
	for k, b := range bins {
		if b.room < bins[best].room || b.room == bins[best].room && better(b, bins[best]) {
			best = k
		}
	}
	return best
}

func firstBetter(a, b openBin) bool { return false }

func bestBetter(a, b openBin) bool {
	return a.room < b.room || a.room == b.room && a.touched > b.touched
}

// nextFit is a reference.
func nextFit(lengths []int32, limits packing.Limits) []int32 {
	bin := make([]int32, len(lengths))
	at, room, samples := int32(-1), 0, 0
	for i, l := range lengths {
		if at < 0 || room < int(l) || samples == limits.MaxSamples && samples > 0 {
			at, room, samples = at+1, limits.Capacity, 0
		}
		room -= int(l)
		samples++
		bin[i] = at
	}
	return bin
}

// oldestFirst is a reference for a pool of that many samples.
func oldestFirst(size int) func(lengths []int32, limits packing.Limits) []int32 {
	return func(lengths []int32, limits packing.Limits) []int32 {
		bin := make([]int32, len(lengths))
		var pool []int // by length, then age
		next := 0
		for n := int32(0); ; n++ {
			for ; next < len(lengths) && len(pool) < size; next++ {
				pool = append(pool, next)
			}
			if len(pool) == 0 {
				return bin
			}
			slices.SortStableFunc(pool, func(a, b int) int { return int(lengths[a]) - int(lengths[b]) })
			room, samples := limits.Capacity, 0
			take := func(i int) {
				room -= int(lengths[i])
				samples++
				bin[i] = n
				pool = slices.DeleteFunc(pool, func(j int) bool { return i == j })
			}
			take(slices.Min(pool))
			for len(pool) > 0 && (limits.MaxSamples == 0 || samples < limits.MaxSamples) {
				single := -1
				for _, i := range pool {
					if int(lengths[i]) <= room && (single < 0 || lengths[i] > lengths[single]) {
						single = i
					}
				}
				if single < 0 {
					break
				}
				longest := int(lengths[single])
				pair, sum := [2]int{}, 0
				for k, i := range pool {
					for _, j := range slices.Backward(pool[k+1:]) {
						if s := int(lengths[i] + lengths[j]); s <= room && s > sum {
							pair, sum = [2]int{i, j}, s
						}
					}
				}
				closes := room-longest < int(lengths[pool[0]])
				if longest < room && sum > 0 && (limits.MaxSamples == 0 || samples+2 <= limits.MaxSamples) && (sum == room || closes && sum > longest) {
					take(pair[0])
					take(pair[1])
				} else {
					take(single)
				}
			}
		}
	}
}

// decreasing is a reference that runs another on the samples in descending order.
func decreasing(reference func([]int32, packing.Limits) []int32) func([]int32, packing.Limits) []int32 {
	return func(lengths []int32, limits packing.Limits) []int32 {
		order := make([]int, len(lengths))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(lengths[b]) - int(lengths[a]) })
		sorted := make([]int32, len(lengths))
		for k, i := range order {
			sorted[k] = lengths[i]
		}
		bin := make([]int32, len(lengths))
		for k, b := range reference(sorted, limits) {
			bin[order[k]] = b
		}
		return bin
	}
}

var references = []struct {
	name      string
	strategy  packing.Strategy
	reference func([]int32, packing.Limits) []int32
	decreases bool // which of equally long samples is where may differ
}{
	{"next-fit", packing.NextFit{}, nextFit, false},
	{"first-fit", packing.FirstFit{}, online(firstBetter, 0), false},
	{"first-fit-1", packing.FirstFit{Open: 1}, online(firstBetter, 1), false},
	{"first-fit-7", packing.FirstFit{Open: 7}, online(firstBetter, 7), false},
	{"best-fit", packing.BestFit{}, online(bestBetter, 0), false},
	{"best-fit-1", packing.BestFit{Open: 1}, online(bestBetter, 1), false},
	{"best-fit-7", packing.BestFit{Open: 7}, online(bestBetter, 7), false},
	{"oldest-first-1", packing.OldestFirst{Pool: 1}, oldestFirst(1), false},
	{"oldest-first-10", packing.OldestFirst{Pool: 10}, oldestFirst(10), false},
	{"oldest-first-64", packing.OldestFirst{}, oldestFirst(64), false},
	{"ffd", packing.FirstFitDecreasing{}, decreasing(online(firstBetter, 0)), true},
	{"bfd", packing.BestFitDecreasing{}, decreasing(online(bestBetter, 0)), true},
}

// The factor makes capacities small, where the decreasing strategies work in bulk, and so large that they work sample by sample and
// rooms are kept in a tree.
func TestReferences(t *testing.T) {
	for _, c := range references {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(250) {
				lengths, limits := draw(rand.New(rand.NewPCG(seed, 1)))
				want := c.reference(lengths, limits)
				for _, factor := range []int32{1, 100, 1_000_000} {
					scaled, wide := scale(lengths, limits, factor)
					bin := make([]int32, len(lengths))
					n := c.strategy.Assign(bin, scaled, wide)
					p := pack(t, c.strategy, scaled, wide)
					require.Equal(t, p.Len(), n, "seed %d", seed)
					if !c.decreases {
						require.Equal(t, want, bin, "seed %d factor %d", seed, factor)
					}
					require.Equal(t, lengthsByBin(want, lengths, n), lengthsByBin(bin, lengths, n), "seed %d factor %d", seed, factor)
					require.Equal(t, bin, assigned(p, len(bin)), "seed %d factor %d: grouped", seed, factor)
				}
			}
		})
	}
}

// scale multiplies lengths and capacity.
func scale(lengths []int32, limits packing.Limits, factor int32) ([]int32, packing.Limits) {
	scaled := slices.Clone(lengths)
	for i := range scaled {
		scaled[i] *= factor
	}
	limits.Capacity *= int(factor)
	return scaled, limits
}

// lengthsByBin returns the sorted lengths in each bin.
func lengthsByBin(bin, lengths []int32, n int) [][]int32 {
	bins := make([][]int32, n)
	for i, b := range bin {
		bins[b] = append(bins[b], lengths[i])
	}
	for _, b := range bins {
		slices.Sort(b)
	}
	return bins
}

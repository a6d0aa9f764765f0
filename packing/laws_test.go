package packing_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/brimful/brimful/packing"
	"github.com/stretchr/testify/require"
)

// decreasingStrategies see no order among samples.
var decreasingStrategies = []packing.Strategy{packing.BestFitDecreasing{}, packing.FirstFitDecreasing{}}

// fewest returns the least number of bins, by trying everything.
func fewest(lengths []int32, limits packing.Limits) int {
	sorted := slices.Clone(lengths)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	best := len(lengths)
	var room, samples []int
	var put func(i int)
	put = func(i int) {
		if len(room) >= best && len(lengths) > 0 {
			return
		}
		if i == len(sorted) {
			best = len(room)
			return
		}
		for b := range room {
			if room[b] >= int(sorted[i]) && samples[b] != limits.MaxSamples {
				room[b] -= int(sorted[i])
				samples[b]++
				put(i + 1)
				room[b] += int(sorted[i])
				samples[b]--
			}
		}
		room, samples = append(room, limits.Capacity-int(sorted[i])), append(samples, 1)
		put(i + 1)
		room, samples = room[:len(room)-1], samples[:len(samples)-1]
	}
	put(0)
	return best
}

func TestAgainstFewest(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		lengths, limits := draw(r)
		lengths = lengths[:min(len(lengths), r.IntN(10))]
		opt := fewest(lengths, limits)
		require.LessOrEqual(t, packing.LowerBound(lengths, limits), opt, "seed %d", seed)
		for _, s := range strategies {
			require.GreaterOrEqual(t, pack(t, s.strategy, lengths, limits).Len(), opt, "seed %d: %s", seed, s.name)
		}
		if limits.MaxSamples > 0 {
			continue // the theorems know no such bound
		}
		for _, s := range decreasingStrategies {
			require.LessOrEqual(t, 9*pack(t, s, lengths, limits).Len(), 11*opt+6, "seed %d: %T", seed, s)
		}
		for _, s := range []packing.Strategy{packing.FirstFit{}, packing.BestFit{}} {
			require.LessOrEqual(t, 10*pack(t, s, lengths, limits).Len(), 17*opt, "seed %d: %T", seed, s)
		}
		require.Less(t, pack(t, packing.NextFit{}, lengths, limits).Len(), max(1, 2*opt), "seed %d", seed)
	}
}

func TestLaws(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		lengths, limits := draw(r)

		shuffled := slices.Clone(lengths)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		factor := int32(1 + r.IntN(1000))
		scaled, wide := scale(lengths, limits, factor)
		more := append(slices.Clone(lengths), int32(limits.Capacity))

		for _, s := range decreasingStrategies {
			p := pack(t, s, lengths, limits)
			require.Equal(t, contents(p, lengths), contents(pack(t, s, shuffled, limits), shuffled), "seed %d: %T: shuffled", seed, s)
			require.Equal(t, p.Len()+1, pack(t, s, more, limits).Len(), "seed %d: %T: one more full sample", seed, s)

			d := packing.Decorrelate(s, seed)
			q := pack(t, d, lengths, limits)
			require.Equal(t, bag(p, lengths), bag(q, lengths), "seed %d: %T: decorrelated", seed, s)
			require.Equal(t, q, pack(t, d, lengths, limits), "seed %d: %T: decorrelated twice", seed, s)
		}
		for _, s := range strategies {
			p := pack(t, s.strategy, lengths, limits)
			require.GreaterOrEqual(t, p.Len(), packing.LowerBound(lengths, limits), "seed %d: %s", seed, s.name)
			require.Equal(t, p, pack(t, s.strategy, slices.Clone(lengths), limits), "seed %d: %s: again", seed, s.name)
		}
		for _, s := range []packing.Strategy{packing.BestFitDecreasing{}, packing.FirstFitDecreasing{}, packing.BestFit{}, packing.FirstFit{}, packing.NextFit{}, packing.OldestFirst{}} {
			require.Equal(t, len(contents(pack(t, s, lengths, limits), lengths)), pack(t, s, scaled, wide).Len(), "seed %d: %T: scaled by %d", seed, s, factor)
		}
		require.Equal(t, packing.LowerBound(lengths, limits), packing.LowerBound(scaled, wide), "seed %d: bound scaled by %d", seed, factor)
		if limits.MaxSamples == 0 {
			require.Equal(t, packing.LowerBound(lengths, limits)+1, packing.LowerBound(more, limits), "seed %d: bound with one more full sample", seed)
		}
	}
}

// Chunks are of 65,536 samples at least.
func TestWorkers(t *testing.T) {
	lengths := lognormal(400_000, 300, 1, 2048)
	limits := packing.Limits{Capacity: 2048}
	for _, s := range []func(workers int) packing.Strategy{
		func(workers int) packing.Strategy { return packing.BestFitDecreasing{Workers: workers} },
		func(workers int) packing.Strategy { return packing.FirstFitDecreasing{Workers: workers} },
		func(workers int) packing.Strategy {
			return packing.Decorrelate(packing.BestFitDecreasing{Workers: workers}, 9)
		},
	} {
		want := make([]int32, len(lengths))
		n := s(1).Assign(want, lengths, limits)
		for _, workers := range []int{2, 3, 5, 100} {
			got := make([]int32, len(lengths))
			require.Equal(t, n, s(workers).Assign(got, lengths, limits))
			require.True(t, slices.Equal(want, got), "%T: %d workers", s(workers), workers)
		}
		p := pack(t, s(4), lengths, limits)
		require.True(t, slices.Equal(want, assigned(p, len(want))), "%T: grouped", s(4))
	}
}

// Memory that is used again, as a strategy does that is called at the same time and with other sizes, must not show.
func TestConcurrentUse(t *testing.T) {
	type job struct {
		lengths []int32
		limits  packing.Limits
		want    *packing.Plan
	}
	for _, s := range strategies {
		var jobs []job
		for seed := range uint64(20) {
			lengths, limits := draw(rand.New(rand.NewPCG(seed, 6)))
			jobs = append(jobs, job{lengths, limits, pack(t, s.strategy, lengths, limits)})
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for _, j := range jobs {
					got, err := packing.Pack(s.strategy, j.lengths, j.limits)
					if err != nil || !slices.EqualFunc(contents(got, j.lengths), contents(j.want, j.lengths), slices.Equal) {
						t.Errorf("%s: another plan: %v", s.name, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// FuzzStrategies runs all strategies on any input that fits.
func FuzzStrategies(f *testing.F) {
	f.Add(uint32(10), uint8(0), []byte{1, 2, 3, 10, 9, 8})
	f.Add(uint32(255), uint8(2), []byte{255, 1, 128, 127, 0})
	f.Add(uint32(1<<31-1), uint8(1), []byte{255, 0, 7})
	f.Fuzz(func(t *testing.T, capacity uint32, maxSamples uint8, data []byte) {
		limits := packing.Limits{Capacity: 1 + int(capacity%(1<<31-1)), MaxSamples: int(maxSamples)}
		data = data[:min(len(data), 500)]
		lengths := make([]int32, len(data))
		for i, b := range data {
			lengths[i] = int32(1 + int64(b)*int64(limits.Capacity-1)/255)
		}
		before := slices.Clone(lengths)
		bound := packing.LowerBound(lengths, limits)
		for _, s := range strategies {
			bin := make([]int32, len(lengths))
			n := s.strategy.Assign(bin, lengths, limits)
			require.GreaterOrEqual(t, n, bound, s.name)
			p := pack(t, s.strategy, lengths, limits)
			require.Equal(t, n, p.Len(), s.name)
			require.Equal(t, bin, assigned(p, len(bin)), s.name)
			require.Equal(t, before, lengths, s.name)
		}
	})
}

package packing_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/brimful/brimful/packing"
	"github.com/stretchr/testify/require"
)

// plainBound is LowerBound by its definition, for every threshold.
func plainBound(lengths []int32, limits packing.Limits) int {
	bound := 0
	if limits.MaxSamples > 0 {
		bound = (len(lengths) + limits.MaxSamples - 1) / limits.MaxSamples
	}
	for k := 0; 2*k <= limits.Capacity; k++ {
		huge, big, room, middle := 0, 0, 0, 0
		for _, l := range lengths {
			switch l := int(l); {
			case l > limits.Capacity-k:
				huge++
			case 2*l > limits.Capacity:
				big++
				room += limits.Capacity - l
			case l >= k:
				middle += l
			}
		}
		bound = max(bound, huge+big+max(0, (middle-room+limits.Capacity-1)/limits.Capacity))
	}
	return bound
}

func TestLowerBound(t *testing.T) {
	for _, c := range []struct {
		name    string
		lengths []int32
		limits  packing.Limits
		want    int
	}{
		{"nothing", nil, packing.Limits{Capacity: 5}, 0},
		{"tokens", []int32{1, 2, 3}, packing.Limits{Capacity: 5}, 2},
		{"halves fit together", []int32{5, 5, 5, 5}, packing.Limits{Capacity: 10}, 2},
		{"more than halves do not", []int32{6, 6, 6, 6}, packing.Limits{Capacity: 10}, 4},
		{"what more than halves leave is too small", []int32{6, 6, 5, 5}, packing.Limits{Capacity: 10}, 3},
		{"samples", []int32{1, 1, 1, 1, 1}, packing.Limits{Capacity: 10, MaxSamples: 2}, 3},
		{"largest capacity", []int32{math.MaxInt32, math.MaxInt32, 1}, packing.Limits{Capacity: math.MaxInt32}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, packing.LowerBound(c.lengths, c.limits))
		})
	}
	for seed := range uint64(500) {
		lengths, limits := draw(rand.New(rand.NewPCG(seed, 7)))
		want := plainBound(lengths, limits)
		require.Equal(t, want, packing.LowerBound(lengths, limits), "seed %d", seed)
		scaled, wide := scale(lengths, limits, 1000) // few and long
		require.Equal(t, want, packing.LowerBound(scaled, wide), "seed %d", seed)

		h := packing.Histogram{5} // samples of no tokens need no bin
		for _, l := range lengths {
			h.Add(l, 1)
		}
		require.EqualValues(t, want, h.LowerBound(limits), "seed %d", seed)
	}
}

func TestHistogram(t *testing.T) {
	var h packing.Histogram
	require.Zero(t, h.LowerBound(packing.Limits{Capacity: 5}))
	h.Add(3, 2)
	h.Add(0, 1)
	h.Add(3, 4)
	require.Equal(t, packing.Histogram{1, 0, 0, 6}, h)

	h = packing.Histogram{}
	h.Add(4, 1<<40)
	require.EqualValues(t, 1<<40, h.LowerBound(packing.Limits{Capacity: 7}))
	require.EqualValues(t, 1<<39, h.LowerBound(packing.Limits{Capacity: 8}))
}

// A few samples must not take memory for every length.
func TestMemory(t *testing.T) {
	lengths := []int32{math.MaxInt32, 5, 1 << 20}
	limits := packing.Limits{Capacity: math.MaxInt32}
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, allocated(func() { packing.LowerBound(lengths, limits) }), uint64(1<<16))
	for _, s := range strategies {
		bin := make([]int32, len(lengths))
		require.Less(t, allocated(func() { s.strategy.Assign(bin, lengths, limits) }), uint64(1<<18), s.name)
	}

	// Beyond input and result, ids take no memory a sample, and samples grouped by bin none either.
	lengths = lognormal(1_000_000, 400, 1, 2048)
	limits.Capacity = 2048
	bin := make([]int32, len(lengths))
	n := 0
	ids := allocated(func() { n = packing.BestFitDecreasing{}.Assign(bin, lengths, limits) })
	require.Less(t, ids, uint64(1<<20))
	plan := allocated(func() { pack(t, packing.BestFitDecreasing{}, lengths, limits) })
	require.Less(t, plan, uint64(4*len(lengths)+4*n+len(lengths)/8+1<<20)) // an eighth for Verify
}

func TestKnownOptima(t *testing.T) {
	for _, class := range []string{"falkenauer_u", "falkenauer_t", "scholl1"} {
		t.Run(class, func(t *testing.T) {
			met := 0
			for _, in := range instances(t, class) {
				limits := packing.Limits{Capacity: in.capacity}
				bound := packing.LowerBound(in.lengths, limits)
				require.LessOrEqual(t, bound, in.optimum, in.name)
				require.Equal(t, plainBound(in.lengths, limits), bound, in.name)
				if bound == in.optimum {
					met++
				}
				for _, s := range decreasingStrategies {
					n := pack(t, s, in.lengths, limits).Len()
					require.GreaterOrEqual(t, n, in.optimum, "%s: %T", in.name, s)
					require.LessOrEqual(t, 9*n, 11*in.optimum+6, "%s: %T", in.name, s)
				}
			}
			t.Logf("bound met on %d", met)
		})
	}
}

// The counts of bins are those that others get by best-fit and first-fit decreasing.
func TestKnownCounts(t *testing.T) {
	count := func(s packing.Strategy, lengths []int32, capacity int) int {
		return s.Assign(make([]int32, len(lengths)), lengths, packing.Limits{Capacity: capacity})
	}
	for _, c := range []struct {
		name     string
		capacity int
		optimum  int64
		bins     int
	}{
		{"hist_squad11_384.txt", 384, 40_195, 40_631},
		{"hist_wikipedia_512.txt", 512, 8_135_727, 8_138_483},
	} {
		h := readHistogram(t, c.name)
		limits := packing.Limits{Capacity: c.capacity}
		require.LessOrEqual(t, h.LowerBound(limits), c.optimum)
		lengths := samplesOf(h)
		require.EqualValues(t, h.LowerBound(limits), packing.LowerBound(lengths, limits))
		require.Equal(t, c.bins, count(packing.BestFitDecreasing{}, lengths, c.capacity), c.name)
		if len(lengths) < 1_000_000 {
			require.Equal(t, c.bins, count(packing.FirstFitDecreasing{}, lengths, c.capacity), c.name)
		}
	}
	gsm8k := readLengths(t, "gsm8k-qwen.lengths.txt.gz", math.MaxInt32)
	require.Equal(t, 746, count(packing.BestFitDecreasing{}, gsm8k, 2048))
	require.Equal(t, 1506, count(packing.BestFitDecreasing{}, gsm8k, 1024))
}

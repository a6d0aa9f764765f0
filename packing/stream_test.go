package packing_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/brimful/brimful/packing"
	"github.com/stretchr/testify/require"
)

func ExampleStreamer() {
	arriving := func(yield func(int32) bool) {
		for _, length := range []int32{700, 300, 512, 600, 500, 1000} {
			fmt.Println("length", length)
			if !yield(length) {
				return
			}
		}
	}
	var s packing.Streamer = packing.BestFit{Open: 2}
	for samples := range s.Stream(arriving, packing.Limits{Capacity: 1024}) {
		fmt.Println("bin of", samples)
	}
	// Output:
	// length 700
	// length 300
	// length 512
	// length 600
	// bin of [0 1]
	// length 500
	// length 1000
	// bin of [2 4]
	// bin of [3]
	// bin of [5]
}

// collect returns the bins of a stream and, for each, how many samples had been drawn when it came.
func collect(s packing.Streamer, lengths []int32, limits packing.Limits) (bins [][]int64, drawn []int) {
	n := 0
	counted := func(yield func(int32) bool) {
		for _, l := range lengths {
			n++
			if !yield(l) {
				return
			}
		}
	}
	for samples := range s.Stream(counted, limits) {
		bins = append(bins, slices.Clone(samples))
		drawn = append(drawn, n)
	}
	return bins, drawn
}

// verifyStream checks that each sample is in exactly one bin, and each bin within the limits and ascending.
func verifyStream(t *testing.T, bins [][]int64, lengths []int32, limits packing.Limits) {
	t.Helper()
	seen := make([]bool, len(lengths))
	for _, samples := range bins {
		require.NotEmpty(t, samples)
		require.True(t, slices.IsSorted(samples))
		fill := 0
		for _, i := range samples {
			require.False(t, seen[i], "sample %d twice", i)
			seen[i] = true
			fill += int(lengths[i])
		}
		require.LessOrEqual(t, fill, limits.Capacity)
		if limits.MaxSamples > 0 {
			require.LessOrEqual(t, len(samples), limits.MaxSamples)
		}
	}
	require.NotContains(t, seen, false)
}

func TestStream(t *testing.T) {
	for name, s := range streamers() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(100) {
				lengths, limits := draw(rand.New(rand.NewPCG(seed, 8)))
				bins, _ := collect(s, lengths, limits)
				verifyStream(t, bins, lengths, limits)

				// A sequence can be ranged over again, and left at any bin.
				again := s.Stream(slices.Values(lengths), limits)
				for stop := range min(len(bins), 5) {
					k := 0
					for samples := range again {
						require.Equal(t, bins[k], samples, "seed %d", seed)
						if k++; k > stop {
							break
						}
					}
				}
			}
		})
	}
}

// Assign and Stream make the same bins, but where Open is 0 and means something else.
func TestStreamEqualsAssign(t *testing.T) {
	for name, s := range streamers() {
		if name == "best-fit" || name == "first-fit" {
			continue
		}
		for seed := range uint64(50) {
			lengths, limits := draw(rand.New(rand.NewPCG(seed, 9)))
			bins, _ := collect(s, lengths, limits)
			bin := make([]int32, len(lengths))
			n := s.Assign(bin, lengths, limits)
			assigned := make([][]int64, n)
			for i, b := range bin {
				assigned[b] = append(assigned[b], int64(i))
			}
			slices.SortFunc(bins, slices.Compare)
			slices.SortFunc(assigned, slices.Compare)
			require.Equal(t, assigned, bins, "%s: seed %d", name, seed)
		}
	}
}

// The default of a stream is 64 open bins.
func TestOpenDefault(t *testing.T) {
	lengths := lognormal(5000, 3000, .5, 8192)
	limits := packing.Limits{Capacity: 8192}
	for _, c := range []struct{ zero, same, other packing.Streamer }{
		{packing.BestFit{}, packing.BestFit{Open: 64}, packing.BestFit{Open: 63}},
		{packing.FirstFit{}, packing.FirstFit{Open: 64}, packing.FirstFit{Open: 63}},
	} {
		bins, _ := collect(c.zero, lengths, limits)
		same, _ := collect(c.same, lengths, limits)
		other, _ := collect(c.other, lengths, limits)
		require.Equal(t, same, bins)
		require.NotEqual(t, other, bins)
	}
}

// waits returns the most tokens that came after a sample and before its bin.
func waits(bins [][]int64, drawn []int, lengths []int32) int64 {
	before := make([]int64, len(lengths)+1) // tokens
	for i, l := range lengths {
		before[i+1] = before[i] + int64(l)
	}
	longest := int64(0)
	for b, samples := range bins {
		longest = max(longest, before[drawn[b]]-before[samples[0]])
	}
	return longest
}

func TestNoSampleWaitsForever(t *testing.T) {
	// A sample of 51 fits nothing but samples of at most 49, of which there are none: its bin is always the emptiest.
	lengths := []int32{51}
	for range 20_000 {
		lengths = append(lengths, 50)
	}
	limits := packing.Limits{Capacity: 100}
	for _, c := range []struct {
		strategy packing.Streamer
		tokens   int64 // wait at most
	}{
		{packing.Windows{Tokens: 5000}, 17 * 5000},
		{packing.Rolling{Tokens: 5000}, 17 * 5000},
		{packing.OldestFirst{}, 64 * 100},
	} {
		bins, drawn := collect(c.strategy, lengths, limits)
		verifyStream(t, bins, lengths, limits)
		wait := waits(bins, drawn, lengths)
		require.LessOrEqual(t, wait, c.tokens, "%T", c.strategy)
		require.Greater(t, wait, int64(100), "%T: the test is to make a sample wait", c.strategy)
	}
}

// Nothing is gained by keeping a full bin.
func TestFullBinsAreNotKept(t *testing.T) {
	lengths := slices.Repeat([]int32{40, 60}, 1000)
	limits := packing.Limits{Capacity: 100}
	for _, s := range []packing.Streamer{packing.Windows{Tokens: 5000}, packing.Rolling{Tokens: 5000}} {
		_, drawn := collect(s, lengths, limits)
		require.Len(t, drawn, 1000)
		for b, n := range drawn {
			require.Equal(t, min(100*(b/50)+101, 2000), n, "%T: bin %d", s, b)
		}
	}
}

// A row comes out as soon as it is closed: open bins alone hold samples back.
func TestStreamHoldsLittle(t *testing.T) {
	lengths := lognormal(20_000, 3000, .5, 8192)
	limits := packing.Limits{Capacity: 8192}
	for _, c := range []struct {
		strategy packing.Streamer
		tokens   int64
	}{
		{packing.NextFit{}, 8192},
		{packing.FirstFit{Open: 10}, 10 * 8192},
		{packing.BestFit{Open: 10}, 10 * 8192},
		{packing.OldestFirst{Pool: 16}, 16 * 8192},
		{packing.Windows{Tokens: 1_000_000}, 1_000_000},
		{packing.Rolling{Tokens: 1_000_000}, 1_000_000},
	} {
		held, most, n := int64(0), int64(0), 0
		counted := func(yield func(int32) bool) {
			for _, l := range lengths {
				most = max(most, held)
				held += int64(l)
				n++
				if !yield(l) {
					return
				}
			}
		}
		for samples := range c.strategy.Stream(counted, limits) {
			for _, i := range samples {
				held -= int64(lengths[i])
			}
		}
		require.Zero(t, held)
		require.LessOrEqual(t, most, c.tokens, "%T", c.strategy)
	}
}

// One window is the global plan, and many are nearly as good.
func TestWindows(t *testing.T) {
	heavy := slices.Concat(slices.Repeat([][]int32{readLengths(t, "gosrc-qwen.lengths.txt.gz", 32768)}, 20)...)
	for _, c := range []struct {
		name     string
		lengths  []int32
		capacity int
	}{
		{"third", lognormal(200_000, 8192./3, .5, 8192), 8192},
		{"go sources", heavy, 32768},
	} {
		limits := packing.Limits{Capacity: c.capacity}
		tokens := int64(0)
		for _, l := range c.lengths {
			tokens += int64(l)
		}
		bin := make([]int32, len(c.lengths))
		global := packing.BestFitDecreasing{}.Assign(bin, c.lengths, limits)
		require.Equal(t, global, packing.Windows{Tokens: tokens}.Assign(bin, c.lengths, limits), c.name)

		seeded := packing.Decorrelate(packing.BestFitDecreasing{}, 1)
		require.Equal(t, global, packing.Windows{Strategy: seeded, Tokens: tokens}.Assign(bin, c.lengths, limits), c.name)
		for _, s := range []packing.Strategy{packing.BestFitDecreasing{}, seeded} {
			rows := packing.Windows{Strategy: s, Tokens: 1024 * int64(c.capacity)}.Assign(bin, c.lengths, limits)
			t.Logf("%s: %d rows in one window, %d in windows of 1024", c.name, global, rows)
			require.LessOrEqual(t, float64(rows), 1.0002*float64(global), c.name)
		}
		rows := packing.Rolling{}.Assign(bin, c.lengths, limits)
		t.Logf("%s: %d rows in a pool of 256", c.name, rows)
		require.LessOrEqual(t, float64(rows), 1.002*float64(global), c.name)
	}
}

// Every window draws anew: equal windows are not packed alike.
func TestWindowsDrawAnew(t *testing.T) {
	lengths := slices.Repeat([]int32{50}, 400)
	limits := packing.Limits{Capacity: 100}
	s := packing.Windows{Strategy: packing.Decorrelate(packing.BestFitDecreasing{}, 1), Tokens: 10_000}
	bins, _ := collect(s, lengths, limits)
	require.Len(t, bins, 200)
	second := slices.Clone(bins[100:])
	for b, samples := range second {
		second[b] = []int64{samples[0] - 200, samples[1] - 200}
	}
	require.NotEqual(t, bins[:100], second)
}

func TestStreamPanics(t *testing.T) {
	drain := func(s iter.Seq[[]int64]) func() {
		return func() {
			for range s {
			}
		}
	}
	limits := packing.Limits{Capacity: 5}
	require.PanicsWithValue(t, "packing: sample 1: length 6: want 1 to 5", drain(packing.Windows{}.Stream(slices.Values([]int32{1, 6}), limits)))
	require.PanicsWithValue(t, "packing: strategy: -1 bins for 1 samples", drain(packing.Rolling{Strategy: outsider{n: -1}}.Stream(slices.Values([]int32{1}), limits)))
}

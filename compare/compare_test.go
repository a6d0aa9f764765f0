package compare_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/compare"
	"github.com/brimful/brimful/packing"
)

// run compares and returns the results by strategy, at the first capacity.
func run(t testing.TB, lengths []int32, o compare.Options) (*compare.Comparison, map[string]compare.Result) {
	t.Helper()
	c, err := compare.Run(t.Context(), lengths, o)
	require.NoError(t, err)
	by := map[string]compare.Result{}
	for _, r := range c.Results {
		if r.Capacity == o.Capacities[0] {
			by[r.Strategy] = r
		}
	}
	return c, by
}

// draw returns n lengths from 1 to longest.
func draw(n, longest int, seed uint64) []int32 {
	r := rand.New(rand.NewPCG(seed, seed))
	lengths := make([]int32, n)
	for i := range lengths {
		lengths[i] = int32(1 + r.IntN(longest))
	}
	return lengths
}

// Worked out by hand: 3 5 2 4 at capacity 6, with an over-long sample and an empty one.
func TestByHand(t *testing.T) {
	c, by := run(t, []int32{3, 5, 0, 2, 7, 4}, compare.Options{Capacities: []int{6}, Batch: 2, Ranks: 2})

	bfd := by["bfd"] // 5 . | 4 2 | 3 . . .
	require.Equal(t, int64(3), bfd.Rows)
	require.Equal(t, int64(3), bfd.LowerBound)
	require.Equal(t, int64(0), bfd.Gap)
	require.Equal(t, int64(18), bfd.Slots)
	require.InDelta(t, 14./18, bfd.Fill, 1e-12)
	require.InDelta(t, 4./18, bfd.Padding, 1e-12)
	require.InDelta(t, 4./3, bfd.SamplesPerRow, 1e-12)
	require.Equal(t, int64(2), bfd.MostInRow)
	require.Equal(t, []int64{0, 2, 1}, bfd.PerRow)
	require.InDelta(t, (25+1+16+4+9+9)/82., bfd.Attention, 1e-12)
	require.Nil(t, bfd.Stream)
	require.True(t, bfd.Packed)

	for _, r := range c.Results {
		require.Equal(t, []int64{4, 14, 1, 7, 1}, []int64{r.Samples, r.Tokens, r.OverLong, r.OverLongTokens, r.Empty}, r.Strategy)
	}

	capacity, longest, sorted := by["pad-to-capacity"], by["pad-to-longest"], by["pad-sorted"]
	require.Equal(t, []int64{24, 18, 16}, []int64{capacity.Slots, longest.Slots, sorted.Slots}) // 4 of 6 | 2 of 5, 2 of 4 | 2 of 3, 2 of 5
	require.InDelta(t, 144/82., capacity.Attention, 1e-12)
	require.Equal(t, 1., longest.Attention)
	require.InDelta(t, 68/82., sorted.Attention, 1e-12)
	require.Equal(t, int64(4), longest.Rows)
	require.Equal(t, int64(1), longest.Gap)
	require.False(t, longest.Packed)
	require.InDelta(t, 0, *capacity.Imbalance, 1e-12)
	long, short := compare.RowCost(10, 50), compare.RowCost(8, 32)
	for seed := range uint64(8) { // the longer batch comes first under one seed and second under another
		_, by := run(t, []int32{3, 5, 2, 4}, compare.Options{Capacities: []int{6}, Batch: 2, Ranks: 2, Seed: seed})
		require.InDelta(t, 2*long/(long+short)-1, *by["pad-to-longest"].Imbalance, 1e-12)
	}

	next := by["next-fit"].Stream // 3 . . . | 5 . | 2 4: the first two wait for the sample that no longer fits, the 2 for the 4
	require.Equal(t, int64(3), next.Rows)
	require.InDelta(t, 3./4, next.MeanWait, 1e-12)
	require.Equal(t, int64(1), next.MaxWait)

	require.Equal(t, int64(6), c.Lengths.Samples)
	require.Equal(t, int64(1), c.Lengths.Empty)
	require.Equal(t, int64(2), c.Lengths.Min)
	require.Equal(t, int64(7), c.Lengths.Max)
	require.Equal(t, int64(21), c.Lengths.Tokens)
	require.InDelta(t, 4.2, c.Lengths.Mean(), 1e-12)
	require.Equal(t, int64(4), c.Lengths.Quantile(.5))
	require.Equal(t, int64(2), c.Lengths.Quantile(0))
	require.Equal(t, int64(7), c.Lengths.Quantile(1))
	require.Equal(t, int64(3), c.Lengths.UpTo(4))
	require.Equal(t, int64(9), c.Lengths.TokensUpTo(4))
	require.Equal(t, int64(21), c.Lengths.TokensUpTo(1<<40))
}

// Every figure against a count over the plan itself, for every strategy and some capacities.
func TestFiguresOfPlans(t *testing.T) {
	for seed := range uint64(6) {
		lengths := draw(1+int(seed)*60, 90, seed)
		o := compare.Options{Capacities: []int{100, 64, 1}, MaxSamples: int(seed) % 4, Ranks: 3}
		c, _ := run(t, lengths, o)
		require.Len(t, c.Results, 3*(len(packing.Names())+3))
		i := 0
		for _, capacity := range o.Capacities {
			var kept []int32
			tokens := int64(0)
			for _, l := range lengths {
				if int(l) <= capacity {
					kept = append(kept, l)
					tokens += int64(l)
				}
			}
			limits := packing.Limits{Capacity: capacity, MaxSamples: o.MaxSamples}
			for _, name := range packing.Names() {
				r := c.Results[i]
				i++
				what := fmt.Sprintf("seed %d: %s at %d", seed, r.Strategy, capacity)
				require.Equal(t, name, r.Strategy)
				s, err := packing.Lookup(name)
				require.NoError(t, err)
				plan, err := packing.Pack(s, kept, limits)
				require.NoError(t, err)
				most, perRow := 0, map[int]int64{}
				for _, samples := range plan.All() {
					most = max(most, len(samples))
					perRow[len(samples)]++
				}
				require.Equal(t, int64(plan.Len()), r.Rows, what)
				require.Equal(t, int64(most), r.MostInRow, what)
				require.Equal(t, tokens, r.Tokens, what)
				require.Equal(t, r.Rows-r.LowerBound, r.Gap, what)
				require.GreaterOrEqual(t, r.Gap, int64(0), what)
				require.GreaterOrEqual(t, r.LowerBound, int64(packing.LowerBound(kept, limits)), what)
				for n, rows := range r.PerRow {
					require.Equal(t, perRow[n], rows, what)
				}
				if r.Rows > 0 {
					require.InDelta(t, float64(tokens)/float64(plan.Len()*capacity), r.Fill, 1e-12, what)
					require.InDelta(t, 1, r.Fill+r.Padding, 1e-12, what)
				}
				_, streams := s.(packing.Streamer)
				require.Equal(t, streams, r.Stream != nil, what)
			}
			i += len(compare.Padded())
		}
	}
}

// What waiting costs is at least nothing, at most what R ranks can lose, and nothing where all rows cost the same or one rank is alone.
func TestImbalance(t *testing.T) {
	lengths := draw(500, 100, 1)
	for _, ranks := range []int{1, 2, 7, 64} {
		_, by := run(t, lengths, compare.Options{Capacities: []int{100}, Ranks: ranks})
		for name, r := range by {
			if r.Imbalance == nil {
				require.Less(t, r.Rows, int64(ranks*8), name)
				continue
			}
			require.GreaterOrEqual(t, *r.Imbalance, 0., name)
			require.Less(t, *r.Imbalance, float64(ranks), name)
			if ranks == 1 || name == "pad-to-capacity" {
				require.InDelta(t, 0, *r.Imbalance, 1e-9, name)
			}
		}
	}
	_, by := run(t, []int32{10, 20}, compare.Options{Capacities: []int{100}, Ranks: 2})
	require.Nil(t, by["bfd"].Imbalance, "one row is no step of two ranks")
}

// alone puts every sample into a bin of its own, the way a user's strategy would.
type alone struct{}

func (alone) Assign(bin, _ []int32, _ packing.Limits) int {
	for i := range bin {
		bin[i] = int32(i)
	}
	return len(bin)
}

// broken puts everything into one bin.
type broken struct{}

func (broken) Assign(bin, _ []int32, _ packing.Limits) int {
	clear(bin)
	return 1
}

func TestOwnStrategy(t *testing.T) {
	candidates := []compare.Candidate{{"mine", alone{}}, {"bfd", packing.BestFitDecreasing{}}}
	_, by := run(t, []int32{4, 6, 5}, compare.Options{Capacities: []int{10}, Candidates: candidates})
	require.Len(t, by, 5)
	require.Equal(t, int64(3), by["mine"].Rows)
	require.Equal(t, int64(2), by["bfd"].Rows)
	require.Equal(t, int64(1), by["mine"].Gap)
}

func TestErrors(t *testing.T) {
	one := []int32{1}
	capacities := []int{8}
	bfd := packing.BestFitDecreasing{}
	for _, c := range []struct {
		name    string
		lengths []int32
		o       compare.Options
		want    string
	}{
		{"no capacity", one, compare.Options{}, "no capacity"},
		{"capacity 0", one, compare.Options{Capacities: []int{8, 0}}, "capacity 0: want 1 to 2147483647"},
		{"capacity too large", one, compare.Options{Capacities: []int{math.MaxInt32 + 1}}, "capacity 2147483648"},
		{"negative length", []int32{3, -1}, compare.Options{Capacities: capacities}, "sample 1: length -1: want 0 or more"},
		{"no strategy", one, compare.Options{Capacities: capacities, Candidates: []compare.Candidate{{"x", nil}}}, `candidate "x" has no strategy`},
		{"no name", one, compare.Options{Capacities: capacities, Candidates: []compare.Candidate{{"", bfd}}}, `candidate ""`},
		{"same name", one, compare.Options{Capacities: capacities, Candidates: []compare.Candidate{{"x", bfd}, {"x", bfd}}}, `candidate "x": want a name`},
		{"name of a padding", one, compare.Options{Capacities: capacities, Candidates: []compare.Candidate{{"pad-sorted", bfd}}}, `candidate "pad-sorted"`},
		{"broken strategy", []int32{5, 5}, compare.Options{Capacities: capacities, Candidates: []compare.Candidate{{"x", broken{}}}}, "x at capacity 8: strategy: bin 0: 10 tokens: want at most 8"},
		{"batch", one, compare.Options{Capacities: capacities, Batch: -1}, "-1 sequences a batch"},
		{"ranks", one, compare.Options{Capacities: capacities, Ranks: -2}, "-2 ranks"},
		{"samples a row", one, compare.Options{Capacities: capacities, MaxSamples: -3}, "-3 samples a row"},
		{"budget", one, compare.Options{Capacities: capacities, Budget: -1}, "budget -1ns"},
	} {
		_, err := compare.Run(t.Context(), c.lengths, c.o)
		require.ErrorContains(t, err, c.want, c.name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := compare.Run(ctx, one, compare.Options{Capacities: capacities})
	require.ErrorIs(t, err, context.Canceled)
}

// Nothing, or nothing that fits, is a comparison of no rows.
func TestNoSamples(t *testing.T) {
	for _, lengths := range [][]int32{nil, {0, 0}, {9, 9}} {
		c, by := run(t, lengths, compare.Options{Capacities: []int{8}})
		for name, r := range by {
			require.Zero(t, r.Rows, name)
			require.Zero(t, r.Fill+r.Padding+r.Attention, name)
			require.Nil(t, r.Imbalance, name)
		}
		require.NotEmpty(t, c.Suggestion.Reason)
	}
}

// hard returns lengths on which a search takes long: just under halves and thirds of the capacity.
func hard() []int32 {
	r := rand.New(rand.NewPCG(3, 3))
	lengths := make([]int32, 20_000)
	for i := range lengths {
		lengths[i] = int32(1600 + r.IntN(2500))
	}
	return lengths
}

func TestBudget(t *testing.T) {
	o := compare.Options{Capacities: []int{8192}, Budget: 50 * time.Millisecond, Candidates: []compare.Candidate{{"optimal", packing.Optimal{}}}}
	start := time.Now()
	_, by := run(t, hard(), o)
	require.True(t, by["optimal"].Stopped)
	require.Less(t, time.Since(start), 10*time.Second)
	require.Positive(t, by["optimal"].Rows)

	_, by = run(t, []int32{4, 6, 5}, compare.Options{Capacities: []int{10}, Budget: time.Minute})
	require.False(t, by["optimal"].Stopped)
}

// The bound that one candidate proves holds for all of them.
func TestBestBound(t *testing.T) {
	lengths := slices.Repeat([]int32{34}, 30) // 17 rows by their tokens, 15 by pairs: two to a row of 61, where 34+34 = 68 > 61
	_, by := run(t, lengths, compare.Options{Capacities: []int{61}})
	require.Equal(t, int64(30), by["bfd"].LowerBound)

	thirds := slices.Repeat([]int32{41}, 30) // two to a row of 120: 15 rows; their tokens need 11, and no two are above half of it
	require.Equal(t, 11, packing.LowerBound(thirds, packing.Limits{Capacity: 120}))
	_, by = run(t, thirds, compare.Options{Capacities: []int{120}})
	for name, r := range by {
		require.Equal(t, int64(15), r.LowerBound, name)
	}
}

// Times apart, two runs are equal, and so is a run with the capacities the other way round.
func TestSame(t *testing.T) {
	lengths := draw(2000, 700, 5)
	untimed := func(capacities ...int) *compare.Comparison {
		c, err := compare.Run(t.Context(), lengths, compare.Options{Capacities: capacities, Seed: 7})
		require.NoError(t, err)
		for i := range c.Results {
			r := &c.Results[i]
			r.Seconds, r.SamplesPerSecond = 0, 0
			if r.Stream != nil {
				r.Stream.Seconds = 0
			}
		}
		return c
	}
	a := untimed(512, 1024)
	require.Equal(t, a, untimed(512, 1024))
	b := untimed(1024, 512)
	n := len(a.Results) / 2
	require.Equal(t, a.Results[:n], b.Results[n:])
	require.Equal(t, a.Sweep, b.Sweep)
}

func TestSuggestion(t *testing.T) {
	for _, c := range []struct {
		name    string
		lengths []int32
		want    int
		reason  string
	}{
		{"exact fit at the smallest", slices.Repeat([]int32{64}, 100), 128, "the smallest capacity tried at which padding (0 %)"},
		{"the tail decides", append(slices.Repeat([]int32{64}, 5000), slices.Repeat([]int32{4000}, 100)...), 4096, "at most 1 %"},
		{"nothing is good", []int32{200, 200, 200}, 256, "least there"},
		{"nothing at all", nil, 0, "no tokens"},
	} {
		got, _ := run(t, c.lengths, compare.Options{Capacities: []int{1000}})
		require.Equal(t, c.want, got.Suggestion.Capacity, c.name)
		require.Contains(t, got.Suggestion.Reason, c.reason, c.name)
	}
}

func ExampleRun() {
	lengths := []int32{600, 500, 700, 400, 900, 300, 200, 100}
	c, err := compare.Run(context.Background(), lengths, compare.Options{
		Capacities: []int{1024},
		Candidates: []compare.Candidate{
			{Name: "next-fit", Strategy: packing.NextFit{}},
			{Name: "bfd", Strategy: packing.BestFitDecreasing{}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range c.Results {
		fmt.Printf("%s: %d rows, %d above the bound, %.0f %% padding\n", r.Strategy, r.Rows, r.Gap, 100*r.Padding)
	}
	// Output:
	// next-fit: 6 rows, 2 above the bound, 40 % padding
	// bfd: 4 rows, 0 above the bound, 10 % padding
	// pad-to-capacity: 8 rows, 4 above the bound, 55 % padding
	// pad-to-longest: 8 rows, 4 above the bound, 49 % padding
	// pad-sorted: 8 rows, 4 above the bound, 49 % padding
}

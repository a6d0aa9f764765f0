package cutstock_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing/internal/cutstock"
)

// solve solves p and checks the solution.
func solve(t testing.TB, p cutstock.Problem, o cutstock.Options) *cutstock.Solution {
	t.Helper()
	s, err := cutstock.Solve(context.Background(), p, o)
	require.NoError(t, err, "%+v", p)
	require.NoError(t, s.Verify(p), "%+v", p)
	quick, _ := cutstock.LowerBound(p)
	require.LessOrEqual(t, quick, s.Bound)
	require.LessOrEqual(t, s.Bound, s.Bins)
	require.False(t, s.Aborted)
	return s
}

// Real histograms, whose optima are proven.
func TestReal(t *testing.T) {
	for _, c := range []struct {
		name string
		p    cutstock.Problem
		opt  int64
	}{
		{"wikipedia", histogram(t, "hist_wikipedia_512.txt", 512), 8_135_727},
		{"squad", histogram(t, "hist_squad11_384.txt", 384), 40_195},
		{"gsm8k 2048", lengths(t, "gsm8k-qwen.lengths.txt.gz", 2048), 739},
		{"gsm8k 1024", lengths(t, "gsm8k-qwen.lengths.txt.gz", 1024), 1478},
	} {
		s := solve(t, c.p, cutstock.Options{})
		require.Equal(t, c.opt, s.Bins, c.name)
		require.Equal(t, c.opt, s.Bound, c.name)
	}
}

// The classes of BPPLIB with known optima: Falkenauer u and Scholl 1 are solved, Falkenauer t within a bin, and no bound is above an
// optimum.
func TestBPPLIB(t *testing.T) {
	for class, beyond := range map[string]int64{"falkenauer_u": 0, "scholl1": 0, "falkenauer_t": 1} {
		all := bpplib(t, class)
		optimal := 0
		for i, in := range all {
			if testing.Short() && i%20 > 0 {
				continue
			}
			s := solve(t, in.Problem, cutstock.Options{Effort: 200_000_000})
			require.LessOrEqual(t, s.Bound, in.opt, in.name)
			require.GreaterOrEqual(t, s.Bins, in.opt, in.name)
			require.LessOrEqual(t, s.Bins, in.opt+beyond, in.name)
			if s.Bins == in.opt {
				optimal++
			}
		}
		t.Logf("%s: %d of %d at the optimum", class, optimal, len(all))
	}
}

// random returns a small problem.
func random(r *rand.Rand) cutstock.Problem {
	p := cutstock.Problem{Capacity: 5 + r.IntN(60), MaxItems: r.IntN(2) * (1 + r.IntN(5))}
	sizes := map[int32]bool{}
	for range 1 + r.IntN(6) {
		sizes[1+r.Int32N(int32(p.Capacity))] = true
	}
	for s := range sizes {
		p.Sizes = append(p.Sizes, s)
	}
	slices.Sort(p.Sizes)
	slices.Reverse(p.Sizes)
	for range p.Sizes {
		p.Counts = append(p.Counts, 1+r.Int64N(3))
	}
	return p
}

// fewest returns the fewest bins for items, by trying everything.
func fewest(items []int32, capacity, most int) int64 {
	type bin struct{ sum, n int }
	best := int64(len(items))
	var bins []bin
	var place func(k int)
	place = func(k int) {
		if int64(len(bins)) >= best {
			return
		}
		if k == len(items) {
			best = int64(len(bins))
			return
		}
		for i := range bins {
			if bins[i].sum+int(items[k]) <= capacity && (most == 0 || bins[i].n < most) {
				bins[i].sum += int(items[k])
				bins[i].n++
				place(k + 1)
				bins[i].sum -= int(items[k])
				bins[i].n--
			}
		}
		bins = append(bins, bin{int(items[k]), 1})
		place(k + 1)
		bins = bins[:len(bins)-1]
	}
	place(0)
	return best
}

// Small problems: the bound is never above the optimum, and the solution is at most a bin above it.
func TestSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for range 300 {
		p := random(r)
		var items []int32
		for i, s := range p.Sizes {
			for range p.Counts[i] {
				items = append(items, s)
			}
		}
		if len(items) > 10 {
			continue
		}
		opt := fewest(items, p.Capacity, p.MaxItems)
		s := solve(t, p, cutstock.Options{Effort: 10_000_000})
		require.LessOrEqual(t, s.Bound, opt, "%+v", p)
		require.LessOrEqual(t, s.Bins, opt+1, "%+v", p)
	}
}

// Sizes and capacity times k change nothing, equal arguments give equal solutions, and another item of a whole bin is another bin.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 60 {
		p := random(r)
		o := cutstock.Options{Effort: 5_000_000, Seed: r.Uint64()}
		s := solve(t, p, o)
		require.Equal(t, s, solve(t, p, o))
		scaled := p
		scaled.Capacity *= 7
		scaled.Sizes = slices.Clone(p.Sizes)
		for i := range scaled.Sizes {
			scaled.Sizes[i] *= 7
		}
		k := solve(t, scaled, o)
		require.Equal(t, s.Bins, k.Bins)
		require.Equal(t, s.Bound, k.Bound)
		if p.Sizes[0] < int32(p.Capacity) && s.Gap() == 0 {
			more := p
			more.Sizes = append([]int32{int32(p.Capacity)}, p.Sizes...)
			more.Counts = append([]int64{1}, p.Counts...)
			m := solve(t, more, o)
			require.LessOrEqual(t, m.Bound, s.Bins+1)
			require.GreaterOrEqual(t, m.Bins, s.Bins+1)
		}
	}
}

// Capacities that no table has room for, and counts that no list has.
func TestHuge(t *testing.T) {
	s := solve(t, cutstock.Problem{Sizes: []int32{math.MaxInt32, 1_147_483_647, 1_000_000_000, 1}, Counts: []int64{1, 1, 1, 1}, Capacity: math.MaxInt32}, cutstock.Options{})
	require.EqualValues(t, 3, s.Bins)
	s = solve(t, cutstock.Problem{Sizes: []int32{6, 4, 1}, Counts: []int64{1e12, 1e12, 1}, Capacity: 10}, cutstock.Options{})
	require.EqualValues(t, 1e12+1, s.Bins)
	require.Zero(t, s.Gap())
}

func TestRefused(t *testing.T) {
	for _, p := range []cutstock.Problem{
		{Sizes: []int32{1}, Counts: []int64{1}},
		{Sizes: []int32{5}, Counts: []int64{1}, Capacity: 4},
		{Sizes: []int32{0}, Counts: []int64{1}, Capacity: 4},
		{Sizes: []int32{2}, Counts: []int64{0}, Capacity: 4},
		{Sizes: []int32{2, 3}, Counts: []int64{1, 1}, Capacity: 4},
		{Sizes: []int32{2}, Counts: []int64{1, 1}, Capacity: 4},
		{Sizes: []int32{2}, Counts: []int64{1}, Capacity: 4, MaxItems: -1},
	} {
		_, err := cutstock.Solve(context.Background(), p, cutstock.Options{})
		require.Error(t, err, "%+v", p)
	}
}

// A context that has ended still gives a packing.
func TestAborted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := distributions[6].sample(10_000, 2048, 1)
	s, err := cutstock.Solve(ctx, p, cutstock.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Verify(p))
	require.True(t, s.Aborted)
}

func FuzzSolve(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		solve(t, random(rand.New(rand.NewPCG(seed, 3))), cutstock.Options{Effort: 1_000_000, Seed: seed})
	})
}

// BenchmarkSolve reports the gap on a million lengths of each distribution, with the default effort.
func BenchmarkSolve(b *testing.B) {
	for _, capacity := range []int{2048, 8192} {
		for _, d := range distributions {
			b.Run(fmt.Sprintf("capacity=%d/lengths=%s", capacity, d.name), func(b *testing.B) {
				p := d.sample(1_000_000, capacity, 1)
				var s *cutstock.Solution
				for b.Loop() {
					s = solve(b, p, cutstock.Options{})
				}
				b.ReportMetric(float64(s.Bins), "bins")
				b.ReportMetric(float64(s.Gap()), "gap")
			})
		}
	}
}

// Wherever the effort ends, what is returned is a whole packing under a bound that holds, and more effort never gives a worse one.
func TestEffort(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	for k := range 8 {
		d := distributions[k%len(distributions)]
		p := d.sample(2000+r.IntN(100_000), []int{512, 2048, 8192}[r.IntN(3)], r.Uint64())
		if k%4 == 3 {
			p.MaxItems = 2 + r.IntN(10)
		}
		last := int64(math.MaxInt64)
		for effort := int64(1); effort < 100_000_000; effort += 1 + int64(r.Float64()*6*float64(effort)) {
			s := solve(t, p, cutstock.Options{Effort: effort})
			require.LessOrEqual(t, s.Bins, last, "%s, effort %d", d.name, effort)
			last = s.Bins
		}
	}
}

// No processor rounds otherwise: arm64, which has one instruction for a product and a sum, is given none to use.
func TestNothingFused(t *testing.T) {
	build := exec.Command("go", "build", "-gcflags=-S", ".")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := build.CombinedOutput()
	require.NoError(t, err, "%s", listing)
	require.Contains(t, string(listing), "FMULD")
	require.Empty(t, regexp.MustCompile(`.*\bFN?M(?:ADD|SUB)[DS]\b.*`).FindAllString(string(listing), -1))
}

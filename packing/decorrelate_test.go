package packing_test

import (
	"math"
	"slices"
	"testing"

	"github.com/brimful/brimful/packing"
	"github.com/stretchr/testify/require"
)

// sameDomain returns the share of pairs of samples in a bin that are of the same domain.
func sameDomain(p *packing.Plan, domain func(i int32) int) float64 {
	same, pairs := 0, 0
	for _, samples := range p.All() {
		for k, a := range samples {
			for _, b := range samples[:k] {
				if pairs++; domain(a) == domain(b) {
					same++
				}
			}
		}
	}
	return float64(same) / float64(pairs)
}

// trend returns the correlation of a bin's number with the mean length in it.
func trend(p *packing.Plan, lengths []int32) float64 {
	var x, y []float64
	for b, samples := range p.All() {
		sum := 0.
		for _, i := range samples {
			sum += float64(lengths[i])
		}
		x, y = append(x, float64(b)), append(y, sum/float64(len(samples)))
	}
	mean := func(v []float64) (m float64) {
		for _, v := range v {
			m += v / float64(len(x))
		}
		return m
	}
	mx, my := mean(x), mean(y)
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

func TestDecorrelate(t *testing.T) {
	lengths := lognormal(100_000, 600, .5, 2048)
	limits := packing.Limits{Capacity: 2048}
	for _, domains := range []struct {
		name string
		of   func(i int32) int
	}{
		{"ten parts, one after another", func(i int32) int { return int(i) / 10_000 }},
		{"ten in turn", func(i int32) int { return int(i) % 10 }},
	} {
		for _, s := range []packing.Strategy{packing.BestFitDecreasing{}, packing.FirstFitDecreasing{}, outsiderBFD{}} {
			d := pack(t, packing.Decorrelate(s, 1), lengths, limits)
			require.InDelta(t, .1, sameDomain(d, domains.of), .01, "%T: %s", s, domains.name)
			require.InDelta(t, 0, trend(d, lengths), .05, "%T", s)

			p := pack(t, s, lengths, limits)
			require.Equal(t, bag(p, lengths), bag(d, lengths), "%T", s)
			require.Greater(t, math.Abs(trend(p, lengths))+math.Abs(sameDomain(p, domains.of)-.1), .1, "%T: the test is to have something to undo", s)

			other := pack(t, packing.Decorrelate(s, 2), lengths, limits)
			require.False(t, slices.Equal(d.Bin(0), other.Bin(0)), "%T: another seed", s)
		}
	}
}

// outsiderBFD is a strategy of which the package knows nothing.
type outsiderBFD struct{}

func (outsiderBFD) Assign(bin, lengths []int32, limits packing.Limits) int {
	return packing.BestFitDecreasing{}.Assign(bin, lengths, limits)
}

// All ways to put equal samples into bins are as likely.
func TestDecorrelateIsUniform(t *testing.T) {
	for _, samples := range []int{3, 4} { // two ones to a bin: 6 ways for both
		lengths := slices.Repeat([]int32{1}, samples)
		for _, s := range []packing.Strategy{packing.BestFitDecreasing{}, packing.NextFit{}} {
			count := map[[4]int32]int{}
			const draws = 6000
			for seed := range uint64(draws) {
				var bin [4]int32
				require.Equal(t, 2, packing.Decorrelate(s, seed).Assign(bin[:samples], lengths, packing.Limits{Capacity: 2}))
				count[bin]++
			}
			require.Len(t, count, 6)
			for bin, n := range count {
				require.InDelta(t, draws/6, n, 150, "%T: %d samples: %v", s, samples, bin) // 5 standard deviations
			}
		}
	}
}

package packing_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/brimful/brimful/packing"
	"github.com/stretchr/testify/require"
)

func Example() {
	lengths := []int32{700, 300, 512, 500, 1000, 12}
	limits := packing.Limits{Capacity: 1024}
	plan, err := packing.Pack(packing.BestFitDecreasing{}, lengths, limits)
	if err != nil {
		fmt.Println(err)
		return
	}
	for bin, samples := range plan.All() {
		fmt.Println(bin, samples)
	}
	fmt.Println("at least", packing.LowerBound(lengths, limits))
	// Output:
	// 0 [4]
	// 1 [0 1]
	// 2 [2 3 5]
	// at least 3
}

func ExampleLookup() {
	s, err := packing.Lookup("next-fit")
	fmt.Printf("%T %v\n", s, err)
	_, err = packing.Lookup("worst-fit")
	fmt.Println(err)
	// Output:
	// packing.NextFit <nil>
	// strategy "worst-fit": want one of bfd, ffd, best-fit, first-fit, next-fit, rolling, oldest-first, optimal
}

func ExampleDecorrelate() {
	lengths := []int32{5, 5, 5, 5, 5, 5}
	limits := packing.Limits{Capacity: 10}
	for _, seed := range []uint64{1, 2} {
		plan, _ := packing.Pack(packing.Decorrelate(packing.BestFitDecreasing{}, seed), lengths, limits)
		fmt.Println(plan.Bin(0), plan.Bin(1), plan.Bin(2))
	}
	// Output:
	// [0 3] [1 2] [4 5]
	// [0 1] [2 3] [4 5]
}

func TestPackRefuses(t *testing.T) {
	three := []int32{1, 2, 3}
	for _, c := range []struct {
		name    string
		lengths []int32
		limits  packing.Limits
		err     string
	}{
		{"capacity 0", three, packing.Limits{}, "capacity 0: want 1 to 2147483647"},
		{"negative capacity", three, packing.Limits{Capacity: -1}, "capacity -1: want 1 to 2147483647"},
		{"capacity beyond int32", three, packing.Limits{Capacity: math.MaxInt32 + 1}, "capacity 2147483648: want 1 to 2147483647"},
		{"negative samples", three, packing.Limits{Capacity: 3, MaxSamples: -1}, "-1 samples a bin: want 1 or more, or 0 for no bound"},
		{"length 0", []int32{1, 0}, packing.Limits{Capacity: 3}, "sample 1: length 0: want 1 to 3"},
		{"negative length", []int32{-7, 1}, packing.Limits{Capacity: 3}, "sample 0: length -7: want 1 to 3"},
		{"least length", []int32{math.MinInt32}, packing.Limits{Capacity: math.MaxInt32}, "sample 0: length -2147483648: want 1 to 2147483647"},
		{"length above", []int32{1, 2, 4, 5}, packing.Limits{Capacity: 3}, "sample 2: length 4: want 1 to 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range strategies {
				p, err := packing.Pack(s.strategy, c.lengths, c.limits)
				require.EqualError(t, err, c.err, s.name)
				require.Nil(t, p)
			}
		})
	}

	_, err := packing.Pack(packing.NextFit{}, []int32{1, 4}, packing.Limits{Capacity: 3})
	var length *packing.LengthError
	require.ErrorAs(t, err, &length)
	require.Equal(t, packing.LengthError{Index: 1, Length: 4, Capacity: 3}, *length)
}

// outsider is a strategy that returns what it is told.
type outsider struct {
	bin []int32
	n   int
}

func (s outsider) Assign(bin, lengths []int32, limits packing.Limits) int {
	copy(bin, s.bin)
	return s.n
}

func TestPackChecksStrategy(t *testing.T) {
	lengths := []int32{1, 2, 3, 4}
	limits := packing.Limits{Capacity: 6, MaxSamples: 3}
	for _, c := range []struct {
		name string
		bin  []int32
		n    int
		err  string
	}{
		{"right", []int32{1, 1, 1, 0}, 2, ""},
		{"gap", []int32{0, 0, 2, 3}, 4, "strategy: bin 1 of 4 is empty"},
		{"empty last bin", []int32{0, 0, 1, 2}, 4, "strategy: bin 3 of 4 is empty"},
		{"bin too large", []int32{0, 0, 1, 2}, 2, "strategy: sample 3 in bin 2: want 0 to 1"},
		{"negative bin", []int32{0, 0, 1, -1}, 2, "strategy: sample 3 in bin -1: want 0 to 1"},
		{"overfull", []int32{0, 0, 1, 1}, 2, "strategy: bin 1: 7 tokens: want at most 6"},
		{"no bins", []int32{0, 0, 0, 0}, 0, "strategy: sample 0 in bin 0: want 0 to -1"},
		{"negative count", []int32{0, 0, 0, 0}, -1, "strategy: -1 bins for 4 samples"},
		{"more bins than samples", []int32{0, 1, 2, 3}, 5, "strategy: 5 bins for 4 samples"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := packing.Pack(outsider{c.bin, c.n}, lengths, limits)
			if c.err == "" {
				require.NoError(t, err)
				require.NoError(t, p.Verify(lengths, limits))
				return
			}
			require.EqualError(t, err, c.err)
			require.Nil(t, p)
		})
	}

	_, err := packing.Pack(outsider{make([]int32, 4), 1}, []int32{1, 1, 1, 1}, limits)
	require.EqualError(t, err, "strategy: bin 0: 4 samples: want at most 3")

	// The sum does not wrap around.
	huge := []int32{math.MaxInt32, math.MaxInt32, math.MaxInt32}
	_, err = packing.Pack(outsider{make([]int32, 3), 1}, huge, packing.Limits{Capacity: math.MaxInt32})
	require.EqualError(t, err, "strategy: bin 0: 6442450941 tokens: want at most 2147483647")
}

func TestVerifyRefuses(t *testing.T) {
	lengths := []int32{1, 2, 3, 4}
	limits := packing.Limits{Capacity: 6, MaxSamples: 3}
	p := pack(t, outsider{[]int32{1, 1, 1, 0}, 2}, lengths, limits)
	for _, c := range []struct {
		name    string
		lengths []int32
		limits  packing.Limits
		err     string
	}{
		{"another number of samples", lengths[:3], limits, "plan of 4 samples: want 3"},
		{"smaller capacity", lengths, packing.Limits{Capacity: 5}, "bin 1: 6 tokens: want at most 5"},
		{"fewer samples", lengths, packing.Limits{Capacity: 6, MaxSamples: 2}, "bin 1: 3 samples: want at most 2"},
		{"another length", []int32{1, 2, 4, 4}, limits, "bin 1: 7 tokens: want at most 6"},
		{"length 0", []int32{1, 0, 3, 4}, limits, "sample 1: length 0: want 1 to 6"},
		{"bad limits", lengths, packing.Limits{}, "capacity 0: want 1 to 2147483647"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.EqualError(t, p.Verify(c.lengths, c.limits), c.err)
		})
	}

	// Bin gives access to the plan's own memory, so a plan can be broken.
	for _, c := range []struct {
		name  string
		spoil func()
		err   string
	}{
		{"twice", func() { p.Bin(0)[0] = 0 }, "bin 1: sample 0 is in another bin too"},
		{"out of range", func() { p.Bin(0)[0] = 4 }, "bin 0: sample 4: want 0 to 3"},
		{"negative", func() { p.Bin(0)[0] = -1 }, "bin 0: sample -1: want 0 to 3"},
		{"twice in a bin", func() { p.Bin(1)[1] = 0 }, "bin 1: sample 0 after 0: want ascending order"},
		{"order", func() { b := p.Bin(1); b[0], b[1] = b[1], b[0] }, "bin 1: sample 0 after 1: want ascending order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p = pack(t, outsider{[]int32{1, 1, 1, 0}, 2}, lengths, limits)
			c.spoil()
			require.EqualError(t, p.Verify(lengths, limits), c.err)
		})
	}
}

func TestPlan(t *testing.T) {
	p := pack(t, outsider{[]int32{1, 0, 1}, 2}, []int32{1, 2, 3}, packing.Limits{Capacity: 9})
	require.Equal(t, 2, p.Len())
	require.Equal(t, []int32{1}, p.Bin(0))
	require.Equal(t, []int32{0, 2}, p.Bin(1))
	require.Equal(t, 1, cap(p.Bin(0)), "an append must not write into the next bin")
	for b := range p.All() {
		require.Zero(t, b)
		break
	}
}

func TestNames(t *testing.T) {
	names := packing.Names()
	require.Equal(t, "bfd", names[0])
	for _, name := range names {
		s, err := packing.Lookup(name)
		require.NoError(t, err)
		pack(t, s, []int32{3, 1, 2}, packing.Limits{Capacity: 3})
	}
	names[0] = "changed"
	require.Equal(t, "bfd", packing.Names()[0])

	_, err := packing.Lookup("BFD")
	require.ErrorContains(t, err, strings.Join(packing.Names(), ", "))
}

func TestExtremes(t *testing.T) {
	const most = math.MaxInt32
	for _, c := range []struct {
		name     string
		lengths  []int32
		limits   packing.Limits
		min, max int // bins
	}{
		{"nothing", nil, packing.Limits{Capacity: 1}, 0, 0},
		{"nothing at the largest capacity", []int32{}, packing.Limits{Capacity: most, MaxSamples: most}, 0, 0},
		{"capacity 1", []int32{1, 1, 1}, packing.Limits{Capacity: 1}, 3, 3},
		{"one sample a bin", []int32{1, 2, 3, 4}, packing.Limits{Capacity: 100, MaxSamples: 1}, 4, 4},
		{"two samples a bin", []int32{1, 1, 1, 1, 1}, packing.Limits{Capacity: 100, MaxSamples: 2}, 3, 5},
		{"largest length", []int32{most, most, 1}, packing.Limits{Capacity: most}, 3, 3},
		{"largest capacity, short samples", []int32{1, 2, 3}, packing.Limits{Capacity: most}, 1, 3},
		{"halves", []int32{most / 2, most / 2, 1}, packing.Limits{Capacity: most}, 1, 3},
		{"samples bound beyond int32", []int32{1, 1, 1}, packing.Limits{Capacity: 2, MaxSamples: most + 1}, 2, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range strategies {
				p := pack(t, s.strategy, c.lengths, c.limits)
				require.GreaterOrEqual(t, p.Len(), c.min, s.name)
				require.LessOrEqual(t, p.Len(), c.max, s.name)
				require.LessOrEqual(t, packing.LowerBound(c.lengths, c.limits), c.min, s.name)
			}
		})
	}
}

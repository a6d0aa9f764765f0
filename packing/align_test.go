package packing_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
)

// Aligned samples are packed like samples of the rounded lengths.
func TestAlign(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 50 {
		align, n := 1+r.IntN(40), 1+r.IntN(3000)
		limits := packing.Limits{Capacity: align*(1+r.IntN(50)) + r.IntN(align), MaxSamples: r.IntN(5), Align: align}
		longest := limits.Capacity / align * align
		lengths, rounded := make([]int32, n), make([]int32, n)
		var h packing.Histogram
		for i := range lengths {
			l := 1 + r.IntN(longest)
			lengths[i], rounded[i] = int32(l), int32((l+align-1)/align*align)
			h.Add(int32(l), 1)
		}
		plain := limits
		plain.Align = 0
		require.Equal(t, packing.LowerBound(rounded, plain), packing.LowerBound(lengths, limits))
		require.EqualValues(t, packing.LowerBound(rounded, plain), h.LowerBound(limits))
		for _, name := range packing.Names() {
			s, err := packing.Lookup(name)
			require.NoError(t, err)
			if o, ok := s.(packing.Optimal); ok {
				o.Effort = 1_000_000
				s = o
				c, err := o.Certify(t.Context(), h, limits)
				require.NoError(t, err)
				want, err := packing.Pack(s, rounded, plain)
				require.NoError(t, err)
				require.EqualValues(t, want.Len(), c.Bins)
			}
			got, err := packing.Pack(s, lengths, limits)
			require.NoError(t, err)
			require.NoError(t, got.Verify(lengths, limits), name)
			want, err := packing.Pack(s, rounded, plain)
			require.NoError(t, err)
			require.Equal(t, want, got, name)
		}
	}
}

func TestAlignRefuses(t *testing.T) {
	_, err := packing.Pack(packing.BestFit{}, []int32{8, 9}, packing.Limits{Capacity: 11, Align: 4})
	require.EqualError(t, err, "sample 1: length 9: want 1 to 8")
	for _, align := range []int{-1, 12} {
		_, err = packing.Pack(packing.BestFit{}, []int32{8}, packing.Limits{Capacity: 11, Align: align})
		require.ErrorContains(t, err, "want 0 to 11, the capacity")
	}
	p, err := packing.Pack(packing.BestFit{}, []int32{5, 3}, packing.Limits{Capacity: 8})
	require.NoError(t, err)
	require.EqualError(t, p.Verify([]int32{5, 3}, packing.Limits{Capacity: 8, Align: 8}), "bin 0: 16 tokens: want at most 8")
}

// A plan has the bound of its samples, and that of Optimal the one that was proven.
func TestPlanBound(t *testing.T) {
	lengths := []int32{6, 6, 6, 4, 4, 4, 4, 4, 4} // three times 6 and 4, and 4, 4, of which the size says 42/10
	limits := packing.Limits{Capacity: 10}
	p, err := packing.Pack(packing.NextFit{}, lengths, limits)
	require.NoError(t, err)
	require.Equal(t, packing.LowerBound(lengths, limits), p.Bound())
	require.Equal(t, p.Len()-p.Bound(), p.Gap())
	many := make([]int32, 3000) // of a third and a bit: the size says two thirds of what it takes
	for i := range many {
		many[i] = 34
	}
	p, err = packing.Pack(packing.BestFitDecreasing{}, many, packing.Limits{Capacity: 100})
	require.NoError(t, err)
	require.Equal(t, 1020, p.Bound())
	require.Equal(t, 480, p.Gap())
	p, err = packing.Pack(packing.Optimal{}, many, packing.Limits{Capacity: 100})
	require.NoError(t, err)
	require.Equal(t, 1500, p.Len())
	require.Zero(t, p.Gap())
}

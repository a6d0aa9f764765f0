package packing_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
)

// Optimal packs as its certificate says, and the certificate is between the bound that is cheap and best-fit decreasing.
func TestOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 25 {
		limits := packing.Limits{Capacity: 10 + r.IntN(200), MaxSamples: r.IntN(2) * (1 + r.IntN(5))}
		lengths := make([]int32, r.IntN(300))
		h := packing.Histogram{}
		for i := range lengths {
			lengths[i] = 1 + r.Int32N(int32(limits.Capacity))
			h.Add(lengths[i], 1)
		}
		s := packing.Optimal{Effort: 3_000_000}
		plan, c, err := s.Pack(context.Background(), lengths, limits)
		require.NoError(t, err)
		require.NoError(t, plan.Verify(lengths, limits))
		require.EqualValues(t, plan.Len(), c.Bins)
		require.LessOrEqual(t, int64(packing.LowerBound(lengths, limits)), c.Bound)
		require.LessOrEqual(t, c.Bound, c.Bins)
		greedy, err := packing.Pack(packing.BestFitDecreasing{}, lengths, limits)
		require.NoError(t, err)
		require.LessOrEqual(t, plan.Len(), greedy.Len())
		again, err := packing.Pack(s, lengths, limits)
		require.NoError(t, err)
		require.Equal(t, plan, again)
		counted, err := s.Certify(context.Background(), h, limits)
		require.NoError(t, err)
		require.Equal(t, c, counted)
	}
}

func TestOptimalLimits(t *testing.T) {
	s := packing.Optimal{}
	plan, c, err := s.Pack(context.Background(), nil, packing.Limits{Capacity: 5})
	require.NoError(t, err)
	require.Zero(t, plan.Len())
	require.Zero(t, c)
	_, _, err = s.Pack(context.Background(), []int32{6}, packing.Limits{Capacity: 5})
	var length *packing.LengthError
	require.ErrorAs(t, err, &length)
	_, err = s.Certify(context.Background(), packing.Histogram{0, 1}, packing.Limits{})
	require.Error(t, err)
	// Lengths and a capacity that no table has room for.
	big := []int32{math.MaxInt32, math.MaxInt32 - 1, 1, 1_000_000_000, 1_147_483_647}
	plan, c, err = s.Pack(context.Background(), big, packing.Limits{Capacity: math.MaxInt32})
	require.NoError(t, err)
	require.NoError(t, plan.Verify(big, packing.Limits{Capacity: math.MaxInt32}))
	require.Equal(t, c.Bound, c.Bins)
	require.EqualValues(t, 3, c.Bins)
	require.Panics(t, func() { s.Assign(make([]int32, 1), []int32{9}, packing.Limits{Capacity: 5}) })
}

// A context that has ended ends the search with a packing all the same.
func TestOptimalAborted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	lengths := make([]int32, 500)
	r := rand.New(rand.NewPCG(2, 2))
	for i := range lengths {
		lengths[i] = 200 + r.Int32N(300)
	}
	limits := packing.Limits{Capacity: 1000}
	plan, c, err := packing.Optimal{}.Pack(ctx, lengths, limits)
	require.NoError(t, err)
	require.NoError(t, plan.Verify(lengths, limits))
	require.True(t, c.Aborted || c.Bins == c.Bound)
}

func ExampleOptimal_Pack() {
	lengths := []int32{6, 5, 5, 4, 4, 3, 3} // best-fit decreasing needs 4 bins: 6+4, 5+5, 4+3+3 are enough
	plan, certificate, err := packing.Optimal{}.Pack(context.Background(), lengths, packing.Limits{Capacity: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Len(), "bins, at least", certificate.Bound)
	// Output: 3 bins, at least 3
}

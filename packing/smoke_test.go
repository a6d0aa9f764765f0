package packing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/brimful/brimful/packing"
	"github.com/stretchr/testify/require"
)

func TestSmoke(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		c := 1 + r.IntN(100)
		if trial%3 == 0 {
			c = 1<<31 - 1 - r.IntN(100)
		}
		ls := make([]int32, r.IntN(300))
		for i := range ls {
			ls[i] = int32(1 + r.IntN(c))
		}
		for _, ms := range []int{0, 1, 3} {
			lim := packing.Limits{Capacity: c, MaxSamples: ms}
			lb := packing.LowerBound(ls, lim)
			for _, s := range []packing.Strategy{packing.BestFitDecreasing{}, packing.FirstFitDecreasing{}, packing.BestFit{}, packing.FirstFit{}, packing.NextFit{}, packing.BestFit{Open: 3}, packing.FirstFit{Open: 3}, packing.Windows{}, packing.Windows{Tokens: int64(c) * 20}, packing.Rolling{Tokens: int64(c) * 10}, packing.Decorrelate(packing.BestFitDecreasing{}, 7), packing.Decorrelate(packing.BestFit{}, 7), packing.Windows{Strategy: packing.Decorrelate(packing.FirstFitDecreasing{}, 3), Tokens: int64(c) * 10}} {
				p, err := packing.Pack(s, ls, lim)
				require.NoError(t, err, "%T", s)
				require.NoError(t, p.Verify(ls, lim))
				require.GreaterOrEqual(t, p.Len(), lb)
				if trial == 1 {
					fmt.Println(p.Len(), lb)
				}
			}
		}
	}
}

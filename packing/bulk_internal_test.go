package packing

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestBulkQuick(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 2000 {
		c := 1 + r.IntN(100)
		ls := make([]int32, r.IntN(400))
		for i := range ls {
			ls[i] = int32(1 + r.IntN(c)*r.IntN(c+1)/(c+1))
		}
		lim := Limits{Capacity: c, MaxSamples: r.IntN(5)}
		for _, s := range []struct {
			b bulk
			p Strategy
		}{{BestFitDecreasing{}.bulk(), BestFit{}}, {FirstFitDecreasing{}.bulk(), FirstFit{}}} {
			p := s.b.group(ls, lim)
			if p == nil {
				continue
			}
			if err := p.Verify(ls, lim); err != nil {
				t.Fatal(err)
			}
			q, err := Pack(perItem{s.p}, ls, lim)
			if err != nil {
				t.Fatal(err)
			}
			if p.Len() != q.Len() {
				t.Fatal(trial, p.Len(), q.Len(), lim, ls)
			}
			for b := range p.Len() {
				x, y := pat(ls, p.Bin(b)), pat(ls, q.Bin(b))
				if x != y {
					t.Fatal(trial, lim, b, x, y)
				}
			}
			bin := make([]int32, len(ls))
			s.b.Assign(bin, ls, lim)
			for b, ss := range p.All() {
				for _, i := range ss {
					if bin[i] != int32(b) {
						t.Fatal("assign")
					}
				}
			}
		}
	}
}

func pat(ls, bin []int32) string {
	h := map[int32]int{}
	for _, i := range bin {
		h[ls[i]]++
	}
	return fmt.Sprint(h)
}

type perItem struct{ s Strategy }

func (p perItem) Assign(bin, lengths []int32, limits Limits) int {
	return assignDecreasing(p.s, bin, lengths, limits)
}

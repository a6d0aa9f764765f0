package packing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"
)

func logn(n int, median, sigma float64, capacity int) []int32 {
	r := rand.New(rand.NewPCG(1, 2))
	lengths := make([]int32, n)
	for i := range lengths {
		lengths[i] = int32(max(1, min(float64(capacity), median*math.Exp(sigma*r.NormFloat64()))))
	}
	return lengths
}

//go:noinline
func loopp(bin, lengths []int32) {
	for i, length := range lengths {
		bin[i] = length
	}
}

func TestProf(t *testing.T) {
	for _, c := range []int{2048, 8192, 131072} {
		for _, d := range []string{"chat", "third"} {
			for _, n := range []int{10000, 1000000} {
				ls := logn(n, 400, 1, c)
				if d == "third" {
					ls = logn(n, float64(c)/3, .5, c)
				}
				lim := Limits{Capacity: c}
				bin := make([]int32, n)
				times := map[string][]float64{}
				names := []string{}
				tm := func(name string, f func()) {
					t0 := time.Now()
					f()
					if times[name] == nil {
						names = append(names, name)
					}
					times[name] = append(times[name], float64(time.Since(t0).Nanoseconds())/float64(n))
				}
				mem := new(memory)
				ck := &chunk{start: 0, end: n, counts: make([]int32, c+1)}
				var mn, ones, onr, multi, multib, turns, runs, dist int
				for range 40 {
					s := BestFitDecreasing{}.bulk()
					var h []int32
					tm("loop", func() { loopp(bin, ls) })
					tm("count", func() {
						h = make([]int32, c+1)
						for _, l := range ls {
							h[l]++
						}
					})
					_ = h
					cs := countLengths(ls)
					var out *layout
					tm("layout", func() { out = s.strategy.layOut(mem, cs, lim) })
					tm("begin", func() { ck.begin(out, cs) })
					tm("deal", func() { ck.assign(bin, ls) })
					tm("assign", func() { s.Assign(bin, ls, lim) })
					tm("group", func() { s.group(ls, lim) })
					turns, mn, ones, onr, multi, multib = 0, 0, 0, 0, 0, 0
					for _, r := range out.runs {
						turns += int(r.rounds)
						mn += int(min(r.rounds, r.bins))
						if r.bins == 1 {
							ones++
							onr += int(r.rounds)
						}
						if r.rounds > 1 {
							multi++
							multib += int(r.bins)
						}
					}
					runs = len(out.runs)
					dist = len(cs)
					var slots []int32
					tm("expand", func() {
						slots = make([]int32, n)
						p := slots
						for _, r := range out.runs {
							for range r.rounds {
								q := p[:r.bins]
								for k := range q {
									q[k] = r.first + int32(k)
								}
								p = p[r.bins:]
							}
						}
					})
					nx := make([]int32, c+1)
					at := int32(0)
					for k := len(cs) - 1; k >= 0; k-- {
						nx[cs[k].length] = at
						at += int32(cs[k].count)
					}
					nx2 := append([]int32{}, nx...)
					tm("deal2", func() { deal2(nx, slots, bin, ls) })
					tm("deal3", func() { deal3(nx2, slots, bin, ls) })
					tm("shuffle", func() {
						r := random(1)
						names := r.perm(out.bins)
						p := slots
						for k := len(cs) - 1; k >= 0; k-- {
							q := p[:cs[k].count]
							p = p[cs[k].count:]
							for i := range q {
								j := r.below(i + 1)
								x := names[q[i]]
								q[i] = q[j]
								q[j] = x
							}
						}
					})
					s.mixed = true
					tm("mix", func() { out.mix(1) })
					tm("massign", func() { s.Assign(bin, ls, lim) })
				}
				fmt.Printf("%s %d %d turns %d min %d ones %d (rounds %d) multi %d (bins %d) runs %d D %d:", d, c, n, turns, mn, ones, onr, multi, multib, runs, dist)
				for _, k := range names {
					v := times[k]
					sort.Float64s(v)
					fmt.Printf(" %s %.2f/%.2f", k, v[0], v[len(v)/2])
				}
				fmt.Println()
			}
		}
	}
}

func deal2(next, slots, bin, lengths []int32) {
	bin = bin[:len(lengths)]
	for i, l := range lengths {
		p := next[l]
		next[l] = p + 1
		bin[i] = slots[p]
	}
}

func deal3(next, slots, bin, lengths []int32) {
	for len(lengths) >= 4 && len(bin) >= 4 {
		x, y := (*[4]int32)(lengths), (*[4]int32)(bin)
		b0 := next[x[0]]
		next[x[0]] = b0 + 1
		b1 := next[x[1]]
		next[x[1]] = b1 + 1
		b2 := next[x[2]]
		next[x[2]] = b2 + 1
		b3 := next[x[3]]
		next[x[3]] = b3 + 1
		y[0], y[1], y[2], y[3] = slots[b0], slots[b1], slots[b2], slots[b3]
		lengths, bin = lengths[4:], bin[4:]
	}
}

package packing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/brimful/brimful/packing"
)

// workloads are lengths that separate strategies: short chat turns, and lengths around a third of the capacity, of which two or three
// fill a bin.
var workloads = []struct {
	name    string
	lengths func(n, capacity int) []int32
}{
	{"chat", func(n, capacity int) []int32 { return lognormal(n, 400, 1, capacity) }},
	{"third", func(n, capacity int) []int32 { return lognormal(n, float64(capacity)/3, .5, capacity) }},
}

// lognormal returns n lengths of a lognormal distribution, clipped to the capacity.
func lognormal(n int, median, sigma float64, capacity int) []int32 {
	r := rand.New(rand.NewPCG(1, 2))
	lengths := make([]int32, n)
	for i := range lengths {
		lengths[i] = int32(max(1, min(float64(capacity), median*math.Exp(sigma*r.NormFloat64()))))
	}
	return lengths
}

// BenchmarkBulk compares with a loop that reads each length and writes 4 bytes, as turns are taken: x/loop is the median time over the
// loop's median time. op=assign gives bin ids; op=pack gives samples grouped by bin, checked input included.
func BenchmarkBulk(b *testing.B) {
	strategies := []struct {
		name     string
		strategy packing.Strategy
	}{
		{"bfd", packing.BestFitDecreasing{}},
		{"bfd-decorrelated", packing.Decorrelate(packing.BestFitDecreasing{}, 1)},
		{"bfd-2-workers", packing.BestFitDecreasing{Workers: 2}},
		{"ffd", packing.FirstFitDecreasing{}},
	}
	for _, w := range workloads {
		for _, capacity := range []int{2048, 8192} {
			for _, n := range []int{10_000, 1_000_000} {
				lengths := w.lengths(n, capacity)
				bin := make([]int32, n)
				limits := packing.Limits{Capacity: capacity}
				for _, s := range strategies {
					name := fmt.Sprintf("lengths=%s/capacity=%d/n=%d/strategy=%s", w.name, capacity, n, s.name)
					b.Run(name+"/op=assign", func(b *testing.B) {
						againstLoop(b, bin, lengths, func() { s.strategy.Assign(bin, lengths, limits) })
					})
					b.Run(name+"/op=pack", func(b *testing.B) {
						againstLoop(b, bin, lengths, func() {
							if _, err := packing.Pack(s.strategy, lengths, limits); err != nil {
								b.Fatal(err)
							}
						})
					})
				}
			}
		}
	}
}

// againstLoop times f and the loop in turns.
func againstLoop(b *testing.B, bin, lengths []int32, f func()) {
	b.ReportAllocs()
	repeat := max(1, 1_000_000/len(lengths))
	var ours, loops []float64
	for b.Loop() {
		start := time.Now()
		for range repeat {
			loop(bin, lengths)
		}
		loops = append(loops, time.Since(start).Seconds())
		start = time.Now()
		f()
		ours = append(ours, time.Since(start).Seconds())
	}
	slices.Sort(ours)
	slices.Sort(loops)
	n := float64(len(lengths))
	own, base := ours[len(ours)/2]/n, loops[len(loops)/2]/n/float64(repeat)
	b.ReportMetric(own*1e9, "ns/sample")
	b.ReportMetric(base*1e9, "loop-ns/sample")
	b.ReportMetric(own/base, "x/loop")
	b.ReportMetric(0, "ns/op") // includes the loop
}

//go:noinline
func loop(bin, lengths []int32) {
	for i, length := range lengths {
		bin[i] = length
	}
}

package packing_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/brimful/brimful/packing"
)

// workloads are lengths that separate strategies: short chat turns, lengths around an eighth of the capacity with a heavy tail, and
// lengths around a third, of which two or three fill a bin.
var workloads = []struct {
	name    string
	lengths func(n, capacity int) []int32
}{
	{"chat", func(n, capacity int) []int32 { return lognormal(n, 400, 1, capacity) }},
	{"eighth", func(n, capacity int) []int32 { return lognormal(n, float64(capacity)/8, .9, capacity) }},
	{"third", func(n, capacity int) []int32 { return lognormal(n, float64(capacity)/3, .5, capacity) }},
}

// BenchmarkBulk compares strategies with a loop that reads each length and writes 4 bytes, in turns. op=assign gives bin ids; op=pack
// gives samples grouped by bin, checked input included. See againstLoop for the figures.
func BenchmarkBulk(b *testing.B) {
	strategies := []struct {
		name     string
		strategy packing.Strategy
	}{
		{"bfd", packing.BestFitDecreasing{}},
		{"bfd-2-workers", packing.BestFitDecreasing{Workers: 2}},
		{"bfd-decorrelated", packing.Decorrelate(packing.BestFitDecreasing{}, 1)},
		{"ffd", packing.FirstFitDecreasing{}},
	}
	for _, w := range workloads {
		for _, capacity := range []int{2048, 8192, 131072} {
			for _, n := range []int{1000, 10_000, 1_000_000} {
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

// BenchmarkHundredMillion takes a gigabyte.
func BenchmarkHundredMillion(b *testing.B) {
	lengths := lognormal(100_000_000, 400, 1, 2048)
	bin := make([]int32, len(lengths))
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("lengths=chat/capacity=2048/n=%d/workers=%d/op=assign", len(lengths), workers), func(b *testing.B) {
			s := packing.BestFitDecreasing{Workers: workers}
			againstLoop(b, bin, lengths, func() { s.Assign(bin, lengths, packing.Limits{Capacity: 2048}) })
		})
	}
}

// againstLoop times f and the loop in turns and reports the least times: the machine's other work only ever adds to them. x/loop is the
// ratio where neither finds anything in the caches, as in a job that packs once; x/warm-loop where each begins with what the other left
// there.
func againstLoop(b *testing.B, bin, lengths []int32, f func()) {
	b.ReportAllocs()
	const warm, cold = 0, 1
	var own, base [2]float64
	for k := range own {
		own[k], base[k] = math.Inf(1), math.Inf(1)
	}
	repeat := [2]int{max(1, 100_000/len(lengths)), 1} // clocks are coarse
	for b.Loop() {
		for k := range own {
			if k == cold {
				evict()
			}
			start := time.Now()
			for range repeat[k] {
				loop(bin, lengths)
			}
			base[k] = min(base[k], float64(time.Since(start).Nanoseconds())/float64(repeat[k]*len(lengths)))
			if k == cold {
				evict()
			}
			start = time.Now()
			f()
			own[k] = min(own[k], float64(time.Since(start).Nanoseconds())/float64(len(lengths)))
		}
	}
	b.ReportMetric(own[cold], "ns/sample")
	b.ReportMetric(base[cold], "loop-ns/sample")
	b.ReportMetric(own[cold]/base[cold], "x/loop")
	b.ReportMetric(own[warm]/base[warm], "x/warm-loop")
	b.ReportMetric(0, "ns/op") // that of all
}

var evicted = make([]int64, 16<<20)

// evict fills the caches with something else.
func evict() {
	for i := range evicted {
		evicted[i]++
	}
}

//go:noinline
func loop(bin, lengths []int32) {
	for i, length := range lengths {
		bin[i] = length + 1
	}
}

// BenchmarkStream compares what works on-line with best-fit decreasing on the whole. fill-% is the share of the capacity that is filled,
// over-% the bins above the lower bound. Pools and windows are of 4096 samples on average.
func BenchmarkStream(b *testing.B) {
	const capacity, n = 8192, 200_000
	for _, w := range workloads {
		lengths := w.lengths(n, capacity)
		limits := packing.Limits{Capacity: capacity}
		tokens := int64(0)
		for _, l := range lengths {
			tokens += int64(l)
		}
		bound := packing.LowerBound(lengths, limits)
		bin := make([]int32, n)
		for _, s := range []struct {
			name     string
			strategy packing.Strategy
		}{
			{"next-fit", packing.NextFit{}},
			{"first-fit-64", packing.FirstFit{Open: 64}},
			{"best-fit-64", packing.BestFit{Open: 64}},
			{"first-fit", packing.FirstFit{}},
			{"best-fit", packing.BestFit{}},
			{"oldest-first-64", packing.OldestFirst{}},
			{"rolling-4096", packing.Rolling{Tokens: 4096 * tokens / n}},
			{"windows-4096", packing.Windows{Tokens: 4096 * tokens / n}},
			{"bfd", packing.BestFitDecreasing{}},
		} {
			b.Run(fmt.Sprintf("lengths=%s/capacity=%d/n=%d/strategy=%s", w.name, capacity, n, s.name), func(b *testing.B) {
				bins := 0
				for b.Loop() {
					bins = s.strategy.Assign(bin, lengths, limits)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sample")
				b.ReportMetric(100*float64(tokens)/float64(bins)/capacity, "fill-%")
				b.ReportMetric(100*float64(bins-bound)/float64(bound), "over-%")
			})
		}
	}
}

// BenchmarkLowerBound is of the bound beside the packing it belongs to.
func BenchmarkLowerBound(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		lengths := workloads[0].lengths(n, 8192)
		b.Run(fmt.Sprintf("lengths=chat/capacity=8192/n=%d", n), func(b *testing.B) {
			againstLoop(b, make([]int32, n), lengths, func() { packing.LowerBound(lengths, packing.Limits{Capacity: 8192}) })
		})
	}
}

package packing_test

import (
	"bufio"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/brimful/brimful/packing"
	"github.com/stretchr/testify/require"
)

// strategies are all of the package, with options other than the default where that makes another algorithm.
var strategies = []struct {
	name     string
	strategy packing.Strategy
}{
	{"bfd", packing.BestFitDecreasing{}},
	{"bfd-2-workers", packing.BestFitDecreasing{Workers: 2}},
	{"ffd", packing.FirstFitDecreasing{}},
	{"best-fit", packing.BestFit{}},
	{"best-fit-1", packing.BestFit{Open: 1}},
	{"best-fit-5", packing.BestFit{Open: 5}},
	{"first-fit", packing.FirstFit{}},
	{"first-fit-5", packing.FirstFit{Open: 5}},
	{"next-fit", packing.NextFit{}},
	{"oldest-first", packing.OldestFirst{}},
	{"oldest-first-1", packing.OldestFirst{Pool: 1}},
	{"oldest-first-7", packing.OldestFirst{Pool: 7}},
	{"windows", packing.Windows{}},
	{"windows-of-999", packing.Windows{Tokens: 999}},
	{"windows-of-1", packing.Windows{Tokens: 1}},
	{"windows-of-next-fit", packing.Windows{Strategy: packing.NextFit{}, Tokens: 999}},
	{"windows-decorrelated", packing.Windows{Strategy: packing.Decorrelate(packing.BestFitDecreasing{}, 5), Tokens: 999}},
	{"rolling", packing.Rolling{}},
	{"rolling-999", packing.Rolling{Tokens: 999}},
	{"bfd-decorrelated", packing.Decorrelate(packing.BestFitDecreasing{}, 1)},
	{"ffd-decorrelated", packing.Decorrelate(packing.FirstFitDecreasing{Workers: 3}, 2)},
	{"first-fit-decorrelated", packing.Decorrelate(packing.FirstFit{}, 3)},
	{"twice-decorrelated", packing.Decorrelate(packing.Decorrelate(packing.BestFitDecreasing{}, 3), 4)},
}

// streamers are those of the strategies that are one.
func streamers() map[string]packing.Streamer {
	m := map[string]packing.Streamer{}
	for _, s := range strategies {
		if streamer, ok := s.strategy.(packing.Streamer); ok {
			m[s.name] = streamer
		}
	}
	return m
}

// pack is packing.Pack with a plan that is verified.
func pack(t testing.TB, s packing.Strategy, lengths []int32, limits packing.Limits) *packing.Plan {
	t.Helper()
	p, err := packing.Pack(s, lengths, limits)
	require.NoError(t, err)
	require.NoError(t, p.Verify(lengths, limits))
	return p
}

// assigned returns the bin of each of n samples of p.
func assigned(p *packing.Plan, n int) []int32 {
	bin := make([]int32, n)
	for b, samples := range p.All() {
		for _, i := range samples {
			bin[i] = int32(b)
		}
	}
	return bin
}

// contents returns the lengths in each bin of p in descending order.
func contents(p *packing.Plan, lengths []int32) [][]int32 {
	bins := make([][]int32, p.Len())
	for b, samples := range p.All() {
		for _, i := range samples {
			bins[b] = append(bins[b], lengths[i])
		}
		slices.SortFunc(bins[b], func(a, b int32) int { return int(b) - int(a) })
	}
	return bins
}

// bag returns contents regardless of the order of the bins.
func bag(p *packing.Plan, lengths []int32) [][]int32 {
	bins := contents(p, lengths)
	slices.SortFunc(bins, slices.Compare)
	return bins
}

// draw returns a random instance: few or many samples, few or many to a bin, with and without a bound on the samples.
func draw(r *rand.Rand) ([]int32, packing.Limits) {
	limits := packing.Limits{Capacity: 1 + r.IntN(200)}
	if r.IntN(3) == 0 {
		limits.MaxSamples = 1 + r.IntN(6)
	}
	lengths := make([]int32, r.IntN(300))
	longest := 1 + r.IntN(limits.Capacity)
	for i := range lengths {
		lengths[i] = int32(1 + r.IntN(longest))
	}
	return lengths, limits
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

// lines reads a compressed file of testdata.
func lines(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var all []string
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		all = append(all, s.Text())
	}
	require.NoError(t, s.Err())
	return all
}

// readLengths reads a file of lengths and truncates them to the capacity.
func readLengths(t testing.TB, name string, capacity int) []int32 {
	t.Helper()
	var lengths []int32
	for _, line := range lines(t, name) {
		lengths = append(lengths, int32(min(atoi(t, line), capacity)))
	}
	return lengths
}

// An instance is one of BPPLIB.
type instance struct {
	name              string
	lengths           []int32
	capacity, optimum int
}

func instances(t testing.TB, class string) []instance {
	t.Helper()
	var all []instance
	for _, line := range lines(t, class+".txt.gz") {
		f := strings.Fields(line)
		in := instance{name: f[0], capacity: atoi(t, f[1]), optimum: atoi(t, f[5])}
		for item := range strings.SplitSeq(f[7], ",") {
			length, copies, many := strings.Cut(item, "*")
			if !many {
				copies = "1"
			}
			for range atoi(t, copies) {
				in.lengths = append(in.lengths, int32(atoi(t, length)))
			}
		}
		require.Len(t, in.lengths, atoi(t, f[2]))
		all = append(all, in)
	}
	return all
}

// readHistogram reads a file of counts, of length 1 first.
func readHistogram(t testing.TB, name string) packing.Histogram {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(text), "\n")
	var h packing.Histogram
	for i, count := range strings.Fields(strings.ReplaceAll(list, ",", " ")) {
		h.Add(int32(i+1), int64(atoi(t, count)))
	}
	return h
}

// samplesOf returns the samples that h counts.
func samplesOf(h packing.Histogram) []int32 {
	var lengths []int32
	for l, n := range h {
		lengths = append(lengths, slices.Repeat([]int32{int32(l)}, int(n))...)
	}
	return lengths
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

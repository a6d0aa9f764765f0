package cutstock_test

import (
	"bufio"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/brimful/brimful/packing/internal/cutstock"
	"github.com/stretchr/testify/require"
)

// testdata holds the classes of BPPLIB and the length histograms; its README names their sources.
const testdata = "../../testdata"

// problem makes a problem of counts by size: counts[s] items have size s.
func problem(counts []int64, capacity int) cutstock.Problem {
	p := cutstock.Problem{Capacity: capacity}
	for s := len(counts) - 1; s > 0; s-- {
		if counts[s] > 0 {
			p.Sizes = append(p.Sizes, int32(s))
			p.Counts = append(p.Counts, counts[s])
		}
	}
	return p
}

// histogram reads a file of one count a line, the first for size 1.
func histogram(t testing.TB, name string, capacity int) cutstock.Problem {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata, name))
	require.NoError(t, err)
	counts := []int64{0}
	_, list, _ := strings.Cut(string(text), "\n") // a comment names the source
	for _, f := range strings.FieldsFunc(list, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.ParseInt(f, 10, 64)
		require.NoError(t, err)
		counts = append(counts, n)
	}
	return problem(counts, capacity)
}

// An instance is a problem with its known optimum.
type instance struct {
	name string
	cutstock.Problem
	opt int64
}

// bpplib reads a class of instances: name, capacity, items, bounds, optimum, source and the weights, `w*copies` in descending order.
func bpplib(t testing.TB, class string) []instance {
	t.Helper()
	f, err := os.Open(filepath.Join(testdata, class+".txt.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var all []instance
	lines := bufio.NewScanner(z)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		f := strings.Fields(lines.Text())
		require.Len(t, f, 8)
		capacity, err := strconv.Atoi(f[1])
		require.NoError(t, err)
		opt, err := strconv.ParseInt(f[5], 10, 64)
		require.NoError(t, err)
		counts := make([]int64, capacity+1)
		for _, w := range strings.Split(f[7], ",") {
			w, k, found := strings.Cut(w, "*")
			if !found {
				k = "1"
			}
			size, err := strconv.Atoi(w)
			require.NoError(t, err)
			copies, err := strconv.Atoi(k)
			require.NoError(t, err)
			counts[size] += int64(copies)
		}
		all = append(all, instance{f[0], problem(counts, capacity), opt})
	}
	require.NoError(t, lines.Err())
	return all
}

// A distribution draws the length of a sample.
type distribution struct {
	name string
	draw func(r *rand.Rand, c float64) float64
}

func lognormal(median, sigma float64) func(*rand.Rand, float64) float64 {
	return func(r *rand.Rand, c float64) float64 {
		if median < 1 {
			return median * c * math.Exp(sigma*r.NormFloat64())
		}
		return median * math.Exp(sigma*r.NormFloat64())
	}
}

func uniform(lo, hi float64) func(*rand.Rand, float64) float64 {
	return func(r *rand.Rand, c float64) float64 { return c * (lo + (hi-lo)*r.Float64()) }
}

// distributions are shapes of sample lengths met in practice, and some that best fit decreasing packs badly.
var distributions = []distribution{
	{"chat", lognormal(400, 1)},
	{"lognormal-C/8", lognormal(1./8, .9)},
	{"lognormal-C/3", lognormal(1./3, .5)},
	{"long-cot", lognormal(.4, .35)},
	{"bimodal", func(r *rand.Rand, c float64) float64 {
		if r.Float64() < .6 {
			return lognormal(.08, .5)(r, c)
		}
		return lognormal(.55, .25)(r, c)
	}},
	{"uniform-.1-.7", uniform(.1, .7)},
	{"uniform-.2-.5", uniform(.2, .5)},
	{"30%-full", func(r *rand.Rand, c float64) float64 {
		if r.Float64() < .3 {
			return c
		}
		return lognormal(.25, .8)(r, c)
	}},
}

// sample returns the histogram of n lengths of d, clipped to [1, capacity].
func (d distribution) sample(n, capacity int, seed uint64) cutstock.Problem {
	r := rand.New(rand.NewPCG(seed, 0))
	counts := make([]int64, capacity+1)
	for range n {
		counts[max(1, min(capacity, int(d.draw(r, float64(capacity)))))]++
	}
	return problem(counts, capacity)
}

// lengths reads a file of one length a line.
func lengths(t testing.TB, name string, capacity int) cutstock.Problem {
	t.Helper()
	f, err := os.Open(filepath.Join(testdata, name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	counts := make([]int64, capacity+1)
	for lines := bufio.NewScanner(z); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		require.NoError(t, err)
		counts[n]++
	}
	return problem(counts, capacity)
}

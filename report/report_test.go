package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/compare"
	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/report"
)

func lognormal(n int, median, sigma float64) []int32 {
	r := rand.New(rand.NewPCG(1, 2))
	lengths := make([]int32, n)
	for i := range lengths {
		lengths[i] = int32(max(1, median*math.Exp(sigma*r.NormFloat64())))
	}
	return lengths
}

func write(t testing.TB, lengths []int32, o compare.Options, r report.Options) (*compare.Comparison, string) {
	t.Helper()
	c, err := compare.Run(t.Context(), lengths, o)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, report.Write(&b, c, r))
	return c, b.String()
}

var svgs = regexp.MustCompile(`(?s)<svg.*?</svg>`)

// shown is the page without styles, so that what is looked for is what a reader sees.
func shown(page string) string {
	return regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(page, "")
}

// The page needs nothing but itself, its plots are well-formed, and no figure in it is a formatting error or no number.
func TestPage(t *testing.T) {
	few := []compare.Candidate{{Name: "first", Strategy: packing.FirstFit{}}, {Name: "<b>own</b>", Strategy: packing.NextFit{}}}
	for _, c := range []struct {
		name    string
		lengths []int32
		o       compare.Options
		plots   int
	}{
		{"usual", lognormal(3000, 300, 1), compare.Options{Capacities: []int{1024, 2048, 4096}}, 6},
		{"one capacity", lognormal(300, 300, 1), compare.Options{Capacities: []int{8192}}, 6},
		{"many capacities", lognormal(300, 30, 1), compare.Options{Capacities: []int{64, 65, 66, 67, 68, 69, 70, 71}}, 6},
		{"some over-long everywhere", lognormal(300, 300, 1.5), compare.Options{Capacities: []int{10, 100}}, 6},
		{"all equal", slices.Repeat([]int32{100}, 80), compare.Options{Capacities: []int{100, 250}}, 6},
		{"of one token", slices.Repeat([]int32{1}, 80), compare.Options{Capacities: []int{1, 3}}, 6},
		{"one sample", []int32{7}, compare.Options{Capacities: []int{8}}, 5},
		{"none fits", []int32{70, 80}, compare.Options{Capacities: []int{8}}, 2},
		{"none", nil, compare.Options{Capacities: []int{8}}, 0},
		{"empty ones", []int32{0, 0}, compare.Options{Capacities: []int{8}}, 0},
		{"huge", []int32{math.MaxInt32, 1, math.MaxInt32 - 1}, compare.Options{Capacities: []int{math.MaxInt32}, Ranks: 1, Batch: 1}, 6},
		{"own", lognormal(300, 300, 1), compare.Options{Capacities: []int{4096}, Candidates: few}, 6},
		{"without candidates", lognormal(300, 300, 1), compare.Options{Capacities: []int{4096}, Candidates: []compare.Candidate{}}, 2},
	} {
		_, page := write(t, c.lengths, c.o, report.Options{Title: "<i>x</i>", Source: "a & b", Command: "cat <x>"})
		require.NotRegexp(t, `(?i)<script|<link|<img|<iframe|@import|url\(|src=|href=|https?:`, page, c.name)
		require.NotRegexp(t, `NaN|Inf|%!|0x[0-9a-f]{6}|<no value>`, shown(page), c.name)
		require.NotContains(t, page, "<i>x</i>", c.name)
		require.NotContains(t, page, "<b>own", c.name)
		require.NotContains(t, page, "<x>", c.name)
		plots := svgs.FindAllString(page, -1)
		require.Equal(t, c.plots, len(plots), c.name)
		require.Equal(t, c.plots, strings.Count(page, "<figcaption>"), c.name)
		for _, p := range plots {
			d := xml.NewDecoder(strings.NewReader(p))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else {
					require.NoError(t, err, c.name)
				}
			}
			require.NotRegexp(t, `#[0-9A-Fa-f]{6}`, p, "%s: a colour that neither light nor dark knows", c.name)
			require.Contains(t, p, "var(--s1)", c.name)
		}
	}
}

// The figures of the page are those of the comparison.
func TestFigures(t *testing.T) {
	c, page := write(t, lognormal(5000, 300, 1), compare.Options{Capacities: []int{2048}}, report.Options{})
	for _, r := range c.Results {
		gap := ""
		if r.Packed {
			gap = thousands(r.Gap)
		}
		require.Contains(t, page, fmt.Sprintf("<td>%s</td><td>%s</td><td>%s</td>", r.Strategy, thousands(r.Rows), gap))
		require.Contains(t, page, fmt.Sprintf("<td>%.3f</td><td>%.1f</td>", r.Attention, 100**r.Imbalance))
	}
	optimal := c.Results[7]
	require.Equal(t, "optimal", optimal.Strategy)
	require.Contains(t, page, fmt.Sprintf("packs %s samples into %s rows", thousands(optimal.Samples), thousands(optimal.Rows)))
	saved := 1 - float64(optimal.Slots)/float64(c.Results[9].Slots)
	require.Contains(t, page, fmt.Sprintf("packing takes %.2f\u00a0%% fewer token slots", 100*saved))
	require.Contains(t, page, c.Suggestion.Reason[:20])
}

func thousands(n int64) string {
	if n >= 1000 {
		return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
	}
	return fmt.Sprint(n)
}

func TestSame(t *testing.T) {
	c, page := write(t, lognormal(500, 300, 1), compare.Options{Capacities: []int{1024, 4096}}, report.Options{})
	for range 3 {
		var b bytes.Buffer
		require.NoError(t, report.Write(&b, c, report.Options{}))
		require.Equal(t, page, b.String())
	}
}

// full takes some bytes and then no more.
type full struct{ left int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	c, page := write(t, lognormal(500, 300, 1), compare.Options{Capacities: []int{1024}}, report.Options{})
	for left := 0; left < len(page); left += 1000 {
		require.ErrorIs(t, report.Write(&full{left}, c, report.Options{}), errFull)
	}
}

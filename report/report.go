// Package report writes a comparison of packing strategies as one HTML file: tables, plots, and what follows from them in words. The
// file needs nothing but itself: no script, no font, no network.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/brimful/brimful/compare"
)

// Options say what else is on the page.
type Options struct {
	Title   string // "" is "How the samples pack"
	Source  string // what the lengths are of, such as the names of files; may be ""
	Command string // how the page can be made again; may be ""
}

//go:embed page.html.tmpl
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"commas": commas, "percent": percent, "seconds": seconds, "rate": rate,
	"bound":   func(text string) string { return strings.ReplaceAll(text, " %", "\u00a0%") }, // no line begins with a percent sign
	"hundred": func(share *float64) string { return fmt.Sprintf("%.1f", 100**share) },
}).Parse(pageText))

// view is what the page is made of.
type view struct {
	Options
	*compare.Comparison
	Summary    []string
	Capacities []capacity
	Figures    []figure
}

// capacity is what is said of one capacity.
type capacity struct {
	Capacity int
	First    compare.Result // for what all have in common
	Lost     float64        // share of the tokens that over-long samples hold
	Results  []compare.Result
}

// figure is a plot with its heading and a caption that says what to conclude.
type figure struct {
	Heading string
	Plot    template.HTML
	Key     []keyEntry
	Caption string
}

// keyEntry says what a mark of a plot stands for.
type keyEntry struct {
	Class, Mark, Text string
}

// Write writes the page. It depends on the comparison and the options only, so that two pages differ where their figures do.
func Write(w io.Writer, c *compare.Comparison, o Options) error {
	if o.Title == "" {
		o.Title = "How the samples pack"
	}
	v := view{Options: o, Comparison: c}
	each := len(c.Options.Candidates) + len(compare.Padded())
	for i, n := range c.Options.Capacities {
		results := c.Results[i*each:][:each]
		first := results[0]
		at := capacity{Capacity: n, First: first, Results: results}
		if first.OverLongTokens > 0 {
			at.Lost = float64(first.OverLongTokens) / float64(first.OverLongTokens+first.Tokens)
		}
		v.Capacities = append(v.Capacities, at)
	}
	v.Summary = summarize(c, v.Capacities)
	for _, draw := range []func(*view) (figure, error){lengthsFigure, paddingFigure, sweepFigure, gapFigure, rowsFigure, imbalanceFigure} {
		f, err := draw(&v)
		if err != nil {
			return fmt.Errorf("plot %q: %w", f.Heading, err)
		}
		if f.Plot != "" {
			v.Figures = append(v.Figures, f)
		}
	}
	return page.Execute(w, v)
}

// commas writes a number with a comma between groups of three digits.
func commas(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent writes a share in percent, with two digits that say something. What is not quite all, or nothing, does not become it by
// rounding.
func percent(share float64) string {
	switch {
	case share == 0:
		return "0"
	case share < 0.0001:
		return fmt.Sprintf("%.1g", 100*share)
	case share < 1 && share >= 0.99995:
		return ">99.99"
	}
	return fmt.Sprintf("%.2f", 100*share)
}

// seconds writes a time, with two digits that say something.
func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.*f", max(0, 1-int(math.Floor(math.Log10(s)))), s)
}

// rate writes how many there are in a second, in millions.
func rate(n float64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", n/1e6)
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/brimful/brimful/compare"
	"github.com/brimful/brimful/tokenstream/dataset"
)

// table prints a comparison for a person, within 100 columns unless numbers are huge.
type table struct {
	w      io.Writer
	timing bool // print what is not the same in every run
}

func (t *table) print(c *compare.Comparison) error {
	var b bytes.Buffer
	all := c.Lengths
	fmt.Fprintf(&b, "%s, %s tokens\n", plural(all.Samples, "sample"), dataset.Commas(all.Tokens))
	fmt.Fprintf(&b, "lengths %s to %s, mean %.0f, median %s, 90 %% up to %s, 99 %% up to %s\n", dataset.Commas(all.Min), dataset.Commas(all.Max),
		all.Mean(), dataset.Commas(all.Quantile(.5)), dataset.Commas(all.Quantile(.9)), dataset.Commas(all.Quantile(.99)))
	if all.Empty > 0 {
		fmt.Fprintf(&b, "left out everywhere: %s without tokens\n", plural(all.Empty, "sample"))
	}
	each := len(c.Options.Candidates) + len(compare.Padded())
	for i, capacity := range c.Options.Capacities {
		t.capacity(&b, capacity, c.Results[i*each:][:each])
	}
	t.notes(&b, c)
	_, err := t.w.Write(b.Bytes())
	return err
}

// capacity prints the results at one capacity.
func (t *table) capacity(b *bytes.Buffer, capacity int, results []compare.Result) {
	r := results[0]
	fmt.Fprintf(b, "\ncapacity %s: %s, at least %s needed", dataset.Commas(int64(capacity)), plural(r.Samples, "sample"), plural(r.LowerBound, "row"))
	if r.OverLong > 0 {
		tokens := float64(r.OverLongTokens) / float64(r.OverLongTokens+r.Tokens)
		fmt.Fprintf(b, "; left out: %s over-long, %s %% of the tokens", dataset.Commas(r.OverLong), percent(tokens))
	}
	b.WriteString("\n")
	if r.Samples == 0 {
		return
	}
	rows := [][]string{{"", "rows", "gap", "fill %", "pad %", "a row", "most", "attn.", "imbal."}}
	streams := [][]string{{"as a stream", "rows", "gap", "fill %", "mean wait", "longest wait"}}
	if t.timing {
		rows[0] = append(rows[0], "seconds", "samples/s")
	}
	note := ""
	for _, r := range results {
		name := r.Strategy
		if r.Stopped {
			name += " *"
			note = "* stopped by --budget: another run may find another number of rows\n"
		}
		gap := ""
		if r.Packed {
			gap = dataset.Commas(r.Gap)
		}
		row := []string{name, dataset.Commas(r.Rows), gap, percent(r.Fill), percent(r.Padding), fmt.Sprintf("%.1f", r.SamplesPerRow),
			dataset.Commas(r.MostInRow), fmt.Sprintf("%.3f", r.Attention), "-"}
		if r.Imbalance != nil {
			row[len(row)-1] = fmt.Sprintf("%.1f %%", 100**r.Imbalance)
		}
		if t.timing && r.Packed {
			row = append(row, fmt.Sprintf("%.2g", r.Seconds), rate(r.SamplesPerSecond))
		}
		rows = append(rows, row)
		if s := r.Stream; s != nil {
			streams = append(streams, []string{name, dataset.Commas(s.Rows), dataset.Commas(s.Gap), percent(s.Fill),
				dataset.Commas(int64(s.MeanWait + .5)), dataset.Commas(s.MaxWait)})
		}
	}
	align(b, rows)
	if len(streams) > 1 {
		b.WriteString("\n")
		align(b, streams)
	}
	b.WriteString(note)
}

// notes says what the columns mean and what to make of them.
func (t *table) notes(b *bytes.Buffer, c *compare.Comparison) {
	o := c.Options
	fmt.Fprintf(b, `
gap     rows above the bound, which is proved: no packing has fewer
a row   samples in a row on average; most: in the row that has most
attn.   work of attention that keeps samples apart, relative to pad-to-longest
imbal.  how much longer steps take because %d ranks wait for the slowest
pad-*   no packing: each sample padded to the capacity, or to the longest of a batch of %d,
        in file order or sorted by length
wait    samples that arrive before a sample's row comes out
`, o.Ranks, o.Batch)
	if s := c.Suggestion; s.Capacity > 0 {
		fmt.Fprintf(b, "\nto begin with: --capacity %d: %s\n", s.Capacity, strings.Replace(s.Reason, " and the tokens", "\nand the tokens", 1))
	}
}

// align writes rows of cells in columns: the first begins at the left, the others end at the right.
func align(b *bytes.Buffer, rows [][]string) {
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row[0]))
	}
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintf(w, "%-*s\t%s\t\n", widest, row[0], strings.Join(row[1:], "\t"))
	}
	w.Flush()
	for line := range strings.Lines(text.String()) {
		b.WriteString(strings.TrimRight(line[min(2, len(line)-1):], " \n") + "\n") // the padding before the first column goes
	}
}

// percent writes a share in percent. What is not quite all, or nothing, does not become it by rounding.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.00005:
		return "<0.01"
	case share < 1 && share >= 0.99995:
		return ">99.99"
	}
	return fmt.Sprintf("%.2f", 100*share)
}

// rate writes how many there are in a second.
func rate(n float64) string {
	switch {
	case n >= 1e7:
		return fmt.Sprintf("%.0f M", n/1e6)
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.0f k", n/1e3)
	}
	return fmt.Sprintf("%.3g", n)
}

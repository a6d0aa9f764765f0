package report

import (
	"fmt"
	"strings"

	"github.com/brimful/brimful/compare"
)

// find returns the result of a strategy at a capacity, or nil.
func (c capacity) find(name string) *compare.Result {
	for i := range c.Results {
		if c.Results[i].Strategy == name {
			return &c.Results[i]
		}
	}
	return nil
}

// padded is the way of padding that packing is measured against: to the longest of the batch, in file order.
func (c capacity) padded() *compare.Result { return c.find(compare.Padded()[1]) }

// packed returns the results with packing.
func (c capacity) packed() []compare.Result {
	var packed []compare.Result
	for _, r := range c.Results {
		if r.Packed {
			packed = append(packed, r)
		}
	}
	return packed
}

// best returns the result with the fewest rows, the earliest of several, or nil without rows.
func (c capacity) best() *compare.Result {
	var best *compare.Result
	for _, r := range c.packed() {
		if r.Rows > 0 && (best == nil || r.Rows < best.Rows) {
			best = &r
		}
	}
	return best
}

// filled returns the capacities at which there are rows and a strategy.
func filled(all []capacity) []capacity {
	var some []capacity
	for _, c := range all {
		if c.best() != nil {
			some = append(some, c)
		}
	}
	return some
}

// summarize says what follows from the comparison, a paragraph each.
func summarize(c *compare.Comparison, all []capacity) []string {
	var said []string
	for _, at := range filled(all) {
		best, padded := at.best(), at.padded()
		text := fmt.Sprintf("At a capacity of %s tokens, %s packs %s samples into %s rows and leaves %s %% padding", commas(at.Capacity), best.Strategy,
			commas(best.Samples), commas(best.Rows), percent(best.Padding))
		if best.Gap == 0 {
			text += "; fewer rows are impossible"
		} else {
			text += fmt.Sprintf("; no packing has fewer than %s rows", commas(best.LowerBound))
		}
		text += fmt.Sprintf(". Batches of %d samples padded to their longest would be %s %% padding: packing takes %s.", c.Options.Batch,
			percent(padded.Padding), fewer(best.Slots, padded.Slots))
		if at.First.OverLong > 0 {
			text += fmt.Sprintf(" %s over-long samples, with %s %% of the tokens, are left out.", commas(at.First.OverLong), percent(at.Lost))
		}
		said = append(said, text)
	}
	if s := c.Suggestion; s.Capacity > 0 {
		said = append(said, fmt.Sprintf("A capacity to begin with: %s, %s.", commas(s.Capacity), s.Reason))
	}
	return said
}

// fewer compares slots.
func fewer(slots, base int64) string {
	if slots > base {
		return fmt.Sprintf("%s %% more token slots", percent(float64(slots)/float64(base)-1))
	}
	return fmt.Sprintf("%s %% fewer token slots", percent(1-float64(slots)/float64(base)))
}

func lengthsCaption(l compare.Lengths) string {
	n := l.Samples - l.Empty
	top := l.Quantile(.9)
	text := fmt.Sprintf("Half of the samples have at most %s tokens, one in a hundred more than %s; the longest has %s.", commas(l.Quantile(.5)),
		commas(l.Quantile(.99)), commas(l.Max))
	if above := n - l.UpTo(top); above > 0 {
		text += fmt.Sprintf(" The %s %% that are longer than %s hold %s %% of the tokens: a capacity below that cuts or loses many.",
			percent(float64(above)/float64(n)), commas(top), percent(1-float64(l.TokensUpTo(top))/float64(l.Tokens)))
	}
	return text + " Dashed lines are the capacities compared."
}

func paddingCaption(all []capacity) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("at %s %s leaves %s %% where padding to the longest leaves %s %%", commas(c.Capacity), c.best().Strategy,
			percent(c.best().Padding), percent(c.padded().Padding)))
	}
	return "Further left is better, and each grid line is ten times less: " + strings.Join(parts, "; ") +
		". Padding is computed on and thrown away, so this is the share of a training run that packing gives back."
}

func sweepCaption(s compare.Candidacy) string {
	text := "Longer rows waste less on padding and lose fewer over-long samples, but take more memory. "
	if s.Capacity == 0 {
		return text
	}
	return text + fmt.Sprintf("%s is a capacity to begin with: %s.", commas(s.Capacity), s.Reason)
}

func gapCaption(all []capacity) string {
	var parts []string
	for _, c := range all {
		best := c.best()
		part := fmt.Sprintf("at %s %s needs %s rows, ", commas(c.Capacity), best.Strategy, commas(best.Rows))
		if best.Gap == 0 {
			part += "which is the optimum"
		} else {
			part += fmt.Sprintf("%s above the bound", commas(best.Gap))
		}
		parts = append(parts, part)
	}
	return "No packing whatever has fewer rows than the bound, so the gap is the most that a better strategy could still save: " +
		strings.Join(parts, "; ") + "."
}

func rowsCaption(all []capacity, shown int) string {
	var parts []string
	more := false
	for _, c := range all {
		r := c.packed()[0]
		more = more || r.MostInRow > int64(shown)
		parts = append(parts, fmt.Sprintf("%.1f at %s (at most %s)", r.SamplesPerRow, commas(c.Capacity), commas(r.MostInRow)))
	}
	r := all[0].packed()[0]
	text := fmt.Sprintf("With %s a row holds, on average, %s samples. A batch of 32 samples is then %.1f rows of %s tokens: scale the batch size, and with it "+
		"the number of steps, by that.", r.Strategy, strings.Join(parts, ", "), 32/r.SamplesPerRow, commas(all[0].Capacity))
	if more {
		text += fmt.Sprintf(" Rows of more than %d samples are not drawn.", shown)
	}
	return text
}

func imbalanceCaption(all []capacity, ranks int) string {
	var parts []string
	for _, c := range all {
		best, padded := c.best(), c.padded()
		if best.Imbalance != nil && padded.Imbalance != nil {
			parts = append(parts, fmt.Sprintf("at %s steps take %s %% longer with %s, and %s %% with batches padded to their longest", commas(c.Capacity),
				percent(*best.Imbalance), best.Strategy, percent(*padded.Imbalance)))
		}
	}
	return fmt.Sprintf("A step ends when the slowest of %d ranks does; further left is better: %s. Packed rows have equally many tokens, and what is left "+
		"is attention, which costs more in rows of few long samples.", ranks, strings.Join(parts, "; "))
}

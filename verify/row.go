package verify

import (
	"cmp"
	"fmt"
)

// ignore is the label of a token that is not to be learnt.
const ignore = -100

// rules are what the job asked of the rows. What is not known is not checked.
type rules struct {
	capacity   int64 // 0: not known
	padded     bool  // every row is as long as the capacity
	ragged     bool  // no row has a pad tail
	longest    int64 // longest sample; 0: not known
	maxSamples int64 // 0: no bound
	padID      int64 // -1: not known
	vocabulary int64
	labels     string // the label rule
	targets    bool   // every segment has a supervised token
	split      bool   // a sample may be in several segments
}

// row is the columns of one row, by kind; nil where there is no such column.
type row struct {
	columns [numKinds][]int64
	n       int     // tokens
	cu      []int64 // offsets of the segments, the pad tail's too
	pad     int     // tokens of the pad tail
}

// segments returns the number of segments but the pad tail.
func (w *row) segments() int {
	if w.pad > 0 {
		return len(w.cu) - 2
	}
	return len(w.cu) - 1
}

// row checks a row, counts it, and notes the samples in it.
func (c *shardChecker) row(w *row) {
	w.n = len(w.columns[tokens])
	c.Rows++
	c.Slots += int64(w.n)
	if !c.lengths(w) || !c.boundaries(w) || !c.tail(w) {
		return
	}
	c.Tokens += int64(w.n - w.pad)
	c.segments += int64(w.segments())
	c.maxInRow = max(c.maxInRow, int64(w.segments()))
	c.content(w)
	for k := range kinds {
		if kinds[k].want != nil && w.columns[k] != nil {
			c.derived(w, k)
		}
	}
	if m := c.rules.maxSamples; m > 0 && int64(w.segments()) > m {
		c.bad("max_samples", -1, "%d samples: want at most %d", w.segments(), m)
	}
	c.samples(w)
}

// lengths checks how many values there are.
func (c *shardChecker) lengths(w *row) bool {
	for k, v := range w.columns {
		if v != nil && kinds[k].tokens && len(v) != w.n {
			c.bad("lengths", -1, "%d values of kind %s for %d ids", len(v), kinds[k].name, w.n)
			return false
		}
	}
	switch capacity := c.rules.capacity; {
	case capacity > 0 && int64(w.n) > capacity:
		c.bad("row_length", -1, "%d tokens: want at most %d", w.n, capacity)
	case capacity > 0 && int64(w.n) != capacity && c.rules.padded:
		c.bad("row_length", -1, "%d tokens: want %d, the capacity", w.n, capacity)
	}
	c.setLabels(w)
	return true
}

// setLabels makes the labels of other columns where there are none.
func (c *shardChecker) setLabels(w *row) {
	if w.columns[labels] != nil || w.n == 0 {
		return
	}
	c.unshifted = append(c.unshifted[:0], ignore)
	ids := w.columns[tokens]
	switch {
	case w.columns[shiftedLabels] != nil:
		c.unshifted = append(c.unshifted, w.columns[shiftedLabels][:w.n-1]...)
	case w.columns[shiftedLossMask] != nil || w.columns[targetSegmentIDs] != nil:
		mask := w.columns[shiftedLossMask]
		if mask == nil {
			mask = w.columns[targetSegmentIDs]
		}
		for i, m := range mask[:w.n-1] {
			if m == 0 {
				c.unshifted = append(c.unshifted, ignore)
			} else {
				c.unshifted = append(c.unshifted, ids[i+1])
			}
		}
	case w.columns[lossMask] != nil:
		c.unshifted = c.unshifted[:0]
		for i, m := range w.columns[lossMask] {
			if m == 0 {
				c.unshifted = append(c.unshifted, ignore)
			} else {
				c.unshifted = append(c.unshifted, ids[i])
			}
		}
	default:
		return
	}
	w.columns[labels] = c.unshifted
}

// boundaries finds the segments by the first column that has them and is right in itself.
func (c *shardChecker) boundaries(w *row) bool {
	said := false // that such a column is wrong in itself
	for _, k := range []int{cuSeqlens, lengths, segmentIDs, positionIDs, segmentStarts, tokens} {
		if w.columns[k] == nil {
			continue
		}
		cu := c.cu[:0]
		switch k {
		case cuSeqlens:
			cu = append(cu, w.columns[k]...)
		case lengths:
			cu = append(cu, 0)
			for i, l := range w.columns[k] {
				cu = append(cu, cu[i]+l)
			}
		case segmentStarts:
			cu = append(append(cu, w.columns[k]...), int64(w.n))
		case segmentIDs:
			ids := w.columns[k]
			for i, id := range ids {
				if i == 0 || id != ids[i-1] {
					cu = append(cu, int64(i))
				}
			}
			cu = append(cu, int64(w.n))
		case positionIDs:
			for i, p := range w.columns[k] {
				if p == 0 || i == 0 {
					cu = append(cu, int64(i))
				}
			}
			cu = append(cu, int64(w.n))
		default:
			cu = append(cu, 0, int64(w.n))
		}
		c.cu = cu
		i, fault := offsets(cu, int64(w.n))
		if fault == "" {
			w.cu = cu
			return true
		}
		if !said {
			c.bad(cmp.Or(kinds[k].reason, "lengths"), i, "%s", fault)
		}
		said = true
		w.columns[k] = nil // the rest of the row is checked by another column
		if k == tokens {
			break
		}
	}
	return false
}

// offsets returns what is wrong with offsets, which start at 0, increase and end at n, and where.
func offsets(cu []int64, n int64) (at int, fault string) {
	switch last := len(cu) - 1; {
	case last < 1:
		return -1, fmt.Sprintf("%d offsets: want at least 2", last+1)
	case cu[0] != 0:
		return 0, fmt.Sprintf("%d: want 0", cu[0])
	case cu[last] != n:
		return last, fmt.Sprintf("%d: want %d, the row's length", cu[last], n)
	}
	for i := 1; i < len(cu); i++ {
		if cu[i] <= cu[i-1] {
			return i, fmt.Sprintf("%d after %d: want more", cu[i], cu[i-1])
		}
	}
	return 0, ""
}

// tail finds the pad tail.
func (c *shardChecker) tail(w *row) bool {
	last := w.cu[len(w.cu)-1] - w.cu[len(w.cu)-2]
	switch v := w.columns[padLength]; {
	case v != nil:
		if p := v[0]; p < 0 || p > 0 && p != last || p >= int64(w.n) {
			c.bad("pad_length", -1, "%d: the last segment has %d of the row's %d tokens", p, last, w.n)
			return false
		}
		w.pad = int(v[0])
	case w.columns[sampleIndex] != nil:
		if len(w.cu)-2 == len(w.columns[sampleIndex]) {
			w.pad = int(last)
		}
	case w.columns[segmentIDs] != nil:
		if w.columns[segmentIDs][w.n-1] == 0 && last < int64(w.n) {
			w.pad = int(last)
		}
	case last < int64(w.n) && !c.rules.ragged && c.isPad(w, w.n-int(last)):
		w.pad = int(last)
	}
	if w.pad > 0 && c.rules.ragged {
		c.bad("pad_length", -1, "%d: want 0, since rows are not padded", w.pad)
	}
	if w.pad > 0 {
		c.anyPad = true
	}
	return true
}

// isPad reports whether the tokens from a place on are nothing but padding with nothing to learn, where no column says so: a sample that
// looks the same is told from a pad tail only where samples without a target are left out.
func (c *shardChecker) isPad(w *row, from int) bool {
	if c.rules.padID < 0 || !c.rules.targets || w.columns[labels] == nil {
		return false
	}
	for i := from; i < w.n; i++ {
		if w.columns[tokens][i] != c.rules.padID || w.columns[labels][i] != ignore {
			return false
		}
	}
	return true
}

// content checks ids and labels.
func (c *shardChecker) content(w *row) {
	ids, targets := w.columns[tokens], w.columns[labels]
	for i, id := range ids {
		if id < 0 || id >= c.rules.vocabulary {
			c.bad("token", i, "%d: want 0..%d", id, c.rules.vocabulary-1)
			break
		}
	}
	end := w.n - w.pad
	padID := c.rules.padID
	if padID < 0 && w.pad > 0 {
		padID = ids[end]
	}
	for i := end; i < w.n; i++ {
		if ids[i] != padID {
			c.bad("pad_id", i, "%d: want %d", ids[i], padID)
			break
		}
	}
	if targets == nil {
		return
	}
	for i := end; i < w.n; i++ {
		if targets[i] != ignore {
			c.bad("pad_label", i, "%d: want %d", targets[i], ignore)
			break
		}
	}
	for i, l := range targets[:end] {
		if l != ignore && l != ids[i] && (c.rules.labels != "free" || l < 0 || l >= c.rules.vocabulary) {
			c.bad("label", i, "%d: want %d or %d", l, ignore, ids[i])
			break
		}
	}
}

// derived compares a column with what follows from the others.
func (c *shardChecker) derived(w *row, k int) {
	if w.columns[labels] == nil && (k == lossMask || k == shiftedLabels || k == shiftedLossMask || k == targetSegmentIDs) {
		return
	}
	c.want = kinds[k].want(c.want[:0], w)
	have := w.columns[k]
	if len(have) != len(c.want) {
		c.bad(kinds[k].reason, -1, "%d values: want %d", len(have), len(c.want))
		return
	}
	for i, v := range have {
		if v != c.want[i] {
			c.bad(kinds[k].reason, i, "%d: want %d", v, c.want[i])
			return
		}
	}
}

// samples checks the segments one by one and notes whose samples they are.
func (c *shardChecker) samples(w *row) {
	index, targets := w.columns[sampleIndex], w.columns[labels]
	if index != nil && len(index) != w.segments() {
		c.bad("sample_index", -1, "%d samples for %d segments", len(index), w.segments())
		index = nil
	}
	c.notes = c.notes[:0]
	for k := range w.segments() {
		from, to := w.cu[k], w.cu[k+1]
		if limit := c.rules.longest; limit > 0 && to-from > limit {
			c.bad("too_long", int(from), "a segment of %d tokens: want at most %d", to-from, limit)
		}
		var segment []int64
		if targets != nil {
			segment = targets[from:to]
			c.targets(int(from), segment)
		}
		if index == nil {
			continue
		}
		if index[k] < 0 {
			c.bad("sample_index", k, "%d: want 0 or more", index[k])
			continue
		}
		c.notes = append(c.notes, note{index[k], c.hash.of(w.columns[tokens][from:to], segment)})
	}
	c.register.add(c.notes)
}

// targets checks and counts the supervised tokens of a segment.
func (c *shardChecker) targets(from int, labels []int64) {
	if labels[0] != ignore {
		c.bad("first_label", from, "%d: want %d", labels[0], ignore)
	}
	n, masked := int64(0), -1
	for i, l := range labels[1:] {
		if l != ignore {
			n++
		} else if masked < 0 {
			masked = i + 1
		}
	}
	c.supervised += n
	if masked >= 0 && c.rules.labels == "all" {
		c.bad("label", from+masked, "%d: want the id, since every token is a target", ignore)
	}
	if n == 0 && c.rules.targets {
		c.bad("no_target", from, "none of %d tokens is supervised: the job leaves such samples out", len(labels))
	}
}

package verify

import (
	"cmp"
	"fmt"
	"math"
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

	align       int64 // segments are padded to a multiple of it; -1: not known
	alignInputs bool  // without their last token
	alignRows   int64 // rows are padded to a multiple of it
	sources     int64 // of the mixture; 0: it is none
	offsets     int   // that columns of offsets have, the last repeated; 0: as many as there are
}

// slots returns what a segment of n tokens takes in a row.
func (r *rules) slots(n int64) int64 {
	if r.align <= 1 {
		return n
	}
	if r.alignInputs {
		return max(1, (n-1+r.align-1)/r.align)*r.align + 1
	}
	return (n + r.align - 1) / r.align * r.align
}

// row is the columns of one row, by kind; nil where there is no such column.
type row struct {
	columns [numKinds][]int64
	n       int     // tokens
	cu      []int64 // offsets of the segments, the pad tail's too
	pad     int     // tokens of the pad tail
	lengths []int64 // of the segments but the pad tail, without the padding that aligns them
	offsets int     // that columns of offsets have to have; 0: as many as there are
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
	if !c.lengths(w) || !c.boundaries(w) || !c.tail(w) || !c.alignment(w) {
		return
	}
	c.alignPad += w.cu[w.segments()]
	for _, l := range w.lengths {
		c.Tokens += l
		c.alignPad -= l
	}
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
	c.sources(w)
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
	if m := c.rules.alignRows; m > 1 && int64(w.n)%m != 0 {
		c.bad("row_length", -1, "%d tokens: want a multiple of %d", w.n, m)
	}
	w.offsets = c.rules.offsets
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
			for c.rules.offsets > 0 && len(cu) > 2 && cu[len(cu)-1] == cu[len(cu)-2] { // how many there have to be is checked later
				cu = cu[:len(cu)-1]
			}
		case lengths:
			cu = append(cu, 0)
			for i, l := range w.columns[k] {
				cu = append(cu, cu[i]+l)
			}
		case segmentStarts:
			cu = append(cu, w.columns[k]...)
			if true, last := w.columns[trueLengths], len(cu)-1; last >= 0 && len(true) == len(cu)+1 && true[last+1] == 0 { // which tell the pad tail from the last segment
				if end := cu[last] + c.rules.slots(true[last]); end > cu[last] && end < int64(w.n) {
					cu = append(cu, end)
				}
			}
			cu = append(cu, int64(w.n))
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
	case w.columns[trueLengths] != nil:
		if true := w.columns[trueLengths]; len(true) > 1 && true[len(true)-1] == 0 && len(true) == len(w.cu)-1 {
			w.pad = int(last)
		}
	case w.columns[sampleIndex] != nil:
		if len(w.cu)-2 == len(w.columns[sampleIndex]) {
			w.pad = int(last)
		}
	case w.columns[segmentIDs] != nil:
		if w.columns[segmentIDs][w.n-1] == 0 && last < int64(w.n) {
			w.pad = int(last)
		}
	case last < int64(w.n) && (!c.rules.ragged || c.rules.alignRows > 1) && c.isPad(w, w.n-int(last)):
		w.pad = int(last)
	}
	switch m := c.rules.alignRows; {
	case w.pad > 0 && c.rules.ragged && m <= 1:
		c.bad("pad_length", -1, "%d: want 0, since rows are not padded", w.pad)
	case c.rules.ragged && m > 1 && int64(w.pad) >= m:
		c.bad("pad_length", -1, "%d: want less than %d, to whose multiple rows are padded", w.pad, m)
	}
	if w.pad > 0 {
		c.anyPad = true
	}
	return true
}

// alignment finds the lengths of the segments without the padding that aligns them.
func (c *shardChecker) alignment(w *row) bool {
	n := w.segments()
	w.lengths = c.true[:0]
	switch reason := "true_lengths"; {
	case w.columns[trueLengths] != nil:
		if have := len(w.columns[trueLengths]); have != len(w.cu)-1 {
			c.bad(reason, -1, "%d lengths: want %d, as many as segments and pad tails", have, len(w.cu)-1)
			return false
		}
		w.lengths = append(w.lengths, w.columns[trueLengths][:n]...)
	case w.columns[trueCuSeqlens] != nil:
		cu := w.columns[trueCuSeqlens]
		if len(cu) <= n {
			c.bad("true_cu_seqlens", -1, "%d offsets for %d segments: want at least %d", len(cu), n, n+1)
			return false
		}
		for k := range n {
			w.lengths = append(w.lengths, cu[k+1]-cu[k])
		}
	case c.rules.align > 1:
		c.bad("true_lengths", -1, "no column says how long the segments are without the padding that aligns them")
		return false
	default:
		for k := range n {
			w.lengths = append(w.lengths, w.cu[k+1]-w.cu[k])
		}
	}
	c.true = w.lengths
	for k, l := range w.lengths {
		laid := w.cu[k+1] - w.cu[k]
		if l < 1 || l > laid {
			c.bad("true_lengths", k, "%d: want 1..%d, what the segment takes in the row", l, laid)
			return false
		}
		if want := c.rules.slots(l); want != laid && c.rules.align >= 0 {
			c.bad("align", k, "a segment of %d tokens takes %d: want %d, by the alignment to %d", l, laid, want, max(1, c.rules.align))
			return false
		}
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
	c.padding(w, end, w.n, padID)
	for k, l := range w.lengths {
		if from, to := w.cu[k]+l, w.cu[k+1]; from < to {
			c.padding(w, int(from), int(to), padID)
		}
	}
	if targets == nil {
		return
	}
	for i, l := range targets[:end] {
		if l != ignore && l != ids[i] && (c.rules.labels != "free" || l < 0 || l >= c.rules.vocabulary) {
			c.bad("label", i, "%d: want %d or %d", l, ignore, ids[i])
			break
		}
	}
}

// padding checks that places of a row hold nothing. The id is not checked if it is not known.
func (c *shardChecker) padding(w *row, from, to int, padID int64) {
	ids, targets := w.columns[tokens], w.columns[labels]
	for i := from; i < to; i++ {
		if padID >= 0 && ids[i] != padID {
			c.bad("pad_id", i, "%d: want %d", ids[i], padID)
			break
		}
	}
	for i := from; i < to && targets != nil; i++ {
		if targets[i] != ignore {
			c.bad("pad_label", i, "%d: want %d", targets[i], ignore)
			break
		}
	}
}

// derived compares a column with what follows from the others.
func (c *shardChecker) derived(w *row, k int) {
	if w.columns[labels] == nil && (k == lossMask || k == shiftedLabels || k == shiftedLossMask || k == targetSegmentIDs || kinds[k].float) {
		return
	}
	c.want = kinds[k].want(c.want[:0], w)
	have := w.columns[k]
	if len(have) != len(c.want) {
		c.bad(kinds[k].reason, -1, "%d values: want %d", len(have), len(c.want))
		return
	}
	for i, v := range have {
		switch {
		case v == c.want[i]:
			continue
		case kinds[k].float:
			c.bad(kinds[k].reason, i, "%v: want %v", math.Float32frombits(uint32(v)), math.Float32frombits(uint32(c.want[i])))
		default:
			c.bad(kinds[k].reason, i, "%d: want %d", v, c.want[i])
		}
		return
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
		from := w.cu[k]
		to := from + w.lengths[k]
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

package verify

import (
	"crypto/sha256"
	"encoding/binary"
)

// ignore is the label of a token that is not to be learnt.
const ignore = -100

// row is the columns of one row, by kind; nil where there is no such column.
type row struct {
	tokens, labels, positions, seqIdx, cu, lengths, samples []int64
	longest, pad                                            []int64 // one value each
}

// set sets the column of a kind. Kinds that are not checked are left out.
func (w *row) set(kind string, values []int64) {
	switch kind {
	case "tokens":
		w.tokens = values
	case "labels":
		w.labels = values
	case "position_ids":
		w.positions = values
	case "seq_idx":
		w.seqIdx = values
	case "cu_seqlens":
		w.cu = values
	case "lengths":
		w.lengths = values
	case "max_seqlen":
		w.longest = values
	case "pad_length":
		w.pad = values
	case "sample_index":
		w.samples = values
	}
}

// row checks a row, counts it, and notes the samples in it.
func (c *checker) row(file string, number int64, w *row) {
	bad := func(reason string, index int, format string, args ...any) {
		c.r.add(reason, file, number, int64(index), format, args...)
	}
	n := len(w.tokens)
	c.r.Rows++
	c.r.Slots += int64(n)
	c.shard.Rows++
	c.shard.Slots += int64(n)
	for _, v := range []struct {
		name   string
		values []int64
	}{{"labels", w.labels}, {"position_ids", w.positions}, {"seq_idx", w.seqIdx}} {
		if v.values != nil && len(v.values) != n {
			bad("lengths", -1, "%d %s for %d ids", len(v.values), v.name, n)
			return
		}
	}
	if c.m != nil {
		switch capacity := c.m.Job.Capacity; {
		case capacity > 0 && n > capacity:
			bad("row_length", -1, "%d tokens: want at most %d", n, capacity)
		case capacity > 0 && n != capacity && c.m.Job.Pad != nil && *c.m.Job.Pad:
			bad("row_length", -1, "%d tokens: want %d, the capacity", n, capacity)
		}
	}
	cu, ok := c.boundaries(w, n, bad)
	if !ok {
		return
	}
	pad := 0
	if w.pad != nil {
		p := w.pad[0]
		last := int64(0)
		if k := len(cu); k > 1 {
			last = cu[k-1] - cu[k-2]
		}
		if p < 0 || p > 0 && p != last || p >= int64(n) {
			bad("pad_length", -1, "%d: the last segment has %d of the row's %d tokens", p, last, n)
			return
		}
		pad = int(p)
	}
	c.shard.Tokens += int64(n - pad)
	c.r.Tokens += int64(n - pad)
	c.content(w, n, pad, bad)
	segments := len(cu) - 1
	if pad > 0 {
		segments--
	}
	c.r.Segments += int64(segments)
	c.maxInRow = max(c.maxInRow, int64(segments))
	if c.m != nil && c.m.Job.MaxSamples > 0 && segments > c.m.Job.MaxSamples {
		bad("max_samples", -1, "%d samples: want at most %d", segments, c.m.Job.MaxSamples)
	}
	if w.samples != nil && len(w.samples) != segments {
		bad("sample_index", -1, "%d samples for %d segments", len(w.samples), segments)
		return
	}
	for k := range segments {
		from, to := cu[k], cu[k+1]
		if w.labels != nil {
			if l := w.labels[from]; l != ignore {
				bad("first_label", int(from), "%d: want %d", l, ignore)
			}
			for _, l := range w.labels[from+1 : to] {
				if l != ignore {
					c.r.Supervised++
				}
			}
		}
		if w.samples != nil {
			if w.samples[k] < 0 {
				bad("sample_index", k, "%d: want 0 or more", w.samples[k])
				continue
			}
			c.note(w.samples[k], w, int(from), int(to), k, bad)
		}
	}
}

// boundaries returns the offsets of the segments, from the first column that has them, after all such columns were compared.
func (c *checker) boundaries(w *row, n int, bad func(string, int, string, ...any)) ([]int64, bool) {
	cu := w.cu
	ok := true
	if cu == nil {
		cu = []int64{0}
		switch {
		case w.lengths != nil:
			for _, l := range w.lengths {
				cu = append(cu, cu[len(cu)-1]+l)
			}
		case w.positions != nil:
			for i, p := range w.positions {
				if p == 0 && i > 0 {
					cu = append(cu, int64(i))
				}
			}
			cu = append(cu, int64(n))
		default:
			cu = append(cu, int64(n))
		}
	}
	switch {
	case len(cu) < 2:
		bad("cu_seqlens", -1, "%d offsets: want at least 2", len(cu))
		return nil, false
	case cu[0] != 0:
		bad("cu_seqlens", 0, "%d: want 0", cu[0])
		ok = false
	case cu[len(cu)-1] != int64(n):
		bad("cu_seqlens", len(cu)-1, "%d: want %d, the row's length", cu[len(cu)-1], n)
		ok = false
	}
	for i := 1; i < len(cu); i++ {
		if cu[i] <= cu[i-1] {
			bad("cu_seqlens", i, "%d after %d: want more", cu[i], cu[i-1])
			ok = false
		}
	}
	if !ok {
		return nil, false
	}
	if w.lengths != nil {
		if len(w.lengths) != len(cu)-1 {
			bad("seq_lengths", -1, "%d lengths for %d segments", len(w.lengths), len(cu)-1)
		} else {
			for i, l := range w.lengths {
				if l != cu[i+1]-cu[i] {
					bad("seq_lengths", i, "%d: the segment has %d tokens", l, cu[i+1]-cu[i])
				}
			}
		}
	}
	longest := int64(0)
	for k := 1; k < len(cu); k++ {
		longest = max(longest, cu[k]-cu[k-1])
		wrongPosition, wrongIdx := false, false // one fault a segment is enough
		for i := cu[k-1]; i < cu[k]; i++ {
			if w.positions != nil && w.positions[i] != i-cu[k-1] && !wrongPosition {
				bad("position_ids", int(i), "%d: want %d", w.positions[i], i-cu[k-1])
				wrongPosition = true
			}
			if w.seqIdx != nil && w.seqIdx[i] != int64(k-1) && !wrongIdx {
				bad("seq_idx", int(i), "%d: want %d", w.seqIdx[i], k-1)
				wrongIdx = true
			}
		}
	}
	if w.longest != nil && w.longest[0] != longest {
		bad("max_seqlen", -1, "%d: want %d", w.longest[0], longest)
	}
	return cu, true
}

// content checks ids and labels of a row whose last pad tokens are padding.
func (c *checker) content(w *row, n, pad int, bad func(string, int, string, ...any)) {
	vocabulary, free, padID := int64(1)<<31, false, int64(-1)
	if c.m != nil {
		if c.m.Job.VocabSize > 0 {
			vocabulary = c.m.Job.VocabSize
		}
		free, padID = c.m.Job.Labels == "free", c.m.Job.PadID
	}
	for i, id := range w.tokens {
		if id < 0 || id >= vocabulary {
			bad("token", i, "%d: want 0..%d", id, vocabulary-1)
		}
		if i >= n-pad && padID >= 0 && id != padID {
			bad("pad_id", i, "%d: want %d", id, padID)
		}
		if w.labels == nil {
			continue
		}
		switch l := w.labels[i]; {
		case l == ignore:
		case i >= n-pad:
			bad("pad_label", i, "%d: want %d", l, ignore)
		case !free && l != id:
			bad("label", i, "%d: want %d or %d", l, ignore, id)
		}
	}
}

// digest stands for the segments of one sample: how many there are, and the sum of their hashes.
type digest struct {
	n, tokens int64
	a, b      uint64
}

func (d digest) plus(tokens, labels []int64, scratch *[]byte) digest {
	buf := (*scratch)[:0]
	for i, id := range tokens {
		l := int64(ignore)
		if i > 0 && labels != nil {
			l = labels[i]
		}
		buf = binary.LittleEndian.AppendUint32(buf, uint32(id))
		buf = binary.LittleEndian.AppendUint32(buf, uint32(l))
	}
	*scratch = buf
	sum := sha256.Sum256(buf)
	return digest{d.n + 1, d.tokens + int64(len(tokens)), d.a + binary.LittleEndian.Uint64(sum[:]), d.b + binary.LittleEndian.Uint64(sum[8:])}
}

// note notes a segment of a sample.
func (c *checker) note(sample int64, w *row, from, to, k int, bad func(string, int, string, ...any)) {
	var labels []int64
	if w.labels != nil {
		labels = w.labels[from:to]
	}
	this := digest{}.plus(w.tokens[from:to], labels, &c.scratch)
	d, seen := c.found[sample]
	split := c.m != nil && c.m.Job.TooLong == "split" || c.m == nil && this != d // without a manifest it may have been
	if seen && !split {
		bad("sample_twice", k, "sample %d is in an earlier row or segment too", sample)
	}
	c.found[sample] = digest{d.n + 1, d.tokens + this.tokens, d.a + this.a, d.b + this.b}
}

package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// figure is a number in the manifest and what was counted.
type figure struct {
	name      string
	says, has int64
}

// equal adds a fault for every figure that is wrong.
func (f *faults) equal(reason, file string, figures []figure) {
	for _, n := range figures {
		if n.says != n.has {
			f.add(reason, file, "%s is %d: want %d", n.name, n.says, n.has)
		}
	}
}

// counts compares the figures of a split with what was counted.
func (c *checker) counts(s *split, sum *shardChecker, samples int64) {
	name := manifestName
	if s.Name != "" {
		name += " split " + s.Name
	}
	c.equal("counts", name, []figure{{"rows", s.Rows, sum.Rows}, {"tokens", s.Tokens, sum.Tokens}, {"slots", s.Slots, sum.Slots}})
	st := s.Stats
	if st == nil {
		return
	}
	c.equal("counts", name, []figure{
		{"stats.rows", st.Rows, sum.Rows}, {"stats.placed", st.Placed, sum.Tokens}, {"stats.slots", st.Slots, sum.Slots},
		{"stats.segments", st.Segments, sum.segments}, {"stats.max_in_row", st.MaxInRow, sum.maxInRow},
		{"stats.align_pad", st.AlignPad, sum.alignPad},
		{"stats.padded_to_capacity", st.PaddedToCapacity, sum.segments * st.Capacity}, {"ledger.out.tokens", st.Ledger.Out.Tokens, sum.Tokens},
	})
	if c.hasKind(labels, shiftedLabels, lossMask, shiftedLossMask, targetSegmentIDs) {
		c.equal("counts", name, []figure{{"ledger.out.supervised", st.Ledger.Out.Supervised, sum.supervised}})
	}
	switch {
	case c.mixture != nil && c.rules.split:
		c.unchecked("ledger.out.samples")
	case c.mixture != nil: // of which a sample may be there several times
		c.equal("counts", name, []figure{{"ledger.out.samples", st.Ledger.Out.Samples, sum.segments}})
	case c.hasKind(sampleIndex):
		c.equal("counts", name, []figure{{"ledger.out.samples", st.Ledger.Out.Samples, samples}})
	}
	if k := c.rules.capacity; k > 0 && st.Capacity != k {
		c.add("manifest", name, "stats.capacity is %d: the job's is %d", st.Capacity, k)
	}
	least := int64(0)
	if st.Capacity > 0 {
		least = (sum.Tokens + st.Capacity - 1) / st.Capacity
	}
	if st.LowerBound > sum.Rows || st.LowerBound < least {
		c.add("counts", name, "stats.lower_bound is %d: want %d..%d", st.LowerBound, least, sum.Rows)
	}
	c.balance(name, st)
}

// balance checks that a ledger adds up.
func (c *checker) balance(name string, st *stats) {
	l := &st.Ledger
	sum := l.Out
	for _, r := range l.Removed {
		sum = sum.plus(r.count())
	}
	if sum != l.In {
		c.add("ledger", name, "out and removed add up to %+v: in is %+v", sum, l.In)
	}
	var in, out count
	for _, f := range l.Files {
		in, out = in.plus(f.In), out.plus(f.Out)
		sum := f.Out
		for _, r := range l.Removed {
			if r.File == f.File {
				sum = sum.plus(r.count())
			}
		}
		if sum != f.In {
			c.add("ledger", name, "out and removed of %q add up to %+v: in is %+v", f.File, sum, f.In)
		}
	}
	if in != l.In || out != l.Out {
		c.add("ledger", name, "the files add up to in %+v and out %+v: want %+v and %+v", in, out, l.In, l.Out)
	}
	if len(l.Sources) == 0 {
		return
	}
	in, out = count{}, count{}
	for _, u := range l.Sources {
		in, out = in.plus(u.In), out.plus(u.Out)
	}
	if in != l.In || out != l.Out {
		c.add("ledger", name, "the sources add up to in %+v and out %+v: want %+v and %+v", in, out, l.In, l.Out)
	}
}

// hasKind reports whether the data set has a column of one of the kinds.
func (c *checker) hasKind(any ...int) bool {
	for _, col := range c.columns {
		for _, k := range any {
			if col.Kind == kinds[k].name {
				return true
			}
		}
	}
	return false
}

// contentDigest is the digest of the rows of a shard that the manifest has beside that of the file: of every row the numbers of tokens
// and of segments, each id and its label, and each segment's sample, offset in the sample and length.
type contentDigest struct {
	h hash.Hash
	b []byte
}

func newContentDigest() *contentDigest { return &contentDigest{h: sha256.New()} }

// add adds a row, unless it is not known well enough. The offsets of all segments are taken for 0.
func (d *contentDigest) add(w *row) bool {
	ids, labels, samples := w.columns[tokens], w.columns[labels], w.columns[sampleIndex]
	if len(w.lengths) == 0 || len(labels) != len(ids) || len(samples) != w.segments() {
		return false
	}
	b := binary.LittleEndian.AppendUint32(d.b[:0], uint32(len(ids)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(samples)))
	for i, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
		b = binary.LittleEndian.AppendUint32(b, uint32(labels[i]))
	}
	for k, s := range samples {
		b = binary.LittleEndian.AppendUint64(b, uint64(s))
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(w.lengths[k]))
	}
	d.h.Write(b)
	d.b = b
	return true
}

func (d *contentDigest) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }

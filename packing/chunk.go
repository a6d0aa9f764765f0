package packing

// A chunk gives the bins of a layout to a part of the samples, as they come.
type chunk struct {
	*layout
	start, end int      // of the samples
	counts     []int32  // by length: the samples in earlier chunks
	second     []int32  // see tally
	next       []cursor // by length
	rest       []int32  // by length: the piece after next
}

// A cursor gives out bins. Bit 0 says that the next sample goes into the next bin, bits 1 to 31 are the bin, and above them is minus the
// number of samples that are left: so the sign tells the end, a few additions do the rest, and the cursors of 4096 lengths stay in the
// first cache.
type cursor int64

// newCursor returns the cursor that gives out left samples from a bin on; step is 1 if each goes into the next bin, and otherwise 0.
func newCursor(left, bin int32, step cursor) cursor {
	return cursor(-int64(left)<<32|int64(bin)<<1) | step
}

// next returns the cursor behind its sample.
func (c cursor) next() cursor { return c + 1<<32 + c&1<<1 }

// skip returns the cursor behind n of its samples.
func (c cursor) skip(n int32) cursor { return c + cursor(n)<<32 + c&1*cursor(n)<<1 }

// bin returns the bin of its sample.
func (c cursor) bin() int32 { return int32(uint32(c) >> 1) }

// left returns the number of samples that are left.
func (c cursor) left() int32 { return int32(-(c >> 32)) }

// cut makes pieces of the runs, each of which one cursor can deal: a run round by round or, if that are fewer, bin by bin.
func (out *layout) cut(pieces []cursor, starts []int32) {
	i := int32(0)
	for _, end := range out.ends {
		starts = append(starts, int32(len(pieces)))
		for ; i < end; i++ {
			r := &out.runs[i]
			if r.rounds <= r.bins {
				for range r.rounds {
					pieces = append(pieces, newCursor(r.bins, r.first, 1))
				}
			} else {
				for b := range r.bins {
					pieces = append(pieces, newCursor(r.rounds, r.first+b, 0))
				}
			}
		}
	}
	out.pieces, out.starts = pieces, append(starts, int32(len(pieces)))
}

// begin makes c give out the bins of out behind those for earlier chunks.
func (c *chunk) begin(out *layout, lengths []lengthCount) {
	c.layout = out
	c.next, c.rest = sized(c.next, len(c.counts)), sized(c.rest, len(c.counts))
	for k, i := range out.starts[:len(out.starts)-1] {
		l := lengths[len(lengths)-1-k].length
		skip := c.counts[l]
		for i < out.starts[k+1] && out.pieces[i].left() <= skip {
			skip -= out.pieces[i].left()
			i++
		}
		if i < out.starts[k+1] {
			c.next[l], c.rest[l] = out.pieces[i].skip(skip), i+1
		}
	}
}

// turn returns the next piece of a length. It is rare, and out of the way of the loop.
//
//go:noinline
func (c *chunk) turn(length int32) cursor {
	i := c.rest[length]
	c.rest[length] = i + 1
	return c.pieces[i]
}

// block is the number of samples in the cache at a time.
const block = 2048

// assign sets the bin of each sample of the chunk.
func (c *chunk) assign(bin, lengths []int32) {
	for len(lengths) > 0 {
		n := min(block, len(lengths))
		c.deal(bin[:n], lengths[:n])
		bin, lengths = bin[n:], lengths[n:]
	}
}

// group scatters all samples into bins that start at the given offsets, and turns the offsets into those of the ends.
func (c *chunk) group(samples, offset, lengths []int32) {
	var buffer [block]int32
	for start := 0; start < len(lengths); start += block {
		bin := buffer[:min(block, len(lengths)-start)]
		c.deal(bin, lengths[start:start+len(bin)])
		for i, b := range bin {
			to := &offset[b]
			samples[*to] = int32(start + i)
			*to++
		}
	}
}

// deal sets the bin of each sample of a block.
func (c *chunk) deal(bin, lengths []int32) {
	next := c.next
	bin = bin[:len(lengths)]
	for i, length := range lengths {
		at := next[length]
		if at >= 0 {
			at = c.turn(length)
		}
		next[length] = at.next()
		bin[i] = at.bin()
	}
	if c.bin != nil {
		for i, place := range bin {
			bin[i] = c.bin[place]
		}
	}
}

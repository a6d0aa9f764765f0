package packing

// A chunk gives the bins of a layout to a part of the samples, as they come.
type chunk struct {
	*layout
	start, end int      // of the samples
	counts     []int32  // by length: the samples in earlier chunks
	second     []int32  // see tally
	next       []cursor // by length
	rest       []rest   // by length
}

// A cursor gives out bins: at is the next bin and, above its 32 bits, minus the number of bins that are left; each sample adds step,
// which is 1<<32 and 1 if the next sample goes into the next bin. So one comparison finds the end, and one addition and one store do
// the rest.
type cursor struct {
	at, step int64
}

// A rest is what comes after a cursor: pieces of the run in which it stands, then further runs. A run is dealt piece by piece: round by
// round, or, if that are fewer, bin by bin.
type rest struct {
	run, pieces int32
}

// cursor returns the cursor of one piece of r without its first samples, and the number of pieces after it.
func (r run) cursor(skip int32) (c cursor, pieces int32) {
	if r.rounds <= r.bins {
		round, bin := skip/r.bins, skip%r.bins
		return cursor{int64(bin-r.bins)<<32 | int64(r.first+bin), 1<<32 | 1}, r.rounds - 1 - round
	}
	bin, round := skip/r.rounds, skip%r.rounds
	return cursor{int64(round-r.rounds)<<32 | int64(r.first+bin), 1 << 32}, r.bins - 1 - bin
}

// samples returns the number of samples in r.
func (r run) samples() int64 { return int64(r.bins) * int64(r.rounds) }

// begin makes c give out the bins of out behind those for earlier chunks.
func (c *chunk) begin(out *layout, lengths []lengthCount) {
	c.layout = out
	c.next, c.rest = sized(c.next, len(c.counts)), sized(c.rest, len(c.counts))
	i := int32(0)
	for k, end := range out.ends {
		l := lengths[len(lengths)-1-k].length
		skip := c.counts[l]
		for i < end && out.runs[i].samples() <= int64(skip) {
			skip -= int32(out.runs[i].samples())
			i++
		}
		if i < end {
			c.next[l], c.rest[l].pieces = out.runs[i].cursor(skip)
			c.rest[l].run = i
		}
		i = end
	}
}

// turn moves the cursor of a length, next, to its next piece, and returns what it is at.
func (c *chunk) turn(next *cursor, length int32) int64 {
	rest := &c.rest[length]
	if rest.pieces == 0 {
		rest.run++
		*next, rest.pieces = c.runs[rest.run].cursor(0)
		return next.at
	}
	rest.pieces--
	r := &c.runs[rest.run]
	if r.rounds <= r.bins {
		return -int64(r.bins)<<32 | int64(r.first)
	}
	return -int64(r.rounds)<<32 | int64(r.first+r.bins-1-rest.pieces)
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
		from := &next[length]
		at := from.at
		if at >= 0 {
			at = c.turn(from, length)
		}
		from.at = at + from.step
		bin[i] = int32(at)
	}
	if c.bin != nil {
		for i, place := range bin {
			bin[i] = c.bin[place]
		}
	}
}

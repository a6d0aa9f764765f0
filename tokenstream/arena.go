package tokenstream

// arena is a pool in memory. What has been taken is overwritten, so that the memory is at most about twice what waits, and one chunk.
type arena struct {
	items  []item // items[i] is segment number base+i
	base   int64
	chunks []*chunk // the last one is being filled
	free   []*chunk
	live   int // tokens that wait
	held   int // tokens of all chunks but the free ones
}

// item is one segment in an arena. A taken one has no chunk.
type item struct {
	place
	chunk *chunk
	start int
}

type chunk struct {
	tokens, labels []int32
	live           int // tokens in it that wait
}

const chunkTokens = 1 << 20

func (a *arena) add(s Segment, tokens, labels []int32) error {
	c := a.room(len(tokens))
	a.items = append(a.items, item{place: placeOf(&s), chunk: c, start: len(c.tokens)})
	c.tokens = append(c.tokens, tokens...)
	c.labels = append(c.labels, labels...)
	c.live += len(tokens)
	a.live += len(tokens)
	return nil
}

// room returns a chunk that has room for n more tokens.
func (a *arena) room(n int) *chunk {
	if k := len(a.chunks); k > 0 && cap(a.chunks[k-1].tokens)-len(a.chunks[k-1].tokens) >= n {
		return a.chunks[k-1]
	}
	if a.held > 2*a.live+chunkTokens {
		a.compact()
		if k := len(a.chunks); k > 0 && cap(a.chunks[k-1].tokens)-len(a.chunks[k-1].tokens) >= n {
			return a.chunks[k-1]
		}
	}
	return a.open(n)
}

// open starts a chunk for at least n tokens.
func (a *arena) open(n int) *chunk {
	var c *chunk
	if k := len(a.free); k > 0 && n <= chunkTokens {
		c, a.free = a.free[k-1], a.free[:k-1]
	} else {
		n = max(n, chunkTokens)
		c = &chunk{tokens: make([]int32, 0, n), labels: make([]int32, 0, n)}
	}
	a.chunks = append(a.chunks, c)
	a.held += cap(c.tokens)
	return c
}

// compact moves what waits together and frees the rest. A chunk is free as soon as its last segment has moved on, so that moving takes
// little more memory than there was.
func (a *arena) compact() {
	old := a.chunks
	a.chunks, a.held = nil, 0
	kept := a.items[:0]
	first := -1
	for i, it := range a.items {
		if it.chunk == nil {
			if first >= 0 {
				kept = append(kept, it)
			}
			continue
		}
		if first < 0 {
			first = i
		}
		n := int(it.length)
		var to *chunk
		if k := len(a.chunks); k > 0 && cap(a.chunks[k-1].tokens)-len(a.chunks[k-1].tokens) >= n {
			to = a.chunks[k-1]
		} else {
			for len(old) > 0 && old[0].live == 0 {
				a.release(old[0])
				old = old[1:]
			}
			to = a.open(n)
		}
		from, start := it.chunk, it.start
		it.chunk, it.start = to, len(to.tokens)
		to.tokens = append(to.tokens, from.tokens[start:start+n]...)
		to.labels = append(to.labels, from.labels[start:start+n]...)
		to.live += n
		from.live -= n
		kept = append(kept, it)
	}
	for _, c := range old {
		a.release(c)
	}
	if first < 0 {
		first = len(a.items)
	}
	a.base += int64(first)
	a.items = kept
}

// release puts a chunk that nothing waits in aside for later; one of unusual size goes.
func (a *arena) release(c *chunk) {
	c.tokens, c.labels, c.live = c.tokens[:0], c.labels[:0], 0
	if cap(c.tokens) == chunkTokens {
		a.free = append(a.free, c)
	}
}

func (a *arena) take(k int64, tokens, labels []int32) (s Segment, _, _ []int32, ok bool, err error) {
	if k < a.base || k-a.base >= int64(len(a.items)) || a.items[k-a.base].chunk == nil {
		return s, tokens, labels, false, nil
	}
	it := &a.items[k-a.base]
	n := int(it.length)
	tokens = append(tokens, it.chunk.tokens[it.start:it.start+n]...)
	labels = append(labels, it.chunk.labels[it.start:it.start+n]...)
	it.chunk.live -= n
	a.live -= n
	it.chunk = nil
	return it.segment(), tokens, labels, true, nil
}

func (a *arena) waiting() int64 { return int64(a.live) }

func (a *arena) close() error { return nil }

package cutstock

import "math/bits"

// bestFit packs q by best fit decreasing in bulk: bins of equal residual are interchangeable, so that groups of them move together and
// the cost depends on the classes, not on the items. It gives the bins of the form that places item by item.
func bestFit(q *instance, m *meter) packing {
	type group struct {
		bins  int64
		items int
		node  int32
	}
	type node struct { // a step of a group's history
		parent int32
		e      entry
	}
	nodes := make([]node, 0, 4*len(q.size))
	open := map[int][]group{} // by residual, last in first out
	var present residuals
	var out packing
	emit := func(g group) {
		f := filling{bins: g.bins}
		for n := g.node; n >= 0; n = nodes[n].parent {
			f.items = append(f.items, nodes[n].e)
		}
		for i, j := 0, len(f.items)-1; i < j; i, j = i+1, j-1 {
			f.items[i], f.items[j] = f.items[j], f.items[i]
		}
		out = append(out, f)
	}
	place := func(g group, room, class, copies int) {
		nodes = append(nodes, node{g.node, entry{int32(class), int32(copies)}})
		g.node = int32(len(nodes) - 1)
		g.items += copies
		room -= copies * q.size[class]
		if g.items == q.most || room < q.size[len(q.size)-1] {
			emit(g)
			return
		}
		if len(open[room]) == 0 {
			present.insert(room)
		}
		open[room] = append(open[room], g)
	}
	for class, left := range q.need {
		size := q.size[class]
		for left > 0 {
			m.spend(64)
			room, ok := present.atLeast(size)
			if !ok {
				per := int64(min(q.cap/size, q.most))
				if left >= per {
					place(group{bins: left / per, node: -1}, q.cap, class, int(per))
				}
				if left%per > 0 {
					place(group{bins: 1, node: -1}, q.cap, class, int(left%per))
				}
				break
			}
			stack := open[room]
			g := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			per := int64(min(room/size, q.most-g.items))
			full := min(g.bins, left/per)
			rest := g.bins - full
			var last int64
			if rest > 0 {
				last = left - full*per
				if last > 0 {
					rest--
				}
			}
			if rest > 0 {
				stack = append(stack, group{rest, g.items, g.node})
			}
			if open[room] = stack; len(stack) == 0 {
				delete(open, room)
				present.remove(room)
			}
			if last > 0 {
				place(group{1, g.items, g.node}, room, class, int(last))
			}
			if full > 0 {
				place(group{full, g.items, g.node}, room, class, int(per))
			}
			left -= full*per + last
		}
	}
	for room, ok := present.atLeast(0); ok; room, ok = present.atLeast(room + 1) {
		for _, g := range open[room] {
			emit(g)
		}
	}
	return out
}

// residuals is a set of ints in [0, 1<<36): words of 64 bits in levels of which each tells where the level below is not empty. The
// words are in maps, because the capacity may be far larger than the number of residuals that occur.
type residuals [6]map[int]uint64

func (r *residuals) insert(x int) {
	for l := range r {
		if r[l] == nil {
			r[l] = map[int]uint64{}
		}
		r[l][x>>6] |= 1 << (x & 63)
		x >>= 6
	}
}

func (r *residuals) remove(x int) {
	for l := range r {
		w := r[l][x>>6] &^ (1 << (x & 63))
		if w != 0 {
			r[l][x>>6] = w
			return
		}
		delete(r[l], x>>6)
		x >>= 6
	}
}

// atLeast returns the smallest element that is x or more.
func (r *residuals) atLeast(x int) (int, bool) {
	for l := 0; l < len(r); l++ {
		if w := r[l][x>>6] >> (x & 63); w != 0 {
			x += bits.TrailingZeros64(w)
			for ; l > 0; l-- {
				x = x<<6 + bits.TrailingZeros64(r[l-1][x])
			}
			return x, true
		}
		x = x>>6 + 1
	}
	return 0, false
}

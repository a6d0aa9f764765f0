package packing

import "slices"

// FirstFitDecreasing is [FirstFit] on the samples by descending length. Its bound is that of [BestFitDecreasing], and so is, but for a
// bin now and then, its result. Where there are many samples, they cost a few nanoseconds each, like there.
type FirstFitDecreasing struct {
	Workers int // goroutines that give the bins out; 0 is 1
}

// Assign implements [Strategy].
func (s FirstFitDecreasing) Assign(bin, lengths []int32, limits Limits) int {
	return s.bulk().Assign(bin, lengths, limits)
}

func (s FirstFitDecreasing) group(lengths []int32, limits Limits) *Plan {
	return s.bulk().group(lengths, limits)
}

func (s FirstFitDecreasing) bulk() bulk {
	return bulk{strategy: s, oneByOne: FirstFit{}, workers: s.Workers}
}

// layOut implements bulkStrategy. Bins that follow each other and hold the same are one group. All bins of a group that a length goes
// into get it at once; only the last such group may have to be split. The groups are in a treap (Seidel, Aragon 1996) in the order of
// their bins, in which each node knows the most room below it.
func (FirstFitDecreasing) layOut(m *memory, lengths []lengthCount, limits Limits) *layout {
	t := firstFitGroups{
		runs:     slices.Grow(m.runs[:0], 3*len(lengths)),
		groups:   append(m.groups[:0], binGroup{}),
		nodes:    append(m.nodes[:0], groupNode{}),
		capacity: int32(limits.Capacity),
		most:     limits.most(),
	}
	ends := slices.Grow(m.ends[:0], len(lengths))
	for k := len(lengths) - 1; k >= 0; k-- {
		t.add(lengths[k].length, int32(lengths[k].count))
		ends = append(ends, int32(len(t.runs)))
	}
	m.nodes = t.nodes
	m.layout = layout{bins: int(t.bins), runs: t.runs, ends: ends, groups: t.groups} // the first group has no bins
	return &m.layout
}

// firstFitGroups is the treap. Node i is for group i; 0 is none.
type firstFitGroups struct {
	runs           []run
	groups         []binGroup
	nodes          []groupNode
	root           int32
	bins           int32
	capacity, most int32
}

type groupNode struct {
	left, right int32
	room        int32 // in each bin of the group, 0 if it may hold no more samples
	most        int32 // the most room in this node and those below it
	priority    uint32
}

// add packs n samples of a length.
func (t *firstFitGroups) add(length, n int32) {
	known := len(t.groups)
	if n = t.fill(t.root, length, n); n > 0 {
		q := min(t.capacity/length, t.most)
		fresh := binGroup{first: t.bins, bins: (n-1)/q + 1}
		t.bins += fresh.bins
		t.pour(t.append(fresh, t.capacity), length, n)
	}
	for i := known; i < len(t.groups); i++ {
		t.insert(int32(i))
	}
}

// append makes a node for g that is not in the treap yet.
func (t *firstFitGroups) append(g binGroup, room int32) int32 {
	i := int32(len(t.groups))
	t.groups = append(t.groups, g)
	t.nodes = append(t.nodes, groupNode{room: room, most: room, priority: uint32(scramble(uint64(i)))})
	return i
}

// fill puts up to n samples of a length into the groups from node i downwards, first to last, and returns how many are left.
func (t *firstFitGroups) fill(i, length, n int32) int32 {
	if n == 0 || t.nodes[i].most < length {
		return n
	}
	n = t.fill(t.nodes[i].left, length, n)
	if n > 0 && t.nodes[i].room >= length {
		n = t.pour(i, length, n)
	}
	n = t.fill(t.nodes[i].right, length, n)
	t.update(i)
	return n
}

// pour puts up to n samples of a length into the bins of group i, as many into each as fit, and returns how many are left. If not all
// bins get the same, the later ones become groups of their own.
func (t *firstFitGroups) pour(i, length, n int32) int32 {
	for n > 0 {
		g, node := &t.groups[i], &t.nodes[i]
		q := min(node.room/length, t.most-g.samples)
		bins := min(n/q, g.bins)
		if bins == 0 {
			bins, q = 1, n
		}
		rest := *g
		rest.first += bins
		rest.bins -= bins
		room := node.room
		t.runs = append(t.runs, run{g.first, bins, q})
		g.bins = bins
		g.samples += q
		node.room -= q * length
		if g.samples == t.most {
			node.room = 0
		}
		node.most = node.room // [firstFitGroups.update] follows for nodes that have others below them
		n -= q * bins
		if rest.bins == 0 {
			break
		}
		i = t.append(rest, room)
	}
	return n
}

// update makes node i know the most room below it.
func (t *firstFitGroups) update(i int32) {
	n := &t.nodes[i]
	n.most = max(n.room, t.nodes[n.left].most, t.nodes[n.right].most)
}

// insert adds node i.
func (t *firstFitGroups) insert(i int32) {
	first := t.groups[i].first
	n := &t.nodes[i]
	link := &t.root
	for *link != 0 && t.nodes[*link].priority >= n.priority {
		at := &t.nodes[*link]
		at.most = max(at.most, n.room)
		if t.groups[*link].first < first {
			link = &at.right
		} else {
			link = &at.left
		}
	}
	n.left, n.right = t.split(*link, first)
	*link = i
	t.update(i)
}

// split takes the treap from node i downwards apart into the groups before the given bin and the others.
func (t *firstFitGroups) split(i, first int32) (before, others int32) {
	if i == 0 {
		return 0, 0
	}
	n := &t.nodes[i]
	if t.groups[i].first < first {
		n.right, others = t.split(n.right, first)
		before = i
	} else {
		before, n.left = t.split(n.left, first)
		others = i
	}
	t.update(i)
	return before, others
}

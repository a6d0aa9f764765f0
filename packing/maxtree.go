package packing

// maxTree holds numbers by position and finds the first that is large enough: node[1] is the root, the children of node i are 2i and
// 2i+1, each node is the larger of its children, and the leaves start at len(node)/2.
type maxTree struct {
	node []int32
}

// newMaxTree returns a tree of at least n positions, all 0.
func newMaxTree(n int) maxTree {
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	return maxTree{make([]int32, 2*leaves)}
}

// len returns the number of positions.
func (t maxTree) len() int { return len(t.node) / 2 }

// all returns the numbers by position.
func (t maxTree) all() []int32 { return t.node[len(t.node)/2:] }

// at returns the number at position i.
func (t maxTree) at(i int) int32 { return t.node[len(t.node)/2+i] }

// set sets the number at position i.
func (t maxTree) set(i int, x int32) {
	i += len(t.node) / 2
	t.node[i] = x
	for i > 1 {
		i /= 2
		m := max(t.node[2*i], t.node[2*i+1])
		if t.node[i] == m {
			return
		}
		t.node[i] = m
	}
}

// first returns the first position whose number is at least x, which is above 0, or -1.
func (t maxTree) first(x int32) int {
	if t.node[1] < x {
		return -1
	}
	i := 1
	for i < len(t.node)/2 {
		i *= 2
		if t.node[i] < x {
			i++
		}
	}
	return i - len(t.node)/2
}

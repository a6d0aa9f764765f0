package packing

import "math/bits"

// residuals holds open bins by the room that is left in them, from 1 to a capacity. Among bins of equal room the one that was put in
// last comes first. Bins are small integers of the caller's.
type residuals interface {
	// take removes and returns the bin with the least room of at least length, and its room; bin -1 if there is none.
	take(length int32) (bin, room int32)
	// put adds a bin.
	put(bin, room int32)
}

// newResiduals returns an empty set for a capacity. About so many bins will be put in over its life.
func newResiduals(capacity, puts int) residuals {
	if capacity > 1<<16 && capacity > 16*puts {
		return &roomTree{}
	}
	return newRoomTable(capacity)
}

// roomTable is residuals as one stack of bins for each room, and a set of the rooms that occur. Operations take O(log64 capacity) time,
// memory is O(capacity + bins).
type roomTable struct {
	rooms bitset
	top   []int32 // by room: the top of its stack; meaningless unless the room is in rooms
	below []int32 // by bin: the bin below it in its stack, or -1
}

func newRoomTable(capacity int) *roomTable {
	return &roomTable{rooms: bitset(nil).reset(capacity + 1), top: make([]int32, capacity+1)}
}

func (t *roomTable) take(length int32) (bin, room int32) {
	room = int32(t.rooms.next(int(length)))
	if room < 0 {
		return -1, 0
	}
	bin = t.top[room]
	if t.below[bin] < 0 {
		t.rooms.remove(int(room))
	}
	t.top[room] = t.below[bin]
	return bin, room
}

func (t *roomTable) put(bin, room int32) {
	for int(bin) >= len(t.below) {
		t.below = append(t.below, -1)
	}
	if t.rooms.add(int(room)) {
		t.below[bin] = t.top[room]
	} else {
		t.below[bin] = -1
	}
	t.top[room] = bin
}

// A bitset is a set of integers in [0, n). Level 0 has one bit for each of them; each bit of another level tells whether a word of the
// level below is not 0; the last level is one word.
type bitset [][]uint64

// reset returns the empty set of integers in [0, n), in the memory of s where possible.
func (s bitset) reset(n int) bitset {
	for k := 0; ; k++ {
		n = (n + 63) / 64
		if k == len(s) {
			s = append(s, nil)
		}
		s[k] = sized(s[k], n)
		clear(s[k])
		if n <= 1 {
			return s[:k+1]
		}
	}
}

// add adds i and reports whether it was there already.
func (s bitset) add(i int) bool {
	for _, level := range s {
		word, bit := &level[i>>6], uint64(1)<<(i&63)
		was := *word
		*word |= bit
		if was != 0 {
			return was&bit != 0 // above level 0 the bit is new: the word below was 0
		}
		i >>= 6
	}
	return false
}

// remove removes i.
func (s bitset) remove(i int) {
	for _, level := range s {
		level[i>>6] &^= 1 << (i & 63)
		if level[i>>6] != 0 {
			return
		}
		i >>= 6
	}
}

// next returns the least member that is at least i, or -1 if there is none.
func (s bitset) next(i int) int {
	for k, level := range s {
		if i>>6 >= len(level) {
			return -1
		}
		if w := level[i>>6] >> (i & 63); w != 0 {
			i += bits.TrailingZeros64(w)
			for ; k > 0; k-- {
				i = i<<6 + bits.TrailingZeros64(s[k-1][i])
			}
			return i
		}
		i = i>>6 + 1
	}
	return -1
}

// roomTree is residuals as a treap ordered by room. Operations take O(log bins) time whatever the capacity is.
type roomTree struct {
	root  int32 // 1 + the index of a node, 0 for none
	nodes []roomNode
	free  int32 // list of unused nodes through left
	puts  uint32
}

type roomNode struct {
	key         uint64 // room above, the complement of the number of the put below, so that the last put comes first
	bin         int32
	priority    uint32
	left, right int32
}

func (t *roomTree) take(length int32) (bin, room int32) {
	var at *int32 // the link to the best node so far
	for link := &t.root; *link != 0; {
		if n := &t.nodes[*link-1]; n.key >= uint64(length)<<32 {
			at, link = link, &n.left
		} else {
			link = &n.right
		}
	}
	if at == nil {
		return -1, 0
	}
	i := *at
	n := &t.nodes[i-1]
	bin, room = n.bin, int32(n.key>>32)
	*at = t.merge(n.left, n.right)
	n.left, t.free = t.free, i
	return bin, room
}

func (t *roomTree) put(bin, room int32) {
	t.puts++
	i := t.free
	if i != 0 {
		t.free = t.nodes[i-1].left
	} else {
		t.nodes = append(t.nodes, roomNode{})
		i = int32(len(t.nodes))
	}
	key := uint64(room)<<32 | uint64(^t.puts)
	n := &t.nodes[i-1]
	*n = roomNode{key: key, bin: bin, priority: uint32(scramble(uint64(t.puts)))}
	link := &t.root
	for *link != 0 && t.nodes[*link-1].priority >= n.priority {
		if at := &t.nodes[*link-1]; at.key < key {
			link = &at.right
		} else {
			link = &at.left
		}
	}
	// What hangs here is split by key below the new node.
	rest, left, right := *link, &n.left, &n.right
	*link = i
	for rest != 0 {
		if at := &t.nodes[rest-1]; at.key < key {
			*left, left, rest = rest, &at.right, at.right
		} else {
			*right, right, rest = rest, &at.left, at.left
		}
	}
	*left, *right = 0, 0
}

// merge joins two treaps, all of a before all of b.
func (t *roomTree) merge(a, b int32) int32 {
	var root int32
	link := &root
	for a != 0 && b != 0 {
		if na, nb := &t.nodes[a-1], &t.nodes[b-1]; na.priority >= nb.priority {
			*link, link, a = a, &na.right, na.right
		} else {
			*link, link, b = b, &nb.left, nb.left
		}
	}
	*link = a | b
	return root
}

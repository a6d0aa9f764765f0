package cutstock

import "slices"

// An instance is a problem in the form the search works on: classes of size in descending order, sizes as ints, and every limit
// explicit.
type instance struct {
	size []int   // strictly descending
	need []int64 // items of each class; 0 is possible in what is left over from another instance
	cap  int
	most int // items that fit into a bin
}

// An entry is a class and how often it is in a bin.
type entry struct {
	class  int32
	copies int32
}

// A filling is a pattern in terms of classes, in ascending order of class.
type filling struct {
	items []entry
	bins  int64
}

// A packing is a list of fillings that covers an instance exactly.
type packing []filling

func (p packing) bins() int64 {
	n := int64(0)
	for _, f := range p {
		n += f.bins
	}
	return n
}

// items returns the number of items of q.
func (q *instance) items() int64 {
	n := int64(0)
	for _, k := range q.need {
		n += k
	}
	return n
}

// fits returns the first class of size at most room, len(q.size) if there is none.
func (q *instance) fits(room int) int {
	i, _ := slices.BinarySearchFunc(q.size, room, func(s, r int) int { return r - s })
	return i
}

// gcd returns the greatest common divisor of the sizes.
func (q *instance) gcd() int {
	g := 0
	for _, s := range q.size {
		for s != 0 {
			g, s = s, g%s
		}
	}
	return g
}

// add appends copies of class to items, which it keeps in ascending order when classes come in ascending order.
func add(items []entry, class, copies int) []entry {
	if n := len(items); n > 0 && items[n-1].class == int32(class) {
		items[n-1].copies += int32(copies)
		return items
	}
	return append(items, entry{int32(class), int32(copies)})
}

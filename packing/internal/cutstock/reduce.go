package cutstock

import "slices"

// reduce takes bins out of q that some optimal packing has (Martello and Toth 1990), and returns them with what is left and the class
// of each class of that in q.
//
// When sizes a and b fill a bin exactly, some optimal packing pairs them: whatever else is with a is no larger than b and can trade
// places with it. The same holds when nothing, of one item or several, comes closer to filling the bin of a than b does; and when
// nothing fits with a, it is alone. Where the number of items in a bin is bounded below what fits, trading places might break the
// bound, and only the last holds.
func (q *instance) reduce() (packing, *instance, []int32) {
	left := slices.Clone(q.need)
	n := len(q.size)
	free := q.most == q.cap/q.size[n-1]
	sums := q.sums()
	var fixed packing
	for a, s := range q.size {
		room := q.cap - s
		if left[a] == 0 {
			continue
		}
		if room < q.size[n-1] {
			fixed = append(fixed, filling{[]entry{{int32(a), 1}}, left[a]})
			left[a] = 0
			continue
		}
		if !free {
			break
		}
		b := q.fits(sums.below(room))
		if b < a {
			break // both orders have been tried
		}
		if q.size[b] != sums.below(room) {
			continue
		}
		pairs, items := min(left[a], left[b]), []entry{{int32(a), 1}, {int32(b), 1}}
		if a == b {
			pairs, items = left[a]/2, []entry{{int32(a), 2}}
		}
		if pairs > 0 {
			fixed = append(fixed, filling{items, pairs})
			left[a] -= pairs
			left[b] -= pairs
		}
	}
	rest, class := q.part(left)
	if m := len(rest.size); m > 0 {
		rest.most = min(q.most, q.cap/rest.size[m-1])
	}
	return fixed, rest, class
}

// sums is the set of sums of sizes up to the capacity, as bits. Nil stands for all, which is what it is taken for where it would be
// laborious.
type sums []uint64

func (q *instance) sums() sums {
	if len(q.size)*q.cap > maxTable*4 {
		return nil
	}
	t := make(sums, q.cap/64+1)
	t[0] = 1
	for i := len(q.size) - 1; i >= 0; i-- {
		s := q.size[i]
		if t[s/64]>>(s%64)&1 != 0 {
			continue // a sum of smaller sizes adds nothing
		}
		for r := s; r <= q.cap; r++ {
			x := r - s
			t[r/64] |= t[x/64] >> (x % 64) & 1 << (r % 64)
		}
	}
	return t
}

// below returns the largest sum up to room.
func (t sums) below(room int) int {
	for t != nil && t[room/64]>>(room%64)&1 == 0 {
		room--
	}
	return room
}

package cutstock

import (
	"cmp"
	"slices"
)

// A knapsack finds patterns of high value: for each class the best pattern in which it is the largest.
//
// The table runs from the smallest class up. Row k tells, for each room, how many copies of class k are in the best filling by
// classes k and smaller. Where there are as many items of a class as a bin holds, or more than a few, their number is not bounded and
// a copy leads back to the same row.
type knapsack struct {
	*meter
	q      *instance
	limit  []int // most copies of each class, 0 for a class without items
	many   []bool
	best   []float64
	prev   []float64
	take   []uint8
	plain  []bool // rows in which no copy is taken
	found  []valued
	cur    []entry
	copies int // most copies in a pattern that are not refused
}

// valued is a pattern with its value.
type valued struct {
	items []entry
	value float64
}

// fewCopies is the number of copies of a class up to which patterns with more than there are are avoided.
const fewCopies = 6

func newKnapsack(m *meter, q *instance) *knapsack {
	n := len(q.size)
	k := &knapsack{meter: m, q: q, limit: make([]int, n), many: make([]bool, n), plain: make([]bool, n),
		best: make([]float64, q.cap+1), prev: make([]float64, q.cap+1), take: make([]uint8, n*(q.cap+1))}
	k.refresh()
	return k
}

// refresh takes over the needs of the instance.
func (k *knapsack) refresh() {
	for i, s := range k.q.size {
		k.limit[i] = int(min(int64(k.q.cap/s), k.q.need[i], int64(k.q.most)))
		k.many[i] = k.limit[i] == k.q.cap/s || k.limit[i] > fewCopies
	}
}

// run returns the largest value of a pattern and leaves in found up to want patterns of value above bar, the best first. Where the
// number of items in a bin is bounded, a price for each item makes patterns with few; then the result is an upper estimate.
func (k *knapsack) run(value []float64, bar float64, want int) float64 {
	k.found = k.found[:0]
	most := k.fill(value, 0, bar)
	if len(k.q.size) > 0 && k.q.most < k.q.cap/k.q.size[len(k.q.size)-1] {
		lo, hi := 0.0, 1.0
		for range 10 {
			mid := (lo + hi) / 2
			top := k.fill(value, mid, bar)
			most = min(most, top+float64(mid*float64(k.q.most)))
			if k.copies > k.q.most {
				lo = mid
			} else {
				hi = mid
			}
		}
	}
	slices.SortStableFunc(k.found, func(a, b valued) int { return cmp.Compare(b.value, a.value) })
	k.found = slices.CompactFunc(k.found, func(a, b valued) bool { return slices.Equal(a.items, b.items) })
	if len(k.found) > want {
		k.found = k.found[:want]
	}
	return most
}

// fill computes the table for the values less a price for each item, collects the patterns, and returns the largest value.
func (k *knapsack) fill(value []float64, price, bar float64) float64 {
	c, width := k.q.cap, k.q.cap+1
	clear(k.best)
	top, copies := 0.0, 0
	for i := len(k.q.size) - 1; i >= 0; i-- {
		s, v := k.q.size[i], value[i]-price
		k.plain[i] = true
		if k.limit[i] == 0 || v <= 0 {
			continue
		}
		row := k.take[i*width : (i+1)*width]
		if k.many[i] {
			if total := v + k.best[c-s]; v <= k.best[s]+1e-12 {
				// Smaller classes do as well in its place, but patterns with it add variety.
				if total > bar {
					k.collect(i, 1, total, price, value, bar)
				}
				continue
			}
			k.plain[i] = false
			k.spend(width - s)
			clear(row[:s])
			for r, b := range k.best[s:] {
				if w := k.best[r] + v; w > b {
					k.best[s+r] = w
					row[s+r] = 1
				} else {
					row[s+r] = 0
				}
			}
			// The best with at least one copy: when the row takes none, one copy on top of what the row does with the rest.
			total := v + k.best[c-s]
			k.consider(i, 1, total, price, value, bar, &top, &copies)
			continue
		}
		k.plain[i] = false
		k.spend((width - s) * k.limit[i])
		k.prev, k.best = k.best, k.prev
		copy(k.best, k.prev)
		clear(row)
		bestTotal, bestCopies := 0.0, 0
		for t := 1; t <= k.limit[i] && t*s <= c; t++ {
			w := float64(float64(t) * v)
			for r, b := range k.prev[:width-t*s] {
				if b += w; b > k.best[t*s+r] {
					k.best[t*s+r] = b
					row[t*s+r] = uint8(t)
				}
			}
			if total := w + k.prev[c-t*s]; total > bestTotal {
				bestTotal, bestCopies = total, t
			}
		}
		k.consider(i, bestCopies, bestTotal, price, value, bar, &top, &copies)
	}
	k.copies = copies
	return top
}

// consider takes note of the best pattern with class i as its largest, of which there are copies.
func (k *knapsack) consider(i, copies int, total, price float64, value []float64, bar float64, top *float64, count *int) {
	if total > *top {
		*top = total
		*count = k.trace(i, copies)
	}
	if total > bar || price > 0 {
		k.collect(i, copies, total, price, value, bar)
	}
}

// trace rebuilds in cur the best pattern with copies of class i and the best of the rest, and returns its number of items.
func (k *knapsack) trace(i, copies int) int {
	width := k.q.cap + 1
	k.cur = append(k.cur[:0], entry{int32(i), int32(copies)})
	room, items := k.q.cap-copies*k.q.size[i], copies
	if !k.many[i] || k.plain[i] {
		i++
	}
	for ; i < len(k.q.size); i++ {
		if k.plain[i] {
			continue
		}
		for t := int(k.take[i*width+room]); t > 0; t = int(k.take[i*width+room]) {
			k.cur = add(k.cur, i, t)
			room -= t * k.q.size[i]
			items += t
			if !k.many[i] {
				break
			}
		}
	}
	return items
}

func (k *knapsack) collect(i, copies int, total, price float64, value []float64, bar float64) {
	items := k.trace(i, copies)
	if items > k.q.most {
		return
	}
	if price > 0 {
		total += float64(price * float64(items))
		if total <= bar {
			return
		}
	}
	k.found = append(k.found, valued{slices.Clone(k.cur), total})
}

package cutstock

// weightScale is the weight of a value of 1. What fits into a bin is worth about 1, so that weights stay far below 2^63.
const weightScale = 1 << 30

// tableSteps bounds the steps of a knapsack in integers. Beyond it the sizes are rounded down to a coarser unit.
const tableSteps = 1 << 28

// certify turns estimates of the duals into a bound. Whatever they are, rounding them to integer weights w and computing the largest
// weight W that fits into a bin, by a knapsack in integers, proves that sum w need / W bins are needed. Top is W in units of the
// estimates. For want of effort both are 0.
func (q *instance) certify(m *meter, value []float64) (bins int64, top float64) {
	weight := make([]int64, len(q.size))
	for i, v := range value {
		weight[i] = int64(float64(min(max(v, 0), 2) * weightScale))
	}
	bounded := q.most < q.cap/q.size[len(q.size)-1]
	steps := tableSteps
	if bounded {
		steps /= 32
	}
	// What fits into a bin still does when sizes are rounded down, so that the weight of the rounded instance is a bound as well.
	t := q
	if unit := len(q.size) * q.cap / steps; unit > 1 {
		t = &instance{size: make([]int, len(q.size)), need: q.need, cap: q.cap / unit, most: q.most}
		for i, s := range q.size {
			t.size[i] = s / unit
			if t.size[i] == 0 {
				weight[i] = 0
			}
		}
	}
	best := make([]int64, t.cap+1)
	most := t.heaviest(m, weight, 0, best)
	if bounded {
		// A price on every item bounds what a bin with few items holds: the weights less the price, and the price of all items.
		// That is convex in the price; the search narrows down where it is least.
		lo, hi := int64(0), weight[0]
		for range 12 {
			a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
			at := t.heaviest(m, weight, a, best) + a*int64(q.most)
			bt := t.heaviest(m, weight, b, best) + b*int64(q.most)
			most = min(most, at, bt)
			if at <= bt {
				hi = b
			} else {
				lo = a
			}
		}
	}
	if m.over() {
		return 0, 0
	}
	total := make([]uint64, len(weight))
	for i, w := range weight {
		total[i] = uint64(w)
	}
	return q.weigh(total, uint64(most)), float64(most) / weightScale
}

// heaviest returns the largest weight, less the price for each item, of what fits into a bin, of each class no more than there is.
// Best is scratch of a bin's capacity and one. For want of effort the result means nothing.
func (q *instance) heaviest(m *meter, weight []int64, price int64, best []int64) int64 {
	clear(best)
	plenty := true // of every class so far
	for i := len(q.size) - 1; i >= 0; i-- {
		s, w, n := q.size[i], weight[i]-price, q.need[i]
		if w <= 0 || n == 0 {
			continue
		}
		if n >= int64(q.cap/s) {
			if plenty && w <= best[s] {
				continue // smaller classes do as well in its place, as often as it takes
			}
			if !m.spend(len(best) - s) {
				return 0
			}
			for r, b := range best[s:] {
				best[s+r] = max(b, best[r]+w)
			}
			continue
		}
		plenty = false
		for k := int64(1); n > 0; k *= 2 {
			k = min(k, n)
			n -= k
			s, w := s*int(k), w*k
			if !m.spend(len(best) - s) {
				return 0
			}
			for r := q.cap; r >= s; r-- {
				best[r] = max(best[r], best[r-s]+w)
			}
		}
	}
	return best[q.cap]
}

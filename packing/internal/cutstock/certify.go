package cutstock

// weightScale is the weight of a value of 1. Fillings have at most 2^31 items of a value of about 1 in all, so that weights stay far
// below 2^63.
const weightScale = 1 << 30

// certify turns estimates of the duals into a bound. Whatever they are, rounding them to integer weights w and computing the largest
// weight W that fits into a bin, by a knapsack in integers, proves that sum w need / W bins are needed. Top is W in units of the
// estimates.
func (q *instance) certify(m *meter, value []float64) (bins int64, top float64) {
	weight := make([]int64, len(q.size))
	for i, v := range value {
		weight[i] = int64(float64(min(max(v, 0), 2) * weightScale))
	}
	best := make([]int64, q.cap+1)
	most := q.heaviest(m, weight, 0, best)
	if q.most < q.cap/q.size[len(q.size)-1] {
		// A price on every item bounds what a bin with few items holds: the weights less the price, and the price of all items.
		// That is convex in the price; the search narrows down where it is least.
		lo, hi := int64(0), int64(weightScale)
		for hi-lo > 1<<16 {
			a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
			at := q.heaviest(m, weight, a, best) + a*int64(q.most)
			bt := q.heaviest(m, weight, b, best) + b*int64(q.most)
			most = min(most, at, bt)
			if at <= bt {
				hi = b
			} else {
				lo = a
			}
		}
	}
	total := make([]uint64, len(weight))
	for i, w := range weight {
		total[i] = uint64(w)
	}
	return q.weigh(total, uint64(most)), float64(most) / weightScale
}

// heaviest returns the largest weight, less the price for each item, of what fits into a bin, of each class no more than there is.
// Best is scratch of a bin's capacity and one.
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
			m.spend(len(best) - s)
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
			m.spend(len(best) - s)
			for r := q.cap; r >= s; r-- {
				best[r] = max(best[r], best[r-s]+w)
			}
		}
	}
	return best[q.cap]
}

package cutstock

import (
	"math/bits"
	"slices"
)

// A bound is a number of bins that no packing goes below, and why.
type bound struct {
	bins  int64
	proof Proof
}

// raise takes the larger bound; the plainer proof stays when it is as good.
func (b *bound) raise(bins int64, proof Proof) {
	if bins > b.bins {
		b.bins, b.proof = bins, proof
	}
}

// LowerBound returns a number of bins that no packing of p goes below and what proves it, from the bounds that need no linear
// program: of the order of 500 operations for each class. [Solve] finds stronger ones. The problem is not checked.
func LowerBound(p Problem) (int64, Proof) {
	q := newInstance(p)
	b := q.quickBounds(p.MaxItems)
	return b.bins, b.proof
}

func (q *instance) quickBounds(maxItems int) bound {
	b := bound{proof: ProofSize}
	if len(q.size) == 0 {
		return b
	}
	if maxItems > 0 {
		b.raise(ceilDiv(q.items(), int64(maxItems)), ProofItems)
	}
	total := int64(0)
	for i, s := range q.size {
		total += int64(s) * q.need[i]
	}
	b.raise(ceilDiv(total, int64(q.cap)), ProofSize)
	b.raise(q.martelloToth(), ProofL2)
	b.raise(q.dualFeasible(), ProofDFF)
	return b
}

func ceilDiv(a, b int64) int64 { return (a-1)/b + 1 } // a at least 1

// martelloToth is the bound L2: for a threshold t, sizes above cap - t fill a bin alone, sizes above cap/2 are in a bin each, and
// sizes from t to cap/2 share the room that the latter leave. The thresholds are the sizes up to cap/2.
func (q *instance) martelloToth() int64 {
	half := q.fits(q.cap / 2) // first class of at most half a bin
	pairs, free := int64(0), int64(0)
	for i := range half {
		pairs += q.need[i]
		free += int64(q.cap-q.size[i]) * q.need[i]
	}
	best := pairs
	if half == len(q.size) {
		return best
	}
	// Classes before top are alone, fewer and fewer of them as the threshold goes down.
	top, small := 0, int64(0)
	for top < half && q.size[top] > q.cap-q.size[half] {
		free -= int64(q.cap-q.size[top]) * q.need[top]
		top++
	}
	for i := half; i < len(q.size); i++ {
		for top > 0 && q.size[top-1] <= q.cap-q.size[i] {
			top--
			free += int64(q.cap-q.size[top]) * q.need[top]
		}
		small += int64(q.size[i]) * q.need[i]
		n := pairs
		if small > free {
			n += ceilDiv(small-free, int64(q.cap))
		}
		best = max(best, n)
	}
	return best
}

// dffParameters is how many functions of a family are tried.
const dffParameters = 256

// dualFeasible is the best bound over two families of functions f from sizes to weights such that the weights of what fits into a bin
// never add up to more than a limit; the total weight over that limit is then a bound.
func (q *instance) dualFeasible() int64 {
	best := int64(0)
	weight := make([]uint64, len(q.size))
	c := uint64(q.cap)
	// Fekete and Schepers: x(k+1)/cap rounded down over k, but x/cap itself where x(k+1)/cap is an integer. Scaled by k*cap.
	for k := uint64(1); k <= 32; k++ {
		for i, s := range q.size {
			if x := uint64(s) * (k + 1); x%c == 0 {
				weight[i] = uint64(s) * k
			} else {
				weight[i] = x / c * c
			}
		}
		best = max(best, q.weigh(weight, k*c))
	}
	// Carlier, Clautiaux and Moukrim: round down to multiples of a parameter, and what is above half a bin to the complement.
	for _, l := range q.dffSteps() {
		l := uint64(l)
		for i, s := range q.size {
			switch s := uint64(s); {
			case 2*s > c:
				weight[i] = 2 * (c/l - (c-s)/l)
			case 2*s == c:
				weight[i] = c / l
			default:
				weight[i] = 2 * (s / l)
			}
		}
		best = max(best, q.weigh(weight, 2*(c/l)))
	}
	return best
}

// dffSteps returns parameters for the rounding: sizes up to half a bin, complements of larger ones and their successors.
func (q *instance) dffSteps() []int {
	var steps []int
	for _, s := range q.size {
		for _, l := range []int{s, q.cap - s, q.cap - s + 1} {
			if l >= 1 && 2*l <= q.cap {
				steps = append(steps, l)
			}
		}
	}
	for k := 2; k <= 16; k++ {
		if l := q.cap/k + 1; 2*l <= q.cap {
			steps = append(steps, l)
		}
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	if n := len(steps); n > dffParameters {
		for i := range dffParameters {
			steps[i] = steps[i*n/dffParameters]
		}
		steps = steps[:dffParameters]
	}
	return steps
}

// weigh returns the bound that follows when no bin can hold more than limit in weight: the total weight over limit, rounded up, in
// 128 bits. A total too large for that proves nothing here.
func (q *instance) weigh(weight []uint64, limit uint64) int64 {
	hi, lo := uint64(0), uint64(0)
	for i, w := range weight {
		h, l := bits.Mul64(w, uint64(q.need[i]))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	if limit == 0 || hi >= limit {
		return 0
	}
	n, rest := bits.Div64(hi, lo, limit)
	if n > 1<<62 {
		return 0
	}
	if rest > 0 {
		n++
	}
	return int64(n)
}

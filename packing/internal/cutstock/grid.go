package cutstock

import (
	"math"
)

// onGrid returns q with its sizes rounded to multiples of cap/k, in units of that, and the grid's class of each class of q. Patterns of the result
// need not be patterns of q, but its duals, interpolated, are close to those of q.
func (q *instance) onGrid(k int) (*instance, []int32) {
	g := &instance{cap: k}
	class := make([]int32, len(q.size))
	for i, s := range q.size {
		class[i] = -1
		if q.need[i] == 0 {
			continue
		}
		z := max(1, int((2*int64(s)*int64(k)+int64(q.cap))/(2*int64(q.cap))))
		n := len(g.size)
		if n == 0 || g.size[n-1] != z {
			g.size, g.need = append(g.size, z), append(g.need, 0)
			n++
		}
		g.need[n-1] += q.need[i]
		class[i] = int32(n - 1)
	}
	if n := len(g.size); n > 0 {
		g.most = min(q.most, k/g.size[n-1])
	}
	return g, class
}

// A curve is a function of the share of a bin that an item takes: the duals of an instance, linear in between.
type curve struct {
	at, value []float64 // descending
}

func (q *instance) curve(dual []float64) *curve {
	c := &curve{value: dual}
	for _, s := range q.size {
		c.at = append(c.at, float64(s)/float64(q.cap))
	}
	return c
}

// values evaluates the curve for the sizes of q.
func (c *curve) values(q *instance) []float64 {
	out := make([]float64, len(q.size))
	j, n := 0, len(c.at)
	for i, s := range q.size {
		x := float64(s) / float64(q.cap)
		for j < n && c.at[j] > x {
			j++
		}
		switch {
		case j == 0:
			out[i] = c.value[0]
		case j == n:
			out[i] = float64(c.value[n-1]*x) / c.at[n-1]
		default:
			f := (x - c.at[j]) / (c.at[j-1] - c.at[j])
			out[i] = c.value[j] + float64(f*(c.value[j-1]-c.value[j]))
		}
	}
	return out
}

// coarse is the finest grid on which the relaxation is cheap, of the order of 0.1 seconds.
const coarse = 512

// relax raises the bound by linear relaxations on finer and finer grids, from just above from up to to, the duals of each a start for
// the next, and keeps in s.dual values of the classes, no pattern worth more than 1, that gave the best bound. It returns the last
// relaxation, nil for want of effort.
func (s *search) relax(from, to int) *relaxation {
	for k := from * 2; ; k *= 2 {
		g := s.q
		if k < s.q.cap {
			g, _ = s.q.onGrid(k)
		}
		var guess []float64
		if s.curve != nil {
			guess = s.curve.values(g)
			for i := range guess {
				guess[i] *= 1 + 1/float64(k)
			}
		}
		r := newRelaxation(s.meter, g, guess)
		slack := 1e-6 * s.lp
		if g == s.q {
			r.target, slack = float64(s.bound.bins)-.01, 0
		}
		r.solve(slack, 1000)
		if s.over() {
			return nil
		}
		s.curve = g.curve(r.price)
		s.prove(s.curve.values(s.q))
		if g == s.q || k >= to {
			return r
		}
	}
}

// prove raises the bound by the duals, if they do, and keeps them if they are the best so far.
func (s *search) prove(dual []float64) {
	bins, top := s.q.certify(s.meter, dual)
	if top <= 0 {
		return
	}
	s.bound.raise(bins, ProofLP)
	total := 0.0
	for i, y := range dual {
		dual[i] = y / top
		total += float64(dual[i] * float64(s.q.need[i]))
	}
	if total > s.lp {
		s.lp, s.dual = total, dual
	}
}

// bySize are the duals that the sum of the sizes stands for.
func (q *instance) bySize() []float64 {
	out := make([]float64, len(q.size))
	for i, s := range q.size {
		out[i] = float64(s) / float64(q.cap)
	}
	return out
}

// waste is what a pattern is worth less than a bin.
func waste(items []entry, dual []float64) float64 {
	v := 1.0
	for _, e := range items {
		v -= float64(dual[e.class] * float64(e.copies))
	}
	return math.Max(v, 0)
}

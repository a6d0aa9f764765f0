package cutstock

import (
	"math"
	"slices"
)

// A relaxation solves the linear relaxation of an instance by column generation: the master works with the patterns known, a knapsack
// over the duals finds patterns that would improve it (Gilmore and Gomory 1961).
type relaxation struct {
	*master
	q      *instance
	sack   *knapsack
	known  [][]entry // items of each pattern of the master
	target float64   // a number of bins that is good enough
	lower  float64   // a bound on the optimum of the relaxation, by floating point (Farley 1990)
	price  []float64 // the duals behind lower, scaled such that no pattern is worth more than 1
}

// newRelaxation starts a relaxation. Guess is nil or an estimate of the duals.
func newRelaxation(m *meter, q *instance, guess []float64) *relaxation {
	n := len(q.size)
	alone, need, cost := make([]int, n), make([]float64, n), make([]float64, n)
	r := &relaxation{q: q, sack: newKnapsack(m, q), price: make([]float64, n)}
	for i, s := range q.size {
		alone[i] = min(q.cap/s, q.most)
		need[i] = float64(q.need[i])
		cost[i] = 1
		if guess != nil {
			cost[i] = min(1, float64(guess[i]*float64(alone[i])))
		}
		r.known = append(r.known, []entry{{int32(i), int32(alone[i])}})
	}
	r.master = newMaster(m, need, alone, cost)
	return r
}

// know adds a pattern to start with.
func (r *relaxation) know(items []entry) {
	r.known = append(r.known, items)
	r.add(items)
}

// forget drops the patterns of the highest reduced costs when there are far more than classes.
func (r *relaxation) forget() {
	n := len(r.need)
	if r.patterns() < 10*n+1000 {
		return
	}
	costs := make([]float64, 0, r.patterns())
	for c := 2 * n; c < r.columns.len(); c++ {
		costs = append(costs, r.rc(int32(c)))
	}
	sorted := slices.Clone(costs)
	slices.Sort(sorted)
	bar := sorted[len(sorted)/2]
	r.keep(func(c int) bool { return c < 2*n || r.home[c] >= 0 || costs[c-2*n] < bar })
}

// keep drops the columns outside the basis for which ok is false.
func (r *relaxation) keep(ok func(c int) bool) {
	n := len(r.need)
	var columns sparse
	columns.reset()
	to := 0
	for c := range r.columns.len() {
		if !ok(c) {
			continue
		}
		idx, val := r.columns.vec(c)
		for j, i := range idx {
			columns.push(i, val[j])
		}
		columns.end()
		r.costs[to], r.home[to] = r.costs[c], r.home[c]
		if p := r.home[c]; p >= 0 {
			r.basis[p] = int32(to)
		}
		if c >= n {
			r.known[to-n] = r.known[c-n]
		}
		to++
	}
	r.columns, r.costs, r.home, r.known = columns, r.costs[:to], r.home[:to], r.known[:to-n]
}

// renew takes over the needs of the instance after they have become fewer, and makes the basis feasible again.
func (r *relaxation) renew() bool {
	for i, n := range r.q.need {
		r.need[i] = float64(n)
	}
	r.sack.refresh()
	return r.dualSimplex()
}

// solve generates columns until the optimum is known well enough: to within slack, or to the same number of bins when rounded up. It
// reports false when it had to stop earlier.
func (r *relaxation) solve(slack float64, rounds int) bool {
	want := max(15, len(r.q.size)/8)
	r.lower = 0
	for ; rounds > 0; rounds-- {
		if !r.primal() {
			return false
		}
		top := r.sack.run(r.dual, 1+1e-7, want)
		total := 0.0
		for i, y := range r.dual {
			total += float64(y * r.need[i])
		}
		bins := r.objective()
		if low := total / max(top, 1); low > r.lower {
			r.lower = low
			for i, y := range r.dual {
				r.price[i] = y / max(top, 1)
			}
		}
		if len(r.sack.found) == 0 || bins-r.lower <= slack || math.Ceil(r.lower-1e-6) >= math.Ceil(bins-1e-6) || bins <= r.target {
			if r.honest() {
				continue
			}
			return true
		}
		r.forget()
		for _, f := range r.sack.found {
			r.know(f.items)
		}
		if r.over() {
			return false
		}
	}
	return true
}

package cutstock

import (
	"math"
	"slices"
)

// A master is the linear program over the patterns known so far: bins as few as possible such that every class has enough slots.
//
//	min sum x   such that   sum a[i][j] x[j] - t[i] + t[i-1] = need[i],   x, t >= 0
//
// A slot may serve a smaller class: t[i] slots of class i become slots of class i+1, and t of the last class is surplus. That changes
// nothing about the optimum, keeps the duals monotone, and with them steady (dual-optimal inequalities: Valerio de Carvalho 2005).
// It is solved by the revised simplex method, primal after columns have come, dual after the needs have changed.
type master struct {
	*meter
	need    []float64
	columns sparse    // the first len(need) are t
	costs   []float64 // 0 for t, 1 for a pattern
	basis   []int32
	home    []int32 // position of each column in the basis, -1 outside
	x       []float64
	dual    []float64
	lu      factor
	a, b, c []float64 // scratch
	noise   []float64
	rcs     []float64 // reduced costs
	weight  []float64
	fresh   bool // nothing has changed since the reduced costs were computed
	alpha   []float64
	random  uint64
}

const (
	costTol  = 1e-9 // reduced costs above -costTol count as not negative
	feasTol  = 1e-9
	pivotTol = 1e-7
)

// newMaster starts a master with one pattern for each class, the class alone as often as it fits, at a cost of at most 1. A lower cost
// is a guess of the duals, which [master.honest] takes back.
func newMaster(m *meter, need []float64, alone []int, cost []float64) *master {
	n := len(need)
	l := &master{meter: m, need: slices.Clone(need), basis: make([]int32, n), x: make([]float64, n), dual: make([]float64, n),
		a: make([]float64, n), b: make([]float64, n), c: make([]float64, n), noise: make([]float64, n)}
	l.columns.reset()
	for i := range n {
		l.columns.push(int32(i), -1)
		if i+1 < n {
			l.columns.push(int32(i+1), 1)
		}
		l.columns.end()
		l.home = append(l.home, -1)
		l.costs = append(l.costs, 0)
		// Needs are often equal or in small ratios; a little noise keeps ties, and with them stalling, away.
		l.noise[i] = 1e-7 * l.next()
	}
	for i, k := range alone {
		l.columns.push(int32(i), float64(k))
		l.columns.end()
		l.home = append(l.home, int32(i))
		l.costs = append(l.costs, cost[i])
		l.basis[i] = int32(n + i)
	}
	l.restart()
	return l
}

// add adds a pattern.
func (l *master) add(items []entry) {
	for _, e := range items {
		l.columns.push(e.class, float64(e.copies))
	}
	l.columns.end()
	l.home = append(l.home, -1)
	l.costs = append(l.costs, 1+float64(1e-7*l.next()))
}

// next returns a pseudo-random number in [1, 2).
func (l *master) next() float64 {
	l.random = l.random*6364136223846793005 + 1442695040888963407
	return 1 + float64(float64(l.random>>40)/(1<<24))
}

// honest sets the costs of all patterns to 1 and reports whether that changes the solution.
func (l *master) honest() bool {
	changed := false
	for i := range l.need {
		if c := len(l.need) + i; l.costs[c] != 1 {
			l.costs[c] = 1
			changed = changed || l.home[c] >= 0
		}
	}
	if changed {
		l.price()
	}
	return changed
}

// patterns returns the number of patterns; pattern k is column len(need) + k.
func (l *master) patterns() int { return l.columns.len() - len(l.need) }

// restart factors the basis, or goes back to the first basis if it has become singular, and recomputes x and the duals.
func (l *master) restart() {
	l.spend(20*len(l.basis) + 4*len(l.lu.upper.idx))
	if !l.lu.factorize(&l.columns, l.basis) {
		for _, c := range l.basis {
			l.home[c] = -1
		}
		for i := range l.basis {
			l.basis[i] = int32(len(l.basis) + i)
			l.home[l.basis[i]] = int32(i)
		}
		l.lu.factorize(&l.columns, l.basis)
	}
	for i, v := range l.need {
		l.a[i] = v + l.noise[i]
	}
	l.lu.ftran(l.a, l.x)
	l.price()
}

// price recomputes the duals.
func (l *master) price() {
	for p, c := range l.basis {
		l.a[p] = l.costs[c]
	}
	l.lu.btran(l.a, l.dual)
	l.spend(l.lu.size())
}

// rc returns the reduced cost of a column.
func (l *master) rc(column int32) float64 {
	return l.costs[column] - l.columns.dot(int(column), l.dual)
}

// column loads the ftran of a column into l.b.
func (l *master) column(c int32) {
	clear(l.a)
	idx, val := l.columns.vec(int(c))
	for j, i := range idx {
		l.a[i] = val[j]
	}
	l.lu.ftran(l.a, l.b)
	l.spend(l.lu.size())
}

// primal makes the basis optimal over the columns, given that x is not negative. It reports whether it got there. Columns enter by
// their reduced cost in the reference framework of Harris 1973, Devex.
func (l *master) primal() bool {
	l.frame()
	for tired := 0; ; {
		enter, best := int32(-1), 0.0
		for c, rc := range l.rcs {
			if rc < -costTol && l.home[c] < 0 {
				if v := float64(rc*rc) / l.weight[c]; v > best {
					enter, best = int32(c), v
				}
			}
		}
		if !l.spend(2 * len(l.rcs)) {
			return false
		}
		if enter < 0 {
			if l.fresh {
				return true
			}
			l.restart()
			l.frame()
			continue
		}
		l.column(enter)
		p := l.ratio()
		if p < 0 {
			// Only rounding can make the program look unbounded.
			if tired++; tired > 20 {
				return false
			}
			l.restart()
			l.frame()
			continue
		}
		// The row of the pivot, by which reduced costs and weights change.
		clear(l.a)
		l.a[p] = 1
		l.lu.btran(l.a, l.c)
		l.products(l.alpha, l.c)
		l.spend(l.lu.size() + len(l.columns.idx))
		pivot := l.alpha[enter]
		step, share := l.rcs[enter]/pivot, l.weight[enter]/float64(pivot*pivot)
		for c, a := range l.alpha {
			if a != 0 {
				l.rcs[c] -= float64(step * a)
				l.weight[c] = max(l.weight[c], float64(float64(a*a)*share))
			}
		}
		out := l.basis[p]
		l.weight[out] = max(share, 1)
		l.swap(p, enter)
		l.fresh = false
		if l.lu.stale() {
			l.restart()
			l.reduce()
		}
	}
}

// frame computes the reduced costs and makes the columns outside the basis the reference framework.
func (l *master) frame() {
	l.reduce()
	n := l.columns.len()
	l.alpha, l.weight = resize(l.alpha, n), resize(l.weight, n)
	for c := range l.weight {
		l.weight[c] = 1
	}
	l.fresh = true
}

// reduce computes the reduced costs.
func (l *master) reduce() {
	l.rcs = resize(l.rcs, l.columns.len())
	l.products(l.rcs, l.dual)
	for c, v := range l.rcs {
		l.rcs[c] = l.costs[c] - v
	}
	l.spend(2 * len(l.columns.idx))
}

// ratio returns the position that leaves when the column in l.b enters, -1 if none does: the first to reach 0, and among those that
// do so at nearly the same time the one with the largest pivot.
func (l *master) ratio() int {
	limit := math.Inf(1)
	for p, v := range l.b {
		if v > pivotTol {
			limit = min(limit, (max(l.x[p], 0)+feasTol)/v)
		}
	}
	best, pivot := -1, 0.0
	for p, v := range l.b {
		if v > pivotTol && max(l.x[p], 0)/v <= limit && v > pivot {
			best, pivot = p, v
		}
	}
	return best
}

// swap exchanges the column at position p for the one whose ftran is in l.b.
func (l *master) swap(p int, column int32) {
	step := l.x[p] / l.b[p]
	for i, v := range l.b {
		if v != 0 {
			l.x[i] -= float64(v * step)
		}
	}
	l.x[p] = step
	l.home[l.basis[p]] = -1
	l.basis[p] = column
	l.home[column] = int32(p)
	l.lu.exchange(p, l.b)
}

// dualSimplex makes x not negative again after the needs have changed, given that no reduced cost is negative. It reports whether it
// got there.
func (l *master) dualSimplex() bool {
	l.restart()
	l.frame()
	for range 20*len(l.need) + 1000 {
		p, low := -1, -1e-8
		for i, v := range l.x {
			if v < low {
				p, low = i, v
			}
		}
		if p < 0 {
			l.price()
			return true
		}
		clear(l.a)
		l.a[p] = 1
		l.lu.btran(l.a, l.c)
		l.products(l.alpha, l.c)
		enter, best, pivot := int32(-1), math.Inf(1), 0.0
		for c, a := range l.alpha {
			if a >= -pivotTol || l.home[c] >= 0 {
				continue
			}
			if r := max(l.rcs[c], 0) / -a; r < best-1e-12 || r <= best+1e-12 && -a > pivot {
				enter, pivot = int32(c), -a
				best = min(best, r)
			}
		}
		if !l.spend(l.lu.size()+2*len(l.columns.idx)) || enter < 0 {
			return false
		}
		l.column(enter)
		if math.Abs(l.b[p]) < pivotTol/10 {
			return false
		}
		step := l.rcs[enter] / l.alpha[enter]
		for c, a := range l.alpha {
			l.rcs[c] -= float64(step * a)
		}
		l.swap(p, enter)
		if l.lu.stale() {
			l.restart()
		}
	}
	return false
}

// products sets out[c] to the product of column c and v.
func (l *master) products(out, v []float64) {
	idx, val := l.columns.idx, l.columns.val
	for c, end := range l.columns.start[1:] {
		sum := 0.0
		for j := l.columns.start[c]; j < end; j++ {
			sum += float64(val[j] * v[idx[j]])
		}
		out[c] = sum
	}
}

// objective returns the number of bins of the solution.
func (l *master) objective() float64 {
	sum := 0.0
	for p, c := range l.basis {
		sum += float64(min(l.costs[c], 1) * l.x[p])
	}
	return sum
}

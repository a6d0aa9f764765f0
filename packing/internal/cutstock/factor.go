package cutstock

import "math"

// A factor is a sparse LU factorization of a basis, by the pivots of Markowitz 1957, and the exchanges of columns since then in
// product form. Rows are the constraints, positions the columns of the basis.
//
// Products are converted before they are added, here and wherever else floating point guides the search: that keeps compilers from
// fusing the two operations, which rounds once instead of twice and so would let the result depend on the machine.
type factor struct {
	n           int
	row, pos    []int32 // of each pivot, in order
	diag        []float64
	lower       sparse // multipliers by pivot: indices are rows
	upper       sparse // columns by pivot: indices are rows of earlier pivots
	exchanges   sparse // columns in terms of the basis they entered: indices are positions
	entered     []int32
	pivots      []float64
	elimination elimination
}

// sparse holds vectors one after the other.
type sparse struct {
	start []int32 // one more than there are vectors
	idx   []int32
	val   []float64
}

func (s *sparse) reset() {
	s.start = append(s.start[:0], 0)
	s.idx, s.val = s.idx[:0], s.val[:0]
}

func (s *sparse) push(i int32, v float64) {
	s.idx = append(s.idx, i)
	s.val = append(s.val, v)
}

func (s *sparse) end() { s.start = append(s.start, int32(len(s.idx))) }

func (s *sparse) len() int { return len(s.start) - 1 }

func (s *sparse) vec(k int) ([]int32, []float64) {
	a, b := s.start[k], s.start[k+1]
	return s.idx[a:b:b], s.val[a:b:b]
}

func (s *sparse) dot(k int, x []float64) float64 {
	sum := 0.0
	idx, val := s.vec(k)
	for j, i := range idx {
		sum += float64(val[j] * x[i])
	}
	return sum
}

// ftran turns v, indexed by row, into the solution of B x = v, indexed by position, in x. It destroys v.
func (f *factor) ftran(v, x []float64) {
	for k, p := range f.row {
		if z := v[p]; z != 0 {
			idx, val := f.lower.vec(k)
			for j, i := range idx {
				v[i] -= float64(val[j] * z)
			}
		}
	}
	for k := f.n - 1; k >= 0; k-- {
		z := v[f.row[k]]
		if z == 0 {
			x[f.pos[k]] = 0
			continue
		}
		z /= f.diag[k]
		x[f.pos[k]] = z
		idx, val := f.upper.vec(k)
		for j, i := range idx {
			v[i] -= float64(val[j] * z)
		}
	}
	for e, p := range f.entered {
		z := x[p]
		if z == 0 {
			continue
		}
		z /= f.pivots[e]
		x[p] = z
		idx, val := f.exchanges.vec(e)
		for j, i := range idx {
			x[i] -= float64(val[j] * z)
		}
	}
}

// btran turns c, indexed by position, into the solution of B^T y = c, indexed by row, in y. It destroys c.
func (f *factor) btran(c, y []float64) {
	for e := len(f.entered) - 1; e >= 0; e-- {
		p := f.entered[e]
		c[p] = (c[p] - f.exchanges.dot(e, c)) / f.pivots[e]
	}
	for k, p := range f.row {
		y[p] = (c[f.pos[k]] - f.upper.dot(k, y)) / f.diag[k]
	}
	for k := f.n - 1; k >= 0; k-- {
		y[f.row[k]] -= f.lower.dot(k, y)
	}
}

// exchange replaces the column at position p by the one whose ftran is x.
func (f *factor) exchange(p int, x []float64) {
	for i, v := range x {
		if i != p && math.Abs(v) > 1e-12 {
			f.exchanges.push(int32(i), v)
		}
	}
	f.exchanges.end()
	f.entered = append(f.entered, int32(p))
	f.pivots = append(f.pivots, x[p])
}

// stale reports whether so many columns have been exchanged that it pays to factor the basis anew.
func (f *factor) stale() bool {
	return len(f.entered) >= 100 || len(f.entered) >= 16 && len(f.exchanges.idx) > len(f.lower.idx)+len(f.upper.idx)+2*f.n
}

// size returns the number of operations of a solution.
func (f *factor) size() int {
	return 2*f.n + len(f.lower.idx) + len(f.upper.idx) + len(f.exchanges.idx)
}

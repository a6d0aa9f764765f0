package cutstock

import "math"

// elimination is the part of a matrix that has no pivots yet: its columns with values, and the positions of each row's entries.
type elimination struct {
	idx         [][]int32 // rows of each column
	val         [][]float64
	rows        [][]int32 // columns of each row
	upper       [][]uentry
	cols, lines buckets
	mult        []float64
	mark, seen  []int32
	stamp       int32
}

type uentry struct {
	row int32
	val float64
}

// buckets keeps things by a count, those of equal count in a list.
type buckets struct {
	head       []int32 // of each count
	next, prev []int32
	count      []int32
	low        int // no list below it has members
}

func (b *buckets) init(n int) {
	b.head = resize(b.head, n+1)
	b.next, b.prev, b.count = resize(b.next, n), resize(b.prev, n), resize(b.count, n)
	for i := range b.head {
		b.head[i] = -1
	}
	b.low = 0
}

func (b *buckets) insert(i int32, count int) {
	h := b.head[count]
	b.next[i], b.prev[i], b.count[i] = h, -1, int32(count)
	if h >= 0 {
		b.prev[h] = i
	}
	b.head[count] = i
	b.low = min(b.low, count)
}

func (b *buckets) remove(i int32) {
	if p := b.prev[i]; p >= 0 {
		b.next[p] = b.next[i]
	} else {
		b.head[b.count[i]] = b.next[i]
	}
	if n := b.next[i]; n >= 0 {
		b.prev[n] = b.prev[i]
	}
}

func (b *buckets) move(i int32, count int) {
	b.remove(i)
	b.insert(i, count)
}

// resize returns s with length n, with whatever it holds.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}

// factorize factors the matrix whose column at each position is that of columns with the number in basis. It reports whether the
// matrix is regular.
func (f *factor) factorize(columns *sparse, basis []int32) bool {
	n := len(basis)
	f.n = n
	f.row, f.pos, f.diag = f.row[:0], f.pos[:0], f.diag[:0]
	f.entered, f.pivots = f.entered[:0], f.pivots[:0]
	f.lower.reset()
	f.upper.reset()
	f.exchanges.reset()
	e := &f.elimination
	e.load(columns, basis)
	for range n {
		p, q, ok := e.choose()
		if !ok {
			return false
		}
		f.diag = append(f.diag, e.eliminate(p, q, &f.lower))
		f.row, f.pos = append(f.row, p), append(f.pos, q)
	}
	for _, q := range f.pos {
		for _, u := range e.upper[q] {
			f.upper.push(u.row, u.val)
		}
		f.upper.end()
	}
	return true
}

func (e *elimination) load(columns *sparse, basis []int32) {
	n := len(basis)
	e.idx, e.val, e.rows, e.upper = resize(e.idx, n), resize(e.val, n), resize(e.rows, n), resize(e.upper, n)
	e.mult, e.mark, e.seen = resize(e.mult, n), resize(e.mark, n), resize(e.seen, n)
	clear(e.mark)
	clear(e.seen)
	e.stamp = 0
	for i := range n {
		e.rows[i], e.upper[i] = e.rows[i][:0], e.upper[i][:0]
	}
	e.cols.init(n)
	e.lines.init(n)
	for q, c := range basis {
		idx, val := columns.vec(int(c))
		e.idx[q] = append(e.idx[q][:0], idx...)
		e.val[q] = append(e.val[q][:0], val...)
		for _, i := range idx {
			e.rows[i] = append(e.rows[i], int32(q))
		}
	}
	for q := n - 1; q >= 0; q-- {
		e.cols.insert(int32(q), len(e.idx[q]))
		e.lines.insert(int32(q), len(e.rows[q]))
	}
}

// choose returns the row and the position of the next pivot: one that causes little fill and is not small in its column.
func (e *elimination) choose() (p, q int32, ok bool) {
	if q := e.cols.head[1]; q >= 0 && math.Abs(e.val[q][0]) > 1e-9 {
		return e.idx[q][0], q, true
	}
	if p := e.lines.head[1]; p >= 0 {
		q := e.rows[p][0]
		if v, biggest := e.at(p, q); math.Abs(v) >= .05*biggest && biggest > 1e-9 {
			return p, q, true
		}
	}
	best, looked := math.MaxInt, 0
	for ; e.cols.low < len(e.cols.head) && e.cols.head[e.cols.low] < 0; e.cols.low++ {
	}
	for count := e.cols.low; count < len(e.cols.head) && looked < 4; count++ {
		for c := e.cols.head[count]; c >= 0 && looked < 4; c = e.cols.next[c] {
			biggest := 0.0
			for _, v := range e.val[c] {
				biggest = max(biggest, math.Abs(v))
			}
			if biggest <= 1e-9 {
				continue
			}
			looked++
			for j, i := range e.idx[c] {
				if fill := (len(e.rows[i]) - 1) * (count - 1); fill < best && math.Abs(e.val[c][j]) >= .1*biggest {
					best, p, q, ok = fill, i, c, true
				}
			}
		}
	}
	return p, q, ok
}

// at returns the value in row p of column q and the largest in the column.
func (e *elimination) at(p, q int32) (v, biggest float64) {
	for j, i := range e.idx[q] {
		if i == p {
			v = e.val[q][j]
		}
		biggest = max(biggest, math.Abs(e.val[q][j]))
	}
	return v, biggest
}

// eliminate takes row p and column q out by the pivot where they meet, which it returns, and pushes the multipliers to lower.
func (e *elimination) eliminate(p, q int32, lower *sparse) float64 {
	pivot := e.take(q, p)
	e.cols.remove(q)
	e.lines.remove(p)
	e.stamp++
	stamp := e.stamp
	rows := e.idx[q]
	for j, i := range rows {
		m := e.val[q][j] / pivot
		lower.push(i, m)
		e.mult[i], e.mark[i] = m, stamp
		drop(&e.rows[i], q)
	}
	lower.end()
	for _, c := range e.rows[p] {
		if c == q {
			continue
		}
		u := e.take(c, p)
		e.upper[c] = append(e.upper[c], uentry{p, u})
		if len(rows) > 0 {
			e.stamp++
			hits := 0
			val := e.val[c]
			for j, i := range e.idx[c] {
				if e.mark[i] == stamp {
					val[j] -= float64(e.mult[i] * u)
					e.seen[i] = e.stamp
					hits++
				}
			}
			if hits < len(rows) {
				for _, i := range rows {
					if e.seen[i] != e.stamp {
						e.idx[c] = append(e.idx[c], i)
						e.val[c] = append(e.val[c], -float64(e.mult[i]*u))
						e.rows[i] = append(e.rows[i], c)
					}
				}
			}
		}
		e.cols.move(c, len(e.idx[c]))
	}
	for _, i := range rows {
		e.lines.move(i, len(e.rows[i]))
	}
	return pivot
}

// take removes row p from column q and returns its value.
func (e *elimination) take(q, p int32) float64 {
	idx, val := e.idx[q], e.val[q]
	for j, i := range idx {
		if i == p {
			v, last := val[j], len(idx)-1
			idx[j], val[j] = idx[last], val[last]
			e.idx[q], e.val[q] = idx[:last], val[:last]
			return v
		}
	}
	return 0
}

// drop removes x from s.
func drop(s *[]int32, x int32) {
	for j, y := range *s {
		if y == x {
			last := len(*s) - 1
			(*s)[j] = (*s)[last]
			*s = (*s)[:last]
			return
		}
	}
}

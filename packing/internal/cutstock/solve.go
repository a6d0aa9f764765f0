package cutstock

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
)

// newInstance brings p into the form of the search. Dividing sizes by what divides them all, and the capacity rounded down, changes
// nothing.
func newInstance(p Problem) *instance {
	q := &instance{size: make([]int, len(p.Sizes)), need: slices.Clone(p.Counts), cap: p.Capacity}
	for i, s := range p.Sizes {
		q.size[i] = int(s)
	}
	if g := q.gcd(); g > 1 {
		for i := range q.size {
			q.size[i] /= g
		}
		q.cap /= g
	}
	if n := len(q.size); n > 0 {
		q.most = q.cap / q.size[n-1]
		if p.MaxItems > 0 {
			q.most = min(q.most, p.MaxItems)
		}
	}
	return q
}

// A search holds the best packing and the best bound of an instance.
type search struct {
	*meter
	q     *instance
	gap   int64
	most  int // items in a bin, 0 for no bound
	best  packing
	bins  int64
	bound bound
	dual  []float64 // values of the classes, no pattern worth more than 1
	lp    float64   // the total value
	curve *curve
}

// offer takes a packing if it is complete and the best so far.
func (s *search) offer(p packing) {
	if p == nil {
		return
	}
	if n := p.bins(); s.best == nil || n < s.bins {
		s.best, s.bins = p, n
	}
}

// done reports whether the search may end.
func (s *search) done() bool { return s.bins-s.bound.bins <= s.gap || s.over() }

func solve(ctx context.Context, p Problem, o Options) *Solution {
	q := newInstance(p)
	s := &search{meter: &meter{ctx: ctx, limit: cmp.Or(o.Effort, DefaultEffort)}, q: q, gap: o.Gap, most: p.MaxItems}
	s.aborted = ctx.Err() != nil
	s.bound = q.quickBounds(p.MaxItems)
	if len(q.size) > 0 {
		s.run(rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15)))
	}
	return s.solution(p)
}

const (
	// maxTable bounds the bytes of a table over the capacity and some classes.
	maxTable = 1 << 26
	// maxCapacity is the capacity above which only the methods without such tables are tried.
	maxCapacity = maxTable / 64
)

// run tries one method after the other, from the cheapest on, until one meets the bound.
func (s *search) run(r *rand.Rand) {
	s.dual = s.q.bySize()
	if s.q.cap > maxCapacity {
		s.start(r)
		return
	}
	s.prove(s.q.bySize())
	if s.start(r) {
		return
	}
	fixed, rest, class := s.q.reduce()
	t := s
	if len(rest.size) == 0 {
		s.offer(fixed)
		s.bound.raise(s.bins, s.bound.proof)
		return
	}
	if len(fixed) > 0 {
		t = &search{meter: s.meter, q: rest, gap: s.gap, most: s.most, bound: rest.quickBounds(s.most)}
		t.bound.raise(s.bound.bins-fixed.bins(), s.bound.proof)
		t.dual = rest.bySize()
		t.prove(rest.bySize())
	}
	t.relaxed(r, t != s)
	t.within(.5, func() { t.neighbours(r) })
	if t != s {
		s.bound.raise(t.bound.bins+fixed.bins(), t.bound.proof)
		for _, f := range t.best {
			for j := range f.items {
				f.items[j].class = class[f.items[j].class]
			}
			fixed = append(fixed, f)
		}
		s.offer(fixed)
		if s.done() {
			return
		}
		if s.curve = t.curve; s.curve != nil {
			s.prove(s.curve.values(s.q))
		}
	}
	s.neighbours(r)
}

// start packs by the fast methods and reports whether that is enough.
func (s *search) start(r *rand.Rand) bool {
	s.offer(bestFit(s.q, s.meter))
	if s.done() {
		return true
	}
	s.offer(minSlack(s.q, 400, s.meter))
	if s.done() {
		return true
	}
	s.refill(r)
	return s.done()
}

// relaxed packs with the help of the linear relaxation.
func (s *search) relaxed(r *rand.Rand, first bool) {
	rel := s.relax(32, coarse)
	if first && s.start(r) || s.done() {
		return
	}
	if len(s.q.size) > 300 {
		s.guide()
		s.within(.02, func() { s.neighbours(r) })
	}
	if n := len(s.q.size); s.done() || n > exactClasses || n*s.q.cap > maxTable {
		return
	}
	s.within(.7, func() {
		if rel != nil && rel.q != s.q {
			rel = s.relax(coarse, s.q.cap)
		}
		if !s.done() && rel != nil {
			s.offer(rel.dive(s.bins-1, r))
		}
	})
}

// within does something with a share of the work that is left.
func (s *search) within(share float64, do func()) {
	limit := s.limit
	s.limit = s.used + int64(float64(limit-s.used)*share)
	do()
	s.limit = limit
}

// exactClasses is the number of classes up to which the relaxation is solved as it is, not only on grids.
const exactClasses = 2500

// guide tries guided fits on several grids one after the other.
func (s *search) guide() {
	left := &instance{size: s.q.size, need: slices.Clone(s.q.need), cap: s.q.cap, most: s.q.most}
	var out packing
	for i, k := range []int{256, 208, 320, 176, 288, 240} {
		out = append(out, s.guided(left, k, 1e-5*float64(i+1))...)
	}
	if left.items() > 0 {
		last := minSlack(left, 400, s.meter)
		if last == nil {
			return
		}
		out = append(out, last...)
	}
	s.offer(out)
}

// solution turns the best packing into patterns of sizes, merged and in order.
func (s *search) solution(p Problem) *Solution {
	out := &Solution{Bins: s.bins, Bound: s.bound.bins, Proof: s.bound.proof, Work: s.used, Aborted: s.aborted && s.bins-s.bound.bins > s.gap}
	all := make([]Pattern, len(s.best))
	for k, f := range s.best {
		items := make([]Item, len(f.items))
		for j, e := range f.items {
			items[j] = Item{p.Sizes[e.class], e.copies}
		}
		all[k] = Pattern{items, f.bins}
	}
	slices.SortFunc(all, comparePatterns)
	for _, t := range all {
		if n := len(out.Patterns); n > 0 && comparePatterns(out.Patterns[n-1], t) == 0 {
			out.Patterns[n-1].Bins += t.Bins
		} else {
			out.Patterns = append(out.Patterns, t)
		}
	}
	return out
}

package cutstock

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// neighbours improves the best packing by large neighbourhood search: it dissolves wasteful bins and random others, as many as involve
// a few hundred classes, packs their items anew by a dive, and keeps the result if it is not worse.
func (s *search) neighbours(r *rand.Rand) {
	most := min(len(s.q.size), 300, maxTable/s.q.cap)
	least := (most + 2) / 3
	for !s.done() {
		s.refill(r)
		if s.done() {
			break
		}
		s.dissolve(r, least+r.IntN(most-least+1))
	}
}

// wasteShare is the share of the classes that wasteful bins choose; random ones choose the rest.
const wasteShare = .5

// dissolve is one step of the search.
func (s *search) dissolve(r *rand.Rand, classes int) {
	s.best = merge(s.best)
	type rank struct {
		k    int
		cost float64
	}
	order := make([]rank, len(s.best))
	for k, f := range s.best {
		order[k] = rank{k, -(waste(f.items, s.dual) + 1e-6) * r.Float64()}
	}
	slices.SortFunc(order, func(a, b rank) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.k, b.k)) })
	s.spend(100*len(s.best) + len(s.q.size))
	need := make([]int64, len(s.q.size))
	used, taken := 0, int64(0)
	gone := make([]bool, len(s.best))
	take := func(k, limit int) bool {
		f := s.best[k]
		fresh := 0
		for _, e := range f.items {
			if need[e.class] == 0 {
				fresh++
			}
		}
		if gone[k] {
			return true
		}
		if used+fresh > limit {
			return false
		}
		for _, e := range f.items {
			need[e.class] += int64(e.copies) * f.bins
		}
		used += fresh
		taken += f.bins
		gone[k] = true
		return true
	}
	for _, o := range order {
		if !take(o.k, int(float64(classes)*wasteShare)) {
			break
		}
	}
	for range 4 * len(s.best) {
		if !take(r.IntN(len(s.best)), classes) {
			break
		}
	}
	if used == 0 {
		return
	}
	sub, class := s.q.part(need)
	dual := make([]float64, len(sub.size))
	for i, c := range class {
		dual[i] = s.dual[c] * (1 + 1e-3)
	}
	p := dive(s.meter, sub, dual, taken, r)
	if p == nil {
		return
	}
	var next packing
	for k, f := range s.best {
		if !gone[k] {
			next = append(next, f)
		}
	}
	for _, f := range p {
		for j := range f.items {
			f.items[j].class = class[f.items[j].class]
		}
		next = append(next, f)
	}
	s.best, s.bins = next, next.bins()
}

// part returns the instance of the needs given, without the classes that have none, and the class of each in q.
func (q *instance) part(need []int64) (*instance, []int32) {
	p := &instance{cap: q.cap, most: q.most}
	var class []int32
	for i, n := range need {
		if n > 0 {
			p.size, p.need = append(p.size, q.size[i]), append(p.need, n)
			class = append(class, int32(i))
		}
	}
	return p, class
}

// merge joins fillings alike and puts them in order.
func merge(p packing) packing {
	slices.SortFunc(p, func(a, b filling) int {
		return slices.CompareFunc(a.items, b.items, func(x, y entry) int {
			return cmp.Or(cmp.Compare(x.class, y.class), cmp.Compare(x.copies, y.copies))
		})
	})
	out := p[:0]
	for _, f := range p {
		if n := len(out); n > 0 && slices.Equal(out[n-1].items, f.items) {
			out[n-1].bins += f.bins
		} else {
			out = append(out, f)
		}
	}
	return out
}

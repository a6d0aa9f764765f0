package cutstock

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// refill is a local search for bins that are nearly full anyway: it empties some wasteful bins and a few others, one of a pattern at a
// time, and fills them again by minimum bin slack. What is kept is what needs fewer bins, or has its waste in fewer of them. Trials are
// cheap, of the order of a thousand for each step of the large neighbourhood search.
func (s *search) refill(r *rand.Rand) {
	if s.bins-s.bound.bins > 64 {
		return
	}
	s.best = merge(s.best)
	lost := make([]float64, len(s.best))
	for k, f := range s.best {
		lost[k] = waste(f.items, s.dual)
	}
	need := make([]int64, len(s.q.size))
	var open []int // patterns of which a bin is emptied
	for idle := 0; idle < 1000; idle++ {
		if s.done() {
			break
		}
		open = s.pick(open[:0], lost, r)
		before := 0.0
		var classes []int32
		for _, k := range open {
			before += float64(lost[k] * lost[k])
			for _, e := range s.best[k].items {
				if need[e.class] == 0 {
					classes = append(classes, e.class)
				}
				need[e.class] += int64(e.copies)
			}
		}
		slices.Sort(classes)
		sub := &instance{cap: s.q.cap, most: s.q.most}
		for _, c := range classes {
			sub.size, sub.need = append(sub.size, s.q.size[c]), append(sub.need, need[c])
			need[c] = 0
		}
		p := minSlack(sub, 20+r.IntN(400), s.meter)
		if p == nil {
			break
		}
		bins, after := p.bins(), 0.0
		for k := range p {
			for j, e := range p[k].items {
				p[k].items[j].class = classes[e.class]
			}
			w := waste(p[k].items, s.dual)
			after += float64(float64(w*w) * float64(p[k].bins))
		}
		if bins > int64(len(open)) || bins == int64(len(open)) && after <= before {
			continue
		}
		if bins < int64(len(open)) {
			idle = 0
		}
		s.bins += bins - int64(len(open))
		for _, k := range open {
			s.best[k].bins--
		}
		for _, f := range p {
			s.best = append(s.best, f)
			lost = append(lost, waste(f.items, s.dual))
		}
		n := 0
		for k, f := range s.best {
			if f.bins > 0 {
				s.best[n], lost[n] = f, lost[k]
				n++
			}
		}
		s.best, lost = s.best[:n], lost[:n]
		s.spend(20 * n)
	}
}

// pick chooses patterns to empty a bin of: some of the most wasteful, and others at random.
func (s *search) pick(open []int, lost []float64, r *rand.Rand) []int {
	type rank struct {
		k    int
		cost float64
	}
	var order []rank
	for k, w := range lost {
		if w > 1e-9 {
			order = append(order, rank{k, w * (.1 + float64(r.Float64()))})
		}
	}
	slices.SortFunc(order, func(a, b rank) int { return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(a.k, b.k)) })
	s.spend(10*len(lost) + 30*len(order))
	for i := range min(len(order), 2+r.IntN(10)) {
		open = append(open, order[i].k)
	}
	for range 2 + r.IntN(12) {
		if k := r.IntN(len(lost)); !slices.Contains(open, k) {
			open = append(open, k)
		}
	}
	return open
}

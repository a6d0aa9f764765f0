package cutstock

import (
	"math"
	"math/rand/v2"
	"slices"
)

// dive packs q by rounding its relaxation: the patterns of which the solution uses whole bins are taken, then those that come nearest
// to one more bin, and the relaxation of what is left is solved again with new patterns. Guess is nil or an estimate of the duals. It
// returns nil when more than most bins would be needed, and for want of effort.
func dive(m *meter, q *instance, guess []float64, most int64, rnd *rand.Rand) packing {
	q = &instance{size: q.size, need: slices.Clone(q.need), cap: q.cap, most: q.most}
	return newRelaxation(m, q, guess).dive(most, rnd)
}

// dive is the method behind it. It uses up the needs of the instance.
func (r *relaxation) dive(most int64, rnd *rand.Rand) packing {
	d := newDiver(r)
	d.rnd = rnd
	for {
		if !d.solve(0, 400) {
			return nil
		}
		if d.bins+int64(math.Ceil(d.lower-1e-6)) > most {
			return nil
		}
		if !d.round() {
			return nil
		}
		if d.items == 0 {
			return d.out
		}
		if d.alive < len(d.q.size)/2 {
			d.shrink()
		} else if !d.renew() {
			return nil
		}
	}
}

// A diver is the state of a dive.
type diver struct {
	*relaxation
	search *slackSearch
	items  int64
	alive  int     // classes that have items left
	class  []int32 // of each class in the instance that the dive began with
	bins   int64
	out    packing
	rnd    *rand.Rand
}

func newDiver(r *relaxation) *diver {
	d := &diver{relaxation: r, search: newSlackSearch(r.q), class: make([]int32, len(r.q.size))}
	for i := range d.class {
		d.class[i] = int32(i)
	}
	return d
}

// shrink goes over to a relaxation of the classes that have items left, with the patterns that are still of use.
func (d *diver) shrink() {
	q, class := d.q.part(d.q.need)
	at := make([]int32, len(d.q.size))
	guess := make([]float64, len(class))
	for i := range at {
		at[i] = -1
	}
	for i, c := range class {
		at[c] = int32(i)
		guess[i] = d.dual[c] * (1 + 1e-3)
	}
	r := newRelaxation(d.meter, q, guess)
	for k, items := range d.known {
		if d.rc(int32(len(d.need)+k)) > 1e-3 {
			continue
		}
		var f []entry
		for _, e := range items {
			if i := at[e.class]; i >= 0 {
				f = append(f, entry{i, min(e.copies, int32(min(q.need[i], 1<<30)))})
			}
		}
		if len(f) > 0 {
			r.know(f)
		}
	}
	for i, c := range class {
		class[i] = d.class[c]
	}
	d.relaxation, d.search, d.class = r, newSlackSearch(q), class
}

// round takes patterns of the solution of the relaxation, and reports whether there were any.
func (d *diver) round() bool {
	type share struct {
		pattern int
		frac    float64
	}
	var parts []share
	taken := int64(0)
	for p, c := range d.basis {
		if k := int(c) - len(d.need); k >= 0 && d.x[p] > 1e-5 {
			whole := math.Floor(d.x[p] + 1e-4)
			if whole >= 1 {
				taken += d.takePattern(k, int64(whole))
			}
			if f := d.x[p] - whole; f > 1e-4 {
				parts = append(parts, share{k, f * (1 - float64(.3*d.rnd.Float64()))})
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b share) int {
		if a.frac != b.frac {
			if a.frac > b.frac {
				return -1
			}
			return 1
		}
		return a.pattern - b.pattern
	})
	// The first is taken in any case, others while they are near 1, but only a few before the next look.
	for i, s := range parts {
		if i > len(parts)/10 || taken > 0 && s.frac < .7 {
			break
		}
		taken += d.takePattern(s.pattern, 1)
	}
	d.items, d.alive = 0, 0
	for _, n := range d.q.need {
		d.items += n
		if n > 0 {
			d.alive++
		}
	}
	return taken > 0
}

// takePattern fills up to bins bins after pattern k: a slot whose class has run out serves the next smaller one, and the room that is
// left takes what fits best. It returns how many bins it filled.
func (d *diver) takePattern(k int, bins int64) int64 {
	done := int64(0)
	for done < bins {
		s := d.search
		s.cur = s.cur[:0]
		room, items := d.q.cap, 0
		for _, e := range d.known[k] {
			slots := int64(e.copies)
			for c := s.alive(int(e.class)); c < len(s.left) && slots > 0; c = s.alive(c + 1) {
				if n := min(slots, s.left[c]); n > 0 {
					s.cur = insert(s.cur, c, int32(n))
					s.left[c] -= n
					room -= int(n) * d.q.size[c]
					items += int(n)
					slots -= n
				}
			}
		}
		if items == 0 {
			break
		}
		s.nodes, s.best = 200, d.q.cap+1
		s.fill(room, d.q.most-items)
		f := filling{items: slices.Clone(s.found)}
		for _, e := range s.cur {
			s.left[e.class] += int64(e.copies)
		}
		f.bins = min(times(f.items, s.left), bins-done)
		s.use(f.items, f.bins)
		done += f.bins
		for j := range f.items {
			f.items[j].class = d.class[f.items[j].class]
		}
		d.out = append(d.out, f)
		d.spend(32 * (200 - s.nodes + len(f.items)))
	}
	d.bins += done
	return done
}

// insert adds copies of a class to items in ascending order of class.
func insert(items []entry, class int, copies int32) []entry {
	i, ok := slices.BinarySearchFunc(items, int32(class), func(e entry, c int32) int { return int(e.class - c) })
	if ok {
		items[i].copies += copies
		return items
	}
	return slices.Insert(items, i, entry{int32(class), copies})
}

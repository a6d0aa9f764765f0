package cutstock

import (
	"cmp"
	"math"
	"slices"
)

// guided takes bins out of left after the relaxation on a grid of k: each of its patterns is a recipe for many patterns of the exact
// sizes, of which those are used that the duals find (nearly) worth a whole bin. It returns what it packed.
func (s *search) guided(left *instance, k int, tolerance float64) packing {
	grid, class := left.onGrid(min(k, left.cap))
	guess := make([]float64, len(grid.size))
	for i, c := range class {
		if c >= 0 {
			guess[c] = max(guess[c], s.dual[i]*(1+1/float64(k)))
		}
	}
	r := newRelaxation(s.meter, grid, guess)
	r.solve(0, 300)
	members := make([][]int32, len(grid.size))
	for i, c := range class {
		if c >= 0 {
			members[c] = append(members[c], int32(i))
		}
	}
	type recipe struct {
		items []entry
		bins  float64
	}
	var recipes []recipe
	for p, c := range r.basis {
		if j := int(c) - len(r.need); j >= 0 && r.x[p] > 0 {
			recipes = append(recipes, recipe{r.known[j], r.x[p]})
		}
	}
	slices.SortStableFunc(recipes, func(a, b recipe) int { return cmp.Compare(b.bins, a.bins) })
	g := realizer{left: left, dual: s.dual, members: members, goal: 1 - tolerance}
	for _, t := range recipes {
		for bins := int64(math.Floor(t.bins + .5)); bins > 0; {
			f, ok := g.realize(t.items)
			if !s.spend(16*g.nodes) || !ok {
				break
			}
			most := int64(math.MaxInt64)
			for _, e := range f {
				most = min(most, max(left.need[e.class]/int64(e.copies)/4, 1))
			}
			n := min(bins, most)
			for _, e := range f {
				left.need[e.class] -= n * int64(e.copies)
			}
			bins -= n
			g.out = append(g.out, filling{f, n})
		}
	}
	return g.out
}

// A realizer finds patterns of exact sizes after a recipe of classes of a grid.
type realizer struct {
	left    *instance
	dual    []float64
	members [][]int32 // classes of left in each class of the grid
	goal    float64   // value that a pattern must have
	slots   []int32
	cur     []int32
	nodes   int
	out     packing
}

// realize looks for sizes for the slots of a recipe that fit into a bin and reach the goal. The slots are filled from the class with
// most members on, so that the last ones have the widest choice; sizes of which there are most come first.
func (g *realizer) realize(items []entry) ([]entry, bool) {
	g.slots = g.slots[:0]
	for _, e := range items {
		for range e.copies {
			g.slots = append(g.slots, e.class)
		}
		m := g.members[e.class]
		slices.SortStableFunc(m, func(a, b int32) int { return cmp.Compare(g.left.need[b], g.left.need[a]) })
	}
	g.nodes = 0
	g.cur = g.cur[:0]
	if !g.try(g.left.cap, 0) {
		return nil, false
	}
	slices.Sort(g.cur)
	var f []entry
	for _, c := range g.cur {
		f = add(f, int(c), 1)
	}
	return f, true
}

func (g *realizer) try(room int, value float64) bool {
	k := len(g.cur)
	if k == len(g.slots) {
		return value >= g.goal
	}
	for _, c := range g.members[g.slots[k]] {
		if g.nodes++; g.nodes > 400 {
			return false
		}
		if g.left.need[c] == 0 {
			break
		}
		if g.left.size[c] > room {
			continue
		}
		g.cur = append(g.cur, c)
		g.left.need[c]--
		ok := g.try(room-g.left.size[c], value+g.dual[c])
		g.left.need[c]++
		if ok {
			return true
		}
		g.cur = g.cur[:k]
	}
	return false
}

package cutstock

import "slices"

// minSlack packs q by a form of minimum bin slack (Gupta and Ho 1999): for the largest size left, a depth-first search over completions in
// descending order of size finds the one that leaves the least room, at the first that leaves none, within a budget of nodes; the
// pattern found is used as often as the counts allow.
func minSlack(q *instance, nodes int, m *meter) packing {
	s := newSlackSearch(&instance{size: q.size, need: slices.Clone(q.need), cap: q.cap, most: q.most})
	var out packing
	for class := range q.size {
		for s.left[class] > 0 {
			if m.over() {
				return nil
			}
			s.nodes, s.best = nodes, q.cap+1
			s.cur = s.cur[:0]
			s.with(class, q.cap, q.most)
			m.spend(32 * (nodes - s.nodes))
			f := filling{items: slices.Clone(s.found)}
			f.bins = times(f.items, s.left)
			s.use(f.items, f.bins)
			out = append(out, f)
		}
	}
	return out
}

// times returns how often the counts left allow items to be taken.
func times(items []entry, left []int64) int64 {
	n := left[items[0].class] / int64(items[0].copies)
	for _, e := range items[1:] {
		n = min(n, left[e.class]/int64(e.copies))
	}
	return n
}

// A slackSearch is the state of the depth-first search.
type slackSearch struct {
	q     *instance
	left  []int64 // the needs of q
	next  []int32 // classes used up point on to later ones
	nodes int
	cur   []entry
	found []entry
	best  int // room that found leaves
}

// newSlackSearch starts a search that takes items out of q.
func newSlackSearch(q *instance) *slackSearch {
	s := &slackSearch{q: q, left: q.need, next: make([]int32, len(q.size)+1)}
	for i := range s.next {
		if s.next[i] = int32(i); i < len(q.need) && q.need[i] == 0 {
			s.next[i]++
		}
	}
	return s
}

// alive returns the first class from i on that has items left outside cur.
func (s *slackSearch) alive(i int) int {
	for int(s.next[i]) != i {
		s.next[i] = s.next[s.next[i]]
		i = int(s.next[i])
	}
	return i
}

// use takes items out of what is left, bins times.
func (s *slackSearch) use(items []entry, bins int64) {
	for _, e := range items {
		s.left[e.class] -= int64(e.copies) * bins
		if s.left[e.class] == 0 {
			s.next[e.class] = e.class + 1
		}
	}
}

// complete tries what can join cur from class on, into room for at most items.
func (s *slackSearch) complete(class, room, items int) {
	if room < s.best {
		s.best = room
		s.found = append(s.found[:0], s.cur...)
	}
	if items == 0 {
		return
	}
	for i := s.alive(max(class, s.q.fits(room))); i < len(s.left); i = s.alive(i + 1) {
		if s.with(i, room, items); s.best == 0 || s.nodes <= 0 {
			return
		}
	}
}

// with tries copies of a class next to cur, most first, and what can join them.
func (s *slackSearch) with(class, room, items int) {
	k := len(s.cur)
	for n := min(s.left[class], int64(room/s.q.size[class]), int64(items)); n > 0 && s.best > 0 && s.nodes > 0; n-- {
		s.nodes--
		s.cur = append(s.cur, entry{int32(class), int32(n)})
		s.complete(class+1, room-int(n)*s.q.size[class], items-int(n))
		s.cur = s.cur[:k]
	}
}

// fill finds the best way to use the room that cur leaves by items of any class.
func (s *slackSearch) fill(room, items int) {
	whole := s.cur
	s.cur = nil
	s.complete(0, room, items)
	s.cur = whole
	extra := s.found
	s.found = slices.Clone(whole)
	for _, e := range extra {
		s.found = insert(s.found, int(e.class), e.copies)
	}
}

package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// A wanted sample is one that something is wrong with, and whose place in the rows is to be found.
type wanted struct {
	fault  int // in the list
	sample int64
	twice  bool   // it is in more than one place
	name   string // for the text of the fault

	// What has to be in the rows; nil if nothing has. Of labels nil, only ids are compared.
	ids, labels [][]int64

	places []string // where it was found
	found  bool
}

// maxWanted bounds the tokens of the samples that are kept to be looked for.
const maxWanted = 4 << 20

// seek adds a fault about a sample, which has a name in its text, and if it is among the first, its place will be looked for. What the
// sample has to be is in e, if that is not nil.
func (c *checker) seek(reason string, sample int64, name string, e *expected, format string, args ...any) {
	f := Fault{Reason: reason, Row: -1, Index: -1}
	if len(c.list) < c.most {
		f.Text = name + fmt.Sprintf(format, args...)
		w := &wanted{fault: len(c.list), sample: sample, name: name, twice: reason == "sample_twice"}
		if e != nil && c.kept+len(e.ids) <= maxWanted {
			c.kept += len(e.ids)
			for _, p := range e.pieces {
				w.ids = append(w.ids, slices.Clone(e.ids[p[0]:p[1]]))
				if e.compareLabels {
					w.labels = append(w.labels, slices.Clone(e.labels[p[0]:p[1]]))
				}
			}
		}
		c.wanted = append(c.wanted, w)
	}
	c.put(f)
}

// twice adds a fault for every sample that is in more places than it can be.
func (c *checker) twice() {
	if c.m == nil || c.m.Job.TooLong == nil {
		return // it may have been split
	}
	for sample, d := range c.register.all() {
		switch limit := c.rules.longest; {
		case d.n == 1:
		case !c.rules.split:
			c.seek("sample_twice", sample, fmt.Sprintf("sample %d", sample), nil, " is in %d places", d.n)
		case limit > 0 && (int64(d.tokens) <= int64(d.n-1)*limit || int64(d.tokens) > int64(d.n)*limit) && d.tokens < 1<<32-1:
			c.seek("sample_twice", sample, fmt.Sprintf("sample %d", sample), nil, " is in %d places with %d tokens: split into pieces of %d it can't be",
				d.n, d.tokens, limit)
		}
	}
}

// locate goes through the shards again until it has found where the wanted samples are.
func (c *checker) locate(ctx context.Context) error {
	if len(c.wanted) == 0 {
		return nil
	}
	by := map[int64][]*wanted{}
	for _, w := range c.wanted {
		by[w.sample] = append(by[w.sample], w)
	}
	left := len(c.wanted)
	for _, name := range c.shards {
		err := c.read(ctx, name, func([]column) error { return nil }, func(number int64, w *row, null string) error {
			if null != "" {
				return nil
			}
			s := &shardChecker{faults: newFaults(0), rules: &c.rules}
			w.n = len(w.columns[tokens])
			if !s.lengths(w) || !s.boundaries(w) || !s.tail(w) || !s.alignment(w) || len(w.columns[sampleIndex]) != w.segments() {
				return nil
			}
			for k, sample := range w.columns[sampleIndex] {
				for _, one := range by[sample] {
					if !one.found && one.at(&c.list[one.fault], name, number, k, w) {
						one.found = true
						left--
					}
				}
			}
			if left == 0 {
				return errFound
			}
			return nil
		})
		if errors.Is(err, errFound) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// errFound ends the search.
var errFound = errors.New("found")

// at looks at segment k of a row, which is of the wanted sample. If it is what is wrong, at says so in f and returns true.
func (one *wanted) at(f *Fault, name string, number int64, k int, w *row) bool {
	from := int(w.cu[k])
	to := from + int(w.lengths[k])
	one.places = append(one.places, fmt.Sprintf("%s: row %d, at %d", name, number, from))
	if one.twice && len(one.places) < 2 {
		return false
	}
	index, what := from, ""
	if one.ids != nil {
		ids, targets := w.columns[tokens][from:to], w.columns[labels]
		if targets != nil {
			targets = targets[from:to]
		}
		for p := range one.ids {
			var want []int64
			if one.labels != nil {
				want = one.labels[p]
			}
			i, text := differ(ids, one.ids[p], targets, want)
			if text == "" {
				return false // this one is right
			}
			if len(one.ids) == 1 {
				index, what = from+i, one.name+": "+text
			}
		}
	}
	f.File, f.Row, f.Index = name, number, int64(index)
	if one.twice {
		f.Text += ", first in " + one.places[0]
	}
	f.Text = cmp.Or(what, f.Text)
	return true
}

// differ returns where a segment is not what it has to be, and how.
func differ(ids, wantIDs, labels, wantLabels []int64) (at int, text string) {
	for i := range min(len(ids), len(wantIDs)) {
		if ids[i] != wantIDs[i] {
			return i, fmt.Sprintf("id %d: want %d", ids[i], wantIDs[i])
		}
		if i > 0 && labels != nil && wantLabels != nil && labels[i] != wantLabels[i] {
			return i, fmt.Sprintf("label %d: want %d", labels[i], wantLabels[i])
		}
	}
	if len(ids) != len(wantIDs) {
		return 0, fmt.Sprintf("%d tokens: want %d", len(ids), len(wantIDs))
	}
	return 0, ""
}

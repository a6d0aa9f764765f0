package verify

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/brimful/brimful/tokenstream"
)

// compare goes through the source and says for every sample what has to be in the rows, by the rules of the job, and whether it is.
func (c *checker) compare(ctx context.Context, source tokenstream.Source) error {
	e := expected{c: c, removed: map[[2]string]*removal{}}
	number, tokens := int64(0), int64(0)
	for s, err := range source {
		if err != nil {
			return err
		}
		if number%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		tokens += int64(len(s.Tokens))
		if l := c.m.Job.Limit; l > 0 && number >= l {
			break
		}
		if l := c.m.Job.LimitTokens; l > 0 && tokens > l {
			break
		}
		e.sample(number, s)
		number++
	}
	for _, k := range slices.Sorted(maps.Keys(c.found)) {
		c.r.add("sample_unknown", "", -1, -1, "sample %d: the source does not have it, or a rule leaves it out", k)
	}
	e.ledger()
	return nil
}

// expected is what the rules of the job make of the source.
type expected struct {
	c       *checker
	in, out count
	removed map[[2]string]*removal // by reason and file
	scratch []byte
}

func (e *expected) remove(reason, file string, c count) {
	r := e.removed[[2]string{reason, file}]
	if r == nil {
		r = &removal{Reason: reason, File: file}
		e.removed[[2]string{reason, file}] = r
	}
	r.Affected++
	r.Samples += c.Samples
	r.Tokens += c.Tokens
	r.Supervised += c.Supervised
}

// targets counts the supervised tokens of a segment.
func targets(labels []int64) int64 {
	n := int64(0)
	for _, l := range labels[min(1, len(labels)):] {
		if l != ignore {
			n++
		}
	}
	return n
}

func widen(values []int32) []int64 {
	w := make([]int64, len(values))
	for i, v := range values {
		w[i] = int64(v)
	}
	return w
}

// sample compares what the rules make of a sample with what is in the rows.
func (e *expected) sample(number int64, s tokenstream.Sample) {
	job := &e.c.m.Job
	ids, labels := widen(s.Tokens), widen(s.Labels)
	switch {
	case s.Labels == nil || job.Labels == "all":
		labels = ids
	case job.Labels == "shifted" && len(labels) > 0:
		labels = append([]int64{ignore}, labels[:len(labels)-1]...)
	}
	all := count{1, int64(len(ids)), targets(labels)}
	e.in = e.in.plus(all)
	limit := cmp.Or(job.MaxSampleTokens, job.Capacity)
	drop := job.NoTarget == "drop" || job.NoTarget == "default"
	var want digest
	file := s.Place.Name
	take := func(from, to int) {
		want = want.plus(ids[from:to], labels[from:to], &e.scratch)
	}
	switch {
	case len(ids) == 0:
		e.remove("empty", file, all)
	case all.Supervised == 0 && drop:
		e.remove("no_target", file, all)
	case len(ids) <= limit:
		e.out = e.out.plus(all)
		take(0, len(ids))
	case job.TooLong == "drop":
		e.remove("too_long", file, all)
	case job.TooLong == "truncate" || job.TooLong == "truncate-left":
		from, to := 0, limit
		if job.TooLong == "truncate-left" {
			from, to = len(ids)-limit, len(ids)
		}
		kept := count{1, int64(limit), targets(labels[from:to])}
		e.remove("truncated", file, count{0, all.Tokens - kept.Tokens, all.Supervised - kept.Supervised})
		if kept.Supervised == 0 && drop {
			e.remove("no_target_after_cut", file, kept)
			break
		}
		e.out = e.out.plus(kept)
		take(from, to)
	case job.TooLong == "split":
		var kept, lost count
		for from := 0; from < len(ids); from += limit {
			to := min(from+limit, len(ids))
			piece := count{0, int64(to - from), targets(labels[from:to])}
			if piece.Supervised == 0 && drop {
				lost = lost.plus(piece)
				continue
			}
			kept = kept.plus(piece)
			take(from, to)
		}
		if masked := all.Supervised - kept.Supervised - lost.Supervised; masked > 0 {
			e.remove("split", file, count{Supervised: masked})
		}
		if want.n > 0 {
			kept.Samples = 1
		} else {
			lost.Samples = 1
		}
		if lost.Tokens > 0 {
			e.remove("no_target_after_cut", file, lost)
		}
		e.out = e.out.plus(kept)
	default:
		e.c.r.add("ledger", "", -1, -1, "%v has %d tokens, above %d: the job should have ended with an error", s.Place, len(ids), limit)
	}
	got, there := e.c.found[number]
	delete(e.c.found, number)
	switch {
	case want.n == 0 && !there:
	case want.n == 0:
		e.c.r.add("sample_unknown", "", -1, -1, "%v, sample %d, is in the rows: a rule leaves it out", s.Place, number)
	case !there:
		e.c.r.add("sample_lost", "", -1, -1, "%v, sample %d, is not in the rows", s.Place, number)
	case got != want:
		e.c.r.add("sample_changed", "", -1, -1, "%v, sample %d, has %d tokens in %d segments, or other ids or labels: want %d tokens in %d segments",
			s.Place, number, got.tokens, got.n, want.tokens, want.n)
	}
}

// ledger compares the manifest's ledgers, all splits together, with what the rules gave.
func (e *expected) ledger() {
	var in, out count
	removed := map[[2]string]removal{}
	for _, split := range e.c.m.Splits {
		if split.Stats == nil {
			e.c.r.add("ledger", manifestName, -1, -1, "split %q has no ledger", split.Name)
			return
		}
		l := split.Stats.Ledger
		in, out = in.plus(l.In), out.plus(l.Out)
		for _, r := range l.Removed {
			k := [2]string{r.Reason, r.File}
			sum := removed[k]
			removed[k] = removal{r.Reason, r.File, sum.Affected + r.Affected, sum.Samples + r.Samples, sum.Tokens + r.Tokens, sum.Supervised + r.Supervised}
		}
	}
	if in != e.in {
		e.c.r.add("ledger", manifestName, -1, -1, "in is %v: the source holds %v", in, e.in)
	}
	if out != e.out {
		e.c.r.add("ledger", manifestName, -1, -1, "out is %v: the rules give %v", out, e.out)
	}
	keys := map[[2]string]bool{}
	for k := range removed {
		keys[k] = true
	}
	for k := range e.removed {
		keys[k] = true
	}
	for _, k := range slices.SortedFunc(maps.Keys(keys), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		want := removal{Reason: k[0], File: k[1]}
		if r := e.removed[k]; r != nil {
			want = *r
		}
		got := removed[k]
		got.Reason, got.File = k[0], k[1]
		if got != want {
			e.c.r.add("ledger", manifestName, -1, -1, "removed %+v: the rules give %+v", got, want)
		}
	}
}

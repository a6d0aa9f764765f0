package verify

import (
	"context"
	"fmt"

	"github.com/brimful/brimful/tokenstream"
)

// compare goes through the source and says for every sample what has to be in the rows, by the rules of the job, and whether it is.
func (c *checker) compare(ctx context.Context, o *Options) error {
	if c.mixture != nil {
		return c.compareMixture(ctx, o)
	}
	e := c.expected()
	e.in = c.register
	number, total := int64(0), int64(0)
	for s, err := range o.Source {
		if err != nil {
			return err
		}
		if number%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.Labels != nil && len(s.Labels) != len(s.Tokens) {
			return fmt.Errorf("%v: %d labels for %d ids", s.Place, len(s.Labels), len(s.Tokens))
		}
		total += int64(len(s.Tokens))
		if l := c.m.Job.Limit; l > 0 && number >= l {
			break
		}
		if l := c.m.Job.LimitTokens; l > 0 && total > l {
			break
		}
		e.sample(number, s, 1)
		number++
	}
	for k := range c.register.all() {
		c.seek("sample_unknown", k, fmt.Sprintf("sample %d", k), nil, ": the source does not have it")
	}
	e.ledger()
	return nil
}

// expected returns what knows the rules of the job.
func (c *checker) expected() *expected {
	return &expected{
		c: c, tooLong: *c.m.Job.TooLong, rule: *c.m.Job.Labels, noTarget: *c.m.Job.NoTarget, compareLabels: c.hasKind(labels, shiftedLabels, lossMask, shiftedLossMask, targetSegmentIDs),
		hash: hasher{seeds: c.seeds}, removed: map[[2]string]removal{}, files: map[string][2]count{},
	}
}

// expected is what the rules of the job make of the source.
type expected struct {
	c                       *checker
	tooLong, rule, noTarget string
	compareLabels           bool
	hash                    hasher
	in, registered          *register // where the sample at hand has to be, and the other
	times                   int64     // that it has to be there
	ids, labels             []int64   // of the sample at hand
	pieces                  [][2]int
	names                   []string // of the files, in their order
	files                   map[string][2]count
	removed                 map[[2]string]removal // by reason and file
	longest, unlabelled     int64
	lengths                 []int64 // of the segments of the batch at hand; see padded
	padded                  int64
}

func (e *expected) remove(reason, file string, c count) {
	r := e.removed[[2]string{reason, file}]
	c = c.by(e.times)
	e.removed[[2]string{reason, file}] = removal{reason, file, r.Affected + e.times, r.Samples + c.Samples, r.Tokens + c.Tokens, r.Supervised + c.Supervised}
}

// supervised counts the supervised tokens of a segment.
func supervised(labels []int64) int64 {
	n := int64(0)
	for _, l := range labels[min(1, len(labels)):] {
		if l != ignore {
			n++
		}
	}
	return n
}

// set sets the ids and the labels of the sample at hand.
func (e *expected) set(s *tokenstream.Sample) {
	e.ids, e.labels = e.ids[:0], e.labels[:0]
	for _, id := range s.Tokens {
		e.ids = append(e.ids, int64(id))
	}
	switch {
	case s.Labels == nil || e.rule == "all":
		e.labels = append(e.labels, e.ids...)
	case e.rule == "shifted":
		e.labels = append(e.labels, ignore)
		for _, l := range s.Labels {
			e.labels = append(e.labels, int64(l))
		}
		e.labels = e.labels[:len(e.ids)]
	default:
		for _, l := range s.Labels {
			e.labels = append(e.labels, int64(l))
		}
	}
	if s.Labels == nil && e.rule != "all" {
		e.unlabelled += e.times
	}
	if e.times > 0 {
		e.longest = max(e.longest, int64(len(e.ids)))
	}
}

// sample compares what the rules make of a sample, which has to be in the rows so many times, with what is there. It returns what goes in
// and what is in the rows of it, in all.
func (e *expected) sample(number int64, s tokenstream.Sample, times int64) (in, out count) {
	e.times = times
	e.set(&s)
	in, out = e.cut(s.Place.Name)
	var want digest
	for _, p := range e.pieces {
		want = want.plus(e.digest(p))
		e.pad(int64(p[1] - p[0]))
	}
	want = want.by(times)
	got := e.in.take(number)
	if got == want {
		return in, out
	}
	name := fmt.Sprintf("%v, sample %d", s.Place, number)
	if e.c.mixture != nil {
		name = fmt.Sprintf("%v, %s", s.Place, e.c.nameOf(number))
	}
	switch {
	case times == 0: // said already
	case want.n == 0:
		e.c.seek("sample_unknown", number, name, nil, " is in the rows: a rule leaves it out")
	case got.n == 0:
		e.c.add("sample_lost", "", "%s, is not in the rows", name)
	case got.n > want.n && !e.c.rules.split: // said already
	case got.n != want.n || got.tokens != want.tokens:
		e.c.seek("sample_changed", number, name, e, ": %d tokens in %d segments: want %d in %d", got.tokens, got.n, want.tokens, want.n)
	default:
		e.c.seek("sample_changed", number, name, e, ": other ids or labels, among %d tokens in %d segments", got.tokens, got.n)
	}
	return in, out
}

// digest returns the digest of a piece of the sample at hand.
func (e *expected) digest(p [2]int) digest {
	if !e.compareLabels {
		return e.hash.of(e.ids[p[0]:p[1]], nil)
	}
	return e.hash.of(e.ids[p[0]:p[1]], e.labels[p[0]:p[1]])
}

// cut applies the rules to the sample at hand: it sets the pieces that have to be in the rows, and books the rest. It
// returns what goes in and what is in the rows of it, in all.
func (e *expected) cut(file string) (in, kept count) {
	e.pieces = e.pieces[:0]
	n, limit := len(e.ids), int(e.c.rules.longest)
	all := count{1, int64(n), supervised(e.labels)}
	var out count
	drop := e.noTarget == "drop" || e.noTarget == "default"
	switch {
	case n == 0:
		e.remove("empty", file, all)
	case all.Supervised == 0 && drop:
		e.remove("no_target", file, all)
	case n <= limit || e.tooLong == "error":
		e.pieces = append(e.pieces, [2]int{0, n})
		out = all
	case e.tooLong == "drop":
		e.remove("too_long", file, all)
	case e.tooLong == "truncate" || e.tooLong == "truncate-left":
		from, to := 0, limit
		if e.tooLong == "truncate-left" {
			from, to = n-limit, n
		}
		kept := count{1, int64(limit), supervised(e.labels[from:to])}
		e.remove("truncated", file, count{0, all.Tokens - kept.Tokens, all.Supervised - kept.Supervised})
		if kept.Supervised == 0 && drop {
			e.remove("no_target_after_cut", file, kept)
			break
		}
		e.pieces = append(e.pieces, [2]int{from, to})
		out = kept
	case e.tooLong == "split":
		var lost count
		for from := 0; from < n; from += limit {
			to := min(from+limit, n)
			piece := count{0, int64(to - from), supervised(e.labels[from:to])}
			if piece.Supervised == 0 && drop {
				lost = lost.plus(piece)
				continue
			}
			out = out.plus(piece)
			e.pieces = append(e.pieces, [2]int{from, to})
		}
		if masked := all.Supervised - out.Supervised - lost.Supervised; masked > 0 {
			e.remove("split", file, count{Supervised: masked})
		}
		if len(e.pieces) > 0 {
			out.Samples = 1
		} else {
			lost.Samples = 1
		}
		if lost.Tokens > 0 {
			e.remove("no_target_after_cut", file, lost)
		}
	}
	all, out = all.by(e.times), out.by(e.times)
	if e.times == 0 {
		return all, out
	}
	sums, seen := e.files[file]
	if !seen {
		e.names = append(e.names, file)
	}
	e.files[file] = [2]count{sums[0].plus(all), sums[1].plus(out)}
	return all, out
}

// by returns so many times c.
func (c count) by(times int64) count {
	return count{c.Samples * times, c.Tokens * times, c.Supervised * times}
}

// pad counts what the segments would take in batches of 8 in the order of the source, padded to the longest of each.
func (e *expected) pad(length int64) {
	if e.lengths = append(e.lengths, length); len(e.lengths) == 8 {
		e.padBatch()
	}
}

func (e *expected) padBatch() {
	longest := int64(0)
	for _, l := range e.lengths {
		longest = max(longest, l)
	}
	e.padded += longest * int64(len(e.lengths))
	e.lengths = e.lengths[:0]
}

package verify

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/brimful/brimful/tokenstream"
)

// mixture is what a manifest says became of the sources of a mixture. Samples are numbered in turns: sample k of source i of n is k*n+i.
type mixture struct {
	By      string
	Sources []use
}

type use struct {
	Name    string
	Weight  float64
	Share   float64
	Repeat  any // a number, or "endless"
	Samples int64
	Whole   bool
	HeldOut int64 `json:"held_out"`
	Used    int64
	Drawn   int64
	Read    int64
}

// endless is the repeat of a source that is read as often as it takes.
const endless = "endless"

// repeat returns how often the source is read whole, and the millionths of the last time.
func (u *use) repeat() (times, rest int64, ok bool) {
	if u.Repeat == endless {
		return math.MaxInt64, 0, true
	}
	r, is := u.Repeat.(float64)
	if !is || !(r > 0 && r <= 1e9) {
		return 0, 0, false
	}
	n := int64(math.Round(r * 1e6))
	return n / 1e6, n % 1e6, true
}

// times returns how often sample i of the source was drawn, unless it was held out.
func (u *use) times(i int64) int64 {
	if i >= u.Samples {
		return 0
	}
	whole, rest, _ := u.repeat()
	passes, part := u.Read/u.Samples, u.Read%u.Samples
	n := min(passes, whole)
	thin := (i%1e6+1)*rest/1e6 > i%1e6*rest/1e6
	if passes > whole && thin {
		n++
	}
	if i < part && (passes < whole || passes == whole && thin) {
		n++
	}
	return n
}

// setMixture finds what the manifest says of a mixture.
func (c *checker) setMixture() {
	n := len(c.m.Job.Sources)
	if n == 0 || len(c.m.Splits) == 0 {
		return
	}
	bad := func(format string, args ...any) {
		c.add("manifest", manifestName, format, args...)
	}
	m := c.m.Splits[0].Mixture
	if m == nil || len(m.Sources) != n || len(c.m.Sources) != n {
		bad("the job has %d sources: want as many in sources and in the mixture of the first split", n)
		return
	}
	for i := range m.Sources {
		u, s := &m.Sources[i], &c.m.Job.Sources[i]
		if c.m.Sources[i] != s.Name || u.Name != s.Name || u.Weight != s.Weight || u.Repeat != s.Repeat {
			bad("source %d is %q, with the weight %v and repeat %v in the mixture: the job's is %q, %v, %v", i, u.Name, u.Weight, u.Repeat, s.Name, s.Weight, s.Repeat)
			return
		}
		times, rest, ok := u.repeat()
		if rest > 0 {
			times++
		}
		if !ok || u.Samples < 0 || u.Samples > 1<<40 || u.Read < 0 || u.Samples == 0 && u.Read > 0 || float64(u.Read) > float64(times)*float64(u.Samples) {
			bad("source %q: repeat %v, %d samples, %d read: there can be no such mixture", u.Name, u.Repeat, u.Samples, u.Read)
			return
		}
	}
	c.mixture, c.r.Mixture = m, true
	c.rules.sources = int64(n)
	c.held = &register{pages: map[int64]uint32{}}
}

// drawn returns how often a sample was drawn that is not held out.
func (c *checker) drawn(sample int64) int64 {
	n := int64(len(c.mixture.Sources))
	return c.mixture.Sources[sample%n].times(sample / n)
}

// mixed checks that the samples of a mixture are in as many places as it says: that holds for each that has something in the rows.
func (c *checker) mixed() {
	if c.m.Job.TooLong == nil {
		return // samples may have been split
	}
	for sample, d := range c.register.all() {
		want := c.drawn(sample)
		switch in := c.held.at(sample); {
		case in != nil && in.n > 0:
			c.seek("held_out", sample, c.nameOf(sample), nil, " is in the rows for training and in those for validation")
		case int64(d.n) != want && !c.rules.split || want == 0 || int64(d.n)%want != 0:
			c.seek("sample_twice", sample, c.nameOf(sample), nil, " is in %d places: want %d, as often as it was drawn", d.n, want)
		}
	}
	for sample, d := range c.held.all() {
		if d.n > 1 && !c.rules.split {
			c.seek("sample_twice", sample, c.nameOf(sample), nil, " is held out, and in %d places", d.n)
		}
	}
}

// nameOf names a sample in the text of a fault.
func (c *checker) nameOf(sample int64) string {
	n := int64(len(c.mixture.Sources))
	return fmt.Sprintf("sample %d of source %q", sample/n, c.mixture.Sources[sample%n].Name)
}

// compareMixture is compare for a mixture.
func (c *checker) compareMixture(ctx context.Context, o *Options) error {
	n := len(c.mixture.Sources)
	if len(o.Sources) != n {
		return fmt.Errorf("%d sources: want %d, those of the mixture", len(o.Sources), n)
	}
	e := c.expected()
	by := make([]struct{ in, out count }, n)
	for i, source := range o.Sources {
		u := &c.mixture.Sources[i]
		var is use // as far as it is counted here
		for s, err := range source {
			if err != nil {
				return err
			}
			if is.Samples%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if s.Labels != nil && len(s.Labels) != len(s.Tokens) {
				return fmt.Errorf("%v: %d labels for %d ids", s.Place, len(s.Labels), len(s.Tokens))
			}
			if !u.Whole && is.Samples == u.Samples { // what comes was not read, because of a limit
				break
			}
			k := is.Samples
			is.Samples++
			number := k*int64(n) + int64(i)
			held := c.m.Job.heldOut(&s, o.HeldIDs)
			times := u.times(k)
			e.in, e.registered = c.register, c.held
			if held {
				is.HeldOut++
				times = 1
				e.in, e.registered = c.held, c.register
			} else {
				is.Drawn += times
				if times > 0 && k < u.Read {
					is.Used++
				}
			}
			if e.registered.take(number).n > 0 {
				where := "held out, and in the rows for training"
				if !held {
					where = "not held out, and in the rows for validation"
				}
				c.add("held_out", "", "%v, sample %d of source %q, is %s", s.Place, k, u.Name, where)
			}
			in, out := e.sample(number, s, times)
			if !held {
				by[i].in, by[i].out = by[i].in.plus(in), by[i].out.plus(out)
			}
		}
		c.equal("mixture", manifestName, []figure{
			{fmt.Sprintf("of source %q, samples", u.Name), u.Samples, is.Samples}, {fmt.Sprintf("of source %q, held_out", u.Name), u.HeldOut, is.HeldOut},
			{fmt.Sprintf("of source %q, used", u.Name), u.Used, is.Used}, {fmt.Sprintf("of source %q, drawn", u.Name), u.Drawn, is.Drawn},
		})
	}
	for _, r := range []*register{c.register, c.held} {
		for k := range r.all() {
			c.seek("sample_unknown", k, c.nameOf(k), nil, ": the source does not have it")
		}
	}
	if st := c.m.Splits[0].Stats; st != nil {
		for i, u := range st.Ledger.Sources {
			if i < n && (u.In != by[i].in || u.Out != by[i].out) {
				c.add("ledger", manifestName, "of source %q, in and out are %+v and %+v: want %+v and %+v", c.mixture.Sources[i].Name, u.In, u.Out, by[i].in, by[i].out)
			}
		}
	}
	e.ledger()
	return nil
}

// shares checks that the shares of the sources are those of their weights, as far as whole samples allow.
func (c *checker) shares() {
	if c.mixture == nil || c.m.Splits[0].Stats == nil {
		return
	}
	st, m := c.m.Splits[0].Stats, c.mixture
	if len(st.Ledger.Sources) != len(m.Sources) {
		if st.Ledger.Out.Samples > 0 {
			c.add("ledger", manifestName, "%d sources: want %d", len(st.Ledger.Sources), len(m.Sources))
		}
		return
	}
	unit := func(n count) float64 {
		switch m.By {
		case "samples":
			return float64(n.Samples)
		case "supervised":
			return float64(n.Supervised)
		}
		return float64(n.Tokens)
	}
	weights := 0.
	for _, u := range m.Sources {
		weights += u.Weight / float64(len(m.Sources))
	}
	for i, u := range m.Sources {
		if in := st.Ledger.Sources[i].In.Samples; in != u.Drawn {
			c.add("mixture", manifestName, "of source %q, drawn is %d: in the ledger it is %d", u.Name, u.Drawn, in)
		}
		if weights == 0 {
			continue // each source is there as often as it is
		}
		share := u.Weight / float64(len(m.Sources)) / weights
		if math.Abs(share-u.Share) > 1e-9 {
			c.add("mixture", manifestName, "of source %q, share is %v: the weights give %v", u.Name, u.Share, share)
		}
		most := float64(st.Longest)
		if m.By == "samples" {
			most = 1
		}
		due, have := share*unit(st.Ledger.Out), unit(st.Ledger.Sources[i].Out)
		if have > due+most+1 || have < due-most*float64(len(m.Sources)-1)-1 {
			c.add("mixture", manifestName, "of source %q there are %.0f %s: its share of %v is %.0f", u.Name, have, m.By, share, due)
		}
	}
}

// heldOut reports whether a sample is held out by the job: one of the ids given, or of the share that a hash of its key or its ids decides.
func (j *job) heldOut(s *tokenstream.Sample, ids map[string]bool) bool {
	if j.HoldoutIDs != nil && ids[s.ID] {
		return true
	}
	h := fnv.New64a()
	if s.Key != "" {
		h.Write([]byte(s.Key))
	} else {
		_ = binary.Write(h, binary.LittleEndian, s.Tokens)
	}
	x := h.Sum64() // then SplitMix64's finalizer
	for _, step := range []struct {
		shift  int
		factor uint64
	}{{30, 0xbf58476d1ce4e5b9}, {27, 0x94d049bb133111eb}, {31, 1}} {
		x = (x ^ x>>step.shift) * step.factor
	}
	return j.Holdout > 0 && float64(x)/math.MaxUint64 < j.Holdout
}

// sources checks the column that says of which sources the segments are.
func (c *shardChecker) sources(w *row) {
	have, n := w.columns[sources], c.rules.sources
	if have == nil || n == 0 {
		return
	}
	if len(have) != w.segments() {
		c.bad("sources", -1, "%d sources for %d segments", len(have), w.segments())
		return
	}
	index := w.columns[sampleIndex]
	for k, s := range have {
		switch {
		case s < 0 || s >= n:
			c.bad("sources", k, "%d: want 0..%d", s, n-1)
			return
		case len(index) == len(have) && index[k] >= 0 && index[k]%n != s:
			c.bad("sources", k, "%d: want %d, the source of sample %d", s, index[k]%n, index[k])
			return
		}
	}
}

// Package mix draws one stream of samples from several sources, by weights.
//
//	samples := mix.Mix([]mix.Source{{Name: "web", Samples: web, Weight: .7}, {Name: "code", Samples: code, Weight: .3, Repeat: 2}}, mix.Options{Stats: &stats})
//	rows := tokenstream.Pack(samples, tokenstream.Options{Capacity: 4096, Sources: 2})
//
// The next sample is always one of the source that lags most behind its share of what was drawn so far, by exact arithmetic on integers.
// So every prefix of the stream has nearly the right shares: among k sources none is above its share by more than its longest sample, and
// none below by more than k-1 times the longest. Samples of one source come in its order.
//
// A mixture ends when the source whose turn it is has no more, after it was read [Source.Repeat] times. It is then the longest stream with
// these shares. What is left of the others is read and counted, so that [Stats] says of every source what was there, what was used and
// what was not. Memory does not grow with the sources.
package mix

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"

	"github.com/brimful/brimful/tokenstream"
)

// A Source is one of the sources of a mixture.
type Source struct {
	Name    string             // for [Stats] and errors
	Samples tokenstream.Source // is ranged over once for every time that it is read, and has to give the same samples
	Weight  float64            // its share in proportion to the weights of the others; at 0 it is counted and not used
	Repeat  Repeat             // how often it is read at most; 0 is once
	Held    *tokenstream.Spool // gets the samples that are held out, once each; nil forgets them
}

// Options say how sources are mixed. The zero value is the default.
type Options struct {
	By      Unit                                       // what weights are shares of
	Count   func(tokenstream.Sample) tokenstream.Count // what of a sample counts; nil is all of it. See tokenstream.Counter
	Seed    uint64                                     // decides between sources that lag as much
	HoldOut func(*tokenstream.Sample) bool             // says which samples are not for the mixture; nil is none

	LimitSamples int64 // the mixture ends before it has more, and what is left is not read; 0 is no bound
	LimitTokens  int64 // the same for tokens

	Stats *Stats // if not nil, filled while samples are drawn, complete when they end without an error
}

// Stats describe a mixture.
type Stats struct {
	By      Unit  `json:"by"`
	Sources []Use `json:"sources"`
}

// A Use is what became of a source. If the mixture ended because of a limit, or its consumer stopped, Samples and HeldOut count what was
// read until then.
type Use struct {
	Name    string  `json:"name"`
	Weight  float64 `json:"weight"` // 0 for all: each is read Repeat times
	Share   float64 `json:"share"`  // the weight's of all
	Repeat  Repeat  `json:"repeat"`
	Samples int64   `json:"samples"`  // that are there, those held out among them
	Whole   bool    `json:"whole"`    // they were read to their end, so that there are no more
	HeldOut int64   `json:"held_out"` // of them
	Used    int64   `json:"used"`     // of them, those that were drawn once or more
	Drawn   int64   `json:"drawn"`    // times that one was drawn
	Read    int64   `json:"read"`     // times that one was read, drawn or not, up to the last that was drawn, all readings together
}

// Unused returns how many samples are there that were neither held out nor drawn.
func (u *Use) Unused() int64 { return u.Samples - u.HeldOut - u.Used }

// Mix returns the mixture of sources. Its samples are numbered in turns: [tokenstream.Sample.Source] says which source one is of.
//
// If all weights are 0 the sources have the shares that they have by nature: each is read Repeat times whole, evenly spread over the
// stream. To know how evenly, they are read once more before.
func Mix(sources []Source, o Options) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		m, err := newMixer(sources, o)
		if err == nil && m.natural {
			err = m.measure()
		}
		if err != nil {
			yield(tokenstream.Sample{}, err)
			return
		}
		defer m.close()
		for r := m.next(); r != nil; r = m.next() {
			s, ok, err := r.draw()
			if err != nil {
				yield(tokenstream.Sample{}, err)
				return
			}
			if m.limited {
				return
			}
			if !ok {
				break
			}
			if !yield(s, nil) || m.samples == o.LimitSamples {
				return
			}
		}
		if err := m.drain(); err != nil {
			yield(tokenstream.Sample{}, err)
		}
	}
}

// mixer is the state of a mixture.
type mixer struct {
	o       Options
	readers []*reader
	natural bool
	whole   uint64 // the weights' sum

	samples, tokens int64 // that were drawn
	limited         bool  // a limit was reached
}

func newMixer(sources []Source, o Options) (*mixer, error) {
	if o.Stats == nil {
		o.Stats = new(Stats)
	}
	*o.Stats = Stats{By: o.By, Sources: make([]Use, len(sources))}
	m := &mixer{o: o, natural: true}
	if n := len(sources); n < 1 || n > tokenstream.MaxSources {
		return nil, fmt.Errorf("%d sources: want 1..%d", n, tokenstream.MaxSources)
	}
	var list []float64
	for _, s := range sources {
		list = append(list, s.Weight)
		m.natural = m.natural && s.Weight == 0
	}
	weights, sum, err := integers(list)
	if at := (*weightError)(nil); errors.As(err, &at) {
		return nil, fmt.Errorf("source %q: %w", sources[at.index].Name, err)
	}
	m.whole = sum
	if m.natural {
		m.o.By, o.Stats.By = Samples, Samples
	}
	if o.Count == nil {
		m.o.Count = all
	}
	order := permutation(len(sources), o.Seed)
	for i, s := range sources {
		times, rest, err := s.Repeat.split()
		if err == nil && m.natural && s.Repeat == Endless {
			err = errors.New("repeated endlessly, without weights: want a number, or weights")
		}
		if err != nil {
			return nil, fmt.Errorf("source %q: %w", s.Name, err)
		}
		if s.Repeat == 0 {
			s.Repeat = 1
		}
		use := &o.Stats.Sources[i]
		*use = Use{Name: s.Name, Weight: s.Weight, Repeat: s.Repeat}
		m.readers = append(m.readers, &reader{m: m, source: s, index: i, use: use, times: times, rest: rest, weight: weights[i], tie: order[i]})
	}
	m.shares()
	return m, nil
}

// shares notes the shares that the weights give.
func (m *mixer) shares() {
	for _, r := range m.readers {
		if m.whole > 0 {
			r.use.Share = float64(r.weight) / float64(m.whole)
		}
	}
}

// all counts the whole of a sample.
func all(s tokenstream.Sample) tokenstream.Count {
	c := tokenstream.Count{Samples: 1, Tokens: int64(len(s.Tokens)), Supervised: int64(max(0, len(s.Tokens)-1))}
	if s.Labels != nil {
		c.Supervised = 0
		for _, l := range s.Labels[min(1, len(s.Labels)):] {
			if l != tokenstream.Ignore {
				c.Supervised++
			}
		}
	}
	return c
}

// next returns the reader whose turn it is, or nil if no source has a weight.
func (m *mixer) next() *reader {
	var best *reader
	for _, r := range m.readers {
		if r.weight > 0 && (best == nil || r.before(best)) {
			best = r
		}
	}
	return best
}

// book takes what was drawn by r into account.
func (m *mixer) book(r *reader, size uint64) {
	for _, q := range m.readers {
		hi, lo := bits.Mul64(q.weight, size)
		due, part := bits.Div64(hi, lo, m.whole) // hi is below it, since no weight is above
		q.lag += int64(due)
		if q.part += part; q.part >= m.whole {
			q.part -= m.whole
			q.lag++
		}
	}
	r.lag -= int64(size)
}

// measure counts what each source will give, for its weight.
func (m *mixer) measure() error {
	m.whole = 0
	for _, r := range m.readers {
		n, rest := int64(0), int64(0)
		for s, err := range r.source.Samples {
			if err != nil {
				return err
			}
			r.expected++
			if m.o.HoldOut == nil || !m.o.HoldOut(&s) {
				n++
				if thin(r.expected-1, r.rest) {
					rest++
				}
			}
		}
		r.counted = true
		hi, lo := bits.Mul64(uint64(n), uint64(r.times))
		if hi > 0 || lo+uint64(rest) > 1<<50 {
			return fmt.Errorf("source %q: %d samples %v times: want fewer", r.source.Name, n, r.source.Repeat)
		}
		r.weight = lo + uint64(rest)
		m.whole += r.weight
	}
	m.shares()
	return nil
}

// drain reads what is left of every source that was not read to its end, to count it.
func (m *mixer) drain() error {
	for _, r := range m.readers {
		for !r.use.Whole {
			if _, _, err := r.read(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *mixer) close() {
	for _, r := range m.readers {
		if r.stop != nil {
			r.stop()
		}
	}
}

// reader draws the samples of a source.
type reader struct {
	m      *mixer
	source Source
	index  int
	use    *Use

	times, rest int64  // how often it is read whole, and the millionths of the last time
	weight      uint64 // in integers
	tie         int    // goes first, among those that lag as much
	lag         int64  // how much less was drawn than the share of all that was: this
	part        uint64 // and this, over the sum of the weights

	pull     func() (tokenstream.Sample, error, bool) // nil between two readings
	stop     func()
	pass     int64 // readings that have ended
	at       int64 // samples read in this one
	read0    int64 // samples read in those before
	expected int64 // samples in each, if counted
	counted  bool
	drawn    uint64 // of the unit, in this reading

	few    []tokenstream.Sample // of the first reading, if they are
	many   bool
	tokens int64 // of few
}

// samples returns the samples of the source, from memory if they are known and few.
func (r *reader) samples() tokenstream.Source {
	if r.pass == 0 || r.many {
		return r.source.Samples
	}
	return func(yield func(tokenstream.Sample, error) bool) {
		for _, s := range r.few {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// What is kept in memory of a source that is read several times: opening a file takes longer than reading so little.
const (
	fewSamples = 1 << 14
	fewTokens  = 1 << 20
)

// keep keeps a sample of the first reading if the source has few.
func (r *reader) keep(s *tokenstream.Sample) {
	if r.pass > 0 || r.many {
		return
	}
	r.tokens += int64(len(s.Tokens))
	if r.many = r.times < 2 && r.rest == 0 || len(r.few) == fewSamples || r.tokens > fewTokens; r.many {
		r.few = nil
		return
	}
	r.few = append(r.few, s.Clone())
}

// before reports whether it is rather r's turn than q's.
func (r *reader) before(q *reader) bool {
	switch {
	case r.lag != q.lag:
		return r.lag > q.lag
	case r.part != q.part:
		return r.part > q.part
	case r.weight != q.weight:
		return r.weight > q.weight
	}
	return r.tie < q.tie
}

// draw returns the next sample that is for the mixture. ok is false if the source has no more.
func (r *reader) draw() (s tokenstream.Sample, ok bool, err error) {
	for {
		if r.pull == nil && !r.more() {
			return s, false, nil
		}
		pass := r.pass
		s, ok, err = r.read()
		switch {
		case err != nil:
			return s, false, err
		case r.pass > pass:
			if r.drawn == 0 && pass == 0 && !r.m.natural {
				return s, false, fmt.Errorf("source %q: nothing of its %d samples counts for its share of the %s: leave it out, or give it the weight 0",
					r.source.Name, r.use.Samples, r.m.o.By)
			}
			if r.drawn == 0 {
				return s, false, nil // and neither would there be the next time
			}
			r.drawn = 0
		case ok && (r.pass < r.times || thin(r.at-1, r.rest)):
			r.m.samples++
			r.m.tokens += int64(len(s.Tokens))
			if limit := r.m.o.LimitTokens; limit > 0 && r.m.tokens > limit {
				r.m.limited = true
				return s, false, nil
			}
			if r.pass == 0 {
				r.use.Used++
			}
			r.use.Drawn++
			r.use.Read = r.read0 + r.at
			size := uint64(1)
			if !r.m.natural { // which draws every sample
				size = uint64(r.m.o.By.Of(r.m.o.Count(s)))
			}
			r.drawn += size
			r.m.book(r, size)
			s.Number = (r.at-1)*int64(len(r.m.readers)) + int64(r.index) + 1
			return s, true, nil
		}
	}
}

// more reports whether the source may be read once more.
func (r *reader) more() bool { return r.pass < r.times || r.pass == r.times && r.rest > 0 }

// read reads a sample. ok is false for one that is held out, and at the end, where r.pass is counted on.
func (r *reader) read() (s tokenstream.Sample, ok bool, err error) {
	if r.pull == nil {
		r.pull, r.stop = iter.Pull2(r.samples())
	}
	s, err, more := r.pull()
	if err != nil {
		return s, false, err
	}
	if r.pass == 0 && more {
		r.use.Samples++
	}
	if !more || r.counted && r.at == r.expected {
		r.stop()
		r.pull, r.stop = nil, nil
		if more || r.counted && r.at != r.expected {
			return s, false, fmt.Errorf("source %q: it has not as many samples as the time before, %d", r.source.Name, r.expected)
		}
		r.use.Whole, r.counted, r.expected = true, true, r.at
		r.read0 += r.at
		r.at = 0
		r.pass++
		return s, false, nil
	}
	r.at++
	r.keep(&s)
	if h := r.m.o.HoldOut; h != nil && h(&s) {
		if r.pass == 0 {
			r.use.HeldOut++
			if r.source.Held != nil {
				s.Number = (r.at-1)*int64(len(r.m.readers)) + int64(r.index) + 1
				err = r.source.Held.Add(s)
			}
		}
		return s, false, err
	}
	return s, true, nil
}

package tokenstream

import (
	"errors"
	"fmt"
	"iter"
)

// packer is the state of one run of [Pack].
type packer struct {
	o       Options
	stats   *Stats
	pool    pool
	labels  []int32 // the labels of the sample at hand; shares memory with it or with scratch
	scratch []int32
	targets int64 // supervised tokens of the sample at hand
	batch   Batch
	samples int64          // read so far
	files   map[string]int // index in the ledger
	uses    [2]*Use        // where the sample at hand is booked beside the ledger's sums: its file and, if there are several, its source
	tooLong *LengthError   // set by the first over-long sample under TooLongError; from then on samples are only counted
	err     error          // of the source or of a sample
}

// Counter returns a function that says how much of a sample [Pack] puts into rows by the options, which has nothing of one that it refuses.
// The function is not safe for concurrent use.
func Counter(o Options) func(Sample) Count {
	o.setDefaults()
	p := &packer{o: o, stats: new(Stats), pool: nowhere{}}
	return func(s Sample) Count {
		if p.check(s) != nil {
			return Count{}
		}
		p.targets = supervised(p.labels)
		p.stats.Ledger = Ledger{Removed: p.stats.Ledger.Removed[:0]}
		p.admit(s, func(int32) bool { return true })
		return p.stats.Ledger.Out
	}
}

// nowhere is a pool that keeps nothing.
type nowhere struct{}

func (nowhere) add(Segment, []int32, []int32) error { return nil }

func (nowhere) take(int64, []int32, []int32) (s Segment, _, _ []int32, ok bool, err error) { return }

func (nowhere) waiting() int64 { return 0 }

func (nowhere) close() error { return nil }

// lengths draws the samples of src, puts aside what will be in a row and yields its length.
func (p *packer) lengths(src Source) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for s, err := range src {
			if err == nil {
				err = p.read(s)
			}
			if err != nil {
				p.err = err
				return
			}
			if p.tooLong == nil && !p.admit(s, yield) {
				return
			}
		}
		if p.tooLong != nil {
			p.tooLong.Samples, p.tooLong.AllTokens, p.tooLong.Longest = p.stats.Ledger.In.Samples, p.stats.Ledger.In.Tokens, p.stats.Longest
			p.err = p.tooLong
		}
	}
}

// read checks a sample, sets p.labels and p.targets and counts it as read.
func (p *packer) read(s Sample) error {
	if err := p.check(s); err != nil {
		return err
	}
	st := p.stats
	p.targets = supervised(p.labels)
	if err := p.book(s); err != nil {
		return err
	}
	st.Longest = max(st.Longest, len(s.Tokens))
	if s.Labels == nil && p.o.Labels != LabelsAll {
		st.Unlabelled++
	}
	if n := len(s.Tokens); n > 0 {
		st.First.add(s.Tokens[0])
		st.Last.add(s.Tokens[n-1])
	}
	p.samples++
	if len(s.Tokens) > p.o.MaxSampleTokens && p.o.TooLong == TooLongError {
		if p.tooLong == nil {
			p.tooLong = &LengthError{Limit: p.o.MaxSampleTokens, First: s.Place}
		}
		p.tooLong.Count++
		p.tooLong.Tokens += int64(len(s.Tokens))
	}
	return nil
}

// book books s as read.
func (p *packer) book(s Sample) error {
	l, name := &p.stats.Ledger, s.Place.Name
	i, ok := p.files[name]
	if !ok {
		i = len(l.Files)
		p.files[name] = i
		l.Files = append(l.Files, FileUse{File: name})
	}
	p.uses = [2]*Use{&l.Files[i].Use}
	if n := p.o.Sources; n > 1 {
		if s.Number < 1 {
			return &InputError{Place: s.Place, Err: fmt.Errorf("a sample without a number: want one, which says of which of %d sources it is", n)}
		}
		if l.Sources == nil {
			l.Sources = make([]Use, n)
		}
		p.uses[1] = &l.Sources[s.Source(n)]
	}
	c := Count{1, int64(len(s.Tokens)), p.targets}
	l.In = l.In.Plus(c)
	for _, u := range p.uses {
		if u != nil {
			u.In = u.In.Plus(c)
		}
	}
	return nil
}

// keep books what of the sample at hand is in the rows.
func (p *packer) keep(c Count) {
	l := &p.stats.Ledger
	l.Out = l.Out.Plus(c)
	for _, u := range p.uses {
		if u != nil {
			u.Out = u.Out.Plus(c)
		}
	}
}

// check returns an error if s is not what it claims to be, and sets p.labels to its labels otherwise.
func (p *packer) check(s Sample) error {
	bad := func(field string, i int, format string, args ...any) error {
		return &InputError{Place: s.Place, Field: fmt.Sprintf("%s[%d]", field, i), Err: fmt.Errorf(format, args...)}
	}
	for i, id := range s.Tokens {
		if id < 0 || int(id) >= p.o.VocabSize {
			return bad("input_ids", i, "id %d: want 0..%d", id, p.o.VocabSize-1)
		}
	}
	if s.Labels == nil || p.o.Labels == LabelsAll {
		p.labels = s.Tokens
		return nil
	}
	if len(s.Labels) != len(s.Tokens) {
		return &InputError{Place: s.Place, Field: "labels", Err: fmt.Errorf("%d labels for %d ids: want as many", len(s.Labels), len(s.Tokens))}
	}
	p.labels = s.Labels
	if p.o.Labels == LabelsShifted {
		p.scratch = p.scratch[:0]
		if n := len(s.Labels); n > 0 && s.Labels[n-1] != Ignore {
			return bad("labels", n-1, "shifted label %d on the last id: want %d, since no id follows", s.Labels[n-1], Ignore)
		}
		if len(s.Labels) > 0 {
			p.scratch = append(append(p.scratch, Ignore), s.Labels[:len(s.Labels)-1]...)
		}
		p.labels = p.scratch
	}
	for i, l := range p.labels {
		if l == Ignore || l == s.Tokens[i] {
			continue
		}
		at := i
		if p.o.Labels == LabelsShifted {
			at = i - 1
		}
		switch {
		case l < 0 || int(l) >= p.o.VocabSize:
			return bad("labels", at, "label %d: want %d or 0..%d", l, Ignore, p.o.VocabSize-1)
		case p.o.Labels == LabelsFree:
		case p.o.Labels == LabelsShifted:
			return bad("labels", at, "label %d: want %d or the next id, %d", l, Ignore, s.Tokens[i])
		case shifted(s):
			return bad("labels", at, "label %d is the next id: the labels are already shifted (labels-shifted moves them back)", l)
		default:
			return bad("labels", at, "label %d: want %d or the id at its place, %d (labels-free allows any id)", l, Ignore, s.Tokens[i])
		}
	}
	return nil
}

// shifted reports whether every label of s is Ignore or the next id.
func shifted(s Sample) bool {
	for i, l := range s.Labels {
		if l != Ignore && (i+1 == len(s.Tokens) || l != s.Tokens[i+1]) {
			return false
		}
	}
	return true
}

// supervised counts the supervised tokens of a segment.
func supervised(labels []int32) int64 {
	n := 0
	for _, l := range labels[min(1, len(labels)):] {
		if l != Ignore {
			n++
		}
	}
	return int64(n)
}

// admit puts aside what will be in a row of s, under the policies, and yields the length of each segment. It reports whether to go on.
func (p *packer) admit(s Sample, yield func(int32) bool) bool {
	ledger, file := &p.stats.Ledger, s.Place.Name
	tokens, labels := s.Tokens, p.labels
	all := Count{1, int64(len(tokens)), p.targets}
	id := ""
	if p.o.KeepIDs {
		id = s.ID
	}
	ordinal := p.samples - 1
	if s.Number > 0 {
		ordinal = s.Number - 1
	}
	switch {
	case len(tokens) == 0:
		if p.o.Empty == PolicyError {
			p.err = &InputError{Place: s.Place, Field: "input_ids", Err: errors.New("no ids: want at least 1 (empty=drop leaves such samples out)")}
			return false
		}
		ledger.remove(ReasonEmpty, file, all)
		return true
	case all.Supervised == 0 && p.o.NoTarget != PolicyKeep:
		return p.noTarget(ReasonNoTarget, s, all)
	}
	offset, limit := 0, p.o.MaxSampleTokens
	if len(tokens) > limit {
		switch p.o.TooLong {
		case Drop:
			ledger.remove(ReasonTooLong, file, all)
			return true
		case Split:
			return p.split(s, ordinal, id, yield)
		case Truncate:
			tokens, labels = tokens[:limit], labels[:limit]
		case TruncateLeft:
			offset = len(tokens) - limit
			tokens, labels = tokens[offset:], labels[offset:]
		}
		kept := Count{1, int64(len(tokens)), supervised(labels)}
		ledger.remove(ReasonTruncated, file, Count{0, all.Tokens - kept.Tokens, all.Supervised - kept.Supervised})
		all = kept
		if all.Supervised == 0 && p.o.NoTarget != PolicyKeep {
			return p.noTarget(ReasonCutTarget, s, all)
		}
	}
	p.keep(all)
	return p.put(Segment{Sample: ordinal, Offset: int32(offset), Length: int32(len(tokens)), ID: id}, tokens, labels, yield)
}

// split admits an over-long sample in pieces.
func (p *packer) split(s Sample, ordinal int64, id string, yield func(int32) bool) bool {
	limit := p.o.MaxSampleTokens
	kept, lost := Count{}, Count{}
	masked := p.targets
	type piece struct{ from, to int }
	var pieces []piece
	for from := 0; from < len(s.Tokens); from += limit {
		to := min(from+limit, len(s.Tokens))
		c := Count{0, int64(to - from), supervised(p.labels[from:to])}
		masked -= c.Supervised
		if c.Supervised == 0 && p.o.NoTarget != PolicyKeep {
			if p.o.NoTarget == PolicyError {
				return p.noTarget(ReasonCutTarget, s, c)
			}
			lost = lost.Plus(c)
			continue
		}
		kept = kept.Plus(c)
		pieces = append(pieces, piece{from, to})
	}
	ledger := &p.stats.Ledger
	if masked > 0 {
		ledger.remove(ReasonSplit, s.Place.Name, Count{Supervised: masked})
	}
	if len(pieces) == 0 {
		lost.Samples = 1
	} else {
		kept.Samples = 1
	}
	if lost.Tokens > 0 {
		ledger.remove(ReasonCutTarget, s.Place.Name, lost)
	}
	p.keep(kept)
	for _, c := range pieces {
		seg := Segment{Sample: ordinal, Offset: int32(c.from), Length: int32(c.to - c.from), ID: id}
		if !p.put(seg, s.Tokens[c.from:c.to], p.labels[c.from:c.to], yield) {
			return false
		}
	}
	return true
}

// noTarget drops or refuses a sample of which c is left and nothing is supervised.
func (p *packer) noTarget(reason Reason, s Sample, c Count) bool {
	if p.o.NoTarget == PolicyError {
		p.err = &InputError{Place: s.Place, Field: "labels", Err: fmt.Errorf("none of %d tokens is supervised: want at least 1 (no-target=drop leaves such samples out)", c.Tokens)}
		return false
	}
	p.stats.Ledger.remove(reason, s.Place.Name, c)
	return true
}

// put sets a segment aside and yields what it takes in a row.
func (p *packer) put(s Segment, tokens, labels []int32, yield func(int32) bool) bool {
	if p.err = p.pool.add(s, tokens, labels); p.err != nil {
		return false
	}
	slots := p.o.slots(len(tokens))
	p.stats.segment(len(tokens), slots)
	return yield(int32(slots))
}

// row makes the row of the segments in bin.
func (p *packer) row(bin []int64) (*Batch, error) {
	b := &p.batch
	b.Tokens, b.Labels, b.Segments, b.Pad = b.Tokens[:0], b.Labels[:0], b.Segments[:0], 0
	if p.o.FixedCounts {
		b.Counts = p.o.MaxSamples + 1
	}
	for _, k := range bin {
		start := len(b.Tokens)
		s, tokens, labels, ok, err := p.pool.take(k, b.Tokens, b.Labels)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("row %d: the strategy put segment %d into two rows, or there is no such segment", p.stats.Rows, k)
		}
		labels[start] = Ignore
		s.Pad = int32(p.o.slots(int(s.Length))) - s.Length
		if p.o.Sources > 1 {
			s.Source = int32(s.Sample % int64(p.o.Sources))
		}
		b.Tokens, b.Labels, b.Segments = tokens, labels, append(b.Segments, s)
		b.pad(int(s.Pad), p.o.PadID)
	}
	n := len(b.Tokens)
	if n == 0 || n > p.o.Capacity || p.o.MaxSamples > 0 && len(bin) > p.o.MaxSamples {
		return nil, fmt.Errorf("row %d: the strategy put %d tokens and %d samples into it: want 1..%d tokens and at most %d samples",
			p.stats.Rows, n, len(bin), p.o.Capacity, p.o.MaxSamples)
	}
	end := p.o.Capacity
	if p.o.Ragged {
		row := max(p.o.AlignRows, 1)
		end = (n + row - 1) / row * row
	}
	b.Pad = int32(end - n)
	b.pad(end-n, p.o.PadID)
	p.stats.row(b)
	return b, nil
}

// finish checks that nothing was lost and completes the statistics.
func (p *packer) finish() error {
	st := p.stats
	if p.samples == 0 {
		return ErrNoSamples
	}
	if n := p.pool.waiting(); n > 0 {
		return fmt.Errorf("the strategy left %d tokens out of every row", n)
	}
	if st.Segments == 0 && st.Ledger.removedBy(ReasonNoTarget, ReasonCutTarget) > 0 {
		return fmt.Errorf("0 of %d samples have a supervised token: there is nothing to train on", p.samples)
	}
	if n := st.Ledger.In.Samples - st.Ledger.removedBy(ReasonEmpty); st.Segments == 0 && n > 0 {
		return fmt.Errorf("none of %d samples is left for a row: all are longer than the %d tokens allowed, or have nothing supervised", n, p.o.MaxSampleTokens)
	}
	st.closeBatch()
	st.LowerBound = st.Lengths.LowerBound(st.Limits)
	return st.Ledger.Check()
}

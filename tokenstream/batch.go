package tokenstream

import "slices"

// A Batch is one packed row: whole samples one after another, each with the padding that aligns it, then the pad tail.
type Batch struct {
	Tokens   []int32   // the row's ids, pad tail included
	Labels   []int32   // unshifted, as long as Tokens; Ignore on the first token of every segment and on padding
	Segments []Segment // the samples in the order in which they stand in Tokens
	Pad      int32     // tokens of the pad tail, 0 if there is none
	Counts   int       // segments, the pad tail among them, that columns of offsets have room for; 0 is as many as there are
}

// A Segment is a run of a row that attention may not cross: one sample, or one piece of a sample that was split.
type Segment struct {
	Sample int64  // the sample's ordinal in the source, from 0, counting also samples that were dropped
	Offset int32  // where in the sample it begins; above 0 only after a split or a cut at the left
	Length int32  // its tokens, at least 1
	Pad    int32  // tokens of padding that follow it in the row, where segments are aligned
	Source int32  // which source the sample is of, from 0, where [Options.Sources] says that there are several
	ID     string // the sample's, where [Options.KeepIDs] asks for it
}

// slots returns the tokens that s takes in a row.
func (s Segment) slots() int32 { return s.Length + s.Pad }

// pad appends n tokens of padding.
func (b *Batch) pad(n int, id int32) {
	for range n {
		b.Tokens = append(b.Tokens, id)
		b.Labels = append(b.Labels, Ignore)
	}
}

// Clone returns a copy of b that shares no memory with it.
func (b *Batch) Clone() *Batch {
	return &Batch{Tokens: slices.Clone(b.Tokens), Labels: slices.Clone(b.Labels), Segments: slices.Clone(b.Segments), Pad: b.Pad, Counts: b.Counts}
}

// A Sink takes rows, for instance to encode them into a file. Write does not keep b. Close completes what was written; a sink that is
// not closed, or whose Write or Close failed, has written nothing of use.
type Sink interface {
	Write(b *Batch) error
	Close() error
}

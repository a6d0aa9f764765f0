// Package tokenstream turns a sequence of tokenized samples into a sequence of packed rows.
//
//	for row, err := range tokenstream.Pack(source, tokenstream.Options{Capacity: 4096}) { ... }
//
// A sample goes in whole and comes out as one segment of one row, or it is in the ledger with the reason why not. What Pack does by
// itself is bounded by the pool of the packing strategy: memory does not grow with the input. With a strategy whose pool is the whole
// input and Options.Spool, tokens wait on disk and a sample takes some 60 bytes.
//
// A [Source] is any iter.Seq2[Sample, error]; the sub-packages read files. A [Layout] says what a row looks like in a file; the
// sub-packages write them. A token is supervised when the model is trained to predict it: its label is not [Ignore] and it is not the
// first of its segment, since nothing precedes that one.
package tokenstream

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/brimful/brimful/packing"
)

// Options say how samples become rows. Only Capacity has no default.
type Options struct {
	Capacity        int              // most tokens in a row, from 1 to math.MaxInt32
	MaxSamples      int              // most samples in a row; 0 is no bound
	MaxSampleTokens int              // longer samples are over-long; 0 is what fits into a row
	Strategy        packing.Streamer // nil is packing.Windows{}: best-fit decreasing, window by window
	TooLong         TooLong          // what happens to over-long samples
	Empty           Policy           // what happens to samples without tokens; by default an error
	NoTarget        Policy           // what happens to samples without a supervised token; by default dropped, since their mean loss is NaN
	Labels          LabelRule        // what labels may be
	VocabSize       int              // ids at or above it are an error; 0 is no bound
	Align           int              // every segment is padded to a multiple of this; 0 is 1
	AlignInputs     bool             // the multiple holds for a segment without its last token, which is a target only: see [Layout.AlignInputs]
	AlignRows       int              // every row is padded to a multiple of this, of which Capacity is one; 0 is 1
	FixedCounts     bool             // columns of offsets have room for MaxSamples segments and the pad tail in every row
	KeepIDs         bool             // the ID of every sample goes along into its segments, for columns of kind SampleIDs
	Sources         int              // samples come from so many sources, by their Number: see [Sample.Source]; 0 and 1 are one
	Ragged          bool             // rows end with their last sample instead of being padded to Capacity
	PadID           int32            // the id of padding
	Spool           string           // directory for a temporary file in which samples wait for their row; "" is memory
	Stats           *Stats           // if not nil, filled while rows are drawn, complete when they end without an error
}

// maxPadded bounds the capacity of padded rows, each of which is built in memory whatever it holds.
const maxPadded = 1 << 26

// TooLong is what happens to a sample with more tokens than a row may give it.
type TooLong uint8

const (
	TooLongError TooLong = iota // the input is read to its end and a *LengthError says what was found
	Drop                        // left out
	Truncate                    // cut at the right
	TruncateLeft                // cut at the left
	Split                       // cut into pieces, each a segment of its own whose first token is not supervised
)

// Policy is what happens to a sample that is unfit for training. Its zero value stands for the default of the field it is in.
type Policy uint8

const (
	PolicyDefault Policy = iota
	PolicyError
	PolicyDrop
	PolicyKeep
)

// LabelRule is what the labels of a source may be.
type LabelRule uint8

const (
	LabelsOwn     LabelRule = iota // Ignore or the id at the same place
	LabelsShifted                  // Ignore or the next id, as for a trainer that does not shift by itself; they are moved back
	LabelsFree                     // any id
	LabelsAll                      // not looked at: every token is a target
)

// A LengthError says that samples exceed the longest length allowed, and by how much.
type LengthError struct {
	Limit     int   // most tokens a sample may have
	Count     int64 // samples above it
	Tokens    int64 // their tokens
	Samples   int64 // all samples read
	AllTokens int64 // their tokens
	Longest   int   // tokens of the longest sample
	First     Place // the first sample above the limit
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("%v: %d of %d samples (%.1f %% of the tokens) are longer than the %d tokens allowed, the longest has %d",
		e.First, e.Count, e.Samples, 100*float64(e.Tokens)/float64(e.AllTokens), e.Limit, e.Longest)
}

// ErrNoSamples is returned for a source that ends before its first sample.
var ErrNoSamples = errors.New("0 samples read")

// Pack packs the samples of src into rows. Rows come out as soon as the strategy closes them; each is valid until the next iteration
// and [Batch.Clone] keeps it. The first error ends the sequence as its last pair: the source's, an [*InputError] for a sample that is
// not what it claims to be, a [*LengthError], [ErrNoSamples], or that of a strategy which broke its law. Rows depend on the samples and
// the options only.
func Pack(src Source, o Options) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if err := o.Check(); err != nil {
			yield(nil, err)
			return
		}
		o.setDefaults()
		p := &packer{o: o, stats: o.Stats, pool: new(arena), files: map[string]int{}}
		if o.Spool != "" {
			d, err := newDisk(o.Spool)
			if err != nil {
				yield(nil, err)
				return
			}
			defer d.close()
			p.pool = d
		}
		*p.stats = Stats{Capacity: o.Capacity, Limits: o.limits()}
		for bin := range o.Strategy.Stream(p.lengths(src), o.limits()) {
			if p.err != nil {
				break
			}
			row, err := p.row(bin)
			if err != nil {
				p.err = err
				break
			}
			if !yield(row, nil) {
				return
			}
		}
		if p.err == nil {
			p.err = p.finish()
		}
		if p.err != nil {
			yield(nil, p.err)
		}
	}
}

// limits returns the limits of a row.
func (o *Options) limits() packing.Limits {
	return packing.Limits{Capacity: o.Capacity, MaxSamples: o.MaxSamples}
}

// slots returns what a segment of n tokens takes in a row.
func (o *Options) slots(n int) int {
	if o.Align <= 1 {
		return n
	}
	targets := 0 // tokens that are not counted
	if o.AlignInputs {
		targets = 1
	}
	return (max(n-targets, 1)+o.Align-1)/o.Align*o.Align + targets
}

// longest returns the tokens of the longest segment that fits into a row.
func (o *Options) longest() int {
	if o.Align <= 1 {
		return o.Capacity
	}
	if o.AlignInputs {
		return (o.Capacity-1)/o.Align*o.Align + 1
	}
	return o.Capacity / o.Align * o.Align
}

// Check returns an error if an option is out of its range. [Pack] checks by itself.
func (o *Options) Check() error {
	vocabulary := o.VocabSize
	if vocabulary == 0 {
		vocabulary = maxVocabulary
	}
	switch {
	case o.Capacity < 1 || o.Capacity > math.MaxInt32:
		return fmt.Errorf("capacity %d: want 1..%d", o.Capacity, math.MaxInt32)
	case o.Capacity > maxPadded && !o.Ragged:
		return fmt.Errorf("capacity %d: want at most %d for padded rows (ragged rows may be longer)", o.Capacity, maxPadded)
	case o.MaxSamples < 0 || o.MaxSamples > math.MaxInt32:
		return fmt.Errorf("max samples %d: want 0..%d", o.MaxSamples, math.MaxInt32)
	case o.Align < 0 || o.longest() <= 1 && o.Align > 1:
		return fmt.Errorf("alignment %d: want 0..%d, so that a segment fits into the capacity", o.Align, o.Capacity)
	case o.AlignRows < 0 || o.AlignRows > o.Capacity:
		return fmt.Errorf("alignment of rows %d: want 0..%d, the capacity", o.AlignRows, o.Capacity)
	case o.AlignRows > 1 && o.Capacity%o.AlignRows != 0:
		return fmt.Errorf("capacity %d is no multiple of %d, to which rows are aligned: want %d or %d",
			o.Capacity, o.AlignRows, o.Capacity/o.AlignRows*o.AlignRows, (o.Capacity/o.AlignRows+1)*o.AlignRows)
	case o.FixedCounts && (o.MaxSamples < 1 || o.MaxSamples > o.Capacity):
		return fmt.Errorf("fixed counts of %d samples a row (max samples): want 1..%d, the capacity", o.MaxSamples, o.Capacity)
	case o.MaxSampleTokens < 0 || o.MaxSampleTokens > o.longest():
		return fmt.Errorf("max sample tokens %d: want 0..%d, what fits into a row", o.MaxSampleTokens, o.longest())
	case vocabulary < 1 || vocabulary > maxVocabulary:
		return fmt.Errorf("vocabulary size %d: want 0..%d", o.VocabSize, maxVocabulary)
	case o.PadID < 0 || int(o.PadID) >= vocabulary:
		return fmt.Errorf("pad id %d: want 0..%d", o.PadID, vocabulary-1)
	case o.Sources < 0 || o.Sources > MaxSources:
		return fmt.Errorf("%d sources: want 0..%d", o.Sources, MaxSources)
	case o.Empty == PolicyKeep:
		return errors.New("empty samples can't be kept: a segment has at least one token")
	}
	return nil
}

// maxVocabulary is how many ids there can be.
const maxVocabulary = math.MaxInt32 + 1

// MaxSources is the most sources that samples can come from.
const MaxSources = 1 << 16

// setDefaults fills in what was left to the defaults.
func (o *Options) setDefaults() {
	if o.VocabSize == 0 {
		o.VocabSize = maxVocabulary
	}
	if o.MaxSampleTokens == 0 {
		o.MaxSampleTokens = o.longest()
	}
	if o.Strategy == nil {
		o.Strategy = packing.Windows{}
	}
	if o.Empty == PolicyDefault {
		o.Empty = PolicyError
	}
	if o.NoTarget == PolicyDefault {
		o.NoTarget = PolicyDrop
	}
	if o.Stats == nil {
		o.Stats = new(Stats)
	}
}

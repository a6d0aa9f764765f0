// Package verify checks a data set against the laws of packed rows, and against the samples that it was made of.
//
// It is a reader of its own: it shares no code with what writes rows, beyond the libraries for the file formats and the sources of
// samples. It goes through the rows one by one, as many shards at a time as there are cores; what it keeps is some 28 bytes a sample
// where samples are numbered closely, and at most some 230 where they are not. Files may be damaged in any way: that is a fault, never a
// panic.
package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/brimful/brimful/tokenstream"
)

// Options say what to check. The zero value checks what the data set alone can show.
type Options struct {
	Source  tokenstream.Source   // the samples that the data set was made of, to be found in it one by one; nil is none
	Sources []tokenstream.Source // of a mixture, in place of Source: one for each of its sources
	HeldIDs map[string]bool      // of the samples of a mixture that are held out by their ids
	Faults  int                  // most faults to report one by one; 0 is 10
}

// A Fault is something that is wrong with a data set.
type Fault struct {
	Reason string `json:"reason"`         // the law that is broken; see [Reasons]
	File   string `json:"file,omitempty"` // below the directory
	Row    int64  `json:"row"`            // in the file, from 0; -1 if it is about no row
	Index  int64  `json:"index"`          // of the value in the row, from 0; -1 if it is about no value
	Text   string `json:"text"`           // what was found and what is right
}

func (f Fault) String() string {
	s := f.File
	if f.Row >= 0 {
		s += fmt.Sprintf(": row %d", f.Row)
	}
	if f.Index >= 0 {
		s += fmt.Sprintf(", at %d", f.Index)
	}
	if s != "" {
		s += ": "
	}
	return s + f.Reason + ": " + f.Text
}

// Reasons says what each [Fault.Reason] means.
var Reasons = map[string]string{
	"manifest":       "the manifest can't be read, or lacks or contradicts something",
	"missing_shard":  "a shard is not there",
	"extra_file":     "a file among the shards is not in the manifest",
	"folder":         "the files by which load_from_disk finds the shards say something else than the manifest",
	"checksum":       "a shard is not the file that was written",
	"content":        "the rows of a shard are not those that were written",
	"unreadable":     "a shard can't be read",
	"columns":        "a shard has other columns or types than the manifest says",
	"null":           "a value is null",
	"lengths":        "columns of a row disagree on how many values there are",
	"row_length":     "a row is not as long as the capacity, or longer",
	"cu_seqlens":     "the offsets don't start at 0, increase and end at the row's length",
	"seq_lengths":    "the lengths are not the differences of the offsets",
	"position_ids":   "a position does not count from 0 in its segment",
	"seq_idx":        "a token has another segment's number",
	"max_seqlen":     "it is not the longest segment",
	"pad_length":     "the pad tail is not the last segment, or there is nothing but padding, or none was to be",
	"pad_id":         "the pad tail holds other ids",
	"pad_label":      "a label on the pad tail is not -100",
	"first_label":    "the first label of a segment is not -100: the last token of the sample before would predict it",
	"label":          "a label is neither -100 nor the id at its place",
	"shifted_labels": "a target is not the next label of its segment",
	"loss_mask":      "the mask is not 1 exactly where there is a label",
	"shifted_tokens": "it is not the next id of the segment",
	"segment_ids":    "a token has another segment's number",
	"segment_starts": "the offsets are not those at which the segments begin",
	"token":          "an id is out of the vocabulary",
	"too_long":       "a segment is longer than a sample may be",
	"no_target":      "a segment has no supervised token, though the job leaves such samples out",
	"max_samples":    "a row holds more samples than allowed",
	"sample_index":   "a row does not name one sample for each segment",
	"sample_twice":   "a sample is in more than one place",
	"sample_lost":    "a sample of the source is neither in the rows nor left out by a rule",
	"sample_changed": "a sample in the rows is not what the source holds",
	"sample_unknown": "the rows hold a sample that the source does not have, or that a rule leaves out",
	"sources":        "a segment is of another source than its sample",
	"held_out":       "a sample is not in the split in which it has to be",
	"mixture":        "what the manifest says of a source is not what the source and the weights give",
	"counts":         "the manifest's counts are not those of the rows",
	"ledger":         "the ledger does not balance, or is not what the source and the rules give",
}

// A Report is what was counted and found.
type Report struct {
	Shards     int              `json:"shards"`
	Rows       int64            `json:"rows"`
	Segments   int64            `json:"segments"` // pad tails left out
	Samples    int64            `json:"samples"`  // that are in the rows, whole or in part
	Tokens     int64            `json:"tokens"`   // pad tails left out
	Supervised int64            `json:"supervised"`
	Slots      int64            `json:"slots"`     // tokens, pad tails included
	Manifest   bool             `json:"manifest"`  // whether there is one
	Source     bool             `json:"source"`    // whether the samples were compared
	Mixture    bool             `json:"mixture"`   // whether there are several sources, whose samples may be there several times
	Unchecked  []string         `json:"unchecked"` // what could not be checked, since the manifest or the columns do not say enough
	Wrong      int64            `json:"wrong"`     // faults in all
	Reasons    map[string]int64 `json:"reasons"`   // faults by reason
	Faults     []Fault          `json:"faults"`    // the first of them: shard by shard, then samples, then the ledger
}

// OK reports whether no fault was found.
func (r *Report) OK() bool { return r.Wrong == 0 }

// Dir checks the data set in dir. The error says why it could not be checked, or is that of the source; what is wrong with the data is
// in the report, which is the same whenever the files are. Without a manifest it checks the rows for what they show by themselves.
func Dir(ctx context.Context, dir string, o Options) (*Report, error) {
	if o.Faults <= 0 {
		o.Faults = 10
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a directory", dir)
	}
	c := &checker{
		dir:      dir,
		faults:   newFaults(o.Faults),
		r:        &Report{Source: o.Source != nil || o.Sources != nil, Unchecked: []string{}},
		register: &register{pages: map[int64]uint32{}},
		seeds:    [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	var wrong error
	switch c.m, wrong, err = readManifest(filepath.Join(dir, manifestName)); {
	case wrong != nil:
		c.add("manifest", manifestName, "%v", wrong)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	c.r.Manifest = c.m != nil
	c.setRules()
	if c.r.Source {
		if err := c.comparable(&o); err != nil {
			return nil, fmt.Errorf("%s %w", dir, err)
		}
	}
	if err := c.rows(ctx); err != nil {
		return nil, err
	}
	c.shares()
	if c.r.Source {
		if err := c.compare(ctx, &o); err != nil {
			return nil, err
		}
	}
	if err := c.locate(ctx); err != nil {
		return nil, err
	}
	c.finish()
	return c.r, nil
}

// faults are counted and the first of them kept.
type faults struct {
	most    int
	wrong   int64
	reasons map[string]int64
	list    []Fault
}

func newFaults(most int) faults {
	return faults{most: most, reasons: map[string]int64{}, list: []Fault{}}
}

// put adds a fault.
func (f *faults) put(fault Fault) {
	f.wrong++
	f.reasons[fault.Reason]++
	if len(f.list) < f.most {
		f.list = append(f.list, fault)
	}
}

// add adds a fault that is about no row.
func (f *faults) add(reason, file, format string, args ...any) {
	f.put(Fault{reason, file, -1, -1, fmt.Sprintf(format, args...)})
}

// join adds the faults of g after those of f.
func (f *faults) join(g *faults) {
	f.wrong += g.wrong
	for reason, n := range g.reasons {
		f.reasons[reason] += n
	}
	f.list = append(f.list, g.list[:min(len(g.list), f.most-len(f.list))]...)
}

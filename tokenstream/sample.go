package tokenstream

import (
	"fmt"
	"iter"
	"slices"
)

// Ignore is the label of a token that the model is not trained to predict.
const Ignore = -100

// A Sample is one tokenized example.
type Sample struct {
	ID     string  // the source's own name for it, or ""
	Key    string  // the value of the field by which the source was asked to group samples, or ""
	Number int64   // its number in the whole source, from 1; 0: samples are numbered as they come
	Tokens []int32 // token ids
	Labels []int32 // unshifted: Labels[i] is Ignore or what the model shall predict at i, from the tokens before it; nil: every token
	Place  Place   // where it was read
}

// Source returns which of n sources s is of, from 0. The samples of several sources are numbered in turns: sample k, from 0, of source i has
// the Number k*n + i + 1.
func (s *Sample) Source(n int) int { return int((s.Number - 1) % int64(n)) }

// A Source is a sequence of samples. The first error is its last pair. A sample's slices are valid until the next iteration;
// [Sample.Clone] keeps them. A source acquires what it needs when ranged over and releases it before it returns, also when the
// consumer stops early. Unless it says otherwise it can be ranged over once.
type Source = iter.Seq2[Sample, error]

// Clone returns a copy of s that shares no memory with it.
func (s Sample) Clone() Sample {
	s.Tokens = slices.Clone(s.Tokens)
	s.Labels = slices.Clone(s.Labels)
	return s
}

// A Place is where a sample comes from, for error messages and the ledger.
type Place struct {
	Name string // the file, as its reader was given it; "" if there is none
	Row  int64  // the line or row in it, from 1; 0 if unknown
}

// String returns "name:row", "name" or "sample".
func (p Place) String() string {
	switch {
	case p.Name == "" && p.Row == 0:
		return "sample"
	case p.Row == 0:
		return p.Name
	case p.Name == "":
		return fmt.Sprintf("row %d", p.Row)
	}
	return fmt.Sprintf("%s:%d", p.Name, p.Row)
}

// An Input is what is on record of a file that samples were read from.
type Input struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"` // of the whole file; "" if it was not read to its end
}

// An InputError is a sample, line or file that is not what it claims to be.
type InputError struct {
	Place Place
	Field string // the column or JSON key at fault, with an index such as "input_ids[3]"; "" if none
	Err   error  // what was found and what is allowed
}

func (e *InputError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%v: %v", e.Place, e.Err)
	}
	return fmt.Sprintf("%v: %s: %v", e.Place, e.Field, e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

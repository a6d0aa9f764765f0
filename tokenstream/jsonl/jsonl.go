// Package jsonl reads tokenized samples from JSON lines.
//
// A line is an object: input_ids, a list of token ids, and at most one statement of what is to be learnt: labels (unshifted, -100 where
// nothing is), or one or more masks of 0 and 1 (or false and true), of which a token needs a 1 in every one. An attention_mask marks
// padding by 0, at either end; padding is stripped, also from labels and masks. A null stands for an absent key, but not for input_ids.
// The string or integer under id names the sample. position_ids may be there if they count the one sample through. Other keys are
// skipped. Blank lines are skipped too. Text may be plain, gzip or zstd, which is told by its content.
//
// What is not exactly that is refused with the file, the line, the key and the place in it: numbers with a fraction or an exponent,
// strings, lists of lists, null elements, lists of different lengths, keys that stand twice, and rows that are packed already.
// Whether ids and labels are in range is for [tokenstream.Pack] to say.
package jsonl

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// Options say how lines are read. The zero value is the default.
type Options struct {
	tokenstream.Fields

	Name         string // the file's name, for errors and the ledger
	MaxLineBytes int    // longest line; 0 is 256 MiB. A line takes a few times its length in memory
	Workers      int    // goroutines that parse; 0 is runtime.GOMAXPROCS(0), 1 parses without a goroutine

	roles      map[string]columns.Role
	blockBytes int  // of text parsed at a time; 0 is 1 MiB
	noScan     bool // every line goes the way of encoding/json
}

// setDefaults fills in what was left to the defaults and returns an error if an option is out of its range.
func (o *Options) setDefaults() (err error) {
	switch {
	case o.MaxLineBytes < 0:
		return fmt.Errorf("longest line of %d bytes: want at least 1, or 0 for the default", o.MaxLineBytes)
	case o.Workers < 0:
		return fmt.Errorf("%d workers: want at least 1, or 0 for the default", o.Workers)
	}
	if o.MaxLineBytes == 0 {
		o.MaxLineBytes = 256 << 20
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.blockBytes == 0 {
		o.blockBytes = 1 << 20
	}
	o.roles, err = columns.Roles(&o.Fields)
	return err
}

// Read returns the samples of r, in order, whatever the number of workers. An error that has a place is a [*tokenstream.InputError]. The
// source can be ranged over once and does not close r. A text without a sample is a source without samples.
func Read(r io.Reader, o Options) tokenstream.Source {
	err := o.setDefaults()
	return func(yield func(tokenstream.Sample, error) bool) {
		if err != nil {
			yield(tokenstream.Sample{}, err)
			return
		}
		text, closeText, err := decompress(r)
		if err != nil {
			yield(tokenstream.Sample{}, &tokenstream.InputError{Place: tokenstream.Place{Name: o.Name}, Err: err})
			return
		}
		defer closeText()
		d := &delivery{o: &o, yield: yield, unused: map[string]bool{}}
		blocks := blockReader{r: text, o: &o}
		if o.Workers == 1 {
			p := newParser(&o)
			b := new(block)
			for blocks.next(b) {
				p.parse(b)
				if !d.deliver(b) {
					return
				}
			}
			return
		}
		parallel(&blocks, &o, d.deliver)
	}
}

// delivery yields the samples of blocks.
type delivery struct {
	o      *Options
	yield  func(tokenstream.Sample, error) bool
	lines  int64 // of the blocks before
	unused map[string]bool
}

// maxUnused bounds the memory that the keys of a hostile file can take.
const maxUnused = 1000

// deliver yields the samples of b and then its error, if it has one, and reports whether to go on.
func (d *delivery) deliver(b *block) bool {
	for _, key := range b.unused {
		if !d.unused[key] && len(d.unused) < maxUnused {
			d.unused[key] = true
			if d.o.Unused != nil {
				d.o.Unused(key)
			}
		}
	}
	names := string(b.names)
	t, l, n := 0, 0, 0
	for _, e := range b.samples {
		s := tokenstream.Sample{
			ID: names[n:e.id], Key: names[e.id:e.key], Tokens: b.tokens[t:e.tokens:e.tokens],
			Place: tokenstream.Place{Name: d.o.Name, Row: d.lines + e.line},
		}
		if e.labelled {
			s.Labels = b.labels[l:e.labels:e.labels]
		}
		t, l, n = e.tokens, e.labels, e.key
		if !d.yield(s, nil) {
			return false
		}
	}
	if b.err != nil {
		var at *tokenstream.InputError
		if !errors.As(b.err, &at) {
			at = &tokenstream.InputError{Err: b.err}
		}
		at.Place = tokenstream.Place{Name: d.o.Name, Row: d.lines + b.errLine}
		d.yield(tokenstream.Sample{}, at)
		return false
	}
	d.lines += b.lines
	return true
}

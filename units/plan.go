// Package units splits a packing job into units of work, for whatever runs many processes on many machines: a batch system, a workflow
// engine, or goroutines.
//
// A [Plan] freezes the inputs and says which parts of them each unit reads. [Plan.Run] runs one unit: it depends on the plan and the job
// alone and may be run twice, killed or run somewhere else, with the same bytes. [Plan.Finish] makes the data set of all of them, and
// [Plan.Missing] says which still have to be run. All of them see the inputs and the directory of the data set by the same paths.
//
// A unit packs by itself: each ends with rows that could be fuller, so units want to be large. It reads parts from all over the inputs,
// in an order by a seed, so that inputs which are sorted by length do not leave a unit with nothing but long samples.
package units

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/source"
)

// Version is the version of the plans that this package writes and reads.
const Version = 1

// A Plan says what the units of a job read.
type Plan struct {
	Version  int                 `json:"version"`
	Units    int                 `json:"units"`
	Digest   string              `json:"digest"`             // of the inputs and of what each unit reads
	Samples  int64               `json:"samples"`            // of all units
	Tokens   int64               `json:"tokens"`             // of all units, estimated
	Settings map[string]string   `json:"settings,omitempty"` // for whoever made the plan
	Inputs   []tokenstream.Input `json:"inputs"`             // with absolute paths

	parts [][]Part // by unit; nil for a unit that was not read from the file
}

// A Part is a part of an input.
type Part struct {
	Input   int    `json:"input"` // index of the input
	From    int64  `json:"from"`  // bytes; row groups of Parquet; a part of another file that is no plain text is the whole of it
	To      int64  `json:"to"`    //
	Groups  bool   `json:"groups,omitempty"`
	Line    int64  `json:"line"`    // lines of the input before it; 0 in a whole file
	Lines   int64  `json:"lines"`   // in it
	First   int64  `json:"first"`   // samples of all inputs before it
	Samples int64  `json:"samples"` // in it
	Weight  int64  `json:"weight"`  // proportional to its tokens, or nearly so
	CRC     uint32 `json:"crc"`     // of its bytes, CRC-32C; 0 of a whole file
}

// Options say how a plan is made.
type Options struct {
	Units    int               // how many; at least 1
	Seed     uint64            // of the order of the parts
	Source   source.Options    // how inputs are read
	Workers  int               // goroutines; 0 is runtime.GOMAXPROCS(0). The plan does not depend on it
	Settings map[string]string // recorded as it is
}

const (
	partsPerUnit = 16       // so that a unit is a fair sample of its inputs
	minPart      = 64 << 10 // bytes; less would be spent on opening files
)

// New makes a plan for the inputs that args name, as for [source.Open]. It reads all of them once, JSON lines without parsing them.
func New(ctx context.Context, args []string, o Options) (*Plan, error) {
	if o.Units < 1 {
		return nil, fmt.Errorf("%d units: want 1 or more", o.Units)
	}
	files, err := source.Open(args, o.Source)
	if err != nil {
		return nil, err
	}
	p := &Plan{Version: Version, Units: o.Units, Settings: o.Settings, Inputs: files.Inputs()}
	total := int64(0)
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if in.Path == "-" || in.Size == 0 {
			return nil, fmt.Errorf("%s: a plan needs files, which can be read again", in.Path)
		}
		if in.Path, err = filepath.Abs(in.Path); err != nil {
			return nil, err
		}
		total += in.Size
	}
	var withSamples []int // inputs
	for _, path := range files.Paths() {
		withSamples = append(withSamples, slices.IndexFunc(files.Inputs(), func(in tokenstream.Input) bool { return in.Path == path }))
	}
	parts, err := p.measure(ctx, withSamples, max(minPart, total/int64(o.Units)/partsPerUnit), o)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i].First = p.Samples
		p.Samples += parts[i].Samples
	}
	switch {
	case p.Samples == 0:
		return nil, tokenstream.ErrNoSamples
	case len(parts) < o.Units:
		return nil, fmt.Errorf("%d units: the inputs have %d parts of 64 KiB or more: want at most that many units", o.Units, len(parts))
	}
	if p.Tokens, err = p.estimate(parts, o.Source); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(o.Seed, 0x756e697473))
	r.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
	p.cut(parts)
	p.Digest, err = p.digest()
	return p, err
}

// cut gives the parts to units, in their order, so that all units weigh about the same.
func (p *Plan) cut(parts []Part) {
	total := int64(0)
	for _, q := range parts {
		total += q.Weight
	}
	p.parts = make([][]Part, p.Units)
	at, done := 0, int64(0)
	for u := range p.parts {
		from := at
		end := float64(total) / float64(p.Units) * float64(u+1)
		for at < len(parts)-(p.Units-u-1) && (at == from || float64(done)+float64(parts[at].Weight)/2 <= end) {
			done += parts[at].Weight
			at++
		}
		if u == p.Units-1 {
			at = len(parts)
		}
		p.parts[u] = parts[from:at:at]
	}
}

// estimate returns about how many tokens the parts have, from those of one part and the weights of all.
func (p *Plan) estimate(parts []Part, o source.Options) (int64, error) {
	if len(parts) == 0 {
		return 0, nil
	}
	q := &parts[len(parts)/2]
	tokens, weight := int64(0), int64(0)
	for s, err := range p.read([]Part{*q}, o) {
		if err != nil {
			return 0, err
		}
		tokens += int64(len(s.Tokens))
	}
	for _, q := range parts {
		weight += q.Weight
	}
	return int64(float64(weight) / float64(q.Weight) * float64(tokens)), nil
}

// digest returns the sha256 of the inputs and the parts.
func (p *Plan) digest() (string, error) {
	h := sha256.New()
	e := json.NewEncoder(h)
	err := e.Encode(p.Inputs)
	for _, parts := range p.parts {
		err = errors.Join(err, e.Encode(parts))
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// Parts returns what a unit reads.
func (p *Plan) Parts(unit int) []Part { return p.parts[unit] }

// WriteFile writes the plan to path: a line of JSON with the plan, and one for each unit with its parts. The file appears whole or not
// at all.
func (p *Plan) WriteFile(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	e := json.NewEncoder(w)
	err = e.Encode(p)
	for _, parts := range p.parts {
		err = errors.Join(err, e.Encode(parts))
	}
	if err := errors.Join(err, w.Flush(), file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// ReadFile reads a plan. The parts of units are read only for those that are asked for.
func ReadFile(path string, units ...int) (*Plan, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<20)
	p := new(Plan)
	if err := readLine(r, p); err != nil {
		return nil, fmt.Errorf("%s: line 1: not a plan: %w", path, err)
	}
	switch {
	case p.Version != Version:
		return nil, fmt.Errorf("%s: version %d: want %d", path, p.Version, Version)
	case p.Units < 1 || p.Units > 1<<40:
		return nil, fmt.Errorf("%s: %d units: want 1 or more", path, p.Units)
	}
	want := map[int]bool{}
	last := -1
	for _, u := range units {
		if u < 0 || u >= p.Units {
			return nil, fmt.Errorf("%s: unit %d: want 0..%d", path, u, p.Units-1)
		}
		want[u] = true
		last = max(last, u)
	}
	p.parts = make([][]Part, last+1)
	for u := 0; u <= last; u++ {
		if !want[u] {
			if err := skipLine(r); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", path, u+2, err)
			}
			continue
		}
		if err := readLine(r, &p.parts[u]); err != nil {
			return nil, fmt.Errorf("%s: line %d: not the parts of unit %d: %w", path, u+2, u, err)
		}
		for _, q := range p.parts[u] {
			if q.Input < 0 || q.Input >= len(p.Inputs) || q.From < 0 || q.To < q.From || q.To > p.Inputs[q.Input].Size {
				return nil, fmt.Errorf("%s: line %d: unit %d reads bytes %d..%d of input %d, which are not there", path, u+2, u, q.From, q.To, q.Input)
			}
		}
	}
	return p, nil
}

func readLine(r *bufio.Reader, v any) error {
	b, err := r.ReadBytes('\n')
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

func skipLine(r *bufio.Reader) error {
	for {
		switch _, err := r.ReadSlice('\n'); err {
		case bufio.ErrBufferFull:
		case io.EOF:
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
}

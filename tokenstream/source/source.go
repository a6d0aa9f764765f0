// Package source reads tokenized samples from files as they come: it finds the files, tells their format by their content, and keeps
// account of what was read.
package source

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/jsonl"
)

// Options say how files are read.
type Options struct {
	JSONL jsonl.Options // how JSON lines are read; Name is set for each file
	Stdin io.Reader     // what "-" reads; nil is os.Stdin
}

// Files is a list of inputs that are read one after another, as one source.
type Files struct {
	inputs []tokenstream.Input
	stream map[string]bool // inputs whose size is not known beforehand: standard input, pipes
	o      Options
	read   atomic.Int64
}

// Open finds the inputs that args name: files, directories (every file below them whose name ends like that of a format) and patterns,
// sorted so that shard-2 comes before shard-10, and "-" for standard input. Every file must be there and readable.
func Open(args []string, o Options) (*Files, error) {
	paths, err := expand(args)
	if err != nil {
		return nil, err
	}
	f := &Files{o: o, stream: map[string]bool{"-": true}}
	seen := map[string]bool{}
	for _, p := range paths {
		if clean := filepath.Clean(p); seen[clean] {
			return nil, fmt.Errorf("%s is named twice", p)
		} else {
			seen[clean] = true
		}
		in := tokenstream.Input{Path: p}
		if p != "-" {
			info, err := os.Stat(p)
			if err != nil {
				return nil, err
			}
			f.stream[p] = !info.Mode().IsRegular()
			if !f.stream[p] && info.Size() == 0 {
				return nil, &tokenstream.InputError{Place: tokenstream.Place{Name: p}, Err: errors.New("the file is empty")}
			}
			in.Size = info.Size()
		}
		f.inputs = append(f.inputs, in)
	}
	return f, nil
}

// Inputs returns what is on record so far: paths and sizes, and the hash of what has been read whole.
func (f *Files) Inputs() []tokenstream.Input { return slices.Clone(f.inputs) }

// Same returns an error if the inputs are not those on record. It reads all of them.
func (f *Files) Same(record []tokenstream.Input) error {
	for i := range f.inputs {
		in := &f.inputs[i]
		r, closeInput, err := f.open(in)
		if err != nil {
			return err
		}
		m := &meter{r: r, total: &f.read, hash: sha256.New()}
		_, err = io.Copy(io.Discard, m)
		if err = errors.Join(err, closeInput()); err != nil {
			return err
		}
		in.Size, in.SHA256 = m.n, hex.EncodeToString(m.hash.Sum(nil))
		if i >= len(record) || record[i] != *in {
			return fmt.Errorf("%s is not what it was", in.Path)
		}
	}
	return nil
}

// open opens an input.
func (f *Files) open(in *tokenstream.Input) (io.Reader, func() error, error) {
	if in.Path != "-" {
		file, err := os.Open(in.Path)
		if err != nil {
			return nil, nil, err
		}
		return file, file.Close, nil
	}
	r := f.o.Stdin
	if r == nil {
		r = os.Stdin
	}
	return r, func() error { return nil }, nil
}

// Size returns the bytes of all inputs, or 0 if they are not known beforehand.
func (f *Files) Size() int64 {
	n := int64(0)
	for _, in := range f.inputs {
		if f.stream[in.Path] {
			return 0
		}
		n += in.Size
	}
	return n
}

// BytesRead returns how many bytes have been read so far, compressed ones where the inputs are compressed. It may be called while the
// source is ranged over.
func (f *Files) BytesRead() int64 { return f.read.Load() }

// Samples returns the samples of all inputs, numbered through.
func (f *Files) Samples() tokenstream.Source {
	var sources []tokenstream.Source
	for i := range f.inputs {
		sources = append(sources, f.samples(&f.inputs[i]))
	}
	return tokenstream.Concat(sources...)
}

// samples returns the samples of one input.
func (f *Files) samples(in *tokenstream.Input) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		name := in.Path
		if name == "-" {
			name = "stdin"
		}
		r, closeInput, err := f.open(in)
		if err != nil {
			yield(tokenstream.Sample{}, err)
			return
		}
		defer closeInput()
		m := &meter{r: r, total: &f.read, hash: sha256.New()}
		buffered := bufio.NewReaderSize(m, 1<<20)
		if err := refuse(buffered, name); err != nil {
			yield(tokenstream.Sample{}, err)
			return
		}
		o := f.o.JSONL
		o.Name = name
		for s, err := range jsonl.Read(buffered, o) {
			if !yield(s, err) || err != nil {
				return
			}
		}
		if !f.stream[in.Path] && m.n != in.Size {
			yield(tokenstream.Sample{}, &tokenstream.InputError{Place: tokenstream.Place{Name: name}, Err: fmt.Errorf("the file had %d bytes and now has %d", in.Size, m.n)})
			return
		}
		in.Size, in.SHA256 = m.n, hex.EncodeToString(m.hash.Sum(nil))
	}
}

// refuse returns an error if r, by its first bytes, is a file of a format that is not read.
func refuse(r *bufio.Reader, name string) error {
	head, _ := r.Peek(8)
	for _, f := range []struct{ magic, name string }{{"PAR1", "a Parquet file"}, {"ARROW1", "an Arrow file"}, {"\xff\xff\xff\xff", "an Arrow stream"}} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return &tokenstream.InputError{Place: tokenstream.Place{Name: name}, Err: fmt.Errorf("this is %s: want JSON lines, plain, gzip or zstd", f.name)}
		}
	}
	return nil
}

// meter counts and hashes what is read through it.
type meter struct {
	r     io.Reader
	total *atomic.Int64
	hash  hash.Hash
	n     int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.hash.Write(p[:n])
	m.n += int64(n)
	m.total.Add(int64(n))
	return n, err
}

// Package source reads tokenized samples from files as they come: it finds the files, tells their format by their content, and keeps
// account of what was read.
//
// The formats are JSON lines (plain, gzip, zstd), Parquet, Arrow files and streams, the folders of datasets.save_to_disk, the indexed
// data sets of Megatron (name the .idx; the .bin is beside it), and arrays of NumPy: NAME.npy, with NAME.offsets.npy beside it if it has
// one dimension, and NAME.labels.npy if there is one. See the packages of the formats.
package source

import (
	"context"
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
)

// Options say how files are read. The zero value is the default.
type Options struct {
	tokenstream.Fields // of the formats that have names

	Stdin        io.Reader // what "-" reads; nil is os.Stdin
	Split        string    // which split of a save_to_disk folder; "" if it has one only
	Workers      int       // goroutines that parse JSON lines; 0 is runtime.GOMAXPROCS(0)
	MaxLineBytes int       // longest line of JSON; 0 is 256 MiB
}

// Files is a list of inputs that are read one after another, as one source.
type Files struct {
	entries []entry
	o       Options
	read    atomic.Int64
}

// entry is a file with samples and those that belong to it.
type entry struct {
	tokenstream.Input
	arg    int  // which of Open's arguments named it
	stream bool // its size is not known beforehand: standard input, a pipe
	format format
	beside []tokenstream.Input // as the format needs them
}

// Open finds the inputs that args name: files, directories (every file below them whose name ends like that of a format), patterns,
// sorted so that shard-2 comes before shard-10, and "-" for standard input. Every file must be there and readable.
func Open(args []string, o Options) (*Files, error) {
	paths, of, err := expand(args, o.Split)
	if err != nil {
		return nil, err
	}
	f := &Files{o: o}
	seen := map[string]bool{}
	for i, p := range paths {
		e := entry{Input: tokenstream.Input{Path: p}, arg: of[i], stream: true}
		if p != "-" {
			if err := e.open(); err != nil {
				return nil, err
			}
		}
		for _, in := range append([]tokenstream.Input{e.Input}, e.beside...) {
			clean := filepath.Clean(in.Path)
			if seen[clean] {
				return nil, fmt.Errorf("%s is named twice", in.Path)
			}
			seen[clean] = true
		}
		f.entries = append(f.entries, e)
	}
	return f, nil
}

// open finds out what the file is and what belongs to it.
func (e *entry) open() error {
	info, err := os.Stat(e.Path)
	if err != nil {
		return err
	}
	if e.stream = !info.Mode().IsRegular(); e.stream {
		return nil
	}
	if info.Size() == 0 {
		return &tokenstream.InputError{Place: tokenstream.Place{Name: e.Path}, Err: errors.New("the file is empty")}
	}
	e.Size = info.Size()
	if e.format, err = detect(e.Path); err != nil {
		return err
	}
	names, err := e.format.beside(e.Path)
	if err != nil {
		return err
	}
	for _, p := range names {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		e.beside = append(e.beside, tokenstream.Input{Path: p, Size: info.Size()})
	}
	return nil
}

// Paths returns the files with samples, "-" for standard input, without those that only belong to them.
func (f *Files) Paths() []string {
	var list []string
	for _, e := range f.entries {
		list = append(list, e.Path)
	}
	return list
}

// Inputs returns what is on record so far: paths and sizes, and the hash of what has been read whole.
func (f *Files) Inputs() []tokenstream.Input {
	var list []tokenstream.Input
	for _, e := range f.entries {
		list = append(append(list, e.Input), e.beside...)
	}
	return list
}

// Same returns an error if the inputs are not those on record. It reads all of them.
func (f *Files) Same(record []tokenstream.Input) error {
	for i := range f.entries {
		e := &f.entries[i]
		r, closeInput, err := f.openInput(e.Path)
		if err != nil {
			return err
		}
		m := &meter{r: r, total: &f.read, hash: sha256.New()}
		_, err = io.Copy(io.Discard, m)
		if err = errors.Join(err, closeInput()); err != nil {
			return err
		}
		m.record(&e.Input)
		for k := range e.beside {
			if err := hashFile(context.Background(), &e.beside[k]); err != nil {
				return err
			}
		}
	}
	for i, in := range f.Inputs() {
		if i >= len(record) || record[i] != in {
			return fmt.Errorf("%s is not what it was", in.Path)
		}
	}
	return nil
}

// openInput opens an input.
func (f *Files) openInput(path string) (io.Reader, func() error, error) {
	if path != "-" {
		file, err := os.Open(path)
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
	for _, e := range f.entries {
		if e.stream {
			return 0
		}
		n += e.Size
	}
	return n
}

// BytesRead returns how many bytes have been read so far, compressed ones where the inputs are compressed. It may be called while the
// source is ranged over.
func (f *Files) BytesRead() int64 { return f.read.Load() }

// Samples returns the samples of all inputs, numbered through. They can be read again, unless [Files.Once] names an input.
func (f *Files) Samples() tokenstream.Source {
	return f.of(func(int) bool { return true })
}

// SamplesOf returns the samples of the inputs that some arguments of [Open] named, by their places from 0, numbered through. The samples of
// several arguments can be read at the same time, by one goroutine.
func (f *Files) SamplesOf(args ...int) tokenstream.Source {
	return f.of(func(arg int) bool { return slices.Contains(args, arg) })
}

func (f *Files) of(named func(arg int) bool) tokenstream.Source {
	var sources []tokenstream.Source
	for i := range f.entries {
		if named(f.entries[i].arg) {
			sources = append(sources, f.samples(&f.entries[i]))
		}
	}
	return tokenstream.Concat(sources...)
}

// Once returns the first input that some arguments named and that can be read only once, such as standard input; "" if there is none.
func (f *Files) Once(args ...int) string {
	for _, e := range f.entries {
		if e.stream && slices.Contains(args, e.arg) {
			return e.Path
		}
	}
	return ""
}

// samples returns the samples of one input.
func (f *Files) samples(e *entry) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		name := e.Path
		if name == "-" {
			name = "stdin"
		}
		fail := func(err error) { yield(tokenstream.Sample{}, err) }
		r, closeInput, err := f.openInput(e.Path)
		if err != nil {
			fail(err)
			return
		}
		defer closeInput()
		var src tokenstream.Source
		var done func() error // after the last sample
		if file, ok := r.(*os.File); ok && e.format.random() && !e.stream {
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			src, done = f.random(ctx, e, file, name)
		} else {
			src, done = f.sequential(e, r, name)
		}
		for s, err := range src {
			if !yield(s, err) || err != nil {
				return
			}
		}
		if err := done(); err != nil {
			fail(err)
		}
	}
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

// record notes what was read.
func (m *meter) record(in *tokenstream.Input) {
	in.Size, in.SHA256 = m.n, hex.EncodeToString(m.hash.Sum(nil))
}

// same notes what was read of an input, and returns an error if it was read before and was something else.
func (e *entry) same(now []tokenstream.Input) error {
	for i, in := range append([]tokenstream.Input{e.Input}, e.beside...) {
		if in.SHA256 != "" && in.SHA256 != now[i].SHA256 {
			return &tokenstream.InputError{Place: tokenstream.Place{Name: in.Path}, Err: errors.New("it is not what it was when it was read before")}
		}
	}
	e.Input = now[0]
	copy(e.beside, now[1:])
	return nil
}

// hashFile notes the size and the hash of a file.
func hashFile(ctx context.Context, in *tokenstream.Input) error {
	file, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	m := &meter{r: file, total: new(atomic.Int64), hash: sha256.New()}
	for {
		_, err := io.CopyN(io.Discard, m, 16<<20)
		switch {
		case err == io.EOF:
			m.record(in)
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// changed returns an error for an input that has another size now.
func changed(name string, was, is int64) error {
	return &tokenstream.InputError{Place: tokenstream.Place{Name: name}, Err: fmt.Errorf("the file had %d bytes and now has %d", was, is)}
}

package units

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/jsonl"
	"github.com/brimful/brimful/tokenstream/parquet"
	"github.com/brimful/brimful/tokenstream/source"
)

// Source returns the samples of a unit. A sample's Number is that in the whole source. Inputs that are not what they were when the plan
// was made are an error.
func (p *Plan) Source(unit int, o source.Options) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		parts := p.parts[unit]
		for len(parts) > 0 {
			n := 1
			for plain(parts[0]) && n < len(parts) && plain(parts[n]) { // one reader for all of them
				n++
			}
			for s, err := range p.read(parts[:n], o) {
				if !yield(s, err) || err != nil {
					return
				}
			}
			parts = parts[n:]
		}
	}
}

// plain reports whether a part is some lines rather than a whole file.
func plain(q Part) bool { return q.Lines > 0 }

// changed returns an error for an input that is not what it was.
func changed(name, format string, args ...any) error {
	return &tokenstream.InputError{Place: tokenstream.Place{Name: name}, Err: fmt.Errorf("the file is not what it was when the plan was made: "+format, args...)}
}

// read returns the samples of plain parts, or of one that is a whole file.
func (p *Plan) read(parts []Part, o source.Options) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		fail := func(err error) { yield(tokenstream.Sample{}, err) }
		samples, err := p.open(parts, o)
		if err != nil {
			fail(err)
			return
		}
		k, n, lines := 0, int64(0), int64(0) // the part at hand, samples of it so far, lines of all before it
		for s, err := range samples {
			if err != nil {
				fail(p.place(parts, err))
				return
			}
			for n == parts[k].Samples && k+1 < len(parts) {
				lines += parts[k].Lines
				k, n = k+1, 0
			}
			q := &parts[k]
			n++
			s.Number = q.First + n
			if plain(*q) {
				s.Place = tokenstream.Place{Name: p.Inputs[q.Input].Path, Row: s.Place.Row - lines + q.Line}
			}
			if !yield(s, nil) {
				return
			}
		}
		if k != len(parts)-1 || n != parts[k].Samples {
			fail(changed(p.Inputs[parts[k].Input].Path, "it has %d samples from byte %d on where it had %d", n, parts[k].From, parts[k].Samples))
		}
	}
}

// open opens parts as one source, whose places are lines of all plain parts together.
func (p *Plan) open(parts []Part, o source.Options) (tokenstream.Source, error) {
	if plain(parts[0]) {
		return func(yield func(tokenstream.Sample, error) bool) {
			r := &reader{p: p, parts: parts}
			defer r.close()
			jsonl.Read(r, jsonl.Options{Fields: o.Fields, MaxLineBytes: o.MaxLineBytes, Workers: o.Workers})(yield)
		}, nil
	}
	in := p.Inputs[parts[0].Input]
	info, err := os.Stat(in.Path)
	switch {
	case err != nil:
		return nil, err
	case info.Size() != in.Size:
		return nil, changed(in.Path, "it has %d bytes, and had %d", info.Size(), in.Size)
	}
	if q := parts[0]; q.Groups {
		return func(yield func(tokenstream.Sample, error) bool) {
			file, err := os.Open(in.Path)
			if err != nil {
				yield(tokenstream.Sample{}, err)
				return
			}
			defer file.Close()
			r, err := parquet.NewReader(file, in.Size, parquet.ReadOptions{Fields: o.Fields, Name: in.Path})
			if err != nil {
				yield(tokenstream.Sample{}, err)
				return
			}
			r.Part(int(q.From), int(q.To))(yield)
		}, nil
	}
	files, err := source.Open([]string{in.Path}, o)
	if err != nil {
		return nil, err
	}
	return files.Samples(), nil
}

// place sets the place of an error to that in the file.
func (p *Plan) place(parts []Part, err error) error {
	var at *tokenstream.InputError
	if !plain(parts[0]) || !errors.As(err, &at) || at.Place.Row == 0 {
		return err
	}
	var was *tokenstream.InputError
	if errors.As(at.Err, &was) { // of the reader below, which knows better
		return was
	}
	row := at.Place.Row
	for i, q := range parts {
		if row <= q.Lines || i == len(parts)-1 {
			at.Place = tokenstream.Place{Name: p.Inputs[q.Input].Path, Row: row + q.Line}
			break
		}
		row -= q.Lines
	}
	return err
}

// reader reads plain parts one after another, each with a newline at its end, and checks that they are what they were.
type reader struct {
	p     *Plan
	parts []Part
	file  *os.File // nil between two parts
	r     io.Reader
	crc   uint32
	last  byte  // read of the part
	err   error // that Read returned: whoever peeks may ask again
}

func (r *reader) Read(b []byte) (n int, err error) {
	if r.err == nil {
		n, r.err = r.read(b)
	}
	return n, r.err
}

func (r *reader) read(b []byte) (int, error) {
	for {
		if r.file == nil {
			if len(r.parts) == 0 {
				return 0, io.EOF
			}
			if err := r.open(); err != nil {
				return 0, err
			}
		}
		n, err := r.r.Read(b)
		if n > 0 {
			r.crc = crc32.Update(r.crc, castagnoli, b[:n])
			r.last = b[n-1]
			return n, nil
		}
		if err != io.EOF {
			return 0, err
		}
		q := r.parts[0]
		r.parts = r.parts[1:]
		r.close()
		if r.crc != q.CRC {
			return 0, changed(r.p.Inputs[q.Input].Path, "its bytes from %d to %d are others", q.From, q.To)
		}
		if r.last != '\n' && len(b) > 0 {
			b[0] = '\n'
			return 1, nil
		}
	}
}

// open opens the next part.
func (r *reader) open() error {
	q := r.parts[0]
	in := r.p.Inputs[q.Input]
	file, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	r.file, r.crc, r.last = file, 0, 0
	info, err := file.Stat()
	if err == nil && info.Size() != in.Size {
		err = changed(in.Path, "it has %d bytes, and had %d", info.Size(), in.Size)
	}
	if err != nil {
		return err
	}
	r.r = io.NewSectionReader(file, q.From, q.To-q.From)
	if q.From > 0 {
		return nil
	}
	buffered := bufio.NewReader(r.r)
	if head, _ := buffered.Peek(len(byteOrderMark)); string(head) == string(byteOrderMark) {
		_, err = buffered.Discard(len(head))
		r.crc = crc32.Update(0, castagnoli, head)
	}
	r.r = buffered
	return err
}

func (r *reader) close() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

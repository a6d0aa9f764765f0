package tokenstream

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Spool keeps samples in a temporary file, in the order in which they were added.
type Spool struct {
	file *scratch
	w    *bufio.Writer
	buf  []byte
	n    int64
}

// NewSpool makes an empty spool in dir, or in [os.TempDir] if dir is "". Close removes it.
func NewSpool(dir string) (*Spool, error) {
	file, err := newScratch(dir)
	if err != nil {
		return nil, err
	}
	return &Spool{file: file, w: bufio.NewWriterSize(file, 1<<20)}, nil
}

// scratch is a temporary file. Where an open file may lose its name, as on Unix, it loses it at once, so that a process that is killed
// leaves nothing.
type scratch struct {
	*os.File
	named bool
}

func newScratch(dir string) (*scratch, error) {
	file, err := os.CreateTemp(dir, "brimful-spool-*")
	if err != nil {
		return nil, err
	}
	return &scratch{file, os.Remove(file.Name()) != nil}, nil
}

func (s *scratch) Close() error {
	err := s.File.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.Name()))
	}
	return err
}

// Len returns the number of samples added.
func (sp *Spool) Len() int64 { return sp.n }

// Add adds a copy of s.
func (sp *Spool) Add(s Sample) error {
	b := sp.buf[:0]
	for _, text := range []string{s.ID, s.Key, s.Place.Name} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	b = binary.AppendVarint(b, s.Place.Row)
	b = binary.AppendVarint(b, s.Number)
	b = binary.AppendUvarint(b, uint64(len(s.Tokens)))
	labels := uint64(0) // their number and one, so that nil is told from none
	if s.Labels != nil {
		labels = uint64(len(s.Labels)) + 1
	}
	b = binary.AppendUvarint(b, labels)
	for _, v := range s.Tokens {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	for _, v := range s.Labels {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	sp.buf = b
	sp.n++
	if _, err := sp.w.Write(b); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// Source yields the samples from the first on. It can be ranged over again and again, but not while samples are added.
func (sp *Spool) Source() Source {
	return func(yield func(Sample, error) bool) {
		err := sp.w.Flush()
		if err == nil {
			_, err = sp.file.Seek(0, io.SeekStart)
		}
		if err != nil {
			yield(Sample{}, fmt.Errorf("spool: %w", err))
			return
		}
		r := &spoolReader{r: bufio.NewReaderSize(sp.file, 1<<20)}
		for range sp.n {
			s := r.sample()
			if r.err != nil {
				yield(Sample{}, fmt.Errorf("spool: %w", r.err))
				return
			}
			if !yield(s, nil) {
				break
			}
		}
		if _, err := sp.file.Seek(0, io.SeekEnd); err != nil {
			yield(Sample{}, fmt.Errorf("spool: %w", err))
		}
	}
}

// Close removes the file.
func (sp *Spool) Close() error { return sp.file.Close() }

// spoolReader decodes what Add wrote. After an error everything is zero.
type spoolReader struct {
	r              *bufio.Reader
	tokens, labels []int32
	buf            []byte
	err            error
}

func (r *spoolReader) sample() Sample {
	s := Sample{ID: r.text(), Key: r.text()}
	s.Place.Name = r.text()
	s.Place.Row = r.varint()
	s.Number = r.varint()
	tokens, labels := r.uvarint(), r.uvarint()
	r.tokens = r.ints(r.tokens[:0], tokens)
	s.Tokens = r.tokens
	if labels > 0 {
		r.labels = r.ints(r.labels[:0], labels-1)
		if s.Labels = r.labels; s.Labels == nil {
			s.Labels = []int32{}
		}
	}
	return s
}

func (r *spoolReader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(r.r)
	r.err = err
	return v
}

func (r *spoolReader) varint() int64 {
	if r.err != nil {
		return 0
	}
	v, err := binary.ReadVarint(r.r)
	r.err = err
	return v
}

func (r *spoolReader) text() string {
	n := r.uvarint()
	r.fill(n)
	return string(r.buf)
}

func (r *spoolReader) ints(dst []int32, n uint64) []int32 {
	r.fill(4 * n)
	return decode(dst, r.buf)
}

// fill reads the next n bytes into buf.
func (r *spoolReader) fill(n uint64) {
	r.buf = r.buf[:0]
	if r.err != nil || n == 0 {
		return
	}
	if uint64(cap(r.buf)) < n {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	_, r.err = io.ReadFull(r.r, r.buf)
}

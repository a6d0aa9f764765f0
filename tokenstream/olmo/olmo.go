// Package olmo writes rows for OLMo-core: token ids and masks as raw arrays without a header, which it maps into memory.
//
//	DIR/token_ids_part_0000.npy     the ids of all rows one after another, uint16 or uint32, little-endian
//	DIR/labels_mask_part_0000.npy   a byte a token: 1 where its label is not Ignore
//	DIR/token_ids_part_0000.csv.gz  "start,end" of every sample in the part, a line each
//
// OLMo-core cuts the arrays into instances of its sequence length, so that every row has to be as long as that, and finds the samples in
// an instance by the id that ends them. So here a sample has to end with it and must not have it anywhere else.
package olmo

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/brimful/brimful/tokenstream"
)

// Options say how rows are written.
type Options struct {
	Capacity  int   // tokens of every row: the trainer's sequence_length
	EOS       int32 // the id that ends a sample
	VocabSize int   // up to 65536 ids are uint16; 0, which is not known, and above they are uint32
	PartRows  int   // rows in a part; 0 is as many as have 256 Mi tokens
}

const partTokens = 256 << 20

// A Writer is a [tokenstream.Sink].
type Writer struct {
	dir  string
	o    Options
	part *part // nil before the first row and after a part is full
	n    int   // parts begun
	rows int64
}

// part is the three files of a part.
type part struct {
	ids, mask, spans *os.File
	bi, bm           *bufio.Writer
	gz               *gzip.Writer
	at, rows         int
	buf              []byte
}

// NewWriter returns a writer of files in dir, which exists.
func NewWriter(dir string, o Options) (*Writer, error) {
	switch {
	case o.Capacity < 1:
		return nil, fmt.Errorf("olmo: capacity %d: want 1 or more", o.Capacity)
	case o.EOS < 0:
		return nil, fmt.Errorf("olmo: end of a sample %d: want an id", o.EOS)
	case o.PartRows < 0:
		return nil, fmt.Errorf("olmo: part rows %d: want 0 or more", o.PartRows)
	}
	if o.PartRows == 0 {
		o.PartRows = max(1, partTokens/o.Capacity)
	}
	return &Writer{dir: dir, o: o}, nil
}

// Write adds a row.
func (w *Writer) Write(b *tokenstream.Batch) error {
	if err := w.check(b); err != nil {
		return fmt.Errorf("olmo: row %d: %w", w.rows, err)
	}
	if w.part == nil {
		p, err := open(w.dir, w.n)
		if err != nil {
			return err
		}
		w.part = p
		w.n++
	}
	if err := w.part.add(b, w.o.VocabSize > 0 && w.o.VocabSize <= 1<<16); err != nil {
		return err
	}
	w.rows++
	if w.part.rows == w.o.PartRows {
		return w.Close()
	}
	return nil
}

// check returns an error if OLMo-core would not find the samples of b.
func (w *Writer) check(b *tokenstream.Batch) error {
	if len(b.Tokens) != w.o.Capacity {
		return fmt.Errorf("%d tokens: want %d in every row", len(b.Tokens), w.o.Capacity)
	}
	at := 0
	for _, s := range b.Segments {
		if s.Pad > 0 {
			return errors.New("segments are aligned: OLMo-core takes no padding between samples")
		}
		for i, id := range b.Tokens[at : at+int(s.Length)] {
			if last := i == int(s.Length)-1; (id == w.o.EOS) != last {
				if last {
					return fmt.Errorf("sample %d ends with the id %d: want %d, by which OLMo-core finds its end", s.Sample, id, w.o.EOS)
				}
				return fmt.Errorf("sample %d has the id %d at %d of %d: want it at the end only, by which OLMo-core finds the end", s.Sample, id, i, s.Length)
			}
		}
		at += int(s.Length)
	}
	return nil
}

// Close completes the files.
func (w *Writer) Close() error {
	if w.part == nil {
		return nil
	}
	p := w.part
	w.part = nil
	err := errors.Join(p.bi.Flush(), p.bm.Flush(), p.gz.Close())
	for _, f := range []*os.File{p.ids, p.mask, p.spans} {
		err = errors.Join(err, f.Sync(), f.Close())
	}
	return err
}

func open(dir string, n int) (*part, error) {
	p := new(part)
	for _, f := range []struct {
		file *(*os.File)
		name string
	}{{&p.ids, "token_ids_part_%04d.npy"}, {&p.mask, "labels_mask_part_%04d.npy"}, {&p.spans, "token_ids_part_%04d.csv.gz"}} {
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf(f.name, n)))
		if err != nil {
			return nil, err
		}
		*f.file = file
	}
	p.bi, p.bm, p.gz = bufio.NewWriterSize(p.ids, 1<<20), bufio.NewWriterSize(p.mask, 1<<20), gzip.NewWriter(p.spans)
	return p, nil
}

// add writes a row, with ids of two bytes or of four.
func (p *part) add(b *tokenstream.Batch, narrow bool) error {
	p.buf = p.buf[:0]
	for _, id := range b.Tokens {
		if narrow {
			p.buf = binary.LittleEndian.AppendUint16(p.buf, uint16(id))
		} else {
			p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(id))
		}
	}
	if _, err := p.bi.Write(p.buf); err != nil {
		return err
	}
	p.buf = p.buf[:0]
	for _, l := range b.Labels {
		if l == tokenstream.Ignore {
			p.buf = append(p.buf, 0)
		} else {
			p.buf = append(p.buf, 1)
		}
	}
	if _, err := p.bm.Write(p.buf); err != nil {
		return err
	}
	at := p.at
	for _, s := range b.Segments {
		if _, err := io.WriteString(p.gz, fmt.Sprintf("%d,%d\n", at, at+int(s.Length))); err != nil {
			return err
		}
		at += int(s.Length)
	}
	p.at += len(b.Tokens)
	p.rows++
	return nil
}

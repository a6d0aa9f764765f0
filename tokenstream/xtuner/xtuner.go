// Package xtuner writes the plan of a packing without the tokens, for xtuner, which reads the samples from their files by itself.
//
//	DIR/boundaries.npy  int64 [rows+1]: row i has the samples from boundaries[i] up to boundaries[i+1]
//	DIR/samples.npy     int64 [samples, 6]: the file's place in paths.json, the sample's place in the file, -1, -1, its first token, the token behind its last
//	DIR/paths.json      the files
package xtuner

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/brimful/brimful/tokenstream"
)

// A Writer is a [tokenstream.Sink]. Its memory does not grow with the rows.
type Writer struct {
	dir        string
	ledger     *tokenstream.Ledger
	boundaries *array
	samples    *array
	n          int64 // samples written
	first      []int64
}

// NewWriter returns a writer of files in dir, which exists. The ledger is that of [tokenstream.Stats] of the rows: it says how many samples
// were read of which file, and has to be ahead of the rows, as it is where [tokenstream.Pack] fills it.
func NewWriter(dir string, ledger *tokenstream.Ledger) (*Writer, error) {
	boundaries, err := create(filepath.Join(dir, "boundaries.npy"), 0)
	if err != nil {
		return nil, err
	}
	samples, err := create(filepath.Join(dir, "samples.npy"), 6)
	if err != nil {
		return nil, errors.Join(err, boundaries.file.Close())
	}
	return &Writer{dir: dir, ledger: ledger, boundaries: boundaries, samples: samples}, boundaries.add(0)
}

// Write adds a row. A row that has padding or parts that xtuner can't have is an error.
func (w *Writer) Write(b *tokenstream.Batch) error {
	for _, s := range b.Segments {
		if s.Pad > 0 {
			return errors.New("xtuner: segments are aligned: a plan has no padding")
		}
		path, sample, err := w.locate(s.Sample)
		if err != nil {
			return err
		}
		if err := w.samples.add(path, sample, -1, -1, int64(s.Offset), int64(s.Offset)+int64(s.Length)); err != nil {
			return err
		}
		w.n++
	}
	return w.boundaries.add(w.n)
}

// locate returns the file of a sample and its place in it.
func (w *Writer) locate(sample int64) (path, at int64, err error) {
	for k := len(w.first); k < len(w.ledger.Files); k++ { // a file's first sample is known when the file before has been read
		first := int64(0)
		if k > 0 {
			first = w.first[k-1] + w.ledger.Files[k-1].In.Samples
		}
		w.first = append(w.first, first)
	}
	k := sort.Search(len(w.first), func(k int) bool { return w.first[k] > sample }) - 1
	if k < 0 {
		return 0, 0, fmt.Errorf("xtuner: sample %d of no file", sample)
	}
	return int64(k), sample - w.first[k], nil
}

// Close completes the files.
func (w *Writer) Close() error {
	paths := []string{}
	for _, f := range w.ledger.Files {
		path, err := filepath.Abs(f.File)
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	text, err := json.MarshalIndent(paths, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, "paths.json"), append(text, '\n'), 0o644)
	}
	return errors.Join(err, w.boundaries.close(), w.samples.close())
}

// array is an array of int64 in a file, of rows of width values, or of single values if width is 0.
type array struct {
	file  *os.File
	w     *bufio.Writer
	width int
	n     int64 // values
	buf   []byte
}

// headerSize is enough for any shape, so that the header can be written last.
const headerSize = 128

func create(path string, width int) (*array, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	a := &array{file: file, w: bufio.NewWriterSize(file, 1<<20), width: width}
	_, err = a.w.Write(make([]byte, headerSize))
	return a, err
}

func (a *array) add(values ...int64) error {
	a.buf = a.buf[:0]
	for _, v := range values {
		a.buf = binary.LittleEndian.AppendUint64(a.buf, uint64(v))
	}
	a.n += int64(len(values))
	_, err := a.w.Write(a.buf)
	return err
}

// close writes the header of the format's version 1.0 and closes the file.
func (a *array) close() error {
	shape := fmt.Sprintf("(%d,)", a.n)
	if a.width > 0 {
		shape = fmt.Sprintf("(%d, %d)", a.n/int64(a.width), a.width)
	}
	header := fmt.Sprintf("{'descr': '<i8', 'fortran_order': False, 'shape': %s, }", shape)
	text := fmt.Sprintf("\x93NUMPY\x01\x00%c\x00%-*s\n", headerSize-10, headerSize-11, header)
	err := a.w.Flush()
	if err == nil {
		_, err = a.file.WriteAt([]byte(text), 0)
	}
	return errors.Join(err, a.file.Sync(), a.file.Close())
}

package source

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
	"github.com/brimful/brimful/tokenstream/jsonl"
	"github.com/brimful/brimful/tokenstream/megatron"
	"github.com/brimful/brimful/tokenstream/npy"
	"github.com/brimful/brimful/tokenstream/parquet"
)

// format is what a file is, by its first bytes.
type format int

const (
	jsonLines format = iota
	parquetFile
	arrowData // a file or a stream
	megatronIndex
	npyArray
)

// magics are the beginnings of files; what has none of them is JSON lines.
var magics = []struct {
	text   string
	format format
}{{"PAR1", parquetFile}, {"ARROW1", arrowData}, {"\xff\xff\xff\xff", arrowData}, {megatron.Magic, megatronIndex}, {npy.Magic, npyArray}}

// headSize is how many bytes tell a format.
const headSize = 16

func formatOf(head []byte) format {
	for _, m := range magics {
		if strings.HasPrefix(string(head), m.text) {
			return m.format
		}
	}
	return jsonLines
}

// detect returns the format of a file.
func detect(path string) (format, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	return formatOf(head[:n]), nil
}

// random reports whether a format is read here and there in a file, and so not from a stream.
func (f format) random() bool { return f != jsonLines && f != arrowData }

// name is the format in errors.
func (f format) name() string {
	return [...]string{"JSON lines", "a Parquet file", "Arrow data", "an index of Megatron", "a NumPy array"}[f]
}

// beside returns the other files that the one at path needs.
func (f format) beside(path string) ([]string, error) {
	switch f {
	case megatronIndex:
		bin := strings.TrimSuffix(path, ".idx") + ".bin"
		if !strings.HasSuffix(path, ".idx") {
			return nil, fmt.Errorf("%s: an index of Megatron: want its name to end with .idx, and the tokens in a .bin beside it", path)
		}
		return []string{bin}, nil
	case npyArray:
		var found []string
		for _, what := range []string{offsetsEnd, labelsEnd} {
			if p := strings.TrimSuffix(path, ".npy") + what; exists(p) {
				found = append(found, p)
			}
		}
		return found, nil
	}
	return nil, nil
}

// Ends of the names of the arrays beside one of tokens.
const (
	offsetsEnd = ".offsets.npy"
	labelsEnd  = ".labels.npy"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sequential returns the samples of data that are read from the first byte to the last, and what is to do after them.
func (f *Files) sequential(e *entry, r io.Reader, name string) (tokenstream.Source, func() error) {
	m := &meter{r: r, total: &f.read, hash: sha256.New()}
	done := func() error {
		if !e.stream && m.n != e.Size {
			return changed(name, e.Size, m.n)
		}
		now := e.Input
		m.record(&now)
		return e.same([]tokenstream.Input{now})
	}
	return func(yield func(tokenstream.Sample, error) bool) {
		buffered := bufio.NewReaderSize(m, 1<<20)
		head, _ := buffered.Peek(headSize)
		switch is := formatOf(head); is {
		case jsonLines:
			jsonl.Read(buffered, jsonl.Options{Fields: f.o.Fields, Name: name, MaxLineBytes: f.o.MaxLineBytes, Workers: f.o.Workers})(yield)
		case arrowData:
			arrow.Read(buffered, arrow.ReadOptions{Fields: f.o.Fields, Name: name})(yield)
		default:
			yield(tokenstream.Sample{}, &tokenstream.InputError{Place: tokenstream.Place{Name: name},
				Err: fmt.Errorf("this is %s, which can't be read from a stream: name the file", is.name())})
		}
	}, done
}

// random returns the samples of a file that is not read from the first byte to the last, and what is to do after them. The hash is taken
// at the same time, unless ctx ends.
func (f *Files) random(ctx context.Context, e *entry, file *os.File, name string) (tokenstream.Source, func() error) {
	counted := &counter{r: file, f: f, left: e.Size}
	hashed := make(chan error, 1)
	record := append([]tokenstream.Input{e.Input}, e.beside...)
	go func() {
		for i := range record {
			if err := hashFile(ctx, &record[i]); err != nil {
				hashed <- err
				return
			}
		}
		hashed <- nil
	}()
	done := func() error {
		if err := <-hashed; err != nil {
			return err
		}
		for i, in := range append([]tokenstream.Input{e.Input}, e.beside...) {
			if record[i].Size != in.Size {
				return changed(in.Path, in.Size, record[i].Size)
			}
		}
		f.read.Add(counted.left)
		return e.same(record)
	}
	return func(yield func(tokenstream.Sample, error) bool) {
		switch e.format {
		case parquetFile:
			parquet.Read(counted, e.Size, parquet.ReadOptions{Fields: f.o.Fields, Name: name})(yield)
		case megatronIndex:
			f.withFiles(e.beside, func(beside []*os.File) tokenstream.Source {
				return megatron.Read(megatron.Input{ReaderAt: counted, Size: e.Size}, megatron.Input{ReaderAt: beside[0], Size: e.beside[0].Size}, name)
			})(yield)
		case npyArray:
			f.withFiles(e.beside, func(beside []*os.File) tokenstream.Source {
				s := npy.Source{Tokens: npy.File{ReaderAt: counted, Size: e.Size, Name: name}}
				for i, in := range e.beside {
					file := &npy.File{ReaderAt: beside[i], Size: in.Size, Name: in.Path}
					if strings.HasSuffix(in.Path, offsetsEnd) {
						s.Offsets = file
					} else {
						s.Labels = file
					}
				}
				return s.Samples()
			})(yield)
		}
	}, done
}

// withFiles opens files for a source while it is ranged over.
func (f *Files) withFiles(inputs []tokenstream.Input, open func([]*os.File) tokenstream.Source) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		var files []*os.File
		for _, in := range inputs {
			file, err := os.Open(in.Path)
			if err != nil {
				yield(tokenstream.Sample{}, err)
				return
			}
			defer file.Close()
			files = append(files, file)
		}
		open(files)(yield)
	}
}

// counter counts the bytes that are read of a file, each once or nearly so.
type counter struct {
	r    io.ReaderAt
	f    *Files
	left int64 // of the file's size
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.r.ReadAt(p, at)
	k := min(int64(n), c.left)
	c.left -= k
	c.f.read.Add(k)
	return n, err
}

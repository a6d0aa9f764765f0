package jsonl

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// block is a run of whole lines and what they hold.
type block struct {
	text    []byte // padded by at least padding bytes beyond its length
	lines   int64  // how many there are
	samples []entry
	tokens  []int32
	labels  []int32
	names   []byte // ids and keys
	unused  []string
	err     error // after the samples; of the text or of its line errLine
	errLine int64
}

// entry says where the parts of a sample end in a block.
type entry struct {
	line           int64 // in the block, from 1
	tokens, labels int
	id, key        int
	labelled       bool
}

// reset makes b empty. It keeps the memory of b, but not that of a block that a line of unusual length made large.
func (b *block) reset(o *Options) {
	if cap(b.text) > largeBlocks*o.blockBytes {
		*b = block{}
	}
	*b = block{text: b.text[:0], samples: b.samples[:0], tokens: b.tokens[:0], labels: b.labels[:0], names: b.names[:0]}
	if b.labels == nil {
		b.labels = []int32{} // or empty labels would be no labels
	}
}

// largeBlocks is how many times larger than usual a block is that is not kept, and that is read alone.
const largeBlocks = 16

// padding is how far the scanner may look beyond the end of the text.
const padding = 16

// maxWindow bounds the memory that the header of a zstd frame can ask for: four times what the zstd command takes without being told.
const maxWindow = 512 << 20

// decompress returns the text of r and a function that releases what reading it takes.
func decompress(r io.Reader) (io.Reader, func(), error) {
	buffered := bufio.NewReaderSize(r, 256<<10)
	head, _ := buffered.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, err
		}
		return named{z, "gzip"}, func() { z.Close() }, nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), len(head) == 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:], []byte{0x2a, 0x4d, 0x18}):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		return named{z, "zstd"}, z.Close, nil
	}
	return buffered, func() {}, nil
}

// named says in errors which decoder they come from.
type named struct {
	io.Reader
	name string
}

func (r named) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("the %s data are cut off: %w", r.name, err)
	} else if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", r.name, err)
	}
	return n, err
}

// blockReader cuts a text into blocks.
type blockReader struct {
	r     io.Reader
	o     *Options
	rest  []byte // the start of a line whose end was not in the last block
	begun bool
	ended bool
}

var byteOrderMark = []byte{0xef, 0xbb, 0xbf}

// next fills b with the next lines, or with an error, and reports whether there was something.
func (br *blockReader) next(b *block) bool {
	b.reset(br.o)
	if br.ended {
		return false
	}
	text := append(b.text, br.rest...)
	br.rest = br.rest[:0]
	end := 0 // of the last whole line
	for end == 0 && !br.ended {
		size := max(br.o.blockBytes, min(len(text), br.o.MaxLineBytes+1-len(text))) // doubles while a line has no end
		if cap(text) < len(text)+size+padding {
			text = append(make([]byte, 0, len(text)+size+padding), text...)
		}
		from := len(text)
		n, err := readFull(br.r, text[from:from+size])
		text = text[:from+n]
		if !br.begun {
			br.begun = true
			text = bytes.TrimPrefix(text, byteOrderMark)
			from = 0
		}
		if i := bytes.LastIndexByte(text[from:], '\n'); i >= 0 {
			end = from + i + 1
		}
		switch {
		case err == io.EOF:
			br.ended = true
			end = len(text)
		case err != nil:
			br.ended = true
			b.err = err
		case end == 0 && len(text) > br.o.MaxLineBytes:
			br.ended = true
			b.err = fmt.Errorf("the line has more than %d bytes", br.o.MaxLineBytes)
		}
	}
	if !br.ended {
		br.rest = append(br.rest, text[end:]...)
	}
	b.text = text[:end]
	b.lines = int64(bytes.Count(b.text, []byte{'\n'}))
	if b.err != nil {
		b.errLine = b.lines + 1
	}
	return len(b.text) > 0 || b.err != nil
}

// readFull reads until p is full. Its error is io.EOF at the end of r, and never io.ErrUnexpectedEOF unless r says so: that of a cut
// gzip file must not pass for an end. A reader that goes on to give nothing is an error.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var m int
		m, err = r.Read(p[n:])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; err == nil && empty == 100 {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// parallel parses blocks by several goroutines and delivers them in order until deliver is done. All goroutines have ended when it
// returns. After a large block it reads on only when all blocks have been delivered, so that long lines are not in memory together.
func parallel(blocks *blockReader, o *Options, deliver func(*block) bool) {
	type job struct {
		*block
		done chan struct{}
	}
	depth := 2 * o.Workers
	free := make(chan *block, depth)
	for range depth {
		free <- new(block)
	}
	jobs, order := make(chan job, depth), make(chan job, depth)
	stop := make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer close(stop)
	running.Go(func() {
		defer close(jobs)
		defer close(order)
		idle := make([]*block, 0, depth) // blocks that are with nobody else
		wanted := 1                      // how many have to be idle to read on
		for {
			for len(idle) < wanted {
				select {
				case <-stop:
					return
				case b := <-free:
					idle = append(idle, b)
				}
			}
			b := idle[len(idle)-1]
			idle = idle[:len(idle)-1]
			if !blocks.next(b) {
				return
			}
			wanted = 1
			if cap(b.text) > largeBlocks*o.blockBytes {
				wanted = depth
			}
			j := job{b, make(chan struct{})}
			jobs <- j // there is room: no more jobs than blocks
			order <- j
		}
	})
	for range o.Workers {
		running.Go(func() {
			p := newParser(o)
			for j := range jobs {
				p.parse(j.block)
				close(j.done)
			}
		})
	}
	for j := range order {
		<-j.done
		if !deliver(j.block) {
			return
		}
		free <- j.block
	}
}

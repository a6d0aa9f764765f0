package units

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/parquet"
	"github.com/brimful/brimful/tokenstream/source"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// measure cuts inputs into parts of about size bytes and counts what is in them.
func (p *Plan) measure(ctx context.Context, inputs []int, size int64, o Options) ([]Part, error) {
	var parts []Part
	plain := make([]bool, len(p.Inputs))
	for _, i := range inputs {
		in := p.Inputs[i]
		var err error
		if plain[i], err = isPlain(in.Path); err != nil {
			return nil, err
		}
		groups, err := rowGroups(i, in, size, o.Source)
		if err != nil {
			return nil, err
		}
		if len(groups) > 0 {
			parts = append(parts, groups...)
			continue
		}
		from := int64(0)
		for plain[i] && in.Size-from >= 2*size {
			parts = append(parts, Part{Input: i, From: from, To: from + size})
			from += size
		}
		parts = append(parts, Part{Input: i, From: from, To: in.Size})
	}
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range parts {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			q := &parts[i]
			if q.Groups {
				return nil
			}
			if !plain[q.Input] {
				return p.count(q, o.Source)
			}
			return p.scan(q)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	lines := int64(0)
	for i := range parts {
		if i > 0 && parts[i].Input != parts[i-1].Input {
			lines = 0
		}
		parts[i].Line = lines
		lines += parts[i].Lines
	}
	return slices.DeleteFunc(parts, func(q Part) bool { return q.Samples == 0 }), nil
}

// rowGroups returns the parts of a Parquet file, of about size bytes, or nothing for another.
func rowGroups(input int, in tokenstream.Input, size int64, o source.Options) ([]Part, error) {
	file, err := os.Open(in.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, 4)
	if n, _ := io.ReadFull(file, head); string(head[:n]) != "PAR1" {
		return nil, nil
	}
	r, err := parquet.NewReader(file, in.Size, parquet.ReadOptions{Fields: o.Fields, Name: in.Path})
	if err != nil {
		return nil, err
	}
	var parts []Part
	groups := r.RowGroups()
	each := in.Size / int64(max(1, len(groups))) // bytes of a row group
	q := Part{Input: input, Groups: true}
	for i, g := range groups {
		q.To = int64(i + 1)
		q.Samples += g.Rows
		q.Weight += g.Rows + g.Values
		if (q.To-q.From)*each >= size || i == len(groups)-1 {
			parts = append(parts, q)
			q = Part{Input: input, Groups: true, From: q.To}
		}
	}
	return parts, nil
}

// isPlain reports whether a file is JSON lines as they are: text that begins with an object.
func isPlain(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head[:n], byteOrderMark), " \t\r\n")
	return len(head) > 0 && head[0] == '{', nil
}

var byteOrderMark = []byte{0xef, 0xbb, 0xbf}

// scan moves the ends of a part to those of lines, and counts its lines, its samples and, for its weight, its commas. A line belongs to
// the part in which it begins.
func (p *Plan) scan(q *Part) error {
	in := p.Inputs[q.Input]
	file, err := os.Open(in.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	at := max(0, q.From-1) // a line begins at From if the byte before ends one
	r := bufio.NewReaderSize(io.NewSectionReader(file, at, in.Size-at), 256<<10)
	// line goes through a line, calls use with its pieces and moves at to its end.
	line := func(use func([]byte)) error {
		for {
			text, err := r.ReadSlice('\n')
			use(text)
			at += int64(len(text))
			if err != bufio.ErrBufferFull {
				return err
			}
		}
	}
	if q.From > 0 {
		if err := line(func([]byte) {}); err != nil && err != io.EOF {
			return err
		}
	}
	q.From = at
	for err == nil && at < q.To {
		holds := false // more than space
		err = line(func(text []byte) {
			q.CRC = crc32.Update(q.CRC, castagnoli, text)
			q.Weight += int64(bytes.Count(text, []byte{','}))
			if at == 0 {
				text = bytes.TrimPrefix(text, byteOrderMark)
			}
			holds = holds || len(bytes.TrimLeft(text, " \t\r\n")) > 0
		})
		if err == nil {
			q.Lines++
		}
		if holds {
			q.Samples++
			q.Weight++
		}
	}
	if err != nil && err != io.EOF {
		return err
	}
	if err == io.EOF && at > q.From {
		q.Lines++ // the last has no end, or is empty
	}
	q.To = at
	return nil
}

// count counts the samples of a file by reading it.
func (p *Plan) count(q *Part, o source.Options) error {
	files, err := source.Open([]string{p.Inputs[q.Input].Path}, o)
	if err != nil {
		return err
	}
	for s, err := range files.Samples() {
		if err != nil {
			return fmt.Errorf("planning: %w", err)
		}
		q.Samples++
		q.Weight += int64(len(s.Tokens)) + 1
	}
	return nil
}

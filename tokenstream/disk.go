package tokenstream

import (
	"bufio"
	"encoding/binary"
	"fmt"
)

// pool keeps the tokens and labels of the segments that wait for their row.
type pool interface {
	// add copies a segment. Segments are numbered from 0.
	add(s Segment, tokens, labels []int32) error
	// take appends the tokens and labels of segment number k to those given and forgets it. ok is false if it is not there.
	take(k int64, tokens, labels []int32) (s Segment, _, _ []int32, ok bool, err error)
	// waiting returns how many tokens are there.
	waiting() int64
	close() error
}

// disk is a pool in a temporary file. What it keeps in memory is some 40 bytes a segment.
type disk struct {
	file  *scratch
	w     *bufio.Writer
	size  int64
	items []diskItem
	live  int64
	buf   []byte
	dirty bool
}

// diskItem says where a segment is in the file. That of one that was taken is below 0.
type diskItem struct {
	place
	at int64
}

// place is what is kept in memory of a segment that waits.
type place struct {
	sample         int64
	offset, length int32
	id             *string // nil for ""
}

func placeOf(s *Segment) place {
	p := place{sample: s.Sample, offset: s.Offset, length: s.Length}
	if s.ID != "" {
		id := s.ID // s itself stays on the stack
		p.id = &id
	}
	return p
}

func (p *place) segment() Segment {
	s := Segment{Sample: p.sample, Offset: p.offset, Length: p.length}
	if p.id != nil {
		s.ID = *p.id
	}
	return s
}

func newDisk(dir string) (*disk, error) {
	file, err := newScratch(dir)
	if err != nil {
		return nil, err
	}
	return &disk{file: file, w: bufio.NewWriterSize(file, 1<<20)}, nil
}

func (d *disk) add(s Segment, tokens, labels []int32) error {
	b := d.buf[:0]
	for _, values := range [][]int32{tokens, labels} {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	d.buf = b
	if _, err := d.w.Write(b); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	d.items = append(d.items, diskItem{placeOf(&s), d.size})
	d.size += int64(len(b))
	d.live += int64(len(tokens))
	d.dirty = true
	return nil
}

func (d *disk) take(k int64, tokens, labels []int32) (s Segment, _, _ []int32, ok bool, err error) {
	if k < 0 || k >= int64(len(d.items)) || d.items[k].at < 0 {
		return s, tokens, labels, false, nil
	}
	if d.dirty {
		if err := d.w.Flush(); err != nil {
			return s, tokens, labels, true, fmt.Errorf("spool: %w", err)
		}
		d.dirty = false
	}
	it := &d.items[k]
	n := int(it.length)
	if cap(d.buf) < 8*n {
		d.buf = make([]byte, 8*n)
	}
	b := d.buf[:8*n]
	if _, err := d.file.ReadAt(b, it.at); err != nil {
		return s, tokens, labels, true, fmt.Errorf("spool: %w", err)
	}
	it.at = -1
	d.live -= int64(n)
	return it.segment(), decode(tokens, b[:4*n]), decode(labels, b[4*n:]), true, nil
}

// decode appends the integers that b holds.
func decode(dst []int32, b []byte) []int32 {
	for ; len(b) >= 4; b = b[4:] {
		dst = append(dst, int32(binary.LittleEndian.Uint32(b)))
	}
	return dst
}

func (d *disk) waiting() int64 { return d.live }

func (d *disk) close() error { return d.file.Close() }

package verify

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/brimful/brimful/tokenstream"
)

// Unpack returns the samples in the rows of a split of the data set in dir, with their labels, as they were before they were packed: in
// the order of the source if the rows say which samples they hold, else in that of the rows. Every row has to say where its samples
// begin. What is known of labels comes from any column that has them; the first label of a sample is always -100. Samples that were
// split into pieces can't be put together again and are an error. Those of a mixture come source by source, each as often as it is there,
// with the name of the source for their Key. The tokens wait in a temporary file, in memory there are some 24 bytes
// a sample.
func Unpack(ctx context.Context, dir, split string) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		u := &unpacker{yield: yield}
		if err := u.run(ctx, dir, split); err != nil && !errors.Is(err, errStopped) {
			yield(tokenstream.Sample{}, err)
		}
	}
}

// errStopped ends the reading when no more samples are wanted.
var errStopped = errors.New("stopped")

// unpacker is the state of one [Unpack].
type unpacker struct {
	yield   func(tokenstream.Sample, error) bool
	name    string   // of the shard at hand
	sources []string // of a mixture; nil if it is none
	split   bool     // samples may be in pieces
	ordered bool     // rows say which samples they hold
	file    *os.File
	w       *bufio.Writer
	at      int64
	samples []waiting
	b       []byte
}

// waiting is a sample in the temporary file.
type waiting struct {
	sample, at int64
	tokens     int32
	labelled   bool
}

func (u *unpacker) run(ctx context.Context, dir, name string) error {
	m, wrong, err := readManifest(filepath.Join(dir, manifestName))
	if err := cmp.Or(wrong, err); err != nil {
		return err
	}
	c := &checker{dir: dir, faults: newFaults(1), r: &Report{}, m: m}
	c.setRules()
	if c.wrong > 0 {
		return fmt.Errorf("%s: %v", dir, c.list[0])
	}
	if !c.hasKind(cuSeqlens, lengths, segmentIDs, positionIDs, segmentStarts) {
		return fmt.Errorf("%s: no column says where samples begin", dir)
	}
	at := slices.IndexFunc(m.Splits, func(s split) bool { return s.Name == name })
	if at < 0 {
		return fmt.Errorf("%s: no split %q", dir, name)
	}
	u.sources, u.split = m.Sources, c.rules.split
	if u.ordered = c.hasKind(sampleIndex); u.ordered {
		if u.file, err = os.CreateTemp("", "brimful-unpack-*"); err != nil {
			return err
		}
		defer os.Remove(u.file.Name())
		defer u.file.Close()
		u.w = bufio.NewWriterSize(u.file, 1<<20)
	}
	for _, s := range m.Splits[at].Shards {
		n := &shardChecker{faults: newFaults(1), file: s.Path, rules: &c.rules}
		u.name = s.Path
		err := c.read(ctx, s.Path, func(have []column) error {
			if err := c.checkColumns(&n.faults, s.Path, have); err != nil || n.wrong > 0 {
				return fmt.Errorf("%v", n.list[0])
			}
			return nil
		}, func(number int64, w *row, null string) error {
			n.number = number
			if null != "" {
				return fmt.Errorf("%s: row %d: column %s is null", s.Path, number, null)
			}
			return u.row(n, w)
		})
		if err != nil {
			return err
		}
	}
	return u.emit()
}

// row takes the samples out of a row.
func (u *unpacker) row(n *shardChecker, w *row) error {
	w.n = len(w.columns[tokens])
	if !n.lengths(w) || !n.boundaries(w) || !n.tail(w) || !n.alignment(w) || n.wrong > 0 {
		return fmt.Errorf("%v", n.list[0])
	}
	index := w.columns[sampleIndex]
	if u.ordered && len(index) != w.segments() {
		return fmt.Errorf("%s: row %d: %d samples for %d segments", u.name, n.number, len(index), w.segments())
	}
	for k := range w.segments() {
		from := w.cu[k]
		to := from + w.lengths[k]
		ids := w.columns[tokens][from:to]
		var targets []int64
		if w.columns[labels] != nil {
			targets = w.columns[labels][from:to]
		}
		u.b = appendValues(appendValues(u.b[:0], ids), targets)
		if !u.ordered {
			place := tokenstream.Place{Name: u.name, Row: n.number + 1}
			if !u.yield(sampleOf(u.b, len(ids), targets != nil, place), nil) {
				return errStopped
			}
			continue
		}
		u.samples = append(u.samples, waiting{index[k], u.at, int32(len(ids)), targets != nil})
		u.at += int64(len(u.b))
		if _, err := u.w.Write(u.b); err != nil {
			return err
		}
	}
	return nil
}

// emit yields what waits, in the order of the source.
func (u *unpacker) emit() error {
	if !u.ordered {
		return nil
	}
	if err := u.w.Flush(); err != nil {
		return err
	}
	n := int64(max(1, len(u.sources))) // samples of several sources are numbered in turns
	slices.SortFunc(u.samples, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(a.sample%n, b.sample%n), cmp.Compare(a.sample, b.sample), cmp.Compare(a.at, b.at))
	})
	for i, s := range u.samples {
		if i > 0 && u.samples[i-1].sample == s.sample && (u.split || len(u.sources) == 0) {
			return fmt.Errorf("sample %d is in several pieces, which can't be put together again", s.sample)
		}
		bytes := 4 * int(s.tokens)
		if s.labelled {
			bytes *= 2
		}
		u.b = slices.Grow(u.b[:0], bytes)[:bytes]
		if _, err := u.file.ReadAt(u.b, s.at); err != nil && !(err == io.EOF && bytes == 0) {
			return err
		}
		sample := sampleOf(u.b, int(s.tokens), s.labelled, tokenstream.Place{Row: s.sample + 1})
		sample.Number = s.sample + 1
		if len(u.sources) > 0 && s.sample >= 0 {
			sample.Key, sample.Place.Row = u.sources[s.sample%n], s.sample/n+1
		}
		if !u.yield(sample, nil) {
			return errStopped
		}
	}
	return nil
}

func appendValues(b []byte, values []int64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// sampleOf makes a sample of ids and labels that stand in b one behind the other.
func sampleOf(b []byte, n int, labelled bool, place tokenstream.Place) tokenstream.Sample {
	values := make([]int32, len(b)/4)
	for i := range values {
		values[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	s := tokenstream.Sample{Tokens: values[:n:n], Place: place}
	if labelled {
		s.Labels = values[n:]
	}
	return s
}

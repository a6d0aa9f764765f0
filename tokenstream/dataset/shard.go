package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/brimful/brimful/tokenstream"
)

// buffer holds the rows of one shard until they are encoded.
type buffer struct {
	tokens, labels []int32
	segments       []tokenstream.Segment
	rows           []bufferedRow
}

// bufferedRow says where the parts of a row end in a buffer.
type bufferedRow struct {
	tokens, segments int
	pad              int32
	counts           int
}

func (b *buffer) reset() {
	b.tokens, b.labels, b.segments, b.rows = b.tokens[:0], b.labels[:0], b.segments[:0], b.rows[:0]
}

// firstTokens is how many tokens a buffer has room for at first. It doubles, up to what a shard holds.
const firstTokens = 1 << 20

// add adds a row of a shard of about rows rows, or of shardTokens tokens if rows is 0.
func (b *buffer) add(row *tokenstream.Batch, rows int) {
	if have, need := cap(b.tokens), len(b.tokens)+len(row.Tokens); need > have {
		most := max(need, shardTokens+len(row.Tokens))
		if rows > 0 {
			most = max(need, min(most, rows*len(row.Tokens)))
		}
		n := max(need, min(most, max(2*have, firstTokens)))
		b.tokens = append(make([]int32, 0, n), b.tokens...)
		b.labels = append(make([]int32, 0, n), b.labels...)
	}
	b.tokens = append(b.tokens, row.Tokens...)
	b.labels = append(b.labels, row.Labels...)
	b.segments = append(b.segments, row.Segments...)
	b.rows = append(b.rows, bufferedRow{len(b.tokens), len(b.segments), row.Pad, row.Counts})
}

// each calls f with every row in order, until it fails.
func (b *buffer) each(f func(*tokenstream.Batch) error) error {
	var row tokenstream.Batch
	t, s := 0, 0
	for _, r := range b.rows {
		row.Tokens, row.Labels = b.tokens[t:r.tokens:r.tokens], b.labels[t:r.tokens:r.tokens]
		row.Segments, row.Pad, row.Counts = b.segments[s:r.segments:r.segments], r.pad, r.counts
		if err := f(&row); err != nil {
			return err
		}
		t, s = r.tokens, r.segments
	}
	return nil
}

// describe returns the shard that b will be: its counts and the hash of its content.
func (b *buffer) describe() Shard {
	h := sha256.New()
	var scratch []byte
	s := Shard{Rows: int64(len(b.rows)), Slots: int64(len(b.tokens))}
	_ = b.each(func(row *tokenstream.Batch) error {
		scratch = binary.LittleEndian.AppendUint32(scratch[:0], uint32(len(row.Tokens)))
		scratch = binary.LittleEndian.AppendUint32(scratch, uint32(len(row.Segments)))
		scratch = slices.Grow(scratch, 8*len(row.Tokens))
		at := scratch[len(scratch):][:8*len(row.Tokens)]
		for i, id := range row.Tokens {
			binary.LittleEndian.PutUint64(at[8*i:], uint64(uint32(id))|uint64(uint32(row.Labels[i]))<<32)
		}
		scratch = scratch[:len(scratch)+len(at)]
		for _, g := range row.Segments {
			scratch = binary.LittleEndian.AppendUint64(scratch, uint64(g.Sample))
			scratch = binary.LittleEndian.AppendUint32(scratch, uint32(g.Offset))
			scratch = binary.LittleEndian.AppendUint32(scratch, uint32(g.Length))
			scratch = append(scratch, g.ID...)
			s.Tokens += int64(g.Length)
		}
		h.Write(scratch)
		return nil
	})
	s.Content = hex.EncodeToString(h.Sum(nil))
	return s
}

// encode writes the rows of b to path, which appears whole and on disk or not at all, and sets the size and the hash of s.
func (b *buffer) encode(path string, s *Shard, f format, l tokenstream.Layout, metadata map[string]string) error {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	file, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // gone already when all went well
	defer file.Close()
	hash := sha256.New()
	count := &counter{w: io.MultiWriter(file, hash)}
	buffered := bufio.NewWriterSize(count, 1<<20)
	sink, err := f.sink(buffered, l, metadata)
	if err != nil {
		return err
	}
	i := 0
	if err := b.each(func(row *tokenstream.Batch) error { i++; return sink.Write(row) }); err != nil {
		return fmt.Errorf("writing row %d: %w", i-1, err)
	}
	if err := sink.Close(); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	s.Size, s.SHA256 = count.n, hex.EncodeToString(hash.Sum(nil))
	return rename(temp, path)
}

// counter counts what is written through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// rename moves a file or directory and makes the move last.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// writeFile writes a small file so that it appears whole or not at all.
func writeFile(path string, b []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*") // several processes may write it
	if err != nil {
		return err
	}
	temp := file.Name()
	defer os.Remove(temp)
	defer file.Close()
	if _, err := file.Write(b); err != nil {
		return err
	}
	if err := file.Chmod(0o644); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return rename(temp, path)
}

// hashFile returns the size and the sha256 of a file.
func hashFile(path string) (int64, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	h := sha256.New()
	n, err := io.Copy(h, file)
	if err != nil {
		return 0, "", err
	}
	return n, hex.EncodeToString(h.Sum(nil)), nil
}

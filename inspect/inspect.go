// Package inspect looks into files of packed rows: which columns there are, how full the rows are, and what is in one of them.
//
//	f, err := inspect.Open("packed/data/shard-00000.parquet", nil)
//	row, err := f.Row(ctx, 17)
//
// It reads with the reader of package verify, so that damaged files are errors. It checks no laws: [verify.Dir] does.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/verify"
)

// A File is a file of packed rows, Parquet or Arrow. It holds no resources.
type File struct {
	Path    string
	Format  string // "parquet", "arrow" or "arrow-stream"
	Columns []verify.Column

	at [numKinds]int // where the column of each kind is, or -1
}

const numKinds = tokenstream.Sources + 1

// names are the columns that are recognized where a caller does not say what they hold. Labels are taken for unshifted.
var names = map[string]tokenstream.Kind{
	"input_ids": tokenstream.Tokens, "tokens": tokenstream.Tokens, "inputs": tokenstream.Tokens,
	"labels": tokenstream.Labels, "loss_mask": tokenstream.LossMask, "targets_segmentation": tokenstream.TargetSegmentIDs,
	"position_ids": tokenstream.PositionIDs, "positions": tokenstream.PositionIDs, "input_pos": tokenstream.PositionIDs,
	"inputs_position": tokenstream.PositionIDs, "cu_seqlens": tokenstream.CuSeqlens, "seq_lengths": tokenstream.Lengths,
	"seq_lens": tokenstream.Lengths, "seq_idx": tokenstream.SeqIdx, "inputs_segmentation": tokenstream.SegmentIDs,
	"seq_start_id": tokenstream.SegmentStarts, "max_seqlen": tokenstream.MaxSeqlen, "pad_length": tokenstream.PadLength,
	"sample_index":      tokenstream.SampleIndex,
	"sources":           tokenstream.Sources,
	"cu_seqlens_padded": tokenstream.CuSeqlens, "true_lengths": tokenstream.TrueLengths,
}

// errEnough ends the reading of a file.
var errEnough = errors.New("enough")

// Open reads what columns the file at path has. The columns given say what they hold, as those of a manifest do; without any, the
// usual names are recognized.
func Open(path string, columns []tokenstream.Column) (*File, error) {
	f := &File{Path: path}
	for k := range f.at {
		f.at[k] = -1
	}
	kinds := map[string]tokenstream.Kind{}
	for _, c := range columns {
		kinds[c.Name] = c.Kind
	}
	if columns == nil {
		kinds = names
	}
	err := verify.ReadFile(path, func(format string, have []verify.Column) error {
		f.Format, f.Columns = format, have
		for i, c := range have {
			k, ok := kinds[c.Name]
			if columns == nil && c.Name == "cu_seqlens" && slices.ContainsFunc(have, func(o verify.Column) bool { return o.Name == "cu_seqlens_padded" }) {
				k = tokenstream.TrueCuSeqlens
			}
			if ok && k < numKinds && c.Integers && c.List == k.List() && f.at[k] < 0 {
				f.at[k] = i
			}
		}
		return errEnough
	}, func([][]int64) error { return errEnough })
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// HasTargets reports whether a column says what is to be learnt.
func (f *File) HasTargets() bool {
	for _, t := range targetKinds {
		if f.at[t.kind] >= 0 {
			return true
		}
	}
	return false
}

// each calls visit with the rows of the file.
func (f *File) each(ctx context.Context, visit func(number int64, values [][]int64) error) error {
	number := int64(0)
	err := verify.ReadFile(f.Path, func(string, []verify.Column) error { return nil }, func(values [][]int64) error {
		if number%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(values) < len(f.Columns) {
			return errors.New("the file changed while it was read")
		}
		err := visit(number, values)
		number++
		return err
	})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

// Counts are what the rows of a file hold.
type Counts struct {
	Rows       int64
	Slots      int64 // tokens, pad tails included
	Padding    int64 // tokens of the pad tails
	Segments   int64 // pad tails left out
	Supervised int64 // tokens to be learnt; 0 if no column says
	Shortest   int64 // slots of the shortest row
	Longest    int64
	MostInRow  int64 // segments of the row that has most, its pad tail left out
}

// Fill is the share of the slots that is no padding, from 0 to 1; 0 without rows.
func (c Counts) Fill() float64 {
	if c.Slots == 0 {
		return 0
	}
	return 1 - float64(c.Padding)/float64(c.Slots)
}

// Add adds the counts of other rows.
func (c *Counts) Add(d Counts) {
	if d.Rows == 0 {
		return
	}
	if c.Rows == 0 {
		c.Shortest = d.Shortest
	}
	c.Rows += d.Rows
	c.Slots += d.Slots
	c.Padding += d.Padding
	c.Segments += d.Segments
	c.Supervised += d.Supervised
	c.Shortest = min(c.Shortest, d.Shortest)
	c.Longest = max(c.Longest, d.Longest)
	c.MostInRow = max(c.MostInRow, d.MostInRow)
}

// Count goes through the rows and counts. A row whose columns contradict each other is an error.
func (f *File) Count(ctx context.Context) (Counts, error) {
	var c Counts
	var row Row
	err := f.each(ctx, func(number int64, values [][]int64) error {
		if err := row.set(f, values); err != nil {
			return fmt.Errorf("row %d: %w", number, err)
		}
		c.Add(row.counts())
		return nil
	})
	return c, err
}

// Row returns a row, numbered from 0. It reads the rows before it too.
func (f *File) Row(ctx context.Context, number int64) (*Row, error) {
	var row *Row
	rows := int64(0)
	err := f.each(ctx, func(n int64, values [][]int64) error {
		rows++
		if n < number {
			return nil
		}
		row = &Row{Number: number}
		if err := row.set(f, values); err != nil {
			return fmt.Errorf("row %d: %w", number, err)
		}
		return errEnough
	})
	if err == nil && row == nil {
		err = fmt.Errorf("%s: row %d: want 0 to %d", f.Path, number, rows-1)
	}
	if err != nil {
		return nil, err
	}
	return row, nil
}

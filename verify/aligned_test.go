package verify_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/verify"
)

// writeAligned packs the samples that fit a row into a new directory and returns it with those that are in it.
func writeAligned(t *testing.T, l tokenstream.Layout, format string, o tokenstream.Options) (string, []tokenstream.Sample) {
	in, kept := fitting(capacity - 16)
	for i := range in {
		in[i].ID = fmt.Sprint("sample", i)
	}
	if o.Align > 1 || o.AlignRows > 1 || l.Ragged {
		l = l.ForAlignment()
	}
	o.Capacity, o.Strategy, o.PadID, o.AlignInputs, o.Stats = capacity, packing.NextFit{}, 3, l.AlignInputs, new(tokenstream.Stats)
	o.KeepIDs = slices.ContainsFunc(l.Columns, func(c tokenstream.Column) bool { return c.Kind == tokenstream.SampleIDs })
	dir := filepath.Join(t.TempDir(), "packed")
	w, err := dataset.Create(dir, dataset.Options{Layout: l, Format: format, ShardRows: 5, Job: dataset.Job{
		"capacity": capacity, "max_sample_tokens": 0, "max_samples": o.MaxSamples, "pad": !o.Ragged, "pad_id": 3, "vocab_size": 0, "too_long": "error",
		"no_target": "default", "labels": "own", "align": o.Align, "align_rows": o.AlignRows, "fixed_counts": o.FixedCounts,
	}})
	require.NoError(t, err)
	split, err := w.Write(context.Background(), "", tokenstream.Pack(source(in), o))
	require.NoError(t, err)
	split.Stats = o.Stats
	_, err = w.Finish(nil)
	require.NoError(t, err)
	return dir, kept
}

// Every layout in every format passes with aligned segments and rows and fixed counts, and gives the samples back.
func TestAligned(t *testing.T) {
	more := []tokenstream.Column{
		{Name: "w", Kind: tokenstream.SampleWeights, Type: tokenstream.Float32}, {Name: "v", Kind: tokenstream.ShiftedSampleWeights, Type: tokenstream.Float32},
		{Name: "names", Kind: tokenstream.SampleIDs, Type: tokenstream.String}, {Name: "cu", Kind: tokenstream.CuSeqlens},
		{Name: "index", Kind: tokenstream.SampleIndex, Type: tokenstream.Int64},
	}
	for _, l := range tokenstream.Layouts() {
		for i, format := range dataset.Formats() {
			for _, o := range []tokenstream.Options{
				{Align: 8}, {Align: 6, AlignRows: 16, Ragged: true}, {AlignRows: 32, Ragged: true}, {Align: 4, MaxSamples: 4, FixedCounts: true},
			} {
				l := l
				if i%2 == 0 {
					l.Columns = append(slices.Clone(l.Columns), more...)
				}
				t.Run(fmt.Sprintf("%s as %s by %d and %d, fixed %v", l.Name, format, o.Align, o.AlignRows, o.FixedCounts), func(t *testing.T) {
					dir, want := writeAligned(t, l, format, o)
					r, err := verify.Dir(context.Background(), dir, verify.Options{})
					require.NoError(t, err)
					require.True(t, r.OK(), "%v", r.Faults)
					require.EqualValues(t, len(want), r.Segments)
					require.ElementsMatch(t, bare(want), unpacked(t, dir))
				})
			}
		}
	}
}

// alignedRow is a row of the default layout for aligned segments, with weights.
type alignedRow struct {
	InputIDs    []int32   `parquet:"input_ids,list"`
	Labels      []int32   `parquet:"labels,list"`
	PositionIDs []int32   `parquet:"position_ids,list"`
	CuSeqlens   []int32   `parquet:"cu_seqlens,list"`
	SeqLengths  []int32   `parquet:"seq_lengths,list"`
	MaxSeqlen   int32     `parquet:"max_seqlen"`
	PadLength   int32     `parquet:"pad_length"`
	SampleIndex []int64   `parquet:"sample_index,list"`
	Weights     []float32 `parquet:"weights,list"`
	Padded      []int32   `parquet:"cu_seqlens_padded,list"`
}

// gap returns the first place of padding between segments.
func (r *alignedRow) gap() int {
	for k := range r.SampleIndex {
		if n := r.CuSeqlens[k+1] - r.CuSeqlens[k]; n < r.SeqLengths[k] {
			return int(r.Padded[k] + n)
		}
	}
	panic("no padding")
}

// What can be wrong with aligned rows is found for its reason.
func TestAlignedMutations(t *testing.T) {
	l := tokenstream.HF
	l.Columns = append(slices.Clone(l.Columns), tokenstream.Column{Name: "weights", Kind: tokenstream.SampleWeights, Type: tokenstream.Float32})
	for _, m := range []struct {
		name, reason string
		damage       func(r *alignedRow)
	}{
		{"the true offsets are the padded ones", "true_cu_seqlens", func(r *alignedRow) { copy(r.CuSeqlens, r.Padded) }},
		{"the padded offsets are the true ones", "cu_seqlens", func(r *alignedRow) { copy(r.Padded, r.CuSeqlens) }},
		{"a true offset is one short", "align", func(r *alignedRow) { // by what the alignment forgives, in the first sample only
			k := slices.IndexFunc(r.SeqLengths, func(n int32) bool { return n > 8 })
			for i := k + 1; i < len(r.CuSeqlens); i++ {
				r.CuSeqlens[i] -= 8
			}
		}},
		{"true offsets decrease", "true_lengths", func(r *alignedRow) { r.CuSeqlens[1] = r.CuSeqlens[2] + 1 }},
		{"too few true offsets", "true_cu_seqlens", func(r *alignedRow) { r.CuSeqlens = r.CuSeqlens[:2] }},
		{"too few true offsets by one", "true_cu_seqlens", func(r *alignedRow) { r.CuSeqlens = r.CuSeqlens[:len(r.CuSeqlens)-1] }},
		{"something stands in the padding", "pad_id", func(r *alignedRow) { r.InputIDs[r.gap()] = 9 }},
		{"padding is to be learnt", "pad_label", func(r *alignedRow) { r.Labels[r.gap()] = 3 }},
		{"positions begin again in the padding", "position_ids", func(r *alignedRow) { r.PositionIDs[r.gap()] = 0 }},
		{"offsets are there again where counts are not fixed", "cu_seqlens", func(r *alignedRow) { r.Padded = append(r.Padded, r.Padded[len(r.Padded)-1]) }},
		{"a weight is another", "sample_weights", func(r *alignedRow) {
			r.Weights[slices.IndexFunc(r.Weights, func(w float32) bool { return w > 0 })] *= 2
		}},
		{"a weight on a prompt", "sample_weights", func(r *alignedRow) { r.Weights[0] = .5 }},
	} {
		t.Run(m.name, func(t *testing.T) {
			dir, _ := writeAligned(t, l, "parquet", tokenstream.Options{Align: 8})
			d := open(t, dir)
			rows, err := parquet.ReadFile[alignedRow](d.path(0))
			require.NoError(t, err)
			m.damage(&rows[0])
			saveParquet(d, rows)
			r, err := verify.Dir(context.Background(), dir, verify.Options{})
			require.NoError(t, err)
			require.NotZero(t, r.Reasons[m.reason], "%v", r.Faults)
		})
	}
}

// Only trailing offsets may be there again.
func TestFixedCountsMutations(t *testing.T) {
	for name, change := range map[string]func(r *alignedRow){
		"one is missing":     func(r *alignedRow) { r.CuSeqlens = r.CuSeqlens[:len(r.CuSeqlens)-1] },
		"one too many":       func(r *alignedRow) { r.CuSeqlens = append(r.CuSeqlens, r.CuSeqlens[len(r.CuSeqlens)-1]) },
		"again in between":   func(r *alignedRow) { r.CuSeqlens[2] = r.CuSeqlens[1] },
		"decreasing":         func(r *alignedRow) { r.CuSeqlens[2] = r.CuSeqlens[1] - 1 },
		"0 instead of again": func(r *alignedRow) { r.CuSeqlens[len(r.CuSeqlens)-1] = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := writeAligned(t, tokenstream.HF, "parquet", tokenstream.Options{MaxSamples: 4, FixedCounts: true})
			d := open(t, dir)
			rows, err := parquet.ReadFile[hfRow](d.path(0))
			require.NoError(t, err)
			r := alignedRow{CuSeqlens: rows[0].CuSeqlens}
			change(&r)
			rows[0].CuSeqlens = r.CuSeqlens
			saveParquet(d, rows)
			report, err := verify.Dir(context.Background(), dir, verify.Options{})
			require.NoError(t, err)
			require.NotZero(t, report.Reasons["cu_seqlens"], "%v", report.Faults)
		})
	}
}

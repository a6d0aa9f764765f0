package verify_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/verify"
)

// fitting returns the samples of at most so many tokens, and those of them that will be in the rows, as they will be there.
func fitting(longest int) (in, kept []tokenstream.Sample) {
	for _, s := range samples() {
		if len(s.Tokens) > longest {
			continue
		}
		in = append(in, s)
		if s.Labels == nil {
			s.Labels = slices.Clone(s.Tokens)
		}
		s.Labels[0] = tokenstream.Ignore
		if slices.ContainsFunc(s.Labels, func(l int32) bool { return l != tokenstream.Ignore }) {
			kept = append(kept, s)
		}
	}
	return in, kept
}

// writeLayout packs the samples that fit a row into a new directory and returns it with the samples that are in it, as they are there.
func writeLayout(t *testing.T, l tokenstream.Layout, format string) (string, []tokenstream.Sample) {
	in, kept := fitting(capacity)
	dir := filepath.Join(t.TempDir(), "packed")
	o := tokenstream.Options{Capacity: capacity, Strategy: packing.NextFit{}, Ragged: l.Ragged, Stats: new(tokenstream.Stats)}
	w, err := dataset.Create(dir, dataset.Options{Layout: l, Format: format, ShardRows: 5, Job: dataset.Job{
		"capacity": capacity, "max_sample_tokens": 0, "max_samples": 0, "pad": !l.Ragged, "pad_id": 0, "vocab_size": 0, "too_long": "error", "no_target": "default", "labels": "own",
	}})
	require.NoError(t, err)
	split, err := w.Write(context.Background(), "", tokenstream.Pack(source(in), o))
	require.NoError(t, err)
	split.Stats = o.Stats
	_, err = w.Finish(nil)
	require.NoError(t, err)
	return dir, kept
}

func unpacked(t *testing.T, dir string) []tokenstream.Sample {
	var list []tokenstream.Sample
	for s, err := range verify.Unpack(context.Background(), dir, "") {
		require.NoError(t, err)
		list = append(list, tokenstream.Sample{Tokens: s.Tokens, Labels: s.Labels})
	}
	return list
}

func bare(list []tokenstream.Sample) []tokenstream.Sample {
	var out []tokenstream.Sample
	for _, s := range list {
		out = append(out, tokenstream.Sample{Tokens: s.Tokens, Labels: s.Labels})
	}
	return out
}

// Every layout in every format passes, and gives the samples back; in their order if the rows say which they are.
func TestLayouts(t *testing.T) {
	for _, l := range tokenstream.Layouts() {
		for _, format := range dataset.Formats() {
			t.Run(l.Name+" as "+format, func(t *testing.T) {
				dir, want := writeLayout(t, l, format)
				r, err := verify.Dir(context.Background(), dir, verify.Options{})
				require.NoError(t, err)
				require.True(t, r.OK(), "%v", r.Faults)
				require.EqualValues(t, len(want), r.Segments)
				got := unpacked(t, dir)
				require.ElementsMatch(t, bare(want), got)
				if l.Name == "hf" {
					require.Equal(t, bare(want), got)
				}
				l := l
				l.Columns = append(slices.Clone(l.Columns), tokenstream.Column{Name: "index", Kind: tokenstream.SampleIndex, Type: tokenstream.Int64})
				dir, want = writeLayout(t, l, format)
				require.Equal(t, bare(want), unpacked(t, dir))
			})
		}
	}
}

// Rows whose columns hold another kind than the manifest says are wrong, each for its own reason.
func TestKindsAreTold(t *testing.T) {
	kinds := []tokenstream.Kind{
		tokenstream.ShiftedLabels, tokenstream.PositionIDs, tokenstream.SeqIdx, tokenstream.LossMask, tokenstream.ShiftedTokens, tokenstream.ShiftedLossMask,
		tokenstream.SegmentIDs, tokenstream.TargetSegmentIDs,
	}
	offsets := []tokenstream.Kind{tokenstream.CuSeqlens, tokenstream.Lengths, tokenstream.SegmentStarts}
	reasons := map[string]string{"lengths": "seq_lengths", "shifted_loss_mask": "loss_mask", "target_segment_ids": "segment_ids"}
	for _, group := range [][]tokenstream.Kind{kinds, offsets} {
		for _, is := range group {
			for _, claimed := range group {
				if is == claimed {
					continue
				}
				t.Run(is.String()+" called "+claimed.String(), func(t *testing.T) {
					l := tokenstream.Layout{Name: "x", Columns: []tokenstream.Column{
						{Name: "ids", Kind: tokenstream.Tokens}, {Name: "labels", Kind: tokenstream.Labels}, {Name: "pad", Kind: tokenstream.PadLength},
						{Name: "cu", Kind: tokenstream.CuSeqlens}, {Name: "it", Kind: is},
					}}
					dir, _ := writeLayout(t, l, "parquet")
					rename(t, dir, "it", claimed)
					r, err := verify.Dir(context.Background(), dir, verify.Options{})
					require.NoError(t, err)
					reason := claimed.String()
					if is, ok := reasons[reason]; ok {
						reason = is
					}
					require.Contains(t, r.Reasons, reason, "%v", r.Reasons)
				})
			}
		}
	}
}

// rename makes the manifest call a column another kind.
func rename(t *testing.T, dir, column string, kind tokenstream.Kind) {
	name := filepath.Join(dir, dataset.ManifestName)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(text, &m))
	for _, columns := range []any{m["columns"], m["job"].(map[string]any)["layout"].(map[string]any)["columns"]} {
		for _, c := range columns.([]any) {
			if c := c.(map[string]any); c["name"] == column {
				c["kind"] = kind.String()
			}
		}
	}
	text, err = json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, text, 0o644))
}

func TestUnpackRefuses(t *testing.T) {
	fail := func(dir, split, want string) {
		for _, err := range verify.Unpack(context.Background(), dir, split) {
			require.ErrorContains(t, err, want)
			return
		}
		t.Fatal("no error")
	}
	fail(t.TempDir(), "", "no such file")
	dir := write(t, job{format: "parquet", tooLong: tokenstream.Split})
	fail(dir, "train", `no split "train"`)
	for s, err := range verify.Unpack(context.Background(), dir, "") {
		if err != nil {
			require.ErrorContains(t, err, "is in several pieces")
			break
		}
		require.NotEmpty(t, s.Tokens)
	}
	dir, _ = writeLayout(t, tokenstream.Layout{Name: "x", Columns: []tokenstream.Column{{Name: "ids", Kind: tokenstream.Tokens}}}, "parquet")
	fail(dir, "", "no column says where samples begin")
	dir, _ = writeLayout(t, tokenstream.HF, "arrow")
	shard := filepath.Join(dir, "data", "shard-00000.arrow")
	require.NoError(t, os.Truncate(shard, 1000))
	fail(dir, "", "")
	dir, _ = writeLayout(t, tokenstream.HF, "arrow")
	for range verify.Unpack(context.Background(), dir, "") {
		break // whoever stops early leaves nothing behind
	}
}

package xtuner_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/xtuner"
)

// The plan names every sample that is in a row by its file and its place there, also behind samples that were left out.
func TestPlan(t *testing.T) {
	src := func(yield func(tokenstream.Sample, error) bool) {
		for i, n := range []int{3, 9, 4, 2, 5, 3} { // the second is too long
			name := "a.jsonl"
			if i >= 3 {
				name = "b.jsonl"
			}
			s := tokenstream.Sample{Place: tokenstream.Place{Name: name}}
			for range n {
				s.Tokens = append(s.Tokens, int32(i))
			}
			if !yield(s, nil) {
				return
			}
		}
	}
	dir := t.TempDir()
	stats := new(tokenstream.Stats)
	w, err := xtuner.NewWriter(dir, &stats.Ledger)
	require.NoError(t, err)
	for row, err := range tokenstream.Pack(src, tokenstream.Options{Capacity: 8, Strategy: packing.NextFit{}, TooLong: tokenstream.Drop, Stats: stats}) {
		require.NoError(t, err)
		require.NoError(t, w.Write(row))
	}
	require.NoError(t, w.Close())
	shape, boundaries := read(t, filepath.Join(dir, "boundaries.npy"))
	require.Equal(t, "(4,)", shape)
	require.Equal(t, []int64{0, 2, 4, 5}, boundaries)
	shape, samples := read(t, filepath.Join(dir, "samples.npy"))
	require.Equal(t, "(5, 6)", shape)
	require.Equal(t, []int64{
		0, 0, -1, -1, 0, 3,
		0, 2, -1, -1, 0, 4,
		1, 0, -1, -1, 0, 2,
		1, 1, -1, -1, 0, 5,
		1, 2, -1, -1, 0, 3,
	}, samples)
	text, err := os.ReadFile(filepath.Join(dir, "paths.json"))
	require.NoError(t, err)
	var paths []string
	require.NoError(t, json.Unmarshal(text, &paths))
	require.Len(t, paths, 2)
	require.True(t, filepath.IsAbs(paths[0]))
	require.Equal(t, "b.jsonl", filepath.Base(paths[1]))
}

func read(t *testing.T, path string) (shape string, values []int64) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	n := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	require.Zero(t, n%64)
	header := string(b[10:n])
	_, shape, _ = strings.Cut(header, "'shape': ")
	shape, _, _ = strings.Cut(shape, ", }")
	for b = b[n:]; len(b) > 0; b = b[8:] {
		values = append(values, int64(binary.LittleEndian.Uint64(b)))
	}
	return shape, values
}

func TestRefuses(t *testing.T) {
	_, err := xtuner.NewWriter(filepath.Join(t.TempDir(), "none"), new(tokenstream.Ledger))
	require.Error(t, err)
	w, err := xtuner.NewWriter(t.TempDir(), &tokenstream.Ledger{})
	require.NoError(t, err)
	require.ErrorContains(t, w.Write(&tokenstream.Batch{Segments: []tokenstream.Segment{{Sample: 1}}}), "sample 1 of no file")
	require.ErrorContains(t, w.Write(&tokenstream.Batch{Segments: []tokenstream.Segment{{Pad: 1}}}), "segments are aligned")
}

package dataset_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
)

type rowSeq = iter.Seq2[*tokenstream.Batch, error]

// rows packs n samples into rows of 32 tokens.
func rows(n int, stats *tokenstream.Stats) rowSeq {
	source := func(yield func(tokenstream.Sample, error) bool) {
		for i := range int32(n) {
			s := tokenstream.Sample{}
			for k := range 2 + i*7%20 {
				s.Tokens = append(s.Tokens, 100*i+k)
			}
			if !yield(s, nil) {
				return
			}
		}
	}
	return tokenstream.Pack(source, tokenstream.Options{Capacity: 32, Strategy: packing.NextFit{}, Stats: stats})
}

var errBroken = errors.New("broken")

// failing yields n rows and then an error.
func failing(rows rowSeq, n int) rowSeq {
	return func(yield func(*tokenstream.Batch, error) bool) {
		i := 0
		for row, err := range rows {
			if i++; i > n {
				yield(nil, errBroken)
				return
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// tree returns the hash of every file below dir.
func tree(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(name)] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	}))
	return files
}

func TestWrite(t *testing.T) {
	ctx := context.Background()
	for format, want := range map[string][]string{
		"parquet": {"README.md", "brimful.json", "data/shard-00000.parquet", "data/shard-00001.parquet", "data/shard-00002.parquet"},
		"arrow":   {"README.md", "brimful.json", "data/shard-00000.arrow", "data/shard-00001.arrow", "data/shard-00002.arrow"},
		"hf": {"README.md", "brimful.json", "data-00000-of-00003.arrow", "data-00001-of-00003.arrow", "data-00002-of-00003.arrow",
			"dataset_info.json", "state.json"},
	} {
		var first map[string]string
		for _, workers := range []int{1, 3} {
			dir := filepath.Join(t.TempDir(), "out")
			var stats tokenstream.Stats
			m, err := dataset.Write(ctx, dir, rows(50, &stats), dataset.Options{Format: format, ShardRows: 8, Workers: workers})
			require.NoError(t, err)
			require.EqualValues(t, stats.Rows, m.Splits[0].Rows)
			require.EqualValues(t, stats.Ledger.Out.Tokens, m.Splits[0].Tokens)
			require.EqualValues(t, stats.Slots, m.Splits[0].Slots)
			got := tree(t, dir)
			var names []string
			for name := range got {
				names = append(names, name)
			}
			require.ElementsMatch(t, want, names)
			for _, s := range m.Splits[0].Shards {
				require.Equal(t, got[s.Path], s.SHA256)
			}
			if first == nil {
				first = got
			}
			require.Equal(t, first, got, "the bytes do not depend on the workers")
			read, err := dataset.ReadManifest(dir)
			require.NoError(t, err)
			a, _ := json.Marshal(m)
			b, _ := json.Marshal(read)
			require.JSONEq(t, string(a), string(b))
		}
	}
}

// Rows and shards are counted right whether or not the last shard is full, and when it holds one row.
func TestShardRows(t *testing.T) {
	for n := 1; n < 30; n++ {
		var stats tokenstream.Stats
		m, err := dataset.Write(context.Background(), filepath.Join(t.TempDir(), "out"), rows(50, &stats), dataset.Options{ShardRows: n})
		require.NoError(t, err)
		require.EqualValues(t, stats.Rows, m.Splits[0].Rows)
		require.Len(t, m.Splits[0].Shards, (int(stats.Rows)+n-1)/n)
	}
}

// A run whose rows end with an error after N of them, for every N, leaves no data set; the next run ends with the bytes of a run that
// was never interrupted.
func TestResume(t *testing.T) {
	ctx := context.Background()
	for _, format := range dataset.Formats() {
		o := dataset.Options{Format: format, ShardRows: 4, Workers: 2, Job: dataset.Job{"seed": 1}}
		dir := filepath.Join(t.TempDir(), "whole")
		m, err := dataset.Write(ctx, dir, rows(50, nil), o)
		require.NoError(t, err)
		want := tree(t, dir)
		for n := range int(m.Splits[0].Rows) + 1 {
			dir := filepath.Join(t.TempDir(), "out")
			_, err := dataset.Write(ctx, dir, failing(rows(50, nil), n), o)
			if n < int(m.Splits[0].Rows) {
				require.ErrorIs(t, err, errBroken)
				require.NoFileExists(t, filepath.Join(dir, dataset.ManifestName))
				require.NoDirExists(t, filepath.Join(dir, "data"))
				if n < o.ShardRows {
					require.NoDirExists(t, dir, "nothing was whole, nothing stays")
				} else {
					other := o
					other.Job = dataset.Job{"seed": 2}
					_, err = dataset.Create(dir, other)
					var foreign *dataset.ForeignError
					require.ErrorAs(t, err, &foreign)
					require.Equal(t, []string{"seed (1 there, 2 here)"}, foreign.Differs)
				}
				_, err = dataset.Write(ctx, dir, rows(50, nil), o)
			}
			require.NoError(t, err)
			require.Equal(t, want, tree(t, dir), "%s after %d rows", format, n)
		}
	}
}

// Rows that turn out to be others replace what an earlier run left.
func TestResumeOtherRows(t *testing.T) {
	ctx := context.Background()
	o := dataset.Options{ShardRows: 4}
	dir, whole := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "whole")
	_, err := dataset.Write(ctx, dir, failing(rows(60, nil), 15), o)
	require.ErrorIs(t, err, errBroken)
	few := func(yield func(*tokenstream.Batch, error) bool) {
		i := 0
		for row, err := range rows(50, nil) {
			if i++; i%2 == 0 && i < 12 && !yield(row, err) {
				return
			}
		}
	}
	_, err = dataset.Write(ctx, dir, few, o)
	require.NoError(t, err)
	_, err = dataset.Write(ctx, whole, few, o)
	require.NoError(t, err)
	require.Equal(t, tree(t, whole), tree(t, dir))
}

func TestComplete(t *testing.T) {
	ctx := context.Background()
	for _, format := range dataset.Formats() {
		o := dataset.Options{Format: format, ShardRows: 4, Job: dataset.Job{"a": 1}}
		dir := filepath.Join(t.TempDir(), "out")
		m, err := dataset.Write(ctx, dir, rows(50, nil), o)
		require.NoError(t, err)
		want := tree(t, dir)
		_, err = dataset.Create(dir, o)
		require.ErrorIs(t, err, dataset.ErrComplete)
		o.Workers = 7 // no matter
		_, err = dataset.Create(dir, o)
		require.ErrorIs(t, err, dataset.ErrComplete)

		// Damage of every file is mended.
		for name := range want {
			if name == dataset.ManifestName {
				continue
			}
			path := filepath.Join(dir, filepath.FromSlash(name))
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			isShard := strings.Contains(name, m.Splits[0].Shards[0].Path[len(m.Splits[0].Shards[0].Path)-6:])
			if isShard {
				b[len(b)/2] ^= 1
				require.NoError(t, os.WriteFile(path, b, 0o644))
			} else {
				require.NoError(t, os.Remove(path))
			}
			_, err = dataset.Write(ctx, dir, rows(50, nil), o)
			require.NoError(t, err, name)
			require.Equal(t, want, tree(t, dir), name)
		}

		o.ShardRows = 5
		_, err = dataset.Create(dir, o)
		require.ErrorContains(t, err, "shard_rows (4 there, 5 here)")
	}
}

func TestSplits(t *testing.T) {
	ctx := context.Background()
	for _, format := range dataset.Formats() {
		dir := filepath.Join(t.TempDir(), "out")
		w, err := dataset.Create(dir, dataset.Options{Format: format})
		require.NoError(t, err)
		for _, name := range []string{"train", "validation"} {
			_, err = w.Write(ctx, name, rows(20, nil))
			require.NoError(t, err)
		}
		for _, name := range []string{"train", "", "../up", "a/b"} {
			_, err = w.Write(ctx, name, rows(20, nil))
			require.Error(t, err, name)
		}
		m, err := w.Finish(nil)
		require.NoError(t, err)
		require.Len(t, m.Splits, 2)
		for _, s := range m.Splits {
			require.Contains(t, s.Shards[0].Path, s.Name+"/")
			require.FileExists(t, filepath.Join(dir, filepath.FromSlash(s.Shards[0].Path)))
		}
		card, err := os.ReadFile(filepath.Join(dir, "README.md"))
		require.NoError(t, err)
		require.Contains(t, string(card), "split: validation")
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o644))
	_, err := dataset.Create(dir, dataset.Options{})
	var foreign *dataset.ForeignError
	require.ErrorAs(t, err, &foreign)
	require.Equal(t, []string{"x"}, foreign.Entries)
	for _, o := range []dataset.Options{{Format: "csv"}, {ShardRows: -1}, {Workers: -1}} {
		_, err = dataset.Create(t.TempDir(), o)
		require.Error(t, err)
	}
	_, err = dataset.Create(filepath.Join(dir, "x"), dataset.Options{})
	require.Error(t, err, "a file is no directory")
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir := filepath.Join(t.TempDir(), "out")
	stopped := func(yield func(*tokenstream.Batch, error) bool) {
		i := 0
		for row, err := range rows(50, nil) {
			if i++; i == 10 {
				cancel()
			}
			if !yield(row, err) {
				return
			}
		}
	}
	o := dataset.Options{ShardRows: 2, Workers: 1}
	_, err := dataset.Write(ctx, dir, stopped, o)
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(dir, dataset.ManifestName))
	_, err = dataset.Write(context.Background(), dir, rows(50, nil), o)
	require.NoError(t, err)
}

// Two processes, here two writers, do not write into one directory.
func TestLocked(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "out")
	o := dataset.Options{ShardRows: 2}
	first, err := dataset.Create(dir, o)
	require.NoError(t, err)
	_, err = first.Write(ctx, "", rows(50, nil))
	require.NoError(t, err)
	_, err = dataset.Create(dir, o)
	require.ErrorContains(t, err, "another process")
	require.NoError(t, first.Close())
	_, err = dataset.Write(ctx, dir, rows(50, nil), o)
	require.NoError(t, err)

	// Nor when one is done before the other has its first shard: what is there stays as it is.
	dir = filepath.Join(t.TempDir(), "out")
	first, err = dataset.Create(dir, o)
	require.NoError(t, err)
	_, err = dataset.Write(ctx, dir, rows(50, nil), o)
	require.NoError(t, err)
	want := tree(t, dir)
	_, err = first.Write(ctx, "", rows(50, nil))
	require.ErrorContains(t, err, "made by another process in the meantime")
	require.NoError(t, first.Close())
	require.Equal(t, want, tree(t, dir))
	_, err = dataset.Create(dir, o)
	require.ErrorIs(t, err, dataset.ErrComplete)
}

func ExampleWrite() {
	samples := func(yield func(tokenstream.Sample, error) bool) {
		for i := range int32(100) {
			if !yield(tokenstream.Sample{Tokens: []int32{i, i + 1, i + 2}}, nil) {
				return
			}
		}
	}
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	packed := tokenstream.Pack(samples, tokenstream.Options{Capacity: 30})
	m, err := dataset.Write(context.Background(), filepath.Join(dir, "packed"), packed, dataset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Splits[0].Rows, "rows in", m.Splits[0].Shards[0].Path)
	// Output: 10 rows in data/shard-00000.parquet
}

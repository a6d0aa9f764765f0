package units_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/parquet"
	"github.com/brimful/brimful/tokenstream/source"
	"github.com/brimful/brimful/units"
	"github.com/brimful/brimful/verify"
)

// text returns n samples as JSON lines, with blank lines and lines without labels among them.
func text(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var b bytes.Buffer
	for i := range n {
		length := 2 + int(40*r.ExpFloat64())
		fmt.Fprintf(&b, `{"input_ids":[%d`, i)
		for range length - 1 {
			fmt.Fprintf(&b, ",%d", r.IntN(50000))
		}
		b.WriteString("]}\n")
		if r.IntN(10) == 0 {
			b.WriteString([]string{"\n", " \t\r\n", "\r\n"}[r.IntN(3)])
		}
	}
	return b.Bytes()
}

// inputs writes three inputs, of which one is compressed and one has no newline at its end.
func inputs(t *testing.T) []string {
	dir := t.TempDir()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(text(2, 900))
	require.NoError(t, errors.Join(err, z.Close()))
	for name, b := range map[string][]byte{
		"a.jsonl": append([]byte("\xef\xbb\xbf"), text(1, 5000)...), "b.jsonl.gz": zipped.Bytes(), "c.jsonl": bytes.TrimSpace(text(3, 4000)),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
	return []string{dir}
}

func job(dir string) units.Job {
	return units.Job{Dir: dir, Pack: tokenstream.Options{Capacity: 512, TooLong: tokenstream.Truncate}, Dataset: dataset.Options{ShardRows: 40, Job: dataset.Job{
		"capacity": 512, "labels": "own", "no_target": "default", "too_long": "truncate", "max_sample_tokens": 0, "max_samples": 0, "pad": true, "pad_id": 0, "vocab_size": 0,
	}}}
}

func plan(t *testing.T, args []string, n int) *units.Plan {
	p, err := units.New(t.Context(), args, units.Options{Units: n, Seed: 3})
	require.NoError(t, err)
	return p
}

// hashes returns the sha256 of every file below dir.
func hashes(t *testing.T, dir string) map[string]string {
	sums := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, p))
		sum := sha256.Sum256(b)
		sums[p] = hex.EncodeToString(sum[:])
		return err
	}))
	return sums
}

// The parts of all units are the inputs, cut at lines, and each sample has its number.
func TestSource(t *testing.T) {
	args := inputs(t)
	files, err := source.Open(args, source.Options{})
	require.NoError(t, err)
	want := map[int64]tokenstream.Sample{}
	for s, err := range files.Samples() {
		require.NoError(t, err)
		want[s.Number] = s.Clone()
	}
	for _, n := range []int{1, 2, 7} {
		p := plan(t, args, n)
		require.EqualValues(t, len(want), p.Samples)
		got := map[int64]tokenstream.Sample{}
		weights := map[int]int64{}
		for u := range n {
			for _, q := range p.Parts(u) {
				weights[u] += q.Weight
			}
			for s, err := range p.Source(u, source.Options{}) {
				require.NoError(t, err)
				_, twice := got[s.Number]
				require.False(t, twice)
				got[s.Number] = s.Clone()
			}
		}
		require.Equal(t, want, got)
		for u := range n {
			require.InEpsilon(t, weights[0], weights[u], .6, "unit %d", u) // the compressed file is one part
		}
	}
}

// Whoever runs which unit, how often and in which order: the bytes are the same.
func TestSameBytes(t *testing.T) {
	args := inputs(t)
	const n = 6
	p := plan(t, args, n)
	first := filepath.Join(t.TempDir(), "first")
	require.NoError(t, p.RunAll(t.Context(), job(first), 1, nil))
	m, err := p.Finish(t.Context(), job(first))
	require.NoError(t, err)
	require.EqualValues(t, 9900, m.Splits[0].Stats.Ledger.In.Samples)
	want := hashes(t, first)
	require.Contains(t, want, "data/shard-00000.parquet")

	files, err := source.Open(args, source.Options{})
	require.NoError(t, err)
	r, err := verify.Dir(t.Context(), first, verify.Options{Source: files.Samples()})
	require.NoError(t, err)
	require.True(t, r.OK(), "%v", r.Faults)

	for name, run := range map[string]func(units.Job){
		"four workers": func(j units.Job) { require.NoError(t, p.RunAll(t.Context(), j, 4, nil)) },
		"backwards, from a file": func(j units.Job) {
			path := filepath.Join(t.TempDir(), "plan")
			require.NoError(t, p.WriteFile(path))
			for u := n - 1; u >= 0; u-- {
				read, err := units.ReadFile(path, u)
				require.NoError(t, err)
				_, err = read.Run(t.Context(), j, u)
				require.NoError(t, err)
			}
		},
		"each twice at a time, and again": func(j units.Job) {
			var g sync.WaitGroup
			for u := range 2 * n {
				g.Go(func() {
					_, err := p.Run(context.Background(), j, u%n)
					require.NoError(t, err)
				})
			}
			g.Wait()
			_, err := p.Run(t.Context(), j, 2)
			require.NoError(t, err)
		},
		"some lost": func(j units.Job) {
			require.NoError(t, p.RunAll(t.Context(), j, 2, nil))
			stage := filepath.Join(j.Dir, ".brimful")
			require.NoError(t, os.Remove(filepath.Join(stage, "units", "unit-00001.json")))
			require.NoError(t, os.Truncate(filepath.Join(stage, "data", "shard-00003-00000.parquet"), 10))
			require.NoError(t, os.WriteFile(filepath.Join(stage, "units", "unit-00004.json"), []byte(`{"unit":4,`), 0o644))
			missing, err := p.Missing(j)
			require.NoError(t, err)
			require.Equal(t, []int{1, 3, 4}, missing)
			_, err = p.Finish(t.Context(), j)
			require.EqualError(t, err, j.Dir+": 3 of 6 units are not done: 1, 3, 4")
			for _, u := range missing {
				_, err := p.Run(t.Context(), j, u)
				require.NoError(t, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := job(filepath.Join(t.TempDir(), "out"))
			run(j)
			missing, err := p.Missing(j)
			require.NoError(t, err)
			require.Empty(t, missing)
			_, err = p.Finish(t.Context(), j)
			require.NoError(t, err)
			require.Equal(t, want, hashes(t, j.Dir))
			_, err = p.Finish(t.Context(), j)
			require.NoError(t, err, "again")
			_, err = p.Run(t.Context(), j, 0)
			require.ErrorIs(t, err, dataset.ErrComplete)
			require.Equal(t, want, hashes(t, j.Dir))
		})
	}
}

// A Finish that was interrupted anywhere can be repeated.
func TestFinishAgain(t *testing.T) {
	p := plan(t, inputs(t), 3)
	j := job(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, p.RunAll(t.Context(), j, 2, nil))
	stage := filepath.Join(j.Dir, ".brimful")
	final := filepath.Join(stage, "final", "data")
	require.NoError(t, os.MkdirAll(final, 0o755))
	require.NoError(t, os.Rename(filepath.Join(stage, "data", "shard-00000-00000.parquet"), filepath.Join(final, "shard-00000.parquet")))
	require.NoError(t, os.Rename(filepath.Join(stage, "data", "shard-00000-00001.parquet"), filepath.Join(final, "shard-00001.parquet")))
	_, err := p.Finish(t.Context(), j)
	require.NoError(t, err)
	r, err := verify.Dir(t.Context(), j.Dir, verify.Options{})
	require.NoError(t, err)
	require.True(t, r.OK(), "%v", r.Faults)
	require.NoDirExists(t, stage)
}

// Another plan or another job is not mixed into a directory.
func TestForeign(t *testing.T) {
	args := inputs(t)
	p, q := plan(t, args, 3), plan(t, args, 4)
	j := job(filepath.Join(t.TempDir(), "out"))
	_, err := p.Run(t.Context(), j, 0)
	require.NoError(t, err)
	_, err = q.Run(t.Context(), j, 0)
	require.ErrorContains(t, err, "belongs to another job, which differs in plan, units (3 there, 4 here)")
	other := job(j.Dir)
	other.Dataset.Job["capacity"] = 511
	_, err = p.Run(t.Context(), other, 0)
	require.ErrorContains(t, err, "differs in capacity (512 there, 511 here)")
}

// Inputs that change after the plan was made are found.
func TestChanged(t *testing.T) {
	args := inputs(t)
	name := filepath.Join(args[0], "a.jsonl")
	plans := []*units.Plan{plan(t, args, 1), plan(t, []string{name}, 1)} // with the file among others, and with no part before it
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	i := bytes.LastIndexByte(b, ']')
	for what, c := range map[string]struct {
		text string
		want string
	}{
		"a digit":   {string(b[:i-1]) + string('0'+(b[i-1]-'0'+1)%10) + string(b[i:]), "are others"},
		"longer":    {string(b) + "\n", "bytes, and had"},
		"no commas": {strings.Replace(string(b), "]}\n", "]}\r", 1), "invalid character"},
	} {
		t.Run(what, func(t *testing.T) {
			require.NoError(t, os.WriteFile(name, []byte(c.text), 0o644))
			for _, p := range plans {
				_, err := p.Run(t.Context(), job(filepath.Join(t.TempDir(), "out")), 0)
				require.ErrorContains(t, err, c.want)
			}
		})
	}
}

// A Parquet file is cut at its row groups.
func TestParquet(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.parquet")
	file, err := os.Create(name)
	require.NoError(t, err)
	layout := tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids"}, {Name: "labels", Kind: tokenstream.Labels}}}
	w, err := parquet.NewWriter(file, layout, parquet.Options{RowGroupRows: 500})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range int32(20_000) {
		ids := []int32{i}
		for range 1 + r.IntN(30) {
			ids = append(ids, r.Int32N(50000))
		}
		require.NoError(t, w.Write(&tokenstream.Batch{Tokens: ids, Labels: ids, Segments: []tokenstream.Segment{{Length: int32(len(ids))}}}))
	}
	require.NoError(t, errors.Join(w.Close(), file.Close()))
	p := plan(t, []string{name}, 3)
	require.EqualValues(t, 20_000, p.Samples)
	var numbers []int64
	for u := range 3 {
		require.Greater(t, len(p.Parts(u)), 1)
		for s, err := range p.Source(u, source.Options{}) {
			require.NoError(t, err)
			require.EqualValues(t, s.Number, s.Tokens[0]+1)
			require.Equal(t, tokenstream.Place{Name: name, Row: s.Number}, s.Place)
			numbers = append(numbers, s.Number)
		}
	}
	slices.Sort(numbers)
	require.Len(t, slices.Compact(numbers), 20_000)
	j := job(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, p.RunAll(t.Context(), j, 2, nil))
	_, err = p.Finish(t.Context(), j)
	require.NoError(t, err)
	files, err := source.Open([]string{name}, source.Options{})
	require.NoError(t, err)
	report, err := verify.Dir(t.Context(), j.Dir, verify.Options{Source: files.Samples()})
	require.NoError(t, err)
	require.True(t, report.OK(), "%v", report.Faults)
}

func TestNewErrors(t *testing.T) {
	args := inputs(t)
	_, err := units.New(t.Context(), args, units.Options{})
	require.EqualError(t, err, "0 units: want 1 or more")
	_, err = units.New(t.Context(), args, units.Options{Units: 10000})
	require.ErrorContains(t, err, "10000 units: the inputs have ")
	_, err = units.New(t.Context(), []string{"-"}, units.Options{Units: 1})
	require.ErrorContains(t, err, "a plan needs files")
}

func TestReadFileErrors(t *testing.T) {
	p := plan(t, inputs(t), 3)
	path := filepath.Join(t.TempDir(), "plan")
	require.NoError(t, p.WriteFile(path))
	_, err := units.ReadFile(path, 3)
	require.ErrorContains(t, err, "unit 3: want 0..2")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                   "line 1: not a plan: unexpected EOF",
		"{}\n":               "version 0: want 1",
		string(b[:len(b)-3]): "line 4: not the parts of unit 2: unexpected EOF",
		strings.Replace(string(b), `"to":`, `"to":9`, 3): "which are not there",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := units.ReadFile(path, 0, 1, 2)
		require.ErrorContains(t, err, want)
	}
}

func TestRanges(t *testing.T) {
	for want, list := range map[string][]int{"": {}, "4": {4}, "2,3,7-9": {2, 3, 7, 8, 9}, "0-2,5": {0, 1, 2, 5}} {
		require.Equal(t, want, dataset.Ranges(list))
	}
}

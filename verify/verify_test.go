package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/verify"
)

type verifyFault = verify.Fault

// What the command writes is right, in every format and under every policy and label rule.
func TestRight(t *testing.T) {
	right := func(j job) string {
		dir := write(t, j)
		for _, list := range [][]tokenstream.Sample{nil, j.samples()} {
			r := check(t, dir, list)
			require.Empty(t, r.Faults, "%+v", j)
			require.Empty(t, r.Unchecked, "%+v", j)
			require.NotZero(t, r.Rows)
			require.NotZero(t, r.Supervised)
			require.Equal(t, list != nil, r.Source)
		}
		return dir
	}
	for _, format := range dataset.Formats() {
		for _, tooLong := range []tokenstream.TooLong{tokenstream.Drop, tokenstream.Truncate, tokenstream.TruncateLeft, tokenstream.Split} {
			for _, noTarget := range []tokenstream.Policy{tokenstream.PolicyDrop, tokenstream.PolicyKeep} {
				keep := noTarget == tokenstream.PolicyKeep
				dir := right(job{format: format, tooLong: tooLong, noTarget: noTarget, ragged: keep, holdout: keep, longest: 60})
				require.NoError(t, os.Remove(filepath.Join(dir, "brimful.json")))
				r := check(t, dir, nil)
				require.Empty(t, r.Faults)
				require.False(t, r.Manifest)
				require.NotEmpty(t, r.Unchecked)
				_, err := verify.Dir(context.Background(), dir, verify.Options{Source: source(samples())})
				require.ErrorContains(t, err, "without it the rules")
			}
		}
		for _, labels := range []tokenstream.LabelRule{tokenstream.LabelsShifted, tokenstream.LabelsFree, tokenstream.LabelsAll} {
			right(job{format: format, labels: labels, tooLong: tokenstream.Split})
		}
		right(job{format: format, wide: true, tooLong: tokenstream.Drop})
		right(job{format: format, wide: true, tooLong: tokenstream.Truncate, ragged: true, holdout: true})
	}
}

// A fault about a sample says where it is in the rows, and what differs.
func TestPlace(t *testing.T) {
	d := open(t, write(t, job{format: "parquet", tooLong: tokenstream.Drop}))
	r := &d.rows[2]
	at := int(r.CuSeqlens[1]) + 1
	want := r.InputIDs[at]
	r.InputIDs[at], r.Labels[at] = 3, -100
	d.rows[1].SampleIndex[0] = d.rows[0].SampleIndex[1]
	d.save()
	faults := check(t, d.dir, samples()).Faults
	find := func(reason string) verify.Fault {
		i := slices.IndexFunc(faults, func(f verify.Fault) bool { return f.Reason == reason })
		require.GreaterOrEqual(t, i, 0, reason)
		return faults[i]
	}
	f := find("sample_changed")
	require.Equal(t, []any{"data/shard-00000.parquet", int64(2), int64(at)}, []any{f.File, f.Row, f.Index})
	require.Regexp(t, `^file0:\d+, sample \d+: id 3: want `+jsonOf(t, want)+`$`, f.Text)
	f = find("sample_twice")
	require.Equal(t, []any{"data/shard-00000.parquet", int64(1), int64(0)}, []any{f.File, f.Row, f.Index})
	require.Equal(t, "sample 1 is in 2 places, first in data/shard-00000.parquet: row 0, at 20", f.Text)
	require.Equal(t, "data/shard-00000.parquet: row 1, at 0: sample_twice: "+f.Text, f.String())
}

func jsonOf(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// The report of one data set is the same whenever and on however many cores it is made, and says no more faults than were asked for.
func TestDeterministic(t *testing.T) {
	d := open(t, write(t, job{format: "parquet", tooLong: tokenstream.Split}))
	for i := range d.rows {
		d.rows[i].PositionIDs[1], d.rows[i].SampleIndex[0] = 0, 3
	}
	d.save()
	require.NoError(t, os.Remove(d.path(2)))
	list := samples()
	for i := range list[20:] {
		list[20+i].Tokens[0]++
	}
	first := ""
	for n := range 8 {
		old := runtime.GOMAXPROCS(1 + n%4)
		r, err := verify.Dir(context.Background(), d.dir, verify.Options{Source: source(list), Faults: 7})
		runtime.GOMAXPROCS(old)
		require.NoError(t, err)
		require.Len(t, r.Faults, 7)
		require.Greater(t, r.Wrong, int64(20))
		if n == 0 {
			first = jsonOf(t, r)
		}
		require.Equal(t, first, jsonOf(t, r))
	}
}

// A source that lacks a sample, has one more, or has one that differs is told from the rows.
func TestOtherSource(t *testing.T) {
	dir := write(t, job{format: "parquet", tooLong: tokenstream.Drop})
	list := samples()
	require.NotZero(t, check(t, dir, list[:50]).Reasons["sample_unknown"])
	require.NotZero(t, check(t, dir, append(list, tokenstream.Sample{Tokens: []int32{1, 2}})).Reasons["sample_lost"])
	list[5].Tokens[1]++
	require.NotZero(t, check(t, dir, list).Reasons["sample_changed"])
	bad := tokenstream.Sample{Tokens: []int32{1, 2}, Labels: []int32{1}}
	_, err := verify.Dir(context.Background(), dir, verify.Options{Source: source([]tokenstream.Sample{bad})})
	require.ErrorContains(t, err, "1 labels for 2 ids")
	broken := errors.New("a broken disk")
	_, err = verify.Dir(context.Background(), dir, verify.Options{Source: func(yield func(tokenstream.Sample, error) bool) { yield(tokenstream.Sample{}, broken) }})
	require.ErrorIs(t, err, broken)
}

// Files of the source may have other names than when they were packed, or be other files with the same samples.
func TestRenamedSource(t *testing.T) {
	dir := write(t, job{format: "parquet", tooLong: tokenstream.Truncate})
	rename := func(name func(i int) string) []tokenstream.Sample {
		list := samples()
		for i := range list {
			list[i].Place.Name = name(i)
		}
		return list
	}
	elsewhere := []string{"/elsewhere/file0", "/elsewhere/file1"}
	require.Empty(t, check(t, dir, rename(func(i int) string { return elsewhere[i/30] })).Faults, "the same files")
	require.Empty(t, check(t, dir, rename(func(int) string { return "all" })).Faults, "one file")
	require.NotZero(t, check(t, dir, rename(func(i int) string { return elsewhere[min(i/29, 1)] })).Reasons["ledger"], "files of other samples")
	require.NotZero(t, check(t, dir, rename(func(i int) string { return []string{"file1", "file0"}[i/30] })).Reasons["ledger"], "files exchanged")
}

// What a data set does not say of itself is not checked, and the report says so.
func TestUnchecked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "packed")
	rows := tokenstream.Pack(source(samples()), tokenstream.Options{Capacity: capacity, TooLong: tokenstream.Drop, Strategy: packing.NextFit{}})
	_, err := dataset.Write(context.Background(), dir, rows, dataset.Options{})
	require.NoError(t, err)
	r := check(t, dir, nil)
	require.Empty(t, r.Faults)
	require.Equal(t, []string{"job.capacity", "job.labels", "job.max_sample_tokens", "job.max_samples", "job.no_target", "job.pad", "job.pad_id",
		"job.too_long", "job.vocab_size", "ledger"}, r.Unchecked)
	_, err = verify.Dir(context.Background(), dir, verify.Options{Source: source(samples())})
	require.ErrorContains(t, err, "does not say what job.capacity is")
	d := open(t, dir)
	d.rows[0].PositionIDs[1]++
	d.save()
	require.NotZero(t, check(t, dir, nil).Reasons["position_ids"])

	d = open(t, write(t, job{format: "parquet", tooLong: tokenstream.Drop}))
	d.manifest["columns"] = append(d.manifest["columns"].([]any), map[string]any{"name": "mood", "kind": "mood", "type": "int32"})
	d.saveManifest()
	require.Contains(t, check(t, d.dir, nil).Unchecked, "columns.mood")
}

func TestNotChecked(t *testing.T) {
	_, err := verify.Dir(context.Background(), "no such directory", verify.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = verify.Dir(context.Background(), "verify_test.go", verify.Options{})
	require.ErrorContains(t, err, "not a directory")
	_, err = verify.Dir(context.Background(), t.TempDir(), verify.Options{})
	require.ErrorContains(t, err, "neither brimful.json nor a shard")
	dir := write(t, job{format: "parquet", tooLong: tokenstream.Drop})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = verify.Dir(ctx, dir, verify.Options{})
	require.ErrorIs(t, err, context.Canceled)
	d := open(t, dir)
	d.manifest["version"] = 2
	d.saveManifest()
	_, err = verify.Dir(context.Background(), dir, verify.Options{})
	require.ErrorContains(t, err, "version 2: this program knows up to 1")
	d.remove("brimful.json")
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".brimful"), 0o755))
	_, err = verify.Dir(context.Background(), dir, verify.Options{})
	require.ErrorContains(t, err, "is not complete")
}

// The reader is independent: of the module it imports only what samples of a source are.
func TestIndependent(t *testing.T) {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	used := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, i := range file.Imports {
			if strings.Contains(i.Path.Value, "brimful/brimful") {
				require.Equal(t, `"github.com/brimful/brimful/tokenstream"`, i.Path.Value, name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "tokenstream" {
					used[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	require.Equal(t, map[string]bool{"Source": true, "Sample": true, "Place": true}, used)
}

package verify_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
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

const capacity = 64

// samples returns samples of every kind: with labels and without, too long, masked altogether, and two with equal tokens.
func samples() []tokenstream.Sample {
	r := rand.New(rand.NewPCG(4, 2))
	var list []tokenstream.Sample
	for i := range 60 {
		s := tokenstream.Sample{Place: tokenstream.Place{Name: fmt.Sprint("file", i/30), Row: int64(i%30 + 1)}}
		n := 2 + r.IntN(40)
		if i%20 == 7 {
			n = 70 + r.IntN(30)
		}
		for range n {
			s.Tokens = append(s.Tokens, 1+r.Int32N(900))
		}
		if i%3 > 0 {
			s.Labels = slices.Clone(s.Tokens)
			for k := range s.Labels[:n/2] {
				s.Labels[k] = tokenstream.Ignore
			}
		}
		if i%20 == 11 {
			for k := range s.Labels {
				s.Labels[k] = tokenstream.Ignore
			}
		}
		list = append(list, s)
	}
	return list
}

func source(list []tokenstream.Sample) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		for _, s := range list {
			if !yield(s.Clone(), nil) {
				return
			}
		}
	}
}

// write packs the samples into a new directory, as the command does.
func write(t testing.TB, format string, o tokenstream.Options) string {
	dir := filepath.Join(t.TempDir(), "packed")
	o.Capacity, o.Stats = capacity, new(tokenstream.Stats)
	o.Strategy = packing.NextFit{} // which leaves pad tails
	w, err := dataset.Create(dir, dataset.Options{Format: format, ShardRows: 4, Job: dataset.Job{
		"capacity": capacity, "max_sample_tokens": 0, "max_samples": 0, "pad": !o.Ragged, "pad_id": 0, "vocab_size": 1000,
		"too_long": o.TooLong.String(), "no_target": o.NoTarget.String(), "labels": o.Labels.String(),
	}})
	require.NoError(t, err)
	split, err := w.Write(context.Background(), "", tokenstream.Pack(source(samples()), o))
	require.NoError(t, err)
	split.Stats = o.Stats
	_, err = w.Finish(nil)
	require.NoError(t, err)
	return dir
}

func check(t testing.TB, dir string, list []tokenstream.Sample) *verify.Report {
	o := verify.Options{}
	if list != nil {
		o.Source = source(list)
	}
	r, err := verify.Dir(context.Background(), dir, o)
	require.NoError(t, err)
	return r
}

// What the command writes is right, in every format and under every policy.
func TestRight(t *testing.T) {
	for _, format := range dataset.Formats() {
		for _, tooLong := range []tokenstream.TooLong{tokenstream.Drop, tokenstream.Truncate, tokenstream.TruncateLeft, tokenstream.Split} {
			for _, noTarget := range []tokenstream.Policy{tokenstream.PolicyDrop, tokenstream.PolicyKeep} {
				dir := write(t, format, tokenstream.Options{TooLong: tooLong, NoTarget: noTarget, Ragged: noTarget == tokenstream.PolicyKeep})
				for _, list := range [][]tokenstream.Sample{nil, samples()} {
					r := check(t, dir, list)
					require.Empty(t, r.Faults)
					require.True(t, r.OK())
					require.NotZero(t, r.Rows)
				}
				require.NoError(t, os.Remove(filepath.Join(dir, "brimful.json")))
				r := check(t, dir, nil)
				require.Empty(t, r.Faults)
				require.False(t, r.Manifest)
				_, err := verify.Dir(context.Background(), dir, verify.Options{Source: source(samples())})
				require.ErrorContains(t, err, "without it the rules")
			}
		}
	}
}

func TestNotChecked(t *testing.T) {
	_, err := verify.Dir(context.Background(), "no such directory", verify.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = verify.Dir(context.Background(), t.TempDir(), verify.Options{})
	require.ErrorContains(t, err, "neither brimful.json nor a shard")
	dir := write(t, "parquet", tokenstream.Options{TooLong: tokenstream.Drop})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = verify.Dir(ctx, dir, verify.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// hfRow is a row of the default layout.
type hfRow struct {
	InputIDs    []int32 `parquet:"input_ids,list"`
	Labels      []int32 `parquet:"labels,list"`
	PositionIDs []int32 `parquet:"position_ids,list"`
	CuSeqlens   []int32 `parquet:"cu_seqlens,list"`
	SeqLengths  []int32 `parquet:"seq_lengths,list"`
	MaxSeqlen   int32   `parquet:"max_seqlen"`
	PadLength   int32   `parquet:"pad_length"`
	SampleIndex []int64 `parquet:"sample_index,list"`
}

// damage is a data set under damage.
type damage struct {
	t        testing.TB
	dir      string
	rows     []hfRow        // of the first shard
	manifest map[string]any // as written
	shard    map[string]any // of the first shard, in the manifest
	split    map[string]any
}

func open(t testing.TB, dir string) *damage {
	d := &damage{t: t, dir: dir}
	b, err := os.ReadFile(filepath.Join(dir, "brimful.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &d.manifest))
	d.split = d.manifest["splits"].([]any)[0].(map[string]any)
	d.shard = d.split["shards"].([]any)[0].(map[string]any)
	d.rows, err = parquet.ReadFile[hfRow](d.path(0))
	require.NoError(t, err)
	return d
}

func (d *damage) path(i int) string {
	return filepath.Join(d.dir, "data", fmt.Sprintf("shard-%05d.parquet", i))
}

// save writes the first shard of rows, with a right checksum, and the manifest.
func save[R any](d *damage, rows []R) {
	file, err := os.Create(d.path(0))
	require.NoError(d.t, err)
	w := parquet.NewGenericWriter[R](file)
	_, err = w.Write(rows)
	require.NoError(d.t, err)
	require.NoError(d.t, w.Close())
	require.NoError(d.t, file.Close())
	d.resum()
}

// resum makes the manifest's checksum of the first shard right.
func (d *damage) resum() {
	b, err := os.ReadFile(d.path(0))
	require.NoError(d.t, err)
	d.shard["size"], d.shard["sha256"] = len(b), fmt.Sprintf("%x", sha256.Sum256(b))
	d.saveManifest()
}

func (d *damage) saveManifest() {
	b, err := json.Marshal(d.manifest)
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "brimful.json"), b, 0o644))
}

// ledger returns the ledger in the manifest.
func (d *damage) ledger() map[string]any {
	return d.split["stats"].(map[string]any)["ledger"].(map[string]any)
}

// padded returns a row with a pad tail of 2 tokens or more, and where the tail begins.
func (d *damage) padded() (*hfRow, int) {
	for i := range d.rows {
		if p := int(d.rows[i].PadLength); p >= 2 {
			return &d.rows[i], len(d.rows[i].InputIDs) - p
		}
	}
	d.t.Fatal("no row with a pad tail")
	return nil, 0
}

// add adds n to a number in the manifest.
func add(m map[string]any, key string, n float64) { m[key] = m[key].(float64) + n }

// mutation is one kind of damage and the reason that has to be found. With rows it is done to the rows of the first shard, whose checksum
// is then made right.
type mutation struct {
	name   string
	reason string
	rows   func(d *damage)
	files  func(d *damage)
}

var mutations = []mutation{
	{"a position leaks into the next segment", "position_ids", func(d *damage) { r := &d.rows[0]; r.PositionIDs[r.CuSeqlens[1]] = r.CuSeqlens[1] }, nil},
	{"positions count through the row", "position_ids", func(d *damage) {
		for i := range d.rows[0].PositionIDs {
			d.rows[0].PositionIDs[i] = int32(i)
		}
	}, nil},
	{"positions of a segment are off by one", "position_ids", func(d *damage) {
		r := &d.rows[0]
		for i := r.CuSeqlens[1]; i < r.CuSeqlens[2]; i++ {
			r.PositionIDs[i]++
		}
	}, nil},
	{"pad positions are all 0", "position_ids", func(d *damage) { r, at := d.padded(); clear(r.PositionIDs[at:]) }, nil},
	{"positions are one short", "lengths", func(d *damage) { r := &d.rows[0]; r.PositionIDs = r.PositionIDs[1:] }, nil},
	{"the first label of a segment is not masked", "first_label", func(d *damage) {
		r := &d.rows[0]
		r.Labels[r.CuSeqlens[1]] = r.InputIDs[r.CuSeqlens[1]]
	}, nil},
	{"labels are shifted", "label", func(d *damage) {
		for i := range d.rows {
			d.rows[i].Labels = append(d.rows[i].Labels[1:], -100)
		}
	}, nil},
	{"labels are one short", "lengths", func(d *damage) { r := &d.rows[0]; r.Labels = r.Labels[1:] }, nil},
	{"a label is another id", "label", func(d *damage) {
		r := &d.rows[0]
		i := slices.IndexFunc(r.Labels, func(l int32) bool { return l >= 0 })
		r.Labels[i] = r.InputIDs[i] + 1
	}, nil},
	{"a prompt is not masked any more", "sample_changed", func(d *damage) {
		for i := range d.rows {
			r := &d.rows[i]
			for k := 1; k < len(r.Labels)-int(r.PadLength); k++ {
				if r.Labels[k] == -100 && r.PositionIDs[k] > 0 {
					r.Labels[k] = r.InputIDs[k]
					return
				}
			}
		}
	}, nil},
	{"a target is masked", "sample_changed", func(d *damage) {
		r := &d.rows[0]
		r.Labels[slices.IndexFunc(r.Labels, func(l int32) bool { return l >= 0 })] = -100
	}, nil},
	{"a label on the pad tail", "pad_label", func(d *damage) { r, at := d.padded(); r.Labels[at+1] = 0 }, nil},
	{"another id on the pad tail", "pad_id", func(d *damage) { r, _ := d.padded(); r.InputIDs[len(r.InputIDs)-1] = 5 }, nil},
	{"offsets don't start at 0", "cu_seqlens", func(d *damage) { d.rows[0].CuSeqlens[0] = 1 }, nil},
	{"an offset repeats", "cu_seqlens", func(d *damage) { r := &d.rows[0]; r.CuSeqlens[1] = r.CuSeqlens[2] }, nil},
	{"offsets end before the row", "cu_seqlens", func(d *damage) { r := &d.rows[0]; r.CuSeqlens[len(r.CuSeqlens)-1]-- }, nil},
	{"offsets of the whole file", "cu_seqlens", func(d *damage) {
		for i := range d.rows[1].CuSeqlens {
			d.rows[1].CuSeqlens[i] += capacity
		}
	}, nil},
	{"no offsets", "cu_seqlens", func(d *damage) { d.rows[0].CuSeqlens = nil }, nil},
	{"a length is wrong", "seq_lengths", func(d *damage) { d.rows[0].SeqLengths[0]++ }, nil},
	{"a length too few", "seq_lengths", func(d *damage) { d.rows[0].SeqLengths = d.rows[0].SeqLengths[1:] }, nil},
	{"a wrong longest segment", "max_seqlen", func(d *damage) { d.rows[0].MaxSeqlen-- }, nil},
	{"a wrong pad tail", "pad_length", func(d *damage) { r, _ := d.padded(); r.PadLength-- }, nil},
	{"a negative pad tail", "pad_length", func(d *damage) { d.rows[0].PadLength = -1 }, nil},
	{"the pad tail taken for a sample", "sample_index", func(d *damage) { r, _ := d.padded(); r.PadLength = 0 }, nil},
	{"a row is longer than the capacity", "row_length", func(d *damage) {
		r, _ := d.padded()
		r.InputIDs, r.Labels, r.PositionIDs = append(r.InputIDs, 0), append(r.Labels, -100), append(r.PositionIDs, r.PadLength)
		r.PadLength++
		r.CuSeqlens[len(r.CuSeqlens)-1]++
		r.SeqLengths[len(r.SeqLengths)-1]++
	}, nil},
	{"a row is shorter than the capacity", "row_length", func(d *damage) {
		r, _ := d.padded()
		n := len(r.InputIDs) - 1
		r.InputIDs, r.Labels, r.PositionIDs = r.InputIDs[:n], r.Labels[:n], r.PositionIDs[:n]
		r.PadLength--
		r.CuSeqlens[len(r.CuSeqlens)-1]--
		r.SeqLengths[len(r.SeqLengths)-1]--
	}, nil},
	{"a token changed, and its label", "sample_changed", func(d *damage) {
		r := &d.rows[0]
		i := slices.IndexFunc(r.Labels, func(l int32) bool { return l >= 0 })
		r.InputIDs[i] ^= 1
		r.Labels[i] ^= 1
	}, nil},
	{"two tokens exchanged", "sample_changed", func(d *damage) {
		r := &d.rows[0]
		i := slices.IndexFunc(r.Labels, func(l int32) bool { return l >= 0 })
		r.InputIDs[i], r.InputIDs[i+1] = r.InputIDs[i+1], r.InputIDs[i]
		r.Labels[i], r.Labels[i+1] = r.Labels[i+1], r.Labels[i]
	}, nil},
	{"an id below 0", "token", func(d *damage) { d.rows[0].InputIDs[0] = -1 }, nil},
	{"an id beyond the vocabulary", "token", func(d *damage) { d.rows[0].InputIDs[0] = 1000 }, nil},
	{"a boundary between two samples is gone", "sample_index", func(d *damage) {
		r := &d.rows[0]
		n := r.CuSeqlens[2]
		r.CuSeqlens = slices.Delete(r.CuSeqlens, 1, 2)
		r.SeqLengths = append([]int32{n}, r.SeqLengths[2:]...)
		r.MaxSeqlen = max(r.MaxSeqlen, n)
		for i := range n {
			r.PositionIDs[i] = i
		}
	}, nil},
	{"two samples exchanged by name", "sample_changed", func(d *damage) {
		r := &d.rows[0]
		r.SampleIndex[0], r.SampleIndex[1] = r.SampleIndex[1], r.SampleIndex[0]
	}, nil},
	{"samples of two rows exchanged by name", "sample_changed", func(d *damage) {
		d.rows[0].SampleIndex[0], d.rows[1].SampleIndex[0] = d.rows[1].SampleIndex[0], d.rows[0].SampleIndex[0]
	}, nil},
	{"a sample is named twice", "sample_twice", func(d *damage) { d.rows[0].SampleIndex[0] = d.rows[1].SampleIndex[0] }, nil},
	{"a sample that the source does not have", "sample_unknown", func(d *damage) { d.rows[0].SampleIndex[0] = 1 << 40 }, nil},
	{"a negative sample", "sample_index", func(d *damage) { d.rows[0].SampleIndex[0] = -1 }, nil},
	{"a sample too few", "sample_index", func(d *damage) { d.rows[0].SampleIndex = d.rows[0].SampleIndex[1:] }, nil},
	{"a row twice, another lost", "sample_twice", func(d *damage) { d.rows[1] = d.rows[0] }, nil},
	{"a row is lost", "sample_lost", func(d *damage) { d.rows = d.rows[1:] }, nil},
	{"a row is lost, by the counts", "counts", func(d *damage) { d.rows = d.rows[1:] }, nil},

	{"an attention_mask", "columns", nil, func(d *damage) {
		type masked struct {
			hfRow
			AttentionMask []int32 `parquet:"attention_mask,list"`
		}
		var rows []masked
		for _, r := range d.rows {
			rows = append(rows, masked{r, make([]int32, len(r.InputIDs))})
		}
		save(d, rows)
	}},
	{"a column is missing", "columns", nil, func(d *damage) {
		type fewer struct {
			InputIDs []int32 `parquet:"input_ids,list"`
			Labels   []int32 `parquet:"labels,list"`
		}
		var rows []fewer
		for _, r := range d.rows {
			rows = append(rows, fewer{r.InputIDs, r.Labels})
		}
		save(d, rows)
	}},
	{"ids of another type", "columns", nil, func(d *damage) {
		type wide struct {
			InputIDs    []int64 `parquet:"input_ids,list"`
			Labels      []int32 `parquet:"labels,list"`
			PositionIDs []int32 `parquet:"position_ids,list"`
			CuSeqlens   []int32 `parquet:"cu_seqlens,list"`
			SeqLengths  []int32 `parquet:"seq_lengths,list"`
			MaxSeqlen   int32   `parquet:"max_seqlen"`
			PadLength   int32   `parquet:"pad_length"`
			SampleIndex []int64 `parquet:"sample_index,list"`
		}
		var rows []wide
		for _, r := range d.rows {
			w := wide{nil, r.Labels, r.PositionIDs, r.CuSeqlens, r.SeqLengths, r.MaxSeqlen, r.PadLength, r.SampleIndex}
			for _, id := range r.InputIDs {
				w.InputIDs = append(w.InputIDs, int64(id))
			}
			rows = append(rows, w)
		}
		save(d, rows)
	}},
	{"a shard is missing", "missing_shard", nil, func(d *damage) { require.NoError(d.t, os.Remove(d.path(1))) }},
	{"two shards exchanged", "checksum", nil, func(d *damage) {
		require.NoError(d.t, os.Rename(d.path(0), d.path(9)))
		require.NoError(d.t, os.Rename(d.path(1), d.path(0)))
		require.NoError(d.t, os.Rename(d.path(9), d.path(1)))
	}},
	{"a file too many", "extra_file", nil, func(d *damage) { require.NoError(d.t, os.WriteFile(d.path(99), []byte("x"), 0o644)) }},
	{"a bit flipped inside a page", "checksum", nil, func(d *damage) { d.flip() }},
	{"a bit flipped inside a page, checksum made right", "unreadable", nil, func(d *damage) { d.flip(); d.resum() }},
	{"a shard cut short, checksum made right", "unreadable", nil, func(d *damage) {
		b, err := os.ReadFile(d.path(0))
		require.NoError(d.t, err)
		require.NoError(d.t, os.WriteFile(d.path(0), b[:len(b)-20], 0o644))
		d.resum()
	}},
	{"the manifest counts a row too many", "counts", nil, func(d *damage) { add(d.shard, "rows", 1); d.saveManifest() }},
	{"the split counts a token too many", "counts", nil, func(d *damage) { add(d.split, "tokens", 1); d.saveManifest() }},
	{"the statistics count a segment too many", "counts", nil, func(d *damage) {
		add(d.split["stats"].(map[string]any), "segments", 1)
		d.saveManifest()
	}},
	{"a lower bound above the rows", "counts", nil, func(d *damage) {
		add(d.split["stats"].(map[string]any), "lower_bound", 1000)
		d.saveManifest()
	}},
	{"the ledger does not balance", "ledger", nil, func(d *damage) { add(d.ledger()["in"].(map[string]any), "samples", 1); d.saveManifest() }},
	{"the ledger forgets a removal", "ledger", nil, func(d *damage) {
		d.ledger()["removed"] = d.ledger()["removed"].([]any)[1:]
		d.saveManifest()
	}},
	{"the ledger names another reason", "ledger", nil, func(d *damage) {
		d.ledger()["removed"].([]any)[0].(map[string]any)["reason"] = "empty"
		d.saveManifest()
	}},
	{"the ledger's files don't add up", "ledger", nil, func(d *damage) {
		add(d.ledger()["files"].([]any)[0].(map[string]any)["in"].(map[string]any), "tokens", 1)
		d.saveManifest()
	}},
	{"the manifest is cut short", "manifest", nil, func(d *damage) {
		require.NoError(d.t, os.Truncate(filepath.Join(d.dir, "brimful.json"), 100))
	}},
	{"a shard outside the directory", "manifest", nil, func(d *damage) { d.shard["path"] = "../elsewhere.parquet"; d.saveManifest() }},
}

// flip flips a bit in the middle of the first shard.
func (d *damage) flip() {
	b, err := os.ReadFile(d.path(0))
	require.NoError(d.t, err)
	b[len(b)/4] ^= 4
	require.NoError(d.t, os.WriteFile(d.path(0), b, 0o644))
}

// Every kind of damage is found, for the right reason.
func TestMutations(t *testing.T) {
	o := tokenstream.Options{TooLong: tokenstream.Drop}
	d := open(t, write(t, "parquet", o))
	save(d, d.rows)
	require.Empty(t, check(t, d.dir, samples()).Faults, "written again by another writer it is right")
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			d := open(t, write(t, "parquet", o))
			if m.rows != nil {
				m.rows(d)
				save(d, d.rows)
			} else {
				m.files(d)
			}
			list := samples()
			if m.reason == "manifest" {
				list = nil // without one there is no comparing
			}
			r := check(t, d.dir, list)
			require.False(t, r.OK())
			require.NotZero(t, r.Reasons[m.reason], "%v", r.Faults)
			for reason := range r.Reasons {
				require.Contains(t, verify.Reasons, reason)
			}
		})
	}
	fmt.Printf("mutation suite: %d kinds of damage, each found for its reason\n", len(mutations))
}

// A source that lacks a sample, has one more, or has one that differs is told from the rows.
func TestOtherSource(t *testing.T) {
	dir := write(t, "parquet", tokenstream.Options{TooLong: tokenstream.Drop})
	list := samples()
	require.NotZero(t, check(t, dir, list[:50]).Reasons["sample_unknown"])
	require.NotZero(t, check(t, dir, append(list, tokenstream.Sample{Tokens: []int32{1, 2}})).Reasons["sample_lost"])
	list[5].Tokens[1]++
	require.NotZero(t, check(t, dir, list).Reasons["sample_changed"])
}

// FuzzDamage: whatever bytes of a small data set change, verify neither panics nor finds it right.
func FuzzDamage(f *testing.F) {
	dir := write(f, "parquet", tokenstream.Options{TooLong: tokenstream.Drop})
	for i := range uint32(8) {
		f.Add(i*997, byte(1<<i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, at uint32, flip byte, resum bool) {
		if flip == 0 {
			return
		}
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		d := open(t, copied)
		b, err := os.ReadFile(d.path(0))
		require.NoError(t, err)
		b[int(at)%len(b)] ^= flip
		require.NoError(t, os.WriteFile(d.path(0), b, 0o644))
		if resum {
			d.resum()
			_, err := verify.Dir(context.Background(), copied, verify.Options{Source: source(samples())})
			require.NoError(t, err)
			return // a byte of the footer that nobody reads may change
		}
		require.False(t, check(t, copied, nil).OK())
	})
}

package verify_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/verify"
)

const (
	capacity   = 64
	maxSamples = 6
)

// samples returns samples of every kind: with labels and without, too long, masked altogether or past the cut, and two of one length.
func samples() []tokenstream.Sample {
	r := rand.New(rand.NewPCG(4, 2))
	var list []tokenstream.Sample
	for i := range 60 {
		s := tokenstream.Sample{Place: tokenstream.Place{Name: fmt.Sprint("file", i/30), Row: int64(i%30 + 1)}}
		n := 2 + r.IntN(40)
		if i%20 == 7 {
			n = 70 + r.IntN(90)
		}
		if i < 2 {
			n = 20
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

// job is what a test packs.
type job struct {
	format   string
	tooLong  tokenstream.TooLong
	noTarget tokenstream.Policy
	labels   tokenstream.LabelRule
	ragged   bool
	holdout  bool
	longest  int
	rows     int  // in a shard; 0 is 4
	wide     bool // the layout is wide
}

// wide is a layout without what hf has of labels, offsets and pad tails.
var wide = tokenstream.Layout{Name: "wide", Columns: []tokenstream.Column{
	{Name: "tokens", Kind: tokenstream.Tokens, Type: tokenstream.Int64},
	{Name: "targets", Kind: tokenstream.ShiftedLabels, Type: tokenstream.Int64},
	{Name: "mask", Kind: tokenstream.LossMask, Type: tokenstream.Int8},
	{Name: "positions", Kind: tokenstream.PositionIDs, Type: tokenstream.Int32},
	{Name: "seq_idx", Kind: tokenstream.SeqIdx, Type: tokenstream.Int32},
	{Name: "seq_lens", Kind: tokenstream.Lengths, Type: tokenstream.Int32},
	{Name: "samples", Kind: tokenstream.SampleIndex, Type: tokenstream.Int64},
}}

// wideRow is a row of that layout.
type wideRow struct {
	Tokens    []int64 `parquet:"tokens,list"`
	Targets   []int64 `parquet:"targets,list"`
	Mask      []int8  `parquet:"mask,list"`
	Positions []int32 `parquet:"positions,list"`
	SeqIdx    []int32 `parquet:"seq_idx,list"`
	SeqLens   []int32 `parquet:"seq_lens,list"`
	Samples   []int64 `parquet:"samples,list"`
}

// samples returns the samples with labels as the job takes them.
func (j job) samples() []tokenstream.Sample {
	list := samples()
	for i := range list {
		labels := list[i].Labels
		switch {
		case labels == nil:
		case j.labels == tokenstream.LabelsShifted:
			list[i].Labels = append(labels[1:], tokenstream.Ignore)
		case j.labels == tokenstream.LabelsFree:
			for k := range labels {
				if labels[k] >= 0 {
					labels[k] = int32(k)
				}
			}
		}
	}
	return list
}

var (
	packed sync.Map // of job, to a function that returns where it was packed
	atEnd  string   // a directory that is removed when all tests have run
)

func TestMain(m *testing.M) {
	var err error
	if atEnd, err = os.MkdirTemp("", "verify"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(atEnd)
	os.Exit(code)
}

// write packs the samples into a new directory, as the command does.
func write(t testing.TB, j job) string {
	f, _ := packed.LoadOrStore(j, sync.OnceValue(func() string {
		dir, err := os.MkdirTemp(atEnd, "")
		require.NoError(t, err)
		dir = filepath.Join(dir, "packed")
		writeNew(t, dir, j)
		return dir
	}))
	dir := filepath.Join(t.TempDir(), "packed")
	require.NoError(t, os.CopyFS(dir, os.DirFS(f.(func() string)())))
	return dir
}

func writeNew(t testing.TB, dir string, j job) {
	o := tokenstream.Options{Capacity: capacity, MaxSamples: maxSamples, MaxSampleTokens: j.longest, TooLong: j.tooLong, NoTarget: j.noTarget, Labels: j.labels, Ragged: j.ragged}
	o.Strategy = packing.NextFit{} // which leaves pad tails
	layout := tokenstream.HF
	if j.wide {
		layout = wide
	}
	w, err := dataset.Create(dir, dataset.Options{Layout: layout, Format: j.format, ShardRows: cmp.Or(j.rows, 4), Job: dataset.Job{
		"capacity": capacity, "max_sample_tokens": j.longest, "max_samples": maxSamples, "pad": !j.ragged, "pad_id": 0, "vocab_size": 1000,
		"too_long": o.TooLong.String(), "no_target": o.NoTarget.String(), "labels": o.Labels.String(),
	}})
	require.NoError(t, err)
	put := func(name string, src tokenstream.Source) {
		o.Stats = new(tokenstream.Stats)
		split, err := w.Write(context.Background(), name, tokenstream.Pack(src, o))
		require.NoError(t, err)
		split.Stats = o.Stats
	}
	if j.holdout {
		spool, err := tokenstream.NewSpool(t.TempDir())
		require.NoError(t, err)
		defer spool.Close()
		put("train", tokenstream.HoldOut(source(j.samples()), &tokenstream.Holdout{Share: .3}, spool))
		put("validation", spool.Source())
	} else {
		put("", source(j.samples()))
	}
	_, err = w.Finish([]tokenstream.Input{{Path: "file0"}, {Path: "file1"}})
	require.NoError(t, err)
}

func check(t testing.TB, dir string, list []tokenstream.Sample) *verify.Report {
	o := verify.Options{Faults: 20}
	if list != nil {
		o.Source = source(list)
	}
	r, err := verify.Dir(context.Background(), dir, o)
	require.NoError(t, err)
	require.Equal(t, r.Wrong == 0, r.OK())
	sum := int64(0)
	for reason, n := range r.Reasons {
		require.Contains(t, verify.Reasons, reason)
		sum += n
	}
	require.Equal(t, r.Wrong, sum)
	return r
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

// segment returns where segment k of a row is.
func (r *hfRow) segment(k int) (from, to int32) { return r.CuSeqlens[k], r.CuSeqlens[k+1] }

// damage is a data set under damage.
type damage struct {
	t        testing.TB
	dir      string
	format   string
	rows     []hfRow        // of the first shard
	manifest map[string]any // as written
	split    map[string]any // the first
	shard    map[string]any // its first
}

func open(t testing.TB, dir string) *damage {
	d := &damage{t: t, dir: dir}
	b, err := os.ReadFile(filepath.Join(dir, "brimful.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &d.manifest))
	d.format = d.manifest["format"].(string)
	d.split = d.manifest["splits"].([]any)[0].(map[string]any)
	d.shard = d.split["shards"].([]any)[0].(map[string]any)
	switch {
	case d.manifest["layout"] == "wide":
	case d.format == "parquet":
		d.rows, err = parquet.ReadFile[hfRow](d.path(0))
		require.NoError(t, err)
	default:
		d.rows = readArrow(t, d.path(0))
	}
	return d
}

// path returns where shard i of the first split is.
func (d *damage) path(i int) string {
	return filepath.Join(d.dir, d.split["shards"].([]any)[i].(map[string]any)["path"].(string))
}

// save writes the first shard of d.rows, with the right checksum, and the manifest.
func (d *damage) save() {
	if d.format == "parquet" {
		saveParquet(d, d.rows)
		return
	}
	record := record(d.rows)
	defer record.Release()
	d.saveArrow(record)
}

// saveParquet writes the first shard of rows of any type.
func saveParquet[R any](d *damage, rows []R) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[R](&b)
	_, err := w.Write(rows)
	require.NoError(d.t, err)
	require.NoError(d.t, w.Close())
	d.saveBytes(b.Bytes())
}

func (d *damage) saveArrow(record arrow.RecordBatch) {
	var b bytes.Buffer
	if d.format == "hf" {
		w := ipc.NewWriter(&b, ipc.WithSchema(record.Schema()))
		require.NoError(d.t, w.Write(record))
		require.NoError(d.t, w.Close())
	} else {
		w, err := ipc.NewFileWriter(&b, ipc.WithSchema(record.Schema()))
		require.NoError(d.t, err)
		require.NoError(d.t, w.Write(record))
		require.NoError(d.t, w.Close())
	}
	d.saveBytes(b.Bytes())
}

// saveBytes makes b the first shard, with the right checksum.
func (d *damage) saveBytes(b []byte) {
	require.NoError(d.t, os.WriteFile(d.path(0), b, 0o644))
	d.shard["size"], d.shard["sha256"] = len(b), fmt.Sprintf("%x", sha256.Sum256(b))
	d.saveManifest()
}

func (d *damage) bytes() []byte {
	b, err := os.ReadFile(d.path(0))
	require.NoError(d.t, err)
	return b
}

func (d *damage) saveManifest() {
	b, err := json.Marshal(d.manifest)
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "brimful.json"), b, 0o644))
}

func (d *damage) job() map[string]any   { return d.manifest["job"].(map[string]any) }
func (d *damage) stats() map[string]any { return d.split["stats"].(map[string]any) }
func (d *damage) ledger() map[string]any {
	return d.stats()["ledger"].(map[string]any)
}

// removed returns a removal in the ledger.
func (d *damage) removed(i int) map[string]any {
	return d.ledger()["removed"].([]any)[i].(map[string]any)
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

// target returns where the first supervised token of a row is.
func (r *hfRow) target() int {
	return slices.IndexFunc(r.Labels, func(l int32) bool { return l >= 0 })
}

// remove removes a file of the data set.
func (d *damage) remove(name string) { require.NoError(d.t, os.Remove(filepath.Join(d.dir, name))) }

// edit replaces what is in a file of the data set.
func (d *damage) edit(name, old, now string) {
	p := filepath.Join(d.dir, path.Clean(name))
	b, err := os.ReadFile(p)
	require.NoError(d.t, err)
	require.Contains(d.t, string(b), old)
	require.NoError(d.t, os.WriteFile(p, bytes.Replace(b, []byte(old), []byte(now), 1), 0o644))
}

var hfSchema = func() *arrow.Schema {
	var fields []arrow.Field
	for _, c := range tokenstream.HF.Columns {
		t := arrow.DataType(arrow.PrimitiveTypes.Int32)
		if c.Type == tokenstream.Int64 {
			t = arrow.PrimitiveTypes.Int64
		}
		if c.Kind.List() {
			t = arrow.ListOf(t)
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}()

// record returns rows as an Arrow record batch.
func record(rows []hfRow) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, hfSchema)
	defer b.Release()
	for _, r := range rows {
		for i, list := range [][]int32{r.InputIDs, r.Labels, r.PositionIDs, r.CuSeqlens, r.SeqLengths} {
			lb := b.Field(i).(*array.ListBuilder)
			lb.Append(true)
			lb.ValueBuilder().(*array.Int32Builder).AppendValues(list, nil)
		}
		b.Field(5).(*array.Int32Builder).Append(r.MaxSeqlen)
		b.Field(6).(*array.Int32Builder).Append(r.PadLength)
		lb := b.Field(7).(*array.ListBuilder)
		lb.Append(true)
		lb.ValueBuilder().(*array.Int64Builder).AppendValues(r.SampleIndex, nil)
	}
	return b.NewRecordBatch()
}

// readArrow reads the rows of an Arrow file or stream.
func readArrow(t testing.TB, name string) []hfRow {
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	if bytes.HasPrefix(b, []byte("ARROW1")) {
		b = b[8:]
	}
	r, err := ipc.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	defer r.Release()
	var rows []hfRow
	for r.Next() {
		batch := r.RecordBatch()
		for i := range int(batch.NumRows()) {
			list := func(k int) []int32 {
				l := batch.Column(k).(*array.List)
				x, y := l.ValueOffsets(i)
				return slices.Clone(l.ListValues().(*array.Int32).Int32Values()[x:y])
			}
			l := batch.Column(7).(*array.List)
			x, y := l.ValueOffsets(i)
			rows = append(rows, hfRow{
				list(0), list(1), list(2), list(3), list(4), batch.Column(5).(*array.Int32).Value(i), batch.Column(6).(*array.Int32).Value(i),
				slices.Clone(l.ListValues().(*array.Int64).Int64Values()[x:y]),
			})
		}
	}
	require.NoError(t, r.Err())
	return rows
}

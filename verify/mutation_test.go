package verify_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
)

// mutation is one kind of damage and the reason that has to be found.
type mutation struct {
	name   string
	reason string
	damage func(d *damage)
}

// rowMutations are done to the rows of the first shard, in every format. The file's checksum is made right.
var rowMutations = []mutation{
	{"a position leaks into the next segment", "position_ids", func(d *damage) { r := &d.rows[0]; r.PositionIDs[r.CuSeqlens[1]] = r.CuSeqlens[1] }},
	{"positions count through the row", "position_ids", func(d *damage) {
		for i := range d.rows[0].PositionIDs {
			d.rows[0].PositionIDs[i] = int32(i)
		}
	}},
	{"positions of a segment are off by one", "position_ids", func(d *damage) {
		r := &d.rows[0]
		for i := r.CuSeqlens[1]; i < r.CuSeqlens[2]; i++ {
			r.PositionIDs[i]++
		}
	}},
	{"pad positions are all 0", "position_ids", func(d *damage) { r, at := d.padded(); clear(r.PositionIDs[at:]) }},
	{"the pad tail goes on counting", "position_ids", func(d *damage) {
		r, at := d.padded()
		for i := at; i < len(r.PositionIDs); i++ {
			r.PositionIDs[i] = r.PositionIDs[i-1] + 1
		}
	}},
	{"positions are one short", "lengths", func(d *damage) { r := &d.rows[0]; r.PositionIDs = r.PositionIDs[1:] }},
	{"the first label of a segment is not masked", "first_label", func(d *damage) {
		r := &d.rows[0]
		r.Labels[r.CuSeqlens[1]] = r.InputIDs[r.CuSeqlens[1]]
	}},
	{"the first label of a row is not masked", "first_label", func(d *damage) { r := &d.rows[0]; r.Labels[0] = r.InputIDs[0] }},
	{"labels are shifted", "label", func(d *damage) {
		for i := range d.rows {
			d.rows[i].Labels = append(d.rows[i].Labels[1:], -100)
		}
	}},
	{"labels are one short", "lengths", func(d *damage) { r := &d.rows[0]; r.Labels = r.Labels[1:] }},
	{"labels are one too many", "lengths", func(d *damage) { r := &d.rows[0]; r.Labels = append(r.Labels, -100) }},
	{"a label is another id", "label", func(d *damage) { r := &d.rows[0]; i := r.target(); r.Labels[i] = r.InputIDs[i] + 1 }},
	{"a label is -1", "label", func(d *damage) { r := &d.rows[0]; r.Labels[r.target()] = -1 }},
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
	}},
	{"a target is masked", "sample_changed", func(d *damage) { r := &d.rows[0]; r.Labels[r.target()] = -100 }},
	{"a sample is masked altogether", "no_target", func(d *damage) {
		r := &d.rows[0]
		for i, to := r.segment(1); i < to; i++ {
			r.Labels[i] = -100
		}
	}},
	{"a label on the pad tail", "pad_label", func(d *damage) { r, at := d.padded(); r.Labels[at+1] = 0 }},
	{"another id on the pad tail", "pad_id", func(d *damage) { r, _ := d.padded(); r.InputIDs[len(r.InputIDs)-1] = 5 }},
	{"another pad id", "pad_id", func(d *damage) {
		r, at := d.padded()
		for i := at; i < len(r.InputIDs); i++ {
			r.InputIDs[i] = 7
		}
	}},
	{"offsets don't start at 0", "cu_seqlens", func(d *damage) { d.rows[0].CuSeqlens[0] = 1 }},
	{"an offset repeats", "cu_seqlens", func(d *damage) { r := &d.rows[0]; r.CuSeqlens[1] = r.CuSeqlens[2] }},
	{"an offset goes back", "cu_seqlens", func(d *damage) { r := &d.rows[0]; r.CuSeqlens[2] = r.CuSeqlens[1] - 1 }},
	{"offsets end before the row", "cu_seqlens", func(d *damage) { r := &d.rows[0]; r.CuSeqlens[len(r.CuSeqlens)-1]-- }},
	{"offsets end with the samples", "cu_seqlens", func(d *damage) { r, _ := d.padded(); r.CuSeqlens = r.CuSeqlens[:len(r.CuSeqlens)-1] }},
	{"offsets of the whole file", "cu_seqlens", func(d *damage) {
		for i := range d.rows[1].CuSeqlens {
			d.rows[1].CuSeqlens[i] += capacity
		}
	}},
	{"no offsets", "cu_seqlens", func(d *damage) { d.rows[0].CuSeqlens = nil }},
	{"an offset moved", "position_ids", func(d *damage) { d.rows[0].CuSeqlens[1]++ }},
	{"a length is wrong", "seq_lengths", func(d *damage) { d.rows[0].SeqLengths[0]++ }},
	{"a length too few", "seq_lengths", func(d *damage) { d.rows[0].SeqLengths = d.rows[0].SeqLengths[1:] }},
	{"two lengths exchanged", "seq_lengths", func(d *damage) {
		r := &d.rows[0]
		r.SeqLengths[1], r.SeqLengths[len(r.SeqLengths)-1] = r.SeqLengths[len(r.SeqLengths)-1], r.SeqLengths[1]
	}},
	{"a wrong longest segment", "max_seqlen", func(d *damage) { d.rows[0].MaxSeqlen-- }},
	{"a wrong pad tail", "pad_length", func(d *damage) { r, _ := d.padded(); r.PadLength-- }},
	{"a negative pad tail", "pad_length", func(d *damage) { d.rows[0].PadLength = -1 }},
	{"nothing but padding", "pad_length", func(d *damage) { r := &d.rows[0]; r.PadLength = int32(len(r.InputIDs)) }},
	{"the pad tail taken for a sample", "sample_index", func(d *damage) { r, _ := d.padded(); r.PadLength = 0 }},
	{"a row is longer than the capacity", "row_length", func(d *damage) {
		r, _ := d.padded()
		r.InputIDs, r.Labels, r.PositionIDs = append(r.InputIDs, 0), append(r.Labels, -100), append(r.PositionIDs, r.PadLength)
		r.PadLength++
		r.CuSeqlens[len(r.CuSeqlens)-1]++
		r.SeqLengths[len(r.SeqLengths)-1]++
		r.MaxSeqlen = slices.Max(r.SeqLengths)
	}},
	{"a row is shorter than the capacity", "row_length", func(d *damage) {
		r, _ := d.padded()
		n := len(r.InputIDs) - 1
		r.InputIDs, r.Labels, r.PositionIDs = r.InputIDs[:n], r.Labels[:n], r.PositionIDs[:n]
		r.PadLength--
		r.CuSeqlens[len(r.CuSeqlens)-1]--
		r.SeqLengths[len(r.SeqLengths)-1]--
		r.MaxSeqlen = slices.Max(r.SeqLengths)
	}},
	{"an empty row", "row_length", func(d *damage) { d.rows[0] = hfRow{CuSeqlens: []int32{0}} }},
	{"a token changed, and its label", "sample_changed", func(d *damage) {
		r := &d.rows[0]
		i := r.target()
		r.InputIDs[i] ^= 1
		r.Labels[i] ^= 1
	}},
	{"a token changed, and its label, by the digest of the rows", "content", func(d *damage) {
		r := &d.rows[0]
		i := r.target()
		r.InputIDs[i] ^= 1
		r.Labels[i] ^= 1
	}},
	{"two tokens exchanged", "sample_changed", func(d *damage) {
		r := &d.rows[0]
		i := r.target()
		r.InputIDs[i], r.InputIDs[i+1] = r.InputIDs[i+1], r.InputIDs[i]
		r.Labels[i], r.Labels[i+1] = r.Labels[i+1], r.Labels[i]
	}},
	{"an id below 0", "token", func(d *damage) { d.rows[0].InputIDs[0] = -1 }},
	{"an id beyond the vocabulary", "token", func(d *damage) { d.rows[0].InputIDs[0] = 1000 }},
	{"a boundary between two samples is gone", "sample_index", func(d *damage) {
		r := &d.rows[0]
		n := r.CuSeqlens[2]
		r.CuSeqlens = slices.Delete(r.CuSeqlens, 1, 2)
		r.SeqLengths = append([]int32{n}, r.SeqLengths[2:]...)
		r.MaxSeqlen = max(r.MaxSeqlen, n)
		for i := range n {
			r.PositionIDs[i] = i
		}
	}},
	{"two samples of one length exchanged", "sample_changed", func(d *damage) {
		r := &d.rows[0] // the first two have 20 tokens each
		for i := range int32(20) {
			r.InputIDs[i], r.InputIDs[20+i] = r.InputIDs[20+i], r.InputIDs[i]
			r.Labels[i], r.Labels[20+i] = r.Labels[20+i], r.Labels[i]
		}
	}},
	{"two samples of a row exchanged by name", "sample_changed", func(d *damage) {
		r := &d.rows[0]
		r.SampleIndex[0], r.SampleIndex[1] = r.SampleIndex[1], r.SampleIndex[0]
	}},
	{"samples of two rows exchanged by name", "sample_changed", func(d *damage) {
		d.rows[0].SampleIndex[0], d.rows[1].SampleIndex[0] = d.rows[1].SampleIndex[0], d.rows[0].SampleIndex[0]
	}},
	{"a sample is named twice", "sample_twice", func(d *damage) { d.rows[0].SampleIndex[0] = d.rows[1].SampleIndex[0] }},
	{"a sample is named twice in a row", "sample_twice", func(d *damage) { d.rows[0].SampleIndex[0] = d.rows[0].SampleIndex[1] }},
	{"a sample that the source does not have", "sample_unknown", func(d *damage) { d.rows[0].SampleIndex[0] = 1 << 40 }},
	{"a sample that a rule leaves out", "sample_unknown", func(d *damage) { d.rows[0].SampleIndex[0] = 7 }},
	{"a negative sample", "sample_index", func(d *damage) { d.rows[0].SampleIndex[0] = -1 }},
	{"a sample too few", "sample_index", func(d *damage) { d.rows[0].SampleIndex = d.rows[0].SampleIndex[1:] }},
	{"a sample for the pad tail", "sample_index", func(d *damage) { r, _ := d.padded(); r.SampleIndex = append(r.SampleIndex, 0) }},
	{"more samples than a row may have", "max_samples", func(d *damage) {
		r := &d.rows[0]
		n := len(r.InputIDs)
		*r = hfRow{InputIDs: make([]int32, n), PositionIDs: make([]int32, n), MaxSeqlen: 1}
		for i := range n {
			r.InputIDs[i], r.Labels = 5, append(r.Labels, -100)
			r.CuSeqlens, r.SeqLengths, r.SampleIndex = append(r.CuSeqlens, int32(i)), append(r.SeqLengths, 1), append(r.SampleIndex, int64(100+i))
		}
		r.CuSeqlens = append(r.CuSeqlens, int32(n))
	}},
	{"a segment is longer than a sample may be", "too_long", func(d *damage) {
		r := &d.rows[0]
		n := int32(len(r.InputIDs))
		r.CuSeqlens, r.SeqLengths, r.MaxSeqlen, r.PadLength, r.SampleIndex = []int32{0, n}, []int32{n}, n, 0, []int64{0}
		for i := range n {
			r.PositionIDs[i] = i
		}
	}},
	{"a row twice, another lost", "sample_twice", func(d *damage) { d.rows[1] = d.rows[0] }},
	{"a row is lost", "sample_lost", func(d *damage) { d.rows = d.rows[1:] }},
	{"a row is lost, by the counts", "counts", func(d *damage) { d.rows = d.rows[1:] }},
	{"two rows exchanged", "content", func(d *damage) { d.rows[0], d.rows[1] = d.rows[1], d.rows[0] }},
}

// flip flips a bit in the middle of the first shard.
func (d *damage) flip() []byte {
	b := d.bytes()
	b[len(b)/4] ^= 4
	return b
}

// fileMutations are done to the files of a Parquet data set.
var fileMutations = []mutation{
	{"an attention_mask", "columns", func(d *damage) {
		type masked struct {
			hfRow
			AttentionMask []int32 `parquet:"attention_mask,list"`
		}
		var rows []masked
		for _, r := range d.rows {
			rows = append(rows, masked{r, make([]int32, len(r.InputIDs))})
		}
		saveParquet(d, rows)
	}},
	{"a column too many", "columns", func(d *damage) {
		type more struct {
			hfRow
			Text string
		}
		var rows []more
		for _, r := range d.rows {
			rows = append(rows, more{r, "x"})
		}
		saveParquet(d, rows)
	}},
	{"columns are missing", "columns", func(d *damage) {
		type fewer struct {
			InputIDs []int32 `parquet:"input_ids,list"`
			Labels   []int32 `parquet:"labels,list"`
		}
		var rows []fewer
		for _, r := range d.rows {
			rows = append(rows, fewer{r.InputIDs, r.Labels})
		}
		saveParquet(d, rows)
	}},
	{"no ids", "columns", func(d *damage) {
		type fewer struct {
			Labels []int32 `parquet:"labels,list"`
		}
		saveParquet(d, []fewer{{d.rows[0].Labels}})
	}},
	{"ids of another type", "columns", func(d *damage) { saveParquet(d, other[[]int64](d, widen)) }},
	{"ids that are unsigned", "columns", func(d *damage) {
		saveParquet(d, other[[]uint32](d, func(ids []int32) (u []uint32) {
			for _, id := range ids {
				u = append(u, uint32(id))
			}
			return u
		}))
	}},
	{"ids that are numbers with a fraction", "columns", func(d *damage) {
		saveParquet(d, other[[]float32](d, func(ids []int32) (f []float32) {
			for _, id := range ids {
				f = append(f, float32(id))
			}
			return f
		}))
	}},
	{"ids that are no list", "columns", func(d *damage) { saveParquet(d, other[int32](d, func(ids []int32) int32 { return ids[0] })) }},
	{"ids that are not marked as lists", "columns", func(d *damage) {
		type bare struct {
			InputIDs []int32 `parquet:"input_ids"`
			hfBare
		}
		var rows []bare
		for _, r := range d.rows {
			rows = append(rows, bare{r.InputIDs, hfBare{r.Labels, r.PositionIDs, r.CuSeqlens, r.SeqLengths, r.MaxSeqlen, r.PadLength, r.SampleIndex}})
		}
		saveParquet(d, rows)
	}},
	{"an id that is null", "null", func(d *damage) {
		type nullable struct {
			InputIDs    []*int32 `parquet:"input_ids,list"`
			Labels      []int32  `parquet:"labels,list"`
			PositionIDs []int32  `parquet:"position_ids,list"`
			CuSeqlens   []int32  `parquet:"cu_seqlens,list"`
			SeqLengths  []int32  `parquet:"seq_lengths,list"`
			MaxSeqlen   int32    `parquet:"max_seqlen"`
			PadLength   int32    `parquet:"pad_length"`
			SampleIndex []int64  `parquet:"sample_index,list"`
		}
		var rows []nullable
		for _, r := range d.rows {
			n := nullable{nil, r.Labels, r.PositionIDs, r.CuSeqlens, r.SeqLengths, r.MaxSeqlen, r.PadLength, r.SampleIndex}
			for i := range r.InputIDs {
				n.InputIDs = append(n.InputIDs, &r.InputIDs[i])
			}
			rows = append(rows, n)
		}
		rows[1].InputIDs[3] = nil
		saveParquet(d, rows)
	}},
	{"a pad_length that is null", "null", func(d *damage) {
		type nullable struct {
			InputIDs    []int32 `parquet:"input_ids,list"`
			Labels      []int32 `parquet:"labels,list"`
			PositionIDs []int32 `parquet:"position_ids,list"`
			CuSeqlens   []int32 `parquet:"cu_seqlens,list"`
			SeqLengths  []int32 `parquet:"seq_lengths,list"`
			MaxSeqlen   int32   `parquet:"max_seqlen"`
			PadLength   *int32  `parquet:"pad_length"`
			SampleIndex []int64 `parquet:"sample_index,list"`
		}
		var rows []nullable
		for _, r := range d.rows {
			rows = append(rows, nullable{r.InputIDs, r.Labels, r.PositionIDs, r.CuSeqlens, r.SeqLengths, r.MaxSeqlen, &r.PadLength, r.SampleIndex})
		}
		rows[2].PadLength = nil
		saveParquet(d, rows)
	}},
	{"a shard is missing", "missing_shard", func(d *damage) { require.NoError(d.t, os.Remove(d.path(1))) }},
	{"a shard is empty", "unreadable", func(d *damage) { d.saveBytes(nil) }},
	{"a shard is a directory", "unreadable", func(d *damage) {
		require.NoError(d.t, os.Remove(d.path(1)))
		require.NoError(d.t, os.Mkdir(d.path(1), 0o755))
	}},
	{"two shards exchanged", "checksum", func(d *damage) {
		require.NoError(d.t, os.Rename(d.path(0), d.path(0)+"x"))
		require.NoError(d.t, os.Rename(d.path(1), d.path(0)))
		require.NoError(d.t, os.Rename(d.path(0)+"x", d.path(1)))
	}},
	{"a shard of other rows, of the same counts", "content", func(d *damage) {
		r := &d.rows[0]
		r.SampleIndex[0] += 1000
		d.save()
	}},
	{"a file too many", "extra_file", func(d *damage) {
		require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "data", "notes.txt"), []byte("x"), 0o644))
	}},
	{"a shard too many", "extra_file", func(d *damage) {
		require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "data", "shard-00099.parquet"), d.bytes(), 0o644))
	}},
	{"a hidden file too many", "extra_file", func(d *damage) {
		require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "data", ".shard-00000.parquet.tmp"), d.bytes(), 0o644))
	}},
	{"a bit flipped inside a page", "checksum", func(d *damage) { require.NoError(d.t, os.WriteFile(d.path(0), d.flip(), 0o644)) }},
	{"a bit flipped inside a page, checksum made right", "unreadable", func(d *damage) { d.saveBytes(d.flip()) }},
	{"a shard cut short", "checksum", func(d *damage) { require.NoError(d.t, os.Truncate(d.path(0), int64(len(d.bytes())-1))) }},
	{"a shard cut short, checksum made right", "unreadable", func(d *damage) { b := d.bytes(); d.saveBytes(b[:len(b)-20]) }},
	{"a byte too many, checksum made right", "unreadable", func(d *damage) { d.saveBytes(append(d.bytes(), 0)) }},
	{"an Arrow file instead", "unreadable", func(d *damage) {
		d.format = "arrow"
		d.save()
	}},
}

// hfBare is a row without ids.
type hfBare struct {
	Labels      []int32 `parquet:"labels,list"`
	PositionIDs []int32 `parquet:"position_ids,list"`
	CuSeqlens   []int32 `parquet:"cu_seqlens,list"`
	SeqLengths  []int32 `parquet:"seq_lengths,list"`
	MaxSeqlen   int32   `parquet:"max_seqlen"`
	PadLength   int32   `parquet:"pad_length"`
	SampleIndex []int64 `parquet:"sample_index,list"`
}

// other returns the rows with ids of another type.
func other[T any](d *damage, as func([]int32) T) any2[T] {
	var rows any2[T]
	for _, r := range d.rows {
		rows = append(rows, otherRow[T]{as(r.InputIDs), r.Labels, r.PositionIDs, r.CuSeqlens, r.SeqLengths, r.MaxSeqlen, r.PadLength, r.SampleIndex})
	}
	return rows
}

type any2[T any] = []otherRow[T]

type otherRow[T any] struct {
	InputIDs    T       `parquet:"input_ids"`
	Labels      []int32 `parquet:"labels,list"`
	PositionIDs []int32 `parquet:"position_ids,list"`
	CuSeqlens   []int32 `parquet:"cu_seqlens,list"`
	SeqLengths  []int32 `parquet:"seq_lengths,list"`
	MaxSeqlen   int32   `parquet:"max_seqlen"`
	PadLength   int32   `parquet:"pad_length"`
	SampleIndex []int64 `parquet:"sample_index,list"`
}

func widen(ids []int32) (w []int64) {
	for _, id := range ids {
		w = append(w, int64(id))
	}
	return w
}

// figures returns a mutation for each number of a part of the manifest.
func figures(part, reason string, of func(d *damage) map[string]any, keys ...string) []mutation {
	var list []mutation
	for _, key := range keys {
		list = append(list, mutation{"the " + part + "'s " + key + " is one too many", reason, func(d *damage) { add(of(d), key, 1); d.saveManifest() }})
	}
	return list
}

func in(d *damage) map[string]any { return d.ledger()["in"].(map[string]any) }

func out(d *damage) map[string]any { return d.ledger()["out"].(map[string]any) }

// manifestMutations are done to the manifest.
var manifestMutations = slices.Concat(
	figures("shard", "counts", func(d *damage) map[string]any { return d.shard }, "rows", "tokens", "slots"),
	figures("shard", "checksum", func(d *damage) map[string]any { return d.shard }, "size"),
	figures("split", "counts", func(d *damage) map[string]any { return d.split }, "rows", "tokens", "slots"),
	figures("statistics", "counts", (*damage).stats, "rows", "placed", "slots", "segments", "max_in_row", "padded_to_capacity", "padded_to_longest", "longest", "unlabelled"),
	figures("statistics", "manifest", (*damage).stats, "capacity"),
	figures("ledger's in", "ledger", in, "samples", "tokens", "supervised"),
	figures("ledger's out", "ledger", out, "samples", "tokens", "supervised"),
	figures("ledger's out", "counts", out, "samples", "tokens", "supervised"),
	figures("ledger's first removal", "ledger", func(d *damage) map[string]any { return d.removed(0) }, "affected", "samples", "tokens", "supervised"),
	figures("job", "row_length", (*damage).job, "capacity"),
	figures("job", "pad_id", (*damage).job, "pad_id"),
	[]mutation{
		{"a lower bound above the rows", "counts", func(d *damage) { add(d.stats(), "lower_bound", 1000); d.saveManifest() }},
		{"a lower bound below what the tokens take", "counts", func(d *damage) { d.stats()["lower_bound"] = 1; d.saveManifest() }},
		{"another checksum", "checksum", func(d *damage) { d.shard["sha256"] = strings.Repeat("0", 64); d.saveManifest() }},
		{"another digest of the rows", "content", func(d *damage) { d.shard["content"] = strings.Repeat("0", 64); d.saveManifest() }},
		{"the ledger forgets a removal", "ledger", func(d *damage) { d.ledger()["removed"] = d.ledger()["removed"].([]any)[1:]; d.saveManifest() }},
		{"the ledger names another reason", "ledger", func(d *damage) { d.removed(0)["reason"] = "empty"; d.saveManifest() }},
		{"the ledger names another file", "ledger", func(d *damage) { d.removed(0)["file"] = "file1"; d.saveManifest() }},
		{"the ledger's files don't add up", "ledger", func(d *damage) {
			add(d.ledger()["files"].([]any)[0].(map[string]any)["in"].(map[string]any), "tokens", 1)
			d.saveManifest()
		}},
		{"the ledger invents a sample that was dropped", "ledger", func(d *damage) {
			for _, m := range []map[string]any{in(d), d.removed(0), d.ledger()["files"].([]any)[0].(map[string]any)["in"].(map[string]any)} {
				add(m, "samples", 1)
			}
			add(d.removed(0), "affected", 1)
			d.saveManifest()
		}},
		{"the manifest is cut short", "manifest", func(d *damage) { require.NoError(d.t, os.Truncate(filepath.Join(d.dir, "brimful.json"), 100)) }},
		{"the manifest is no object", "manifest", func(d *damage) {
			require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "brimful.json"), []byte("[]"), 0o644))
		}},
		{"a key of the manifest is misspelt", "manifest", func(d *damage) { d.edit("brimful.json", `"sha256"`, `"shA256"`) }},
		{"a key of the ledger is misspelt", "manifest", func(d *damage) { d.edit("brimful.json", `"removed"`, `"renoved"`) }},
		{"a shard outside the directory", "manifest", func(d *damage) { d.shard["path"] = "../elsewhere.parquet"; d.saveManifest() }},
		{"a shard beside data", "manifest", func(d *damage) {
			require.NoError(d.t, os.Rename(d.path(0), filepath.Join(d.dir, "shard-00000.parquet")))
			d.shard["path"] = "shard-00000.parquet"
			d.saveManifest()
		}},
		{"a shard named twice", "manifest", func(d *damage) {
			d.split["shards"] = append(d.split["shards"].([]any), d.shard)
			d.saveManifest()
		}},
		{"a shard forgotten", "extra_file", func(d *damage) { d.split["shards"] = d.split["shards"].([]any)[1:]; d.saveManifest() }},
		{"a format that there is not", "manifest", func(d *damage) { d.manifest["format"] = "csv"; d.saveManifest() }},
		{"another format", "manifest", func(d *damage) { d.manifest["format"] = "arrow"; d.saveManifest() }},
		{"a column of another type", "columns", func(d *damage) {
			d.manifest["columns"].([]any)[0].(map[string]any)["type"] = "int64"
			d.saveManifest()
		}},
		{"columns that are not those of the layout", "manifest", func(d *damage) {
			d.manifest["columns"] = d.manifest["columns"].([]any)[:7]
			d.saveManifest()
		}},
		{"a vocabulary that is too small", "token", func(d *damage) { d.job()["vocab_size"] = 3; d.saveManifest() }},
		{"fewer samples a row", "max_samples", func(d *damage) { d.job()["max_samples"] = 1; d.saveManifest() }},
		{"shorter samples", "too_long", func(d *damage) { d.job()["max_sample_tokens"] = 3; d.saveManifest() }},
		{"rows without padding", "pad_length", func(d *damage) { d.job()["pad"] = false; d.saveManifest() }},
		{"every token a target", "label", func(d *damage) { d.job()["labels"] = "all"; d.saveManifest() }},
		{"another policy for long samples", "sample_lost", func(d *damage) { d.job()["too_long"] = "truncate"; d.saveManifest() }},
		{"a policy that there is not", "manifest", func(d *damage) { d.job()["no_target"] = "drip"; d.saveManifest() }},
	},
)

// arrowMutations are done to an Arrow data set.
var arrowMutations = []mutation{
	{"an Arrow stream instead", "unreadable", func(d *damage) { d.format = "hf"; d.save() }},
	{"no footer", "unreadable", func(d *damage) { b := d.bytes(); d.saveBytes(b[:len(b)-6]) }},
	{"the end mark is gone", "unreadable", func(d *damage) {
		b := d.bytes()
		footer := len(b) - 10 - int(b[len(b)-10]) - int(b[len(b)-9])<<8
		d.saveBytes(append(b[:footer-8:footer-8], b[footer:]...))
	}},
	{"the footer names another place", "unreadable", func(d *damage) {
		b := d.bytes()
		d.saveBytes(append(slices.Clone(b[:len(b)-10-24]), append(make([]byte, 24), b[len(b)-10:]...)...))
	}},
	{"large lists", "columns", func(d *damage) {
		fields := slices.Clone(hfSchema.Fields())
		fields[0].Type = arrow.LargeListOf(arrow.PrimitiveTypes.Int32)
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
		defer b.Release()
		for _, f := range b.Fields() {
			f.AppendEmptyValue()
		}
		batch := b.NewRecordBatch()
		defer batch.Release()
		d.saveArrow(batch)
	}},
	{"a null row", "null", func(d *damage) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, hfSchema)
		defer b.Release()
		for _, f := range b.Fields() {
			f.AppendNull()
		}
		batch := b.NewRecordBatch()
		defer batch.Release()
		d.saveArrow(batch)
	}},
	{"a null id", "null", func(d *damage) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, hfSchema)
		defer b.Release()
		for _, f := range b.Fields() {
			f.AppendEmptyValue()
		}
		b.Field(0).(*array.ListBuilder).ValueBuilder().AppendNull()
		batch := b.NewRecordBatch()
		defer batch.Release()
		d.saveArrow(batch)
	}},
}

// hfMutations are done to a folder for load_from_disk with two splits.
var hfMutations = []mutation{
	{"an Arrow file instead of a stream", "unreadable", func(d *damage) { d.format = "arrow"; d.save() }},
	{"a stream without its end mark", "unreadable", func(d *damage) { b := d.bytes(); d.saveBytes(b[:len(b)-8]) }},
	{"a byte behind the stream", "unreadable", func(d *damage) { d.saveBytes(append(d.bytes(), 0)) }},
	{"state.json is gone", "folder", func(d *damage) { d.remove("train/state.json") }},
	{"state.json names another file", "folder", func(d *damage) { d.edit("train/state.json", "data-00000", "data-00001") }},
	{"state.json is cut short", "folder", func(d *damage) { d.edit("train/state.json", "}", "") }},
	{"dataset_info.json has another type", "folder", func(d *damage) { d.edit("validation/dataset_info.json", "int32", "int16") }},
	{"dataset_info.json lacks a column", "folder", func(d *damage) { d.edit("validation/dataset_info.json", "labels", "label") }},
	{"dataset_dict.json names one split", "folder", func(d *damage) { d.edit("dataset_dict.json", `"validation"`, `"valid"`) }},
	{"a sample is in both splits", "sample_twice", func(d *damage) {
		d.rows[0].SampleIndex[0] = readArrow(d.t, filepath.Join(d.dir, "validation/data-00000-of-00002.arrow"))[0].SampleIndex[0]
		d.save()
	}},
}

// splitMutations are done to the rows of a data set whose long samples were split.
var splitMutations = []mutation{
	{"the short last piece of a sample twice", "sample_twice", func(d *damage) {
		for i := range d.rows {
			r := &d.rows[i]
			for k, s := range r.SampleIndex {
				if s == 7 && r.SeqLengths[k] < capacity { // it takes the place of its neighbour
					r.SampleIndex[(k+1)%len(r.SampleIndex)] = 7
					return
				}
			}
		}
		d.t.Fatal("no piece")
	}},
	{"a piece of a sample changed", "sample_changed", func(d *damage) {
		for i := range d.rows {
			if r := &d.rows[i]; r.SampleIndex[0] == 7 && r.SeqLengths[0] == capacity {
				r.InputIDs[1] ^= 1
				r.Labels[1] = -100
				return
			}
		}
		d.t.Fatal("no piece")
	}},
	{"a piece is lost", "sample_changed", func(d *damage) {
		d.rows = slices.DeleteFunc(d.rows, func(r hfRow) bool { return r.SampleIndex[0] == 7 && r.SeqLengths[0] == capacity })
	}},
}

// lostMutations are done to a data set whose manifest is lost.
var lostMutations = []mutation{
	{"no manifest: a position leaks", "position_ids", func(d *damage) { d.rows[0].PositionIDs[3]++; d.save() }},
	{"no manifest: labels are shifted", "label", func(d *damage) {
		d.rows[0].Labels = append(d.rows[0].Labels[1:], -100)
		d.save()
	}},
	{"no manifest: an attention_mask", "columns", func(d *damage) { fileMutations[0].damage(d) }},
	{"no manifest: a shard is missing", "missing_shard", func(d *damage) { require.NoError(d.t, os.Remove(d.path(1))) }},
	{"no manifest: rows of different lengths, padded", "row_length", func(d *damage) {
		i := slices.IndexFunc(rowMutations, func(m mutation) bool { return m.name == "a row is shorter than the capacity" })
		rowMutations[i].damage(d)
		d.save()
	}},
	{"no manifest: different ids on the pad tail", "pad_id", func(d *damage) { r, _ := d.padded(); r.InputIDs[len(r.InputIDs)-1] = 5; d.save() }},
}

// inWide returns the damage of the rows of the layout wide.
func inWide(change func(r *wideRow)) func(d *damage) {
	return func(d *damage) {
		rows, err := parquet.ReadFile[wideRow](d.path(0))
		require.NoError(d.t, err)
		change(&rows[0])
		saveParquet(d, rows)
	}
}

// wideMutations are done to a data set of the layout wide.
var wideMutations = []mutation{
	{"a token has the next segment's number", "seq_idx", inWide(func(r *wideRow) { r.SeqIdx[r.SeqLens[0]-1]++ })},
	{"segments are numbered from 1", "seq_idx", inWide(func(r *wideRow) {
		for i := range r.SeqIdx {
			r.SeqIdx[i]++
		}
	})},
	{"numbers of segments are one short", "lengths", inWide(func(r *wideRow) { r.SeqIdx = r.SeqIdx[1:] })},
	{"a prompt is in the mask", "loss_mask", inWide(func(r *wideRow) { r.Mask[0] = 1 })},
	{"a target is not in the mask", "loss_mask", inWide(func(r *wideRow) { r.Mask[slices.Index(r.Mask, 1)] = 0 })},
	{"the mask is 2", "loss_mask", inWide(func(r *wideRow) { r.Mask[slices.Index(r.Mask, 1)] = 2 })},
	{"a target is the first token of the next segment", "shifted_labels", inWide(func(r *wideRow) { n := r.SeqLens[0]; r.Targets[n-1] = r.Tokens[n] })},
	{"such a target is a first label", "first_label", inWide(func(r *wideRow) { n := r.SeqLens[0]; r.Targets[n-1] = r.Tokens[n] })},
	{"a target on the last token", "shifted_labels", inWide(func(r *wideRow) { r.Targets[len(r.Targets)-1] = 5 })},
	{"targets are not shifted", "label", inWide(func(r *wideRow) { copy(r.Targets[1:], r.Targets); r.Targets[0] = -100 })},
	{"lengths are one short", "seq_lengths", inWide(func(r *wideRow) { r.SeqLens[0]-- })},
	{"a length of 0", "seq_lengths", inWide(func(r *wideRow) { r.SeqLens = append([]int32{0}, r.SeqLens...) })},
}

// Every kind of damage is found, for the right reason, and at the right place if it is in a row.
func TestMutations(t *testing.T) {
	drop := job{tooLong: tokenstream.Drop, longest: 60}
	kinds := map[string]bool{}
	run := func(t *testing.T, j job, list []mutation, around func(d *damage, m mutation)) {
		for _, m := range list {
			kinds[m.name] = true
			t.Run(m.name, func(t *testing.T) {
				d := open(t, write(t, j))
				around(d, m)
				src := j.samples()
				if _, err := os.Stat(filepath.Join(d.dir, "brimful.json")); err != nil || m.reason == "manifest" {
					src = nil // without a manifest there is no comparing
				}
				r := check(t, d.dir, src)
				require.NotZero(t, r.Reasons[m.reason], "%v", r.Faults)
				i := slices.IndexFunc(r.Faults, func(f verifyFault) bool { return f.Reason == m.reason })
				require.GreaterOrEqual(t, i, 0, "%v", r.Faults)
				if f := r.Faults[i]; slices.Contains(placed, m.reason) && !strings.Contains(m.name, "a piece is lost") && !strings.Contains(m.name, "no manifest: rows") {
					require.Equal(t, d.path(0), filepath.Join(d.dir, f.File))
					require.GreaterOrEqual(t, f.Row, int64(0), "%v", f)
				}
			})
		}
	}
	rows := func(d *damage, m mutation) { m.damage(d); d.save() }
	files := func(d *damage, m mutation) { m.damage(d) }
	for _, format := range []string{"parquet", "arrow", "hf"} {
		j := drop
		j.format = format
		t.Run(format, func(t *testing.T) {
			d := open(t, write(t, j))
			d.save()
			require.Empty(t, check(t, d.dir, j.samples()).Faults, "written again by another writer it is right")
			run(t, j, rowMutations, rows)
		})
		j.tooLong, j.longest, j.rows = tokenstream.Split, 0, 30
		t.Run(format+" split", func(t *testing.T) { run(t, j, splitMutations, rows) })
	}
	drop.format = "parquet"
	t.Run("files", func(t *testing.T) { run(t, drop, fileMutations, files) })
	t.Run("manifest", func(t *testing.T) { run(t, drop, manifestMutations, files) })
	drop.wide = true
	t.Run("wide", func(t *testing.T) { run(t, drop, wideMutations, files) })
	drop.wide = false
	t.Run("lost", func(t *testing.T) {
		run(t, drop, lostMutations, func(d *damage, m mutation) { m.damage(d); d.remove("brimful.json") })
	})
	drop.format = "arrow"
	t.Run("arrow files", func(t *testing.T) { run(t, drop, arrowMutations, files) })
	drop.format, drop.holdout = "hf", true
	t.Run("hf files", func(t *testing.T) { run(t, drop, hfMutations, files) })
	fmt.Printf("mutation suite: %d kinds of damage, each found for its reason\n", len(kinds))
}

// placed are the reasons for which a fault has a place in the rows.
var placed = []string{"lengths", "row_length", "cu_seqlens", "seq_lengths", "position_ids", "max_seqlen", "pad_length", "pad_id", "pad_label",
	"first_label", "label", "token", "too_long", "no_target", "max_samples", "sample_index", "sample_changed", "null"}

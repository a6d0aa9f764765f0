package source_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/megatron"
	"github.com/brimful/brimful/tokenstream/parquet"
	"github.com/brimful/brimful/tokenstream/source"
)

// layout is that of samples rather than of rows.
var layout = tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids"}, {Name: "labels", Kind: tokenstream.Labels}}}

// put writes a file.
func put(t *testing.T, path string, b []byte) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, b, 0o644))
}

// array returns a NumPy file of one dimension.
func array[T int32 | int64 | uint16](descr string, values []T) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }\n", descr, len(values))
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b, _ = binary.Append(append(b, head...), binary.LittleEndian, values)
	return b
}

// index returns the index of documents of one sequence each, of int32 tokens.
func index(documents [][]int32) []byte {
	b := append([]byte(megatron.Magic), 1, 0, 0, 0, 0, 0, 0, 0, 4)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(documents)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(documents)+1))
	at, marks := []byte{}, []byte{}
	start := 0
	for i, d := range documents {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(d)))
		at = binary.LittleEndian.AppendUint64(at, uint64(start))
		marks = binary.LittleEndian.AppendUint64(marks, uint64(i))
		start += 4 * len(d)
	}
	return append(append(append(b, at...), marks...), binary.LittleEndian.AppendUint64(nil, uint64(len(documents)))...)
}

// The same samples come from every format, numbered through, with the account of all files that they were read from.
func TestFormats(t *testing.T) {
	var documents [][]int32
	var all []int32
	offsets := []int64{0}
	var rows []*tokenstream.Batch
	var lines bytes.Buffer
	for i := range int32(300) {
		d := slices.Repeat([]int32{i, i + 1, 7}, int(i%5)+1)
		documents = append(documents, d)
		all = append(all, d...)
		offsets = append(offsets, int64(len(all)))
		rows = append(rows, &tokenstream.Batch{Tokens: d, Labels: d, Segments: []tokenstream.Segment{{Sample: int64(i), Length: int32(len(d))}}})
		fmt.Fprintf(&lines, "{\"input_ids\":%s,\"labels\":%[1]s}\n", bytes.ReplaceAll(fmt.Append(nil, d), []byte(" "), []byte(",")))
	}
	encode := func(sink func(*bytes.Buffer) (tokenstream.Sink, error)) []byte {
		var b bytes.Buffer
		w, err := sink(&b)
		require.NoError(t, err)
		for _, row := range rows {
			require.NoError(t, w.Write(row))
		}
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	ipc := func(form arrow.Form) []byte {
		return encode(func(b *bytes.Buffer) (tokenstream.Sink, error) {
			return arrow.NewWriter(b, layout, arrow.Options{Form: form, BatchRows: 70})
		})
	}
	raw, err := binary.Append(nil, binary.LittleEndian, all)
	require.NoError(t, err)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	put(t, in("a.jsonl"), lines.Bytes())
	put(t, in("b.parquet"), encode(func(b *bytes.Buffer) (tokenstream.Sink, error) {
		return parquet.NewWriter(b, layout, parquet.Options{RowGroupRows: 70})
	}))
	put(t, in("no ending"), ipc(arrow.File))
	put(t, in("d.arrows"), ipc(arrow.Stream))
	put(t, in("e.idx"), index(documents))
	put(t, in("e.bin"), raw)
	put(t, in("f.npy"), array("<i4", all))
	put(t, in("f.offsets.npy"), array("<i8", offsets))
	put(t, in("f.labels.npy"), array("<i4", all))
	folder := in("g")
	put(t, filepath.Join(folder, "train", "data-00000-of-00001.arrow"), ipc(arrow.Stream))
	put(t, filepath.Join(folder, "train", arrow.HFStateName), arrow.HFState([]string{"data-00000-of-00001.arrow"}, "x"))
	put(t, filepath.Join(folder, arrow.HFDictName), arrow.HFDict([]string{"train"}))
	var want map[string]string
	for _, name := range []string{"a.jsonl", "b.parquet", "no ending", "d.arrows", "e.idx", "f.npy", "g"} {
		t.Run(name, func(t *testing.T) {
			files, err := source.Open([]string{in(name)}, source.Options{})
			require.NoError(t, err)
			out := filepath.Join(t.TempDir(), "out")
			rows := tokenstream.Pack(files.Samples(), tokenstream.Options{Capacity: 64})
			m, err := dataset.Write(context.Background(), out, rows, dataset.Options{})
			require.NoError(t, err)
			got := map[string]string{}
			for _, s := range m.Splits[0].Shards {
				got[s.Path] = s.SHA256
			}
			if want == nil {
				want = got
			}
			require.Equal(t, want, got)
			require.Equal(t, files.Size(), files.BytesRead())
			for _, in := range files.Inputs() {
				b, err := os.ReadFile(in.Path)
				require.NoError(t, err)
				require.EqualValues(t, len(b), in.Size)
				require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(b)), in.SHA256, in.Path)
			}
			again, err := source.Open([]string{in(name)}, source.Options{})
			require.NoError(t, err)
			require.NoError(t, again.Same(files.Inputs()))
			require.ErrorContains(t, again.Same(nil), "is not what it was")
			for range again.Samples() {
				break // whoever stops early leaves nothing behind
			}
		})
	}
	files, err := source.Open([]string{in("e.idx"), in("f.npy")}, source.Options{})
	require.NoError(t, err)
	var names []string
	for _, in := range files.Inputs() {
		names = append(names, filepath.Base(in.Path))
	}
	require.Equal(t, []string{"e.idx", "e.bin", "f.npy", "f.offsets.npy", "f.labels.npy"}, names)
	n := int64(0)
	for s, err := range files.Samples() {
		require.NoError(t, err)
		n++
		require.Equal(t, n, s.Number)
	}
	require.EqualValues(t, 600, n)
}

// A directory is of one kind, and a save_to_disk folder is named by itself.
func TestKinds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.jsonl", 0, 1)
	put(t, filepath.Join(dir, "sub", "b.parquet"), []byte("PAR1"))
	_, err := source.Open([]string{dir}, source.Options{})
	require.ErrorContains(t, err, "both JSON lines (")
	require.ErrorContains(t, err, "and Parquet (")
	dir = t.TempDir()
	put(t, filepath.Join(dir, "folder", "state.json"), []byte("{}"))
	_, err = source.Open([]string{dir}, source.Options{})
	require.ErrorContains(t, err, "is a save_to_disk folder: name it as an input of its own")
	dir = t.TempDir()
	put(t, filepath.Join(dir, arrow.HFDictName), arrow.HFDict([]string{"train", "test"}))
	for _, split := range []string{"train", "test"} {
		put(t, filepath.Join(dir, split, "d.arrow"), []byte("\xff\xff\xff\xff"))
		put(t, filepath.Join(dir, split, arrow.HFStateName), arrow.HFState([]string{"d.arrow"}, "x"))
	}
	_, err = source.Open([]string{dir}, source.Options{})
	require.ErrorContains(t, err, `with the splits "train", "test": want one of them named, and not ""`)
	files, err := source.Open([]string{dir}, source.Options{Split: "test"})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "test", "d.arrow"), files.Inputs()[0].Path)
}

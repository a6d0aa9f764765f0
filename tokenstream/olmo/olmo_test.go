package olmo_test

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/olmo"
)

const eos = 2

func row(tokens []int32, pad int32, lengths ...int32) *tokenstream.Batch {
	b := &tokenstream.Batch{Tokens: tokens, Labels: append([]int32{}, tokens...), Pad: pad}
	at := 0
	for i, n := range lengths {
		b.Labels[at] = tokenstream.Ignore
		b.Segments = append(b.Segments, tokenstream.Segment{Sample: int64(i), Length: n})
		at += int(n)
	}
	for i := at; i < len(tokens); i++ {
		b.Labels[i] = tokenstream.Ignore
	}
	return b
}

func TestWrite(t *testing.T) {
	for _, vocabulary := range []int{0, 1 << 16, 1<<16 + 1} {
		dir := t.TempDir()
		w, err := olmo.NewWriter(dir, olmo.Options{Capacity: 6, EOS: eos, VocabSize: vocabulary, PartRows: 2})
		require.NoError(t, err)
		require.NoError(t, w.Write(row([]int32{10, 11, eos, 12, 13, eos}, 0, 3, 3)))
		require.NoError(t, w.Write(row([]int32{14, 15, 16, eos, 0, 0}, 2, 4)))
		require.NoError(t, w.Write(row([]int32{17, eos, 0, 0, 0, 0}, 4, 2)))
		require.NoError(t, w.Close())
		require.NoError(t, w.Close())
		narrow := vocabulary == 1<<16
		require.Equal(t, []int32{10, 11, eos, 12, 13, eos, 14, 15, 16, eos, 0, 0}, ids(t, dir, "token_ids_part_0000.npy", narrow))
		require.Equal(t, []int32{17, eos, 0, 0, 0, 0}, ids(t, dir, "token_ids_part_0001.npy", narrow))
		mask, err := os.ReadFile(filepath.Join(dir, "labels_mask_part_0000.npy"))
		require.NoError(t, err)
		require.Equal(t, []byte{0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0}, mask)
		require.Equal(t, "0,3\n3,6\n6,10\n", spans(t, dir, "token_ids_part_0000.csv.gz"))
		require.Equal(t, "0,2\n", spans(t, dir, "token_ids_part_0001.csv.gz"))
	}
}

func ids(t *testing.T, dir, name string, narrow bool) (list []int32) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	for len(b) > 0 {
		if narrow {
			list, b = append(list, int32(binary.LittleEndian.Uint16(b))), b[2:]
		} else {
			list, b = append(list, int32(binary.LittleEndian.Uint32(b))), b[4:]
		}
	}
	return list
}

func spans(t *testing.T, dir, name string) string {
	file, err := os.Open(filepath.Join(dir, name))
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(b)
}

// What OLMo-core would cut in other places than here is refused.
func TestRefuses(t *testing.T) {
	for want, b := range map[string]*tokenstream.Batch{
		"5 tokens: want 6 in every row":                       row([]int32{10, 11, 12, 13, eos}, 0, 5),
		"sample 0 ends with the id 12: want 2":                row([]int32{10, 11, 12, 13, 14, eos}, 0, 3, 3),
		"sample 1 has the id 2 at 1 of 3: want it at the end": row([]int32{10, 11, eos, 12, eos, eos}, 0, 3, 3),
		"segments are aligned":                                {Tokens: make([]int32, 6), Labels: make([]int32, 6), Segments: []tokenstream.Segment{{Length: 5, Pad: 1}}},
	} {
		w, err := olmo.NewWriter(t.TempDir(), olmo.Options{Capacity: 6, EOS: eos})
		require.NoError(t, err)
		require.ErrorContains(t, w.Write(b), want)
	}
	for _, o := range []olmo.Options{{EOS: 1}, {Capacity: 6, EOS: -1}, {Capacity: 6, PartRows: -1}} {
		_, err := olmo.NewWriter(t.TempDir(), o)
		require.Error(t, err)
	}
	w, err := olmo.NewWriter(filepath.Join(t.TempDir(), "none"), olmo.Options{Capacity: 2, EOS: eos})
	require.NoError(t, err)
	require.Error(t, w.Write(row([]int32{10, eos}, 0, 2)))
}

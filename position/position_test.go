package position_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/position"
)

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		lengths, ids, idx, cu []int32
	}{
		{nil, nil, nil, []int32{0}},
		{[]int32{1}, []int32{0}, []int32{0}, []int32{0, 1}},
		{[]int32{3, 1, 2}, []int32{0, 1, 2, 0, 0, 1}, []int32{0, 0, 0, 1, 2, 2}, []int32{0, 3, 4, 6}},
		{[]int32{1, 1, 1}, []int32{0, 0, 0}, []int32{0, 1, 2}, []int32{0, 1, 2, 3}},
		{[]int32{5, 3}, []int32{0, 1, 2, 3, 4, 0, 1, 2}, []int32{0, 0, 0, 0, 0, 1, 1, 1}, []int32{0, 5, 8}},
	} {
		require.Equal(t, c.ids, position.AppendIDs(nil, c.lengths...))
		require.Equal(t, c.idx, position.AppendSeqIdx(nil, c.lengths...))
		require.Equal(t, c.cu, position.AppendCuSeqlens(nil, c.lengths...))
		require.Equal(t, append([]int32{7}, c.ids...), position.AppendIDs([]int32{7}, c.lengths...), "what is in dst stays")
		for name, f := range map[string]func() ([]int32, error){
			"ids": func() ([]int32, error) { return position.LengthsFromIDs(nil, c.ids) },
			"idx": func() ([]int32, error) { return position.LengthsFromSeqIdx(nil, c.idx) },
			"cu":  func() ([]int32, error) { return position.LengthsFromCuSeqlens(nil, c.cu) },
		} {
			got, err := f()
			require.NoError(t, err, name)
			require.Equal(t, c.lengths, got, name)
		}
	}
}

func TestAppendPanics(t *testing.T) {
	for _, lengths := range [][]int32{{0}, {3, -1}, {math.MaxInt32, 1}} {
		require.Panics(t, func() { position.AppendCuSeqlens(nil, lengths...) }, "%v", lengths)
		require.Panics(t, func() { position.AppendIDs(nil, lengths...) }, "%v", lengths)
		require.Panics(t, func() { position.AppendSeqIdx(nil, lengths...) }, "%v", lengths)
	}
	require.Equal(t, []int32{0, math.MaxInt32}, position.AppendCuSeqlens(nil, math.MaxInt32))
}

func TestLengthsErrors(t *testing.T) {
	for _, ids := range [][]int32{{1}, {-1}, {0, 2}, {0, 1, 1}, {0, 1, 2, 1}, {0, -1}} {
		_, err := position.LengthsFromIDs(nil, ids)
		require.ErrorContains(t, err, "position_ids[", "%v", ids)
	}
	for _, idx := range [][]int32{{1}, {-1}, {0, 2}, {0, 1, 0}} {
		_, err := position.LengthsFromSeqIdx(nil, idx)
		require.ErrorContains(t, err, "seq_idx[", "%v", idx)
	}
	for _, cu := range [][]int32{{}, {1}, {0, 0}, {0, 3, 3}, {0, 3, 2}, {0, -1}} {
		_, err := position.LengthsFromCuSeqlens(nil, cu)
		require.ErrorContains(t, err, "cu_seqlens", "%v", cu)
	}
}

// FuzzLengths: whatever a Lengths function accepts is exactly what the Append function writes, and nothing panics.
func FuzzLengths(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = byte(r.IntN(4))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		values := make([]int32, len(b))
		for i := range b {
			values[i] = int32(int8(b[i]))
		}
		if n, err := position.LengthsFromIDs(nil, values); err == nil {
			require.Equal(t, fmt.Sprint(values), fmt.Sprint(position.AppendIDs(nil, n...)))
		}
		if n, err := position.LengthsFromSeqIdx(nil, values); err == nil {
			require.Equal(t, fmt.Sprint(values), fmt.Sprint(position.AppendSeqIdx(nil, n...)))
		}
		if n, err := position.LengthsFromCuSeqlens(nil, values); err == nil {
			require.Equal(t, fmt.Sprint(values), fmt.Sprint(position.AppendCuSeqlens(nil, n...)))
		}
	})
}

func ExampleAppendCuSeqlens() {
	lengths := []int32{3, 1, 2}
	fmt.Println(position.AppendIDs(nil, lengths...))
	fmt.Println(position.AppendSeqIdx(nil, lengths...))
	fmt.Println(position.AppendCuSeqlens(nil, lengths...))
	// Output:
	// [0 1 2 0 0 1]
	// [0 0 0 1 2 2]
	// [0 3 4 6]
}

func BenchmarkAppendIDs(b *testing.B) {
	lengths := []int32{200, 300, 1500, 48}
	dst := make([]int32, 0, 2048)
	b.SetBytes(4 * 2048)
	b.ReportAllocs()
	for b.Loop() {
		dst = position.AppendIDs(dst[:0], lengths...)
	}
}

package tokenstream_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
)

// values returns the column of a kind for every row.
func values(rows []*tokenstream.Batch, k tokenstream.Kind) [][]int32 {
	var list [][]int32
	for _, b := range rows {
		list = append(list, k.AppendInt32(nil, b))
	}
	return list
}

// Lengths and alignments for which other packers were wrong: a length cut to the multiple, boundaries of the samples where those of the
// row were needed and the other way round, the row's multiple charged to every sample.
func TestAlign(t *testing.T) {
	for _, c := range []struct {
		name    string
		lengths []int32
		o       tokenstream.Options
		padded  [][]int32 // cu_seqlens_padded
		true    [][]int32 // cu_seqlens
		slots   int       // of the first row
	}{
		{"a length that is no multiple is not cut", []int32{7}, tokenstream.Options{Capacity: 8, Align: 4}, [][]int32{{0, 8}}, [][]int32{{0, 7}}, 8},
		{"odd lengths", []int32{5, 1, 3}, tokenstream.Options{Capacity: 16, Align: 4}, [][]int32{{0, 8, 12, 16}}, [][]int32{{0, 5, 6, 9}}, 16},
		{"both differ where there is padding", []int32{3, 2}, tokenstream.Options{Capacity: 8, Align: 4}, [][]int32{{0, 4, 8}}, [][]int32{{0, 3, 5}}, 8},
		{"the pad tail adds nothing to the true ones", []int32{3, 2}, tokenstream.Options{Capacity: 12, Align: 4},
			[][]int32{{0, 4, 8, 12}}, [][]int32{{0, 3, 5, 5}}, 12},
		{"capacity is that of padded lengths", []int32{5, 5, 5}, tokenstream.Options{Capacity: 16, Align: 8}, [][]int32{{0, 8, 16}, {0, 8, 16}}, [][]int32{{0, 5, 10}, {0, 5, 5}}, 16},
		{"a row is rounded once", []int32{7, 7, 7}, tokenstream.Options{Capacity: 32, Align: 4, AlignRows: 16, Ragged: true},
			[][]int32{{0, 8, 16, 24, 32}}, [][]int32{{0, 7, 14, 21, 21}}, 32},
		{"a fourth of 7 fits, a fifth opens a row", []int32{7, 7, 7, 7, 7}, tokenstream.Options{Capacity: 32, Align: 4, AlignRows: 16, Ragged: true},
			[][]int32{{0, 8, 16, 24, 32}, {0, 8, 16}}, [][]int32{{0, 7, 14, 21, 28}, {0, 7, 7}}, 32},
		{"rows alone", []int32{5, 6}, tokenstream.Options{Capacity: 32, AlignRows: 16, Ragged: true}, [][]int32{{0, 5, 11, 16}}, [][]int32{{0, 5, 11, 11}}, 16},
		{"no alignment", []int32{3, 2}, tokenstream.Options{Capacity: 8}, [][]int32{{0, 3, 5, 8}}, [][]int32{{0, 3, 5, 5}}, 8},
		{"the last token is a target only", []int32{5, 4}, tokenstream.Options{Capacity: 10, Align: 4, AlignInputs: true}, [][]int32{{0, 5, 10}}, [][]int32{{0, 5, 9}}, 10},
		{"fixed counts", []int32{3, 2}, tokenstream.Options{Capacity: 8, MaxSamples: 4, FixedCounts: true},
			[][]int32{{0, 3, 5, 8, 8, 8}}, [][]int32{{0, 3, 5, 5, 5, 5}}, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []tokenstream.Sample
			for _, n := range c.lengths {
				list = append(list, tokenstream.Sample{Tokens: ids(n, 10)})
			}
			c.o.Strategy, c.o.NoTarget = packing.NextFit{}, tokenstream.PolicyKeep
			rows, stats, err := pack(t, source(list...), c.o)
			require.NoError(t, err)
			require.Equal(t, c.padded, values(rows, tokenstream.CuSeqlens))
			require.Equal(t, c.true, values(rows, tokenstream.TrueCuSeqlens))
			require.Len(t, rows[0].Tokens, c.slots)
			sum := int64(0)
			for _, n := range c.lengths {
				sum += int64(n)
			}
			require.Equal(t, sum, stats.Placed)
			require.LessOrEqual(t, stats.LowerBound, stats.Rows)
		})
	}
}

// The laws of alignment on random samples: every segment is a multiple and no longer than it has to be, padding is the pad id without
// labels, positions go on through it, and nothing is lost.
func TestAlignLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		o := tokenstream.Options{
			Capacity: 40 + r.IntN(100), Align: 1 + r.IntN(16), AlignInputs: r.IntN(2) == 0, PadID: 7, Ragged: r.IntN(2) == 0, NoTarget: tokenstream.PolicyKeep,
			TooLong: tokenstream.Split,
		}
		var list []tokenstream.Sample
		for range 1 + r.IntN(60) {
			list = append(list, tokenstream.Sample{Tokens: ids(1+r.Int32N(200), 100)})
		}
		rows, stats, err := pack(t, source(list...), o)
		require.NoError(t, err)
		targets := int32(0)
		if o.AlignInputs && o.Align > 1 {
			targets = 1
		}
		placed, alignPad := int64(0), int64(0)
		for _, b := range rows {
			require.LessOrEqual(t, len(b.Tokens), o.Capacity)
			positions := tokenstream.PositionIDs.AppendInt32(nil, b)
			at := 0
			for _, s := range b.Segments {
				slots := s.Length + s.Pad
				require.Zero(t, (slots-targets)%int32(o.Align))
				require.Less(t, s.Pad, int32(o.Align)+targets)
				placed, alignPad = placed+int64(s.Length), alignPad+int64(s.Pad)
				for i := range int(slots) {
					require.EqualValues(t, i, positions[at+i])
					if i >= int(s.Length) {
						require.EqualValues(t, 7, b.Tokens[at+i])
						require.EqualValues(t, tokenstream.Ignore, b.Labels[at+i])
					} else {
						require.NotEqualValues(t, 7, b.Tokens[at+i])
					}
				}
				at += int(slots)
			}
			require.Equal(t, len(b.Tokens), at+int(b.Pad))
		}
		require.Equal(t, stats.Ledger.Out.Tokens, placed)
		require.Equal(t, stats.Placed, placed)
		require.Equal(t, stats.AlignPad, alignPad)
		require.LessOrEqual(t, stats.LowerBound, stats.Rows)
		require.LessOrEqual(t, stats.Fill(), stats.FillAligned())
	}
}

func TestAlignRefuses(t *testing.T) {
	for _, c := range []struct {
		o    tokenstream.Options
		want string
	}{
		{tokenstream.Options{Capacity: 8, Align: 9}, "alignment 9: want 0..8"},
		{tokenstream.Options{Capacity: 8, Align: 8, AlignInputs: true}, "alignment 8"},
		{tokenstream.Options{Capacity: 8, Align: -1}, "alignment -1"},
		{tokenstream.Options{Capacity: 31936, AlignRows: 128}, "capacity 31936 is no multiple of 128, to which rows are aligned: want 31872 or 32000"},
		{tokenstream.Options{Capacity: 8, AlignRows: 9}, "alignment of rows 9: want 0..8"},
		{tokenstream.Options{Capacity: 8, FixedCounts: true}, "fixed counts of 0 samples a row (max samples): want 1..8"},
		{tokenstream.Options{Capacity: 10, Align: 4, MaxSampleTokens: 9}, "max sample tokens 9: want 0..8, what fits into a row"},
	} {
		require.ErrorContains(t, c.o.Check(), c.want)
	}
	require.NoError(t, (&tokenstream.Options{Capacity: 31936, AlignRows: 64}).Check())
}

// With the weights, the sum of losses over the number of samples is the mean of the samples' mean losses, however they are packed.
func TestSampleWeights(t *testing.T) {
	list := []tokenstream.Sample{{Tokens: ids(5, 10), Labels: []int32{-100, -100, 12, 13, 14}}, {Tokens: ids(3, 20)}, {Tokens: ids(4, 30), Labels: []int32{-100, -100, -100, 33}}}
	loss := func(target int32) float64 { return math.Sqrt(float64(target)) }
	want := ((loss(12)+loss(13)+loss(14))/3 + (loss(21)+loss(22))/2 + loss(33)) / 3
	for _, align := range []int{1, 4} {
		rows, _, err := pack(t, source(list...), tokenstream.Options{Capacity: 16, Align: align})
		require.NoError(t, err)
		got, shifted := 0.0, 0.0
		for _, b := range rows {
			next := tokenstream.ShiftedLabels.AppendInt32(nil, b)
			later := tokenstream.ShiftedSampleWeights.AppendInt32(nil, b)
			for i, bits := range tokenstream.SampleWeights.AppendInt32(nil, b) {
				if b.Labels[i] != tokenstream.Ignore {
					got += float64(math.Float32frombits(uint32(bits))) * loss(b.Labels[i])
				} else {
					require.Zero(t, bits)
				}
				if next[i] != tokenstream.Ignore {
					shifted += float64(math.Float32frombits(uint32(later[i]))) * loss(next[i])
				} else {
					require.Zero(t, later[i])
				}
			}
		}
		require.InDelta(t, want, got/3, 1e-6)
		require.InDelta(t, want, shifted/3, 1e-6)
	}
}

// The ids of the samples go with their segments through every pool, and only if that is asked for.
func TestKeepIDs(t *testing.T) {
	var list []tokenstream.Sample
	for i := range int32(50) {
		list = append(list, tokenstream.Sample{ID: fmt.Sprint("s", i), Tokens: ids(2+i%7, i)})
	}
	list[3].ID = ""
	for _, spool := range []string{"", t.TempDir()} {
		rows, _, err := pack(t, source(list...), tokenstream.Options{Capacity: 20, KeepIDs: true, Spool: spool})
		require.NoError(t, err)
		for _, b := range rows {
			for _, s := range b.Segments {
				require.Equal(t, list[s.Sample].ID, s.ID)
			}
		}
		rows, _, err = pack(t, source(list...), tokenstream.Options{Capacity: 20, Spool: spool})
		require.NoError(t, err)
		require.Empty(t, rows[0].Segments[0].ID)
	}
}

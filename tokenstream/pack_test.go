package tokenstream_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/position"
	"github.com/brimful/brimful/tokenstream"
)

// source yields samples and overwrites each as soon as the consumer is done with it, to catch whoever keeps a slice.
func source(samples ...tokenstream.Sample) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		for _, s := range samples {
			s = s.Clone()
			if !yield(s, nil) {
				return
			}
			for i := range s.Tokens {
				s.Tokens[i] = 777
			}
			for i := range s.Labels {
				s.Labels[i] = 777
			}
		}
	}
}

// pack packs and returns copies of all rows.
func pack(t testing.TB, src tokenstream.Source, o tokenstream.Options) ([]*tokenstream.Batch, *tokenstream.Stats, error) {
	t.Helper()
	if o.Stats == nil {
		o.Stats = new(tokenstream.Stats)
	}
	var rows []*tokenstream.Batch
	for row, err := range tokenstream.Pack(src, o) {
		if err != nil {
			return rows, o.Stats, err
		}
		rows = append(rows, row.Clone())
		for i := range row.Tokens { // the row is the consumer's until the next iteration
			row.Tokens[i], row.Labels[i] = -7, -7
		}
	}
	return rows, o.Stats, nil
}

func ids(n int32, first int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = first + int32(i)
	}
	return s
}

func TestPackRow(t *testing.T) {
	rows, stats, err := pack(t, source(
		tokenstream.Sample{Tokens: []int32{11, 12, 13}, Labels: []int32{-100, 12, 13}},
		tokenstream.Sample{Tokens: []int32{21, 0}},
	), tokenstream.Options{Capacity: 8, PadID: 9})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	row := rows[0]
	require.Equal(t, []int32{11, 12, 13, 21, 0, 9, 9, 9}, row.Tokens)
	require.Equal(t, []int32{-100, 12, 13, -100, 0, -100, -100, -100}, row.Labels)
	require.EqualValues(t, 3, row.Pad)
	columns := map[tokenstream.Kind][]int32{
		tokenstream.Tokens:        {11, 12, 13, 21, 0, 9, 9, 9},
		tokenstream.Labels:        {-100, 12, 13, -100, 0, -100, -100, -100},
		tokenstream.ShiftedLabels: {12, 13, -100, 0, -100, -100, -100, -100},
		tokenstream.PositionIDs:   {0, 1, 2, 0, 1, 0, 1, 2},
		tokenstream.SeqIdx:        {0, 0, 0, 1, 1, 2, 2, 2},
		tokenstream.CuSeqlens:     {0, 3, 5, 8},
		tokenstream.Lengths:       {3, 2, 3},
		tokenstream.LossMask:      {0, 1, 1, 0, 1, 0, 0, 0},
		tokenstream.MaxSeqlen:     {3},
		tokenstream.PadLength:     {3},

		tokenstream.ShiftedTokens:    {12, 13, 0, 0, 0, 0, 0, 0},
		tokenstream.ShiftedLossMask:  {1, 1, 0, 1, 0, 0, 0, 0},
		tokenstream.SegmentIDs:       {1, 1, 1, 2, 2, 0, 0, 0},
		tokenstream.TargetSegmentIDs: {1, 1, 0, 2, 0, 0, 0, 0},
		tokenstream.SegmentStarts:    {0, 3},
	}
	for kind, want := range columns {
		require.Equal(t, want, kind.AppendInt32(nil, row), kind)
	}
	require.Equal(t, []int64{0, 1}, tokenstream.SampleIndex.AppendInt64(nil, row))
	require.Equal(t, tokenstream.Count{Samples: 2, Tokens: 5, Supervised: 3}, stats.Ledger.Out)
	require.EqualValues(t, 1, stats.Unlabelled)
}

// Faults of other packers, with the rows that are right.
func TestPackBoundaries(t *testing.T) {
	for _, c := range []struct {
		name      string
		lengths   []int32
		capacity  int
		positions []int32
		cu        []int32
	}{
		{"one token between others", []int32{3, 1, 2}, 6, []int32{0, 1, 2, 0, 0, 1}, []int32{0, 3, 4, 6}},
		{"one token each", []int32{1, 1, 1}, 3, []int32{0, 0, 0}, []int32{0, 1, 2, 3}},
		{"pad tail is one segment", []int32{3, 2}, 8, []int32{0, 1, 2, 0, 1, 0, 1, 2}, []int32{0, 3, 5, 8}},
		{"exactly full", []int32{5, 3}, 8, []int32{0, 1, 2, 3, 4, 0, 1, 2}, []int32{0, 5, 8}},
	} {
		var samples []tokenstream.Sample
		for _, n := range c.lengths {
			samples = append(samples, tokenstream.Sample{Tokens: ids(n, 5)})
		}
		rows, _, err := pack(t, source(samples...), tokenstream.Options{Capacity: c.capacity, NoTarget: tokenstream.PolicyKeep})
		require.NoError(t, err, c.name)
		require.Len(t, rows, 1, c.name)
		require.Equal(t, c.positions, tokenstream.PositionIDs.AppendInt32(nil, rows[0]), c.name)
		require.Equal(t, c.cu, tokenstream.CuSeqlens.AppendInt32(nil, rows[0]), c.name)
	}
}

func TestLabelRules(t *testing.T) {
	own := tokenstream.Sample{Tokens: []int32{1, 2, 3, 4}, Labels: []int32{-100, -100, 3, 4}}
	shifted := tokenstream.Sample{Tokens: []int32{1, 2, 3, 4}, Labels: []int32{-100, 3, 4, -100}}
	other := tokenstream.Sample{Tokens: []int32{1, 2, 3, 4}, Labels: []int32{-100, -100, 9, 4}}
	for _, c := range []struct {
		name   string
		sample tokenstream.Sample
		rule   tokenstream.LabelRule
		want   []int32 // of the row
		err    string
	}{
		{"own", own, tokenstream.LabelsOwn, []int32{-100, -100, 3, 4}, ""},
		{"shifted under own", shifted, tokenstream.LabelsOwn, nil, "already shifted"},
		{"shifted", shifted, tokenstream.LabelsShifted, []int32{-100, -100, 3, 4}, ""},
		{"own under shifted", own, tokenstream.LabelsShifted, nil, "want -100"},
		{"other", other, tokenstream.LabelsOwn, nil, "labels[2]: label 9: want -100 or the id at its place, 3"},
		{"free", other, tokenstream.LabelsFree, []int32{-100, -100, 9, 4}, ""},
		{"all", other, tokenstream.LabelsAll, []int32{-100, 2, 3, 4}, ""},
		{"first label", tokenstream.Sample{Tokens: []int32{1, 2}, Labels: []int32{1, 2}}, tokenstream.LabelsOwn, []int32{-100, 2}, ""},
		{"short", tokenstream.Sample{Tokens: []int32{1, 2, 3}, Labels: []int32{1, 2}}, tokenstream.LabelsOwn, nil, "2 labels for 3 ids"},
		{"-1", tokenstream.Sample{Tokens: []int32{1, 2}, Labels: []int32{-1, 2}}, tokenstream.LabelsFree, nil, "label -1: want -100 or 0.."},
		{"id below 0", tokenstream.Sample{Tokens: []int32{5, -1, 7}}, tokenstream.LabelsOwn, nil, "input_ids[1]: id -1: want 0..2147483647"},
	} {
		rows, _, err := pack(t, source(c.sample), tokenstream.Options{Capacity: 4, Ragged: true, Labels: c.rule})
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.name)
			var where *tokenstream.InputError
			require.ErrorAs(t, err, &where, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, rows[0].Labels, c.name)
	}
}

func TestVocabSize(t *testing.T) {
	o := tokenstream.Options{Capacity: 4, VocabSize: 10}
	_, _, err := pack(t, source(tokenstream.Sample{Tokens: []int32{1, 9}}), o)
	require.NoError(t, err)
	_, _, err = pack(t, source(tokenstream.Sample{Tokens: []int32{1, 10}, Place: tokenstream.Place{Name: "a.jsonl", Row: 3}}), o)
	require.EqualError(t, err, "a.jsonl:3: input_ids[1]: id 10: want 0..9")
}

// A row names a sample by its number in the whole source, also when others were taken out before.
func TestNumbers(t *testing.T) {
	rows, _, err := pack(t, source(tokenstream.Sample{Tokens: ids(2, 5), Number: 7}, tokenstream.Sample{Tokens: ids(2, 5), Number: 9}), tokenstream.Options{Capacity: 4})
	require.NoError(t, err)
	require.Equal(t, []int64{6, 8}, tokenstream.SampleIndex.AppendInt64(nil, rows[0]))
}

func TestTooLong(t *testing.T) {
	samples := []tokenstream.Sample{{Tokens: []int32{1, 2, 3, 4, 5}}, {Tokens: []int32{6, 7}}, {Tokens: []int32{8, 9, 10}}, {Tokens: []int32{11, 12}}}
	all := tokenstream.Count{Samples: 4, Tokens: 12, Supervised: 8}
	for _, c := range []struct {
		policy  tokenstream.TooLong
		out     tokenstream.Count
		removed tokenstream.Removal
		first   []int32 // tokens of sample 0 in the rows, pieces joined
	}{
		{tokenstream.Drop, tokenstream.Count{Samples: 3, Tokens: 7, Supervised: 4},
			tokenstream.Removal{Reason: tokenstream.ReasonTooLong, Affected: 1, Count: tokenstream.Count{Samples: 1, Tokens: 5, Supervised: 4}}, nil},
		{tokenstream.Truncate, tokenstream.Count{Samples: 4, Tokens: 11, Supervised: 7},
			tokenstream.Removal{Reason: tokenstream.ReasonTruncated, Affected: 1, Count: tokenstream.Count{Tokens: 1, Supervised: 1}}, []int32{1, 2, 3, 4}},
		{tokenstream.TruncateLeft, tokenstream.Count{Samples: 4, Tokens: 11, Supervised: 7},
			tokenstream.Removal{Reason: tokenstream.ReasonTruncated, Affected: 1, Count: tokenstream.Count{Tokens: 1, Supervised: 1}}, []int32{2, 3, 4, 5}},
		{tokenstream.Split, tokenstream.Count{Samples: 4, Tokens: 12, Supervised: 7},
			tokenstream.Removal{Reason: tokenstream.ReasonSplit, Affected: 1, Count: tokenstream.Count{Supervised: 1}}, []int32{1, 2, 3, 4, 5}},
	} {
		rows, stats, err := pack(t, source(samples...), tokenstream.Options{Capacity: 4, TooLong: c.policy, NoTarget: tokenstream.PolicyKeep})
		require.NoError(t, err, c.policy)
		require.Equal(t, tokenstream.Ledger{In: all, Out: c.out, Removed: []tokenstream.Removal{c.removed}, Files: []tokenstream.FileUse{{Use: tokenstream.Use{In: all, Out: c.out}}}}, stats.Ledger, c.policy)
		pieces := make([]int32, 6)
		n := 0
		for _, row := range rows {
			at := int32(0)
			for _, s := range row.Segments {
				if s.Sample == 0 {
					n += copy(pieces[s.Offset:], row.Tokens[at:at+s.Length])
				}
				at += s.Length
			}
		}
		start := 0
		if c.policy == tokenstream.TruncateLeft {
			start = 1
		}
		require.Equal(t, c.first, append([]int32(nil), pieces[start:start+n]...), c.policy)
	}
	_, _, err := pack(t, source(samples...), tokenstream.Options{Capacity: 4})
	var tooLong *tokenstream.LengthError
	require.ErrorAs(t, err, &tooLong)
	require.Equal(t, &tokenstream.LengthError{Limit: 4, Count: 1, Tokens: 5, Samples: 4, AllTokens: 12, Longest: 5}, tooLong)
	_, _, err = pack(t, source(samples...), tokenstream.Options{Capacity: 8, MaxSampleTokens: 2})
	require.ErrorAs(t, err, &tooLong)
	require.EqualValues(t, 2, tooLong.Count)
}

func TestNoTarget(t *testing.T) {
	masked := tokenstream.Sample{Tokens: []int32{1, 2}, Labels: []int32{-100, -100}}
	good := tokenstream.Sample{Tokens: []int32{3, 4}}
	firstOnly := tokenstream.Sample{Tokens: []int32{9, 5, 6}, Labels: []int32{9, -100, -100}} // nothing precedes a first token
	late := tokenstream.Sample{Tokens: ids(6, 1), Labels: []int32{-100, -100, -100, -100, 5, 6}}

	_, stats, err := pack(t, source(masked, good, firstOnly), tokenstream.Options{Capacity: 4})
	require.NoError(t, err)
	require.EqualValues(t, 1, stats.Ledger.Out.Samples)
	require.Equal(t, []tokenstream.Removal{{Reason: tokenstream.ReasonNoTarget, Affected: 2, Count: tokenstream.Count{Samples: 2, Tokens: 5}}}, stats.Ledger.Removed)

	_, stats, err = pack(t, source(late, good), tokenstream.Options{Capacity: 4, TooLong: tokenstream.Truncate})
	require.NoError(t, err)
	require.Equal(t, []tokenstream.Removal{
		{Reason: tokenstream.ReasonCutTarget, Affected: 1, Count: tokenstream.Count{Samples: 1, Tokens: 4}},
		{Reason: tokenstream.ReasonTruncated, Affected: 1, Count: tokenstream.Count{Tokens: 2, Supervised: 2}},
	}, stats.Ledger.Removed)

	rows, stats, err := pack(t, source(late), tokenstream.Options{Capacity: 4, TooLong: tokenstream.Split})
	require.NoError(t, err)
	require.Equal(t, []tokenstream.Segment{{Sample: 0, Offset: 4, Length: 2}}, rows[0].Segments)
	require.Equal(t, tokenstream.Count{Samples: 1, Tokens: 2, Supervised: 1}, stats.Ledger.Out)

	rows, _, err = pack(t, source(masked, good), tokenstream.Options{Capacity: 4, NoTarget: tokenstream.PolicyKeep})
	require.NoError(t, err)
	require.Len(t, rows[0].Segments, 2)

	_, _, err = pack(t, source(masked), tokenstream.Options{Capacity: 4})
	require.ErrorContains(t, err, "0 of 1 samples have a supervised token")
	_, _, err = pack(t, source(good, masked), tokenstream.Options{Capacity: 4, NoTarget: tokenstream.PolicyError})
	require.ErrorContains(t, err, "none of 2 tokens is supervised")
	_, _, err = pack(t, source(), tokenstream.Options{Capacity: 4})
	require.ErrorIs(t, err, tokenstream.ErrNoSamples)
}

func TestEmpty(t *testing.T) {
	_, _, err := pack(t, source(tokenstream.Sample{Tokens: []int32{1, 2}}, tokenstream.Sample{}), tokenstream.Options{Capacity: 4})
	require.ErrorContains(t, err, "no ids")
	rows, stats, err := pack(t, source(tokenstream.Sample{}, tokenstream.Sample{}), tokenstream.Options{Capacity: 4, Empty: tokenstream.PolicyDrop})
	require.NoError(t, err)
	require.Empty(t, rows)
	require.EqualValues(t, 2, stats.Ledger.Removed[0].Affected)
	require.Zero(t, stats.Fill())
}

func TestOptions(t *testing.T) {
	for _, o := range []tokenstream.Options{
		{}, {Capacity: -1}, {Capacity: math.MaxInt32 + 1}, {Capacity: math.MaxInt32}, {Capacity: 4, MaxSamples: -1}, {Capacity: 4, MaxSampleTokens: 5},
		{Capacity: 4, VocabSize: -1}, {Capacity: 4, PadID: -1}, {Capacity: 4, VocabSize: 3, PadID: 3}, {Capacity: 4, Empty: tokenstream.PolicyKeep},
	} {
		_, _, err := pack(t, source(tokenstream.Sample{Tokens: []int32{1}}), o)
		require.Error(t, err, "%+v", o)
	}
	rows, _, err := pack(t, source(tokenstream.Sample{Tokens: []int32{1, 2}}), tokenstream.Options{Capacity: math.MaxInt32, Ragged: true})
	require.NoError(t, err)
	require.Len(t, rows[0].Tokens, 2)
}

// An error of the source is the last pair and comes as it is.
func TestSourceError(t *testing.T) {
	broken := errors.New("broken")
	for n := range 5 {
		src := func(yield func(tokenstream.Sample, error) bool) {
			for range n {
				if !yield(tokenstream.Sample{Tokens: []int32{1, 2}}, nil) {
					return
				}
			}
			yield(tokenstream.Sample{}, broken)
		}
		_, _, err := pack(t, src, tokenstream.Options{Capacity: 4, Strategy: packing.NextFit{}})
		require.ErrorIs(t, err, broken)
	}
}

// A consumer that stops early stops the source.
func TestEarlyBreak(t *testing.T) {
	drawn := 0
	src := func(yield func(tokenstream.Sample, error) bool) {
		for range 1000 {
			drawn++
			if !yield(tokenstream.Sample{Tokens: []int32{1, 2}}, nil) {
				return
			}
		}
	}
	for range tokenstream.Pack(src, tokenstream.Options{Capacity: 4, Strategy: packing.NextFit{}}) {
		break
	}
	require.Less(t, drawn, 10)
}

// badStrategy breaks the law of a Streamer in one way each.
type badStrategy struct {
	packing.NextFit
	bins func(lengths []int32) [][]int64
}

func (b badStrategy) Stream(lengths iter.Seq[int32], _ packing.Limits) iter.Seq[[]int64] {
	return func(yield func([]int64) bool) {
		var all []int32
		for n := range lengths {
			all = append(all, n)
		}
		for _, bin := range b.bins(all) {
			if !yield(bin) {
				return
			}
		}
	}
}

func TestBadStrategy(t *testing.T) {
	for name, bins := range map[string]func([]int32) [][]int64{
		"twice":               func([]int32) [][]int64 { return [][]int64{{0}, {0, 1}} },
		"one twice, one lost": func([]int32) [][]int64 { return [][]int64{{0}, {0}} },
		"lost":                func([]int32) [][]int64 { return [][]int64{{0}} },
		"over-full":           func([]int32) [][]int64 { return [][]int64{{0, 1}} },
		"unknown":             func([]int32) [][]int64 { return [][]int64{{0}, {1}, {2}} },
		"negative":            func([]int32) [][]int64 { return [][]int64{{-1}} },
		"empty":               func([]int32) [][]int64 { return [][]int64{{}, {0}, {1}} },
	} {
		for _, spool := range []string{"", t.TempDir()} {
			_, _, err := pack(t, source(tokenstream.Sample{Tokens: ids(3, 0)}, tokenstream.Sample{Tokens: ids(3, 0)}),
				tokenstream.Options{Capacity: 4, Strategy: badStrategy{bins: bins}, Spool: spool})
			require.ErrorContains(t, err, "the strategy", name)
		}
	}
}

// checkPartition checks the laws of rows against the samples they were made of.
func checkPartition(t require.TestingT, samples []tokenstream.Sample, rows []*tokenstream.Batch, stats *tokenstream.Stats, o tokenstream.Options) {
	require.NoError(t, stats.Ledger.Check())
	out := tokenstream.Count{}
	seen := map[string]bool{}
	inRows := map[int64]bool{}
	for _, row := range rows {
		require.Len(t, row.Labels, len(row.Tokens))
		if o.Ragged {
			require.Zero(t, row.Pad)
			require.LessOrEqual(t, len(row.Tokens), o.Capacity)
		} else {
			require.Len(t, row.Tokens, o.Capacity)
		}
		at := int32(0)
		for _, s := range row.Segments {
			key := fmt.Sprint(s.Sample, "+", s.Offset)
			require.False(t, seen[key], "segment %s twice", key)
			seen[key], inRows[s.Sample] = true, true
			sample := samples[s.Sample]
			require.Equal(t, sample.Tokens[s.Offset:s.Offset+s.Length], row.Tokens[at:at+s.Length])
			require.EqualValues(t, tokenstream.Ignore, row.Labels[at])
			for i := int32(1); i < s.Length; i++ {
				want := sample.Tokens[s.Offset+i]
				if sample.Labels != nil {
					want = sample.Labels[s.Offset+i]
				}
				require.Equal(t, want, row.Labels[at+i])
				if want != tokenstream.Ignore {
					out.Supervised++
				}
			}
			out.Tokens += int64(s.Length)
			at += s.Length
		}
		require.EqualValues(t, len(row.Tokens), at+row.Pad)
		for i := at; i < int32(len(row.Tokens)); i++ {
			require.Equal(t, o.PadID, row.Tokens[i])
			require.EqualValues(t, tokenstream.Ignore, row.Labels[i])
		}
		lengths, err := position.LengthsFromIDs(nil, tokenstream.PositionIDs.AppendInt32(nil, row))
		require.NoError(t, err)
		require.Equal(t, tokenstream.Lengths.AppendInt32(nil, row), lengths)
	}
	out.Samples = int64(len(inRows))
	require.Equal(t, out, stats.Ledger.Out)
	require.EqualValues(t, len(rows), stats.Rows)
	if o.Strategy == nil || o.MaxSamples == 0 {
		require.LessOrEqual(t, stats.LowerBound, stats.Rows)
	}
}

// FuzzPack packs random samples under random options by every strategy and checks every law.
func FuzzPack(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed), uint8(10+seed))
	}
	names := packing.Names()
	f.Fuzz(func(t *testing.T, seed uint64, choice, count uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var samples []tokenstream.Sample
		for range 1 + int(count) {
			s := tokenstream.Sample{Tokens: ids(int32(1+r.IntN(20)), int32(r.IntN(100)))}
			if r.IntN(3) > 0 {
				s.Labels = append([]int32{}, s.Tokens...)
				for i := range s.Labels {
					if r.IntN(2) == 0 {
						s.Labels[i] = tokenstream.Ignore
					}
				}
			}
			samples = append(samples, s)
		}
		s, err := packing.Lookup(names[int(choice)%len(names)])
		require.NoError(t, err)
		o := tokenstream.Options{
			Capacity: 8 + r.IntN(20), MaxSamples: r.IntN(4), Strategy: packing.Windows{Strategy: s, Tokens: int64(1 + r.IntN(200))},
			TooLong: tokenstream.TooLong(1 + r.IntN(4)), NoTarget: tokenstream.Policy(2 + r.IntN(2)), Ragged: r.IntN(2) == 0, PadID: int32(r.IntN(3)),
		}
		rows, stats, err := pack(t, source(samples...), o)
		if stats.Segments == 0 && err != nil {
			require.ErrorContains(t, err, "supervised token")
			return
		}
		require.NoError(t, err)
		checkPartition(t, samples, rows, stats, o)
	})
}

// The pool lets go of what has been packed: many small windows over long input stay small, and the rows are right.
func TestPackManyWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var samples []tokenstream.Sample
	for range 10_000 {
		samples = append(samples, tokenstream.Sample{Tokens: ids(int32(2+r.IntN(500)), int32(r.IntN(1000)))})
	}
	o := tokenstream.Options{Capacity: 512, Strategy: packing.Windows{Tokens: 1 << 18}}
	rows, stats, err := pack(t, source(samples...), o)
	require.NoError(t, err)
	checkPartition(t, samples, rows, stats, o)

	// On disk it is the same.
	o.Spool = t.TempDir()
	onDisk, _, err := pack(t, source(samples...), o)
	require.NoError(t, err)
	require.Equal(t, rows, onDisk)
	left, err := os.ReadDir(o.Spool)
	require.NoError(t, err)
	require.Empty(t, left, "the file is gone")
}

func TestSpoolError(t *testing.T) {
	_, _, err := pack(t, source(tokenstream.Sample{Tokens: []int32{1, 2}}), tokenstream.Options{Capacity: 4, Spool: "no such directory"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestLimitHoldOut(t *testing.T) {
	var samples []tokenstream.Sample
	for i := range 1000 {
		samples = append(samples, tokenstream.Sample{ID: fmt.Sprint(i), Tokens: ids(int32(2+i%7), int32(i)), Labels: ids(int32(2+i%7), int32(i))})
	}
	drain := func(src tokenstream.Source) (list []tokenstream.Sample) {
		for s, err := range src {
			require.NoError(t, err)
			list = append(list, s.Clone())
		}
		return list
	}
	require.Len(t, drain(tokenstream.Limit(source(samples...), 10, 0)), 10)
	require.Len(t, drain(tokenstream.Limit(source(samples...), 0, 5)), 2) // 2 + 3 tokens
	require.Len(t, drain(tokenstream.Limit(source(samples...), 0, 4)), 1)

	split := func(all []tokenstream.Sample) (kept, held []tokenstream.Sample) {
		spool, err := tokenstream.NewSpool(t.TempDir())
		require.NoError(t, err)
		defer func() { require.NoError(t, spool.Close()) }()
		kept = drain(tokenstream.HoldOut(source(all...), &tokenstream.Holdout{Share: .2}, spool))
		held = drain(spool.Source())
		require.Equal(t, held, drain(spool.Source()), "a spool can be read again")
		return kept, held
	}
	kept, held := split(samples)
	require.InDelta(t, 200, len(held), 40)
	require.Len(t, kept, 1000-len(held))
	numbers := map[int64]bool{}
	for _, s := range append(kept, held...) {
		require.False(t, numbers[s.Number])
		numbers[s.Number] = true
		want := samples[s.Number-1]
		want.Number = s.Number
		require.Equal(t, want, s)
	}
	// More data before and after changes nothing for a sample.
	var more []tokenstream.Sample
	for i := range 300 {
		more = append(more, tokenstream.Sample{ID: fmt.Sprint("more ", i), Tokens: ids(3, int32(5000+i))})
	}
	_, again := split(slices.Concat(more, samples[500:], samples[:500]))
	require.Greater(t, len(again), len(held), "of the new ones too")
	again = slices.DeleteFunc(again, func(s tokenstream.Sample) bool { return strings.HasPrefix(s.ID, "more") })
	require.Len(t, again, len(held))
	where := map[string]bool{}
	for _, s := range held {
		where[s.ID] = true
	}
	for _, s := range again {
		require.True(t, where[s.ID])
	}
	// Samples of one key stay together.
	for i := range samples {
		samples[i].Key = fmt.Sprint("key", i/10)
	}
	kept, held = split(samples)
	keys := map[string]bool{}
	for _, s := range kept {
		keys[s.Key] = true
	}
	for _, s := range held {
		require.False(t, keys[s.Key])
	}
}

package mix_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/mix"
)

// of returns a source of samples of the lengths given, whose ids say which source and sample they are of, and which scribbles over each
// sample when it is asked for the next.
func of(source int, lengths ...int) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		var buffer []int32
		for i, n := range lengths {
			buffer = buffer[:0]
			for range n {
				buffer = append(buffer, int32(1000*source+i))
			}
			if !yield(tokenstream.Sample{ID: fmt.Sprint(source, ":", i), Tokens: buffer, Place: tokenstream.Place{Name: fmt.Sprint("file", source)}}, nil) {
				return
			}
			for k := range buffer {
				buffer[k] = -1
			}
		}
	}
}

func same(n, length int) []int { return slices.Repeat([]int{length}, n) }

// drain returns which sources samples come from, in their order, and how often each sample comes.
func drain(t *testing.T, sources []mix.Source, o mix.Options) (order []int, times map[int64]int) {
	times = map[int64]int{}
	for s, err := range mix.Mix(sources, o) {
		require.NoError(t, err)
		k := s.Source(len(sources))
		order = append(order, k)
		times[s.Number]++
		i := int((s.Number - 1) / int64(len(sources)))
		require.Equal(t, fmt.Sprint(k, ":", i), s.ID)
		for _, id := range s.Tokens {
			require.Equal(t, int32(1000*k+i), id)
		}
	}
	return order, times
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name    string
		sources []mix.Source
		by      mix.Unit
		order   string
		drawn   []int64
		unused  []int64
	}{
		{"thirds", []mix.Source{{Samples: of(0, same(9, 2)...), Weight: 1}, {Samples: of(1, same(9, 2)...), Weight: 2}}, mix.Tokens, "10110110110110", []int64{5, 9}, []int64{4, 0}},
		{"weights that do not add up to 1", []mix.Source{{Samples: of(0, same(3, 1)...), Weight: 300}, {Samples: of(1, same(3, 1)...), Weight: 100}}, mix.Samples, "0100", []int64{3, 1}, []int64{0, 2}},
		{"by tokens", []mix.Source{{Samples: of(0, same(2, 6)...), Weight: .5}, {Samples: of(1, same(9, 2)...), Weight: .5}}, mix.Tokens, "", []int64{2, 7}, []int64{0, 2}},
		{"by samples", []mix.Source{{Samples: of(0, same(2, 6)...), Weight: .5}, {Samples: of(1, same(9, 2)...), Weight: .5}}, mix.Samples, "", []int64{2, 3}, []int64{0, 6}},
		{"by supervised tokens", []mix.Source{{Samples: of(0, same(2, 6)...), Weight: .5}, {Samples: of(1, same(20, 2)...), Weight: .5}}, mix.Supervised, "", []int64{2, 11}, []int64{0, 9}},
		{"a source of one sample", []mix.Source{{Samples: of(0, 5), Weight: 1}, {Samples: of(1, same(4, 5)...), Weight: 1}}, mix.Tokens, "101", []int64{1, 2}, []int64{0, 2}},
		{"repeated", []mix.Source{{Samples: of(0, 5), Weight: 1, Repeat: 3}, {Samples: of(1, same(4, 5)...), Weight: 1}}, mix.Tokens, "1010101", []int64{3, 4}, []int64{0, 0}},
		{"two times and a half", []mix.Source{{Samples: of(0, same(4, 5)...), Weight: 1, Repeat: 2.5}, {Samples: of(1, same(40, 5)...), Weight: 1}}, mix.Tokens, "", []int64{10, 11}, []int64{0, 29}},
		{"half", []mix.Source{{Samples: of(0, same(4, 5)...), Weight: 1, Repeat: .5}, {Samples: of(1, same(40, 5)...), Weight: 1}}, mix.Tokens, "", []int64{2, 3}, []int64{2, 37}},
		{"endless", []mix.Source{{Samples: of(0, 5, 5), Weight: 1, Repeat: mix.Endless}, {Samples: of(1, same(4, 5)...), Weight: 1}}, mix.Tokens, "", []int64{4, 4}, []int64{0, 0}},
		{"weight 0", []mix.Source{{Samples: of(0, 5, 5)}, {Samples: of(1, same(4, 5)...), Weight: 1}}, mix.Tokens, "1111", []int64{0, 4}, []int64{2, 0}},
		{"an empty source of weight 0", []mix.Source{{Samples: of(0)}, {Samples: of(1, same(4, 5)...), Weight: 1}}, mix.Tokens, "1111", []int64{0, 4}, []int64{0, 0}},
		{"alone", []mix.Source{{Samples: of(0, 1, 2, 3), Weight: 5}}, mix.Tokens, "000", []int64{3}, []int64{0}},
		{"far apart", []mix.Source{{Samples: of(0, 1), Weight: 1e308}, {Samples: of(1, 1), Weight: 1e307}}, mix.Tokens, "01", []int64{1, 1}, []int64{0, 0}},
		{"by nature", []mix.Source{{Samples: of(0, 1, 2, 3)}, {Samples: of(1, same(6, 1)...)}}, mix.Tokens, "101101101", []int64{3, 6}, []int64{0, 0}},
		{"by nature, repeated", []mix.Source{{Samples: of(0, 1, 2, 3), Repeat: 2}, {Samples: of(1, same(4, 1)...), Repeat: .5}}, mix.Supervised, "", []int64{6, 2}, []int64{0, 2}},
		{"by nature, one is empty", []mix.Source{{Samples: of(0)}, {Samples: of(1, same(4, 1)...)}}, mix.Tokens, "1111", []int64{0, 4}, []int64{0, 0}},
	} {
		var stats mix.Stats
		order, _ := drain(t, c.sources, mix.Options{By: c.by, Stats: &stats})
		if c.order != "" {
			text := ""
			for _, k := range order {
				text += fmt.Sprint(k)
			}
			require.Equal(t, c.order, text, c.name)
		}
		for i, u := range stats.Sources {
			require.True(t, u.Whole, c.name)
			require.Equal(t, c.drawn[i], u.Drawn, c.name)
			require.Equal(t, c.unused[i], u.Unused(), c.name)
		}
	}
}

func TestErrors(t *testing.T) {
	grows, shrinks := 0, 0
	broken := errors.New("broken")
	for _, c := range []struct {
		name, want string
		sources    []mix.Source
	}{
		{"none", "0 sources: want 1..65536", nil},
		{"negative", `source "a": weight -1: want a number from 0 on`, []mix.Source{{Name: "a", Samples: of(0, 1), Weight: -1}}},
		{"NaN", `source "a": weight NaN: want a number from 0 on`, []mix.Source{{Name: "a", Samples: of(0, 1), Weight: math.NaN()}}},
		{"infinite", `source "a": weight +Inf: want a number from 0 on`, []mix.Source{{Name: "a", Samples: of(0, 1), Weight: math.Inf(1)}}},
		{"tiny", `source "b": weight 1: too small beside the others`, []mix.Source{{Name: "a", Samples: of(0, 1), Weight: 1e308}, {Name: "b", Samples: of(1, 1), Weight: 1}}},
		{"repeat", `source "a": repeat -1: want 1e-06..1000000000, or endless`, []mix.Source{{Name: "a", Samples: of(0, 1), Weight: 1, Repeat: -1}}},
		{"repeat NaN", `source "a": repeat NaN: want 1e-06..1000000000, or endless`, []mix.Source{{Name: "a", Samples: of(0, 1), Weight: 1, Repeat: mix.Repeat(math.NaN())}}},
		{"endless by nature", `source "a": repeated endlessly, without weights: want a number, or weights`, []mix.Source{{Name: "a", Samples: of(0, 1), Repeat: mix.Endless}}},
		{"empty", `source "b": nothing of its 0 samples counts for its share of the tokens: leave it out, or give it the weight 0`,
			[]mix.Source{{Name: "a", Samples: of(0, 1), Weight: 1}, {Name: "b", Samples: of(1), Weight: 1}}},
		{"nothing that counts", `source "b": nothing of its 2 samples counts for its share of the tokens: leave it out, or give it the weight 0`,
			[]mix.Source{{Name: "a", Samples: of(0, 1), Weight: 1}, {Name: "b", Samples: of(1, 0, 0), Weight: 1, Repeat: mix.Endless}}},
		{"grows", `source "a": it has not as many samples as the time before, 20000`, []mix.Source{{Name: "a", Weight: 1, Repeat: 2, Samples: func(yield func(tokenstream.Sample, error) bool) {
			grows++
			of(0, same(19999+grows, 1)...)(yield)
		}}}},
		{"shrinks", `source "a": it has not as many samples as the time before, 20000`, []mix.Source{{Name: "a", Weight: 1, Repeat: 2, Samples: func(yield func(tokenstream.Sample, error) bool) {
			shrinks++
			of(0, same(20001-shrinks, 1)...)(yield)
		}}}},
		{"broken", "broken", []mix.Source{{Name: "a", Weight: 1, Samples: func(yield func(tokenstream.Sample, error) bool) { yield(tokenstream.Sample{}, broken) }}}},
		{"broken in what is left", "broken", []mix.Source{{Name: "a", Samples: of(0, 1), Weight: 1}, {Name: "b", Samples: func(yield func(tokenstream.Sample, error) bool) { yield(tokenstream.Sample{}, broken) }}}},
	} {
		err := error(nil)
		for _, e := range mix.Mix(c.sources, mix.Options{}) {
			require.NoError(t, err, "an error is the last pair")
			err = e
		}
		require.EqualError(t, err, c.want, c.name)
	}
}

// TestShares checks every prefix of mixtures at random: nobody is above its share by more than its longest sample, or below by more than
// all others may be above.
func TestShares(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		k := 1 + r.IntN(7)
		var sources []mix.Source
		var lengths [][]int
		for i := range k {
			var l []int
			for range 1 + r.IntN(200) {
				l = append(l, 1+r.IntN(1+r.IntN(300)))
			}
			lengths = append(lengths, l)
			sources = append(sources, mix.Source{Samples: of(i, l...), Weight: float64(1+r.IntN(1000)) / 100, Repeat: mix.Repeat(1 + r.IntN(3))})
		}
		by := mix.Unit(r.IntN(2))
		var stats mix.Stats
		sum, used, at := 0., make([]float64, k), make([]int, k)
		longest := 0
		o := mix.Options{By: by, Seed: seed, Stats: &stats}
		order, times := drain(t, sources, o)
		for n, i := range order {
			size := lengths[i][at[i]%len(lengths[i])]
			at[i]++
			if by == mix.Samples {
				size = 1
			}
			longest = max(longest, size)
			sum += float64(size)
			used[i] += float64(size)
			for q := range used {
				off := used[q] - stats.Sources[q].Share*sum
				require.LessOrEqual(t, off, float64(longest)+1e-6, "seed %d, source %d of %d above after %d", seed, q, k, n)
				require.GreaterOrEqual(t, off, -float64((k-1)*longest)-1e-6, "seed %d, source %d of %d below after %d", seed, q, k, n)
			}
		}
		ended := false
		for i, u := range stats.Sources {
			require.EqualValues(t, at[i], u.Drawn)
			require.EqualValues(t, len(lengths[i]), u.Samples)
			for j := range lengths[i] { // read again and again, each time in order
				want := at[i] / len(lengths[i])
				if j < at[i]%len(lengths[i]) {
					want++
				}
				require.Equal(t, want, times[int64(j*k+i+1)])
			}
			ended = ended || at[i] == len(lengths[i])*int(sources[i].Repeat)
		}
		require.True(t, ended, "seed %d: it ends when a source has no more", seed)
		again, _ := drain(t, sources, o)
		require.Equal(t, order, again)
	}
}

// TestNature checks that sources without weights are read whole, as often as they are repeated, and evenly.
func TestNature(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		k := 1 + r.IntN(5)
		var sources []mix.Source
		all := 0
		for i := range k {
			n, times := 1+r.IntN(300), 1+r.IntN(3)
			all += n * times
			sources = append(sources, mix.Source{Samples: of(i, same(n, 1)...), Repeat: mix.Repeat(times)})
		}
		var stats mix.Stats
		order, times := drain(t, sources, mix.Options{By: mix.Samples, Seed: seed, Stats: &stats})
		require.Len(t, order, all)
		for number, n := range times {
			require.EqualValues(t, sources[(number-1)%int64(k)].Repeat, n)
		}
		used := make([]float64, k)
		for n, i := range order {
			used[i]++
			require.InDelta(t, stats.Sources[i].Share*float64(n+1), used[i], 2)
		}
	}
}

func TestHoldOut(t *testing.T) {
	held := &tokenstream.Holdout{Share: .2}
	lengths := same(400, 3)
	keep := func(o mix.Options, weights ...float64) (map[int64]int, [][]int64) {
		var sources []mix.Source
		var spools []*tokenstream.Spool
		for i, w := range weights {
			spool, err := tokenstream.NewSpool(t.TempDir())
			require.NoError(t, err)
			defer spool.Close()
			spools = append(spools, spool)
			sources = append(sources, mix.Source{Samples: of(i, lengths...), Weight: w, Repeat: 2, Held: spool})
		}
		o.HoldOut = held.Has
		var stats mix.Stats
		o.Stats = &stats
		_, times := drain(t, sources, o)
		var all [][]int64
		for i, spool := range spools {
			var numbers []int64
			for s, err := range spool.Source() {
				require.NoError(t, err)
				require.Zero(t, times[s.Number], "a sample that is held out is not drawn")
				numbers = append(numbers, s.Number)
			}
			require.EqualValues(t, len(numbers), stats.Sources[i].HeldOut)
			require.InDelta(t, 80, len(numbers), 30)
			all = append(all, numbers)
		}
		return times, all
	}
	_, a := keep(mix.Options{}, 1, 3)
	_, b := keep(mix.Options{}, 30, 0)
	_, c := keep(mix.Options{}, 0, 0)
	require.Equal(t, a, b, "the same samples are held out whatever the weights are")
	require.Equal(t, a, c)
}

// TestStopped checks that a mixture of which no more is wanted lets go of its sources.
func TestStopped(t *testing.T) {
	for n := range 30 {
		open := 0
		var sources []mix.Source
		for i := range 3 {
			inner := of(i, same(5, 1)...)
			sources = append(sources, mix.Source{Weight: 1, Repeat: mix.Endless, Samples: func(yield func(tokenstream.Sample, error) bool) {
				open++
				defer func() { open-- }()
				inner(yield)
			}})
		}
		var stats mix.Stats
		got := 0
		for _, err := range tokenstream.Limit(mix.Mix(sources, mix.Options{Stats: &stats}), int64(n+1), 0) {
			require.NoError(t, err)
			got++
		}
		require.Equal(t, n+1, got)
		require.Zero(t, open)
		require.False(t, n < 15 && stats.Sources[0].Whole, "nobody saw its end")
	}
}

// TestPack checks the ledger of rows of a mixture against the mixture's own.
func TestPack(t *testing.T) {
	var mixed mix.Stats
	var stats tokenstream.Stats
	o := tokenstream.Options{Capacity: 64, Sources: 3, TooLong: tokenstream.Drop, Stats: &stats}
	r := rand.New(rand.NewPCG(1, 1))
	var sources []mix.Source
	for i := range 3 {
		var l []int
		for range 500 {
			l = append(l, 1+r.IntN(80))
		}
		sources = append(sources, mix.Source{Samples: of(i, l...), Weight: float64(i + 1)})
	}
	bySource := make([]tokenstream.Count, 3)
	for row, err := range tokenstream.Pack(mix.Mix(sources, mix.Options{Count: tokenstream.Counter(o), Stats: &mixed}), o) {
		require.NoError(t, err)
		column := tokenstream.Sources.AppendInt32(nil, row)
		at := 0
		for k, s := range row.Segments {
			require.Equal(t, s.Source, column[k])
			require.Equal(t, row.Tokens[at]/1000, s.Source)
			bySource[s.Source] = bySource[s.Source].Plus(tokenstream.Count{Samples: 1, Tokens: int64(s.Length), Supervised: int64(s.Length) - 1})
			at += int(s.Length)
		}
	}
	require.NoError(t, stats.Ledger.Check())
	require.Less(t, stats.Ledger.Out.Samples, stats.Ledger.In.Samples)
	for i, u := range stats.Ledger.Sources {
		require.Equal(t, bySource[i], u.Out)
		require.Equal(t, mixed.Sources[i].Drawn, u.In.Samples)
		require.InDelta(t, mixed.Sources[i].Share, float64(u.Out.Tokens)/float64(stats.Ledger.Out.Tokens), .01, "what is in the rows has the shares, whatever was left out")
	}
	require.Len(t, stats.Ledger.Files, 3, "a file has one entry, though samples of others come between")
}

func TestJSON(t *testing.T) {
	want := mix.Stats{By: mix.Supervised, Sources: []mix.Use{{Name: "a", Weight: .5, Share: .25, Repeat: mix.Endless, Samples: 7, Whole: true}, {Repeat: 1.5}}}
	b, err := json.Marshal(want)
	require.NoError(t, err)
	require.Contains(t, string(b), `"repeat":"endless"`)
	var got mix.Stats
	require.NoError(t, json.Unmarshal(b, &got))
	require.Equal(t, want, got)
	for _, bad := range []string{"", "0", "-1", "NaN", "Inf", "1e300", "1.7976931348623157e308", "x", "1e-9"} {
		_, err := mix.ParseRepeat(bad)
		require.Error(t, err, bad)
	}
}

func FuzzMix(f *testing.F) {
	f.Add(1., 2., 3., 1., .5, uint64(7), uint8(0))
	f.Add(1e308, 1e-308, 0., math.NaN(), -1., uint64(0), uint8(1))
	f.Fuzz(func(t *testing.T, a, b, c, x, y float64, seed uint64, by uint8) {
		r := rand.New(rand.NewPCG(seed, 3))
		var sources []mix.Source
		for i, w := range []float64{a, b, c} {
			var l []int
			for range r.IntN(20) {
				l = append(l, r.IntN(9))
			}
			sources = append(sources, mix.Source{Samples: of(i, l...), Weight: w, Repeat: mix.Repeat([]float64{x, y, 1}[i])})
		}
		var stats mix.Stats
		drawn := make([]int64, 3)
		n := 0
		for s, err := range mix.Mix(sources, mix.Options{By: mix.Unit(by % 3), Seed: seed, Stats: &stats}) {
			if err != nil {
				return
			}
			drawn[s.Source(3)]++
			if n++; n > 10000 {
				return
			}
		}
		for i, u := range stats.Sources {
			if u.Drawn != drawn[i] || u.Unused() < 0 || !u.Whole || u.Weight == 0 && u.Drawn > 0 && a+b+c > 0 {
				t.Fatalf("%+v: %d were drawn", u, drawn[i])
			}
		}
	})
}

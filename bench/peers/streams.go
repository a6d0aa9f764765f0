package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
)

// openBins is how many bins are open at a time.
const openBins = 64

// streams compares ways through open bins, from samples in memory to rows in memory.
func (b *bench) streams(ctx context.Context) error {
	fmt.Fprintf(b.out, `## Samples to rows, as a stream

Samples in memory to rows in memory, tokens copied and positions made, in thousands of samples a second; the least time of %d turns. First-fit
and best-fit with %d open bins are what grain has: when a sample fits none it emits all bins, brimful the one that is the fullest. rolling is
brimful's default for streams and holds more back. Rows above the lower bound are what each costs in padding.

| lengths | capacity | samples | packer | samples, k/s | rows | above the bound |
|---|---|---|---|---|---|---|
`, b.rounds, openBins)
	if err := b.streamers(ctx, "gsm8k", 2048, 0); err != nil {
		return err
	}
	for _, name := range []string{"chat", "third"} {
		for _, capacity := range []int{2048, 8192} {
			if err := b.streamers(ctx, name, capacity, 10_000); err != nil {
				return fmt.Errorf("%s, capacity %d: %w", name, capacity, err)
			}
		}
	}
	return nil
}

// streamers prints the rows of one workload.
func (b *bench) streamers(ctx context.Context, name string, capacity, n int) error {
	lengths, err := b.lengths(name, n, capacity)
	if err != nil {
		return err
	}
	file, err := b.lengthsFile(lengths)
	if err != nil {
		return err
	}
	bound := packing.LowerBound(lengths, packing.Limits{Capacity: capacity})
	samples := randomSamples(lengths)
	ways := []struct {
		name     string
		strategy packing.Streamer // nil: grain's kind
		kind     string
	}{
		{"brimful first-fit", packing.FirstFit{Open: openBins}, ""},
		{"brimful best-fit", packing.BestFit{Open: openBins}, ""},
		{"brimful rolling", packing.Rolling{}, ""},
		{"grain first-fit", nil, "first-fit"},
		{"grain best-fit", nil, "best-fit"},
	}
	took := make([]timed, len(ways))
	for round := range b.rounds {
		for i, way := range ways {
			var r timed
			if way.strategy == nil {
				err = b.ask(ctx, &r, "grain", file, fmt.Sprint(capacity), way.kind, fmt.Sprint(openBins))
			} else {
				r, err = stream(way.strategy, samples, capacity)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			if round == 0 || r.Seconds < took[i].Seconds {
				took[i] = r
			}
		}
	}
	for i, way := range ways {
		r := took[i]
		fmt.Fprintf(b.out, "| %s | %d | %d | %s | %.1f | %d | %.2f %% |\n", name, capacity, len(lengths), way.name, float64(len(lengths))/r.Seconds/1e3,
			r.Bins, 100*(float64(r.Bins)/float64(bound)-1))
	}
	return nil
}

// randomSamples returns samples of the lengths given, without labels, as grain gets them.
func randomSamples(lengths []int32) []tokenstream.Sample {
	r := rand.New(rand.NewPCG(1, 1))
	samples := make([]tokenstream.Sample, len(lengths))
	for i, l := range lengths {
		samples[i].Tokens = make([]int32, l)
		for k := range samples[i].Tokens {
			samples[i].Tokens[k] = r.Int32N(100_000)
		}
	}
	return samples
}

// stream packs samples into rows, five times, and checks that no token is lost.
func stream(s packing.Streamer, samples []tokenstream.Sample, capacity int) (timed, error) {
	source := func(yield func(tokenstream.Sample, error) bool) {
		for _, sample := range samples {
			if !yield(sample, nil) {
				return
			}
		}
	}
	result := timed{Seconds: math.Inf(1)}
	for range 5 {
		var stats tokenstream.Stats
		var failed error
		rows := 0
		result.Seconds = min(result.Seconds, seconds(func() {
			o := tokenstream.Options{Capacity: capacity, Strategy: s, NoTarget: tokenstream.PolicyKeep, Stats: &stats}
			for _, err := range tokenstream.Pack(source, o) {
				if err != nil {
					failed = err
					return
				}
				rows++
			}
		}))
		if failed != nil {
			return result, failed
		}
		if stats.Ledger.Out != stats.Ledger.In {
			return result, fmt.Errorf("%+v went in, %+v came out", stats.Ledger.In, stats.Ledger.Out)
		}
		result.Bins = rows
	}
	return result, nil
}

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/brimful/brimful/packing"
)

// timed is what a packer made of lengths or samples.
type timed struct {
	Bins    int     `json:"bins"`
	Seconds float64 `json:"seconds"` // least of the repetitions
}

// packing compares packers of lengths.
func (b *bench) packing(ctx context.Context) error {
	fmt.Fprint(b.out, `## Lengths to bins

Best-fit decreasing of all, on one core, in millions of samples a second; the least time of all turns. seqpacker's pack_flat returns samples
grouped by bin, of which "grouped" is the counterpart; "ids", the bin of each sample, are less, and only brimful gives them without the rest.
TRL's is its packing loop alone, in Python, without its tables, one turn for a million. That all give the same number of bins is checked.
brimful handles samples of one length together; where hardly two have the same ("third" with 10,000 of 8192, "gsm8k") that gains little.

| lengths | capacity | samples | bins | ids | grouped | seqpacker | TRL's loop | ids / seqpacker | grouped / seqpacker | ids / TRL |
|---|---|---|---|---|---|---|---|---|---|---|
`)
	if err := b.packers(ctx, "gsm8k", 2048, 0); err != nil {
		return err
	}
	for _, name := range []string{"chat", "third"} {
		for _, capacity := range []int{2048, 8192} {
			for _, n := range []int{10_000, 1_000_000} {
				if err := b.packers(ctx, name, capacity, n); err != nil {
					return fmt.Errorf("%s, capacity %d, %d samples: %w", name, capacity, n, err)
				}
			}
		}
	}
	return nil
}

// packers prints the row of one workload.
func (b *bench) packers(ctx context.Context, name string, capacity, n int) error {
	lengths, err := b.lengths(name, n, capacity)
	if err != nil {
		return err
	}
	file, err := b.lengthsFile(lengths)
	if err != nil {
		return err
	}
	limits := packing.Limits{Capacity: capacity}
	bin := make([]int32, len(lengths))
	bins := 0
	ids, grouped, seqpacker, trl := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
	for round := range b.rounds {
		for range 5 {
			ids = min(ids, seconds(func() { bins = packing.BestFitDecreasing{}.Assign(bin, lengths, limits) }))
			grouped = min(grouped, seconds(func() { _, err = packing.Pack(packing.BestFitDecreasing{}, lengths, limits) }))
			if err != nil {
				return err
			}
		}
		for _, peer := range []struct {
			name  string
			long  bool
			least *float64
		}{{"seqpacker", false, &seqpacker}, {"trl", len(lengths) > 100_000, &trl}} {
			if round > 0 && peer.long {
				continue
			}
			var r timed
			if err := b.ask(ctx, &r, peer.name, file, fmt.Sprint(capacity)); err != nil {
				return err
			}
			if r.Bins != bins {
				return fmt.Errorf("%s: %d bins, brimful: %d", peer.name, r.Bins, bins)
			}
			*peer.least = min(*peer.least, r.Seconds)
		}
	}
	million := float64(len(lengths)) / 1e6
	_, err = fmt.Fprintf(b.out, "| %s | %d | %d | %d | %.1f | %.1f | %.2f | %.3f | %.0f | %.1f | %.0f |\n", name, capacity, len(lengths), bins,
		million/ids, million/grouped, million/seqpacker, million/trl, seqpacker/ids, seqpacker/grouped, trl/ids)
	return err
}

// lengthsFile writes lengths for Python.
func (b *bench) lengthsFile(lengths []int32) (string, error) {
	raw, err := binary.Append(nil, binary.LittleEndian, lengths)
	if err != nil {
		return "", err
	}
	return b.path("lengths"), os.WriteFile(b.path("lengths"), raw, 0o600)
}

// seconds returns how long f takes.
func seconds(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}

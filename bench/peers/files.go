package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/brimful/brimful/bench/workload"
)

// A sample of the chat workload takes this much as JSON, on average.
const sampleBytes = 7030

// usage is what a process took, and what it printed.
type usage struct {
	Wall float64 `json:"wall"` // seconds
	CPU  float64 `json:"cpu"`  // seconds
	Peak float64 `json:"peak"` // MB
	Said string  `json:"said"`
}

// files compares ways from JSON lines to Parquet, each a process of its own.
func (b *bench) files(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", b.path("brimful"), "./cmd/brimful")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	fmt.Fprintf(b.out, `## A file to packed Parquet

JSON lines, ids and labels, to zstd Parquet, each a process from its start to its end; a small file is mostly the start. The median of %d
turns; of TRL, which packs the whole data set as one batch and runs without torch here, one turn if the file is larger than 300 MB. Polars and
DuckDB only rewrite the file at zstd level 1, without packing. The file has been written just before and is in memory.

| lengths | capacity | samples | MB | what | wall, s | CPU, s | peak, MB | rows | times brimful's wall |
|---|---|---|---|---|---|---|---|---|---|
`, b.rounds)
	for _, w := range []struct {
		name     string
		capacity int
	}{{"gsm8k", 2048}, {"chat", 8192}} {
		if err := b.file(ctx, w.name, w.capacity, max(1, b.mb*1_000_000/sampleBytes)); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	slices.Sort(b.cores)
	fmt.Fprintf(b.out, "\nBetween the turns two goroutines of a spin loop got %.2f to %.2f times done what one did: 2 were a second core that is free.\n",
		b.cores[0], b.cores[len(b.cores)-1])
	return nil
}

// file prints the rows of one workload.
func (b *bench) file(ctx context.Context, name string, capacity, n int) error {
	lengths, err := b.lengths(name, n, capacity)
	if err != nil {
		return err
	}
	in := b.path("in.jsonl")
	size, err := b.writeInput(in, name, lengths)
	if err != nil {
		return err
	}
	out, limit := b.path("out"), fmt.Sprint(capacity)
	ways := []struct {
		name string
		long bool
		args []string
	}{
		{"brimful, pack", false, []string{b.path("brimful"), "pack", in, "--out", out, "--capacity", limit, "--quiet", "--json"}},
		{"Polars, rewrite", false, []string{b.python, script, "polars", in, out}},
		{"DuckDB, rewrite", false, []string{b.python, script, "duckdb", in, out}},
		{"TRL, pack", true, []string{b.python, script, "trl-file", in, out, limit}},
	}
	took := make([][]usage, len(ways))
	for round := range b.rounds {
		b.cores = append(b.cores, workload.SecondCore())
		for i, way := range ways {
			if round > 0 && way.long && size > 300e6 {
				continue
			}
			u, err := b.measure(ctx, way.args)
			if err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			took[i] = append(took[i], u)
		}
	}
	base := median(took[0], func(u usage) float64 { return u.Wall })
	for i, way := range ways {
		rows, err := rowsOf(took[i][0].Said)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		wall := median(took[i], func(u usage) float64 { return u.Wall })
		fmt.Fprintf(b.out, "| %s | %d | %d | %.0f | %s | %.2f | %.2f | %.0f | %s | %.1f |\n", name, capacity, len(lengths), float64(size)/1e6, way.name,
			wall, median(took[i], func(u usage) float64 { return u.CPU }), median(took[i], func(u usage) float64 { return u.Peak }), rows, wall/base)
	}
	return nil
}

// writeInput writes samples of the lengths given, or the real ones, and returns the size of the file.
func (b *bench) writeInput(path, name string, lengths []int32) (int64, error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	if name == "gsm8k" {
		enc := json.NewEncoder(out)
		for _, s := range b.gsm8k {
			if err := enc.Encode(map[string]any{"id": s.ID, "input_ids": s.Tokens, "labels": s.Labels}); err != nil {
				return 0, err
			}
		}
	} else if err := workload.WriteJSONL(out, lengths, 1, 1); err != nil {
		return 0, err
	}
	if err := out.Flush(); err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), file.Close()
}

// measure runs a command that writes into the benchmark's directory, and removes what it wrote. Python starts it: Linux counts the memory of
// whoever starts a process among that process's peak, and this program is large.
func (b *bench) measure(ctx context.Context, args []string) (usage, error) {
	var u usage
	if err := b.ask(ctx, &u, append([]string{"measure"}, args...)...); err != nil {
		return u, err
	}
	outs, err := filepath.Glob(b.path("out*"))
	if err != nil || len(outs) == 0 {
		return u, errors.Join(err, errors.New("it wrote nothing"))
	}
	for _, out := range append(outs, b.path("hf")) {
		if err := os.RemoveAll(out); err != nil {
			return u, err
		}
	}
	return u, nil
}

// rowsOf returns how many rows a tool says it packed, or nothing if it does not pack.
func rowsOf(said string) (string, error) {
	var summary struct {
		Splits []struct{ Rows json.Number }
		Rows   json.Number
	}
	if err := json.Unmarshal([]byte(said), &summary); err != nil {
		return "", err
	}
	if len(summary.Splits) == 1 {
		return summary.Splits[0].Rows.String(), nil
	}
	return summary.Rows.String(), nil
}

// median returns the median of a figure.
func median(all []usage, figure func(usage) float64) float64 {
	var values []float64
	for _, u := range all {
		values = append(values, figure(u))
	}
	slices.Sort(values)
	n := len(values)
	return (values[n/2] + values[(n-1)/2]) / 2
}

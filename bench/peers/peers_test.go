package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/bench/workload"
	"github.com/brimful/brimful/packing"
)

// The table of README.md is what the committed results yield.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("results.md")
	require.NoError(t, err)
	want, err := readmeTable(string(text))
	require.NoError(t, err)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	found, err := tableIn(string(readme))
	require.NoError(t, err)
	require.Equal(t, want, found, "go run ./bench/peers -readme makes it again")
}

// A figure that the results do not have, or have twice, is an error and no empty cell.
func TestReadmeTableWantsEachFigureOnce(t *testing.T) {
	text, err := os.ReadFile("results.md")
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	needed := 0
	for i, line := range lines {
		without := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
		_, err := readmeTable(without)
		_, twice := readmeTable(strings.Join(lines[:i], "") + line + line + strings.Join(lines[i+1:], ""))
		if err == nil {
			continue
		}
		needed++
		if strings.HasPrefix(line, "| chat ") {
			require.Error(t, twice, line)
		}
	}
	require.GreaterOrEqual(t, needed, 7, "rows that the table is made from")
}

// What runs without Python gives as many rows as the strategy gives bins.
func TestStream(t *testing.T) {
	lengths, err := workload.Lengths("chat", 500, 2048, 1)
	require.NoError(t, err)
	for _, s := range []packing.Streamer{packing.FirstFit{Open: openBins}, packing.BestFit{Open: openBins}, packing.Rolling{}} {
		bins := 0
		for range s.Stream(slices.Values(lengths), packing.Limits{Capacity: 2048}) {
			bins++
		}
		took, err := stream(s, randomSamples(lengths), 2048)
		require.NoError(t, err)
		require.Equal(t, bins, took.Bins, "%T", s)
		require.Positive(t, took.Seconds)
	}
}

// brimful and TRL say how many rows they wrote, those that only rewrite a file say nothing.
func TestRowsOf(t *testing.T) {
	for said, want := range map[string]string{"null\n": "", `{"rows": 53}`: "53", "{\n\"splits\": [{\"rows\": 7}]}\n": "7"} {
		rows, err := rowsOf(said)
		require.NoError(t, err, said)
		require.Equal(t, want, rows, said)
	}
	_, err := rowsOf("")
	require.Error(t, err)
}

// Interop and the benchmark pin the same versions, so that what is tested is what is measured.
func TestRequirements(t *testing.T) {
	pins := func(path string) map[string]string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all := map[string]string{}
		for line := range strings.Lines(string(text)) {
			if name, version, found := strings.Cut(strings.TrimSpace(line), "=="); found && !strings.HasPrefix(name, "#") {
				all[name] = version
			}
		}
		return all
	}
	interop, peers := pins("../../interop/requirements.txt"), pins("requirements.txt")
	require.NotEmpty(t, peers["grain"])
	for name, version := range peers {
		if tested, both := interop[name]; both {
			require.Equal(t, tested, version, name)
		}
	}
}

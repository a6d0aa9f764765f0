package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearest(t *testing.T) {
	names := []string{"capacity", "strategy", "out", "pad", "pad-id", "too-long"}
	for typed, want := range map[string]string{
		"capcity": "capacity", "capactiy": "capacity", "cap": "capacity", "startegy": "strategy", "strat": "strategy", "to-long": "too-long",
		"ou": "out", "padd": "pad", "format": "", "x": "", "": "", "capacity-of-all": "",
	} {
		require.Equal(t, want, nearest(typed, names), typed)
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "acb", 1}, {"abc", "ac", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		require.Equal(t, c.want, distance(c.a, c.b), "%s %s", c.a, c.b)
		require.Equal(t, c.want, distance(c.b, c.a), "%s %s", c.b, c.a)
	}
}

// Every command has examples, and what they show can be typed.
func TestExamples(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		require.NotEmpty(t, c.Example, c.Name())
		require.NotEmpty(t, c.Long, c.Name())
		shown := 0
		for line := range strings.Lines(c.Example) {
			_, rest, found := strings.Cut(line, "brimful "+c.Name())
			if !found {
				continue
			}
			shown++
			args := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("|<)>\n", r) })[0]
			require.NoError(t, c.ParseFlags(strings.Fields(args)), line)
		}
		require.Positive(t, shown, c.Name())
		for line := range strings.Lines(c.UsageString()) {
			if strings.HasPrefix(line, "      ") { // flags are wrapped
				require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 100, "%s: %s", c.Name(), line)
			}
		}
	}
}

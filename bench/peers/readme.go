package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// readmeHead begins the table of README.md that is made from the results, by which it is found there.
const readmeHead = "| in the same minutes | brimful | beside it | times |\n|---|---|---|---|\n"

// writeReadme replaces the table in README.md by that of the results.
func writeReadme() error {
	text, err := os.ReadFile(results)
	if err != nil {
		return err
	}
	table, err := readmeTable(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", results, err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	old, err := tableIn(string(readme))
	if err != nil {
		return fmt.Errorf("README.md: %w", err)
	}
	return os.WriteFile("README.md", []byte(strings.Replace(string(readme), old, table, 1)), 0o644)
}

// tableIn returns the table that README.md has.
func tableIn(readme string) (string, error) {
	_, below, found := strings.Cut(readme, readmeHead)
	if !found {
		return "", fmt.Errorf("no table begins with %q", readmeHead)
	}
	table := readmeHead
	for line := range strings.Lines(below) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		table += line
	}
	return table, nil
}

// readmeTable makes the table from the text of the results.
func readmeTable(text string) (string, error) {
	all := rows(text)
	var failed error
	// cell returns the cell of a column in the only row that has the values given, by their columns.
	cell := func(column string, want map[string]string) string {
		var found []string
		for _, row := range all {
			if value, ok := row[column]; ok && has(row, want) {
				found = append(found, value)
			}
		}
		if len(found) != 1 {
			failed = errors.Join(failed, fmt.Errorf("%d rows with %q and %v, want 1", len(found), column, want))
			return ""
		}
		return found[0]
	}
	var out strings.Builder
	out.WriteString(readmeHead)

	million := map[string]string{"lengths": "chat", "capacity": "8192", "samples": "1000000"}
	fmt.Fprintf(&out, "| a million lengths to bins, samples grouped | %s M/s | seqpacker %s M/s | %s |\n", cell("grouped", million), cell("seqpacker", million),
		cell("grouped / seqpacker", million))
	fmt.Fprintf(&out, "| a million lengths to bins, the bin of each | %s M/s | TRL's loop %s M/s | %s |\n", cell("ids", million), cell("TRL's loop", million),
		cell("ids / TRL", million))

	packer := func(name string) string {
		return cell("samples, k/s", map[string]string{"lengths": "chat", "capacity": "8192", "packer": name})
	}
	ours, theirs := packer("brimful first-fit"), packer("grain first-fit")
	x, err := strconv.ParseFloat(ours, 64)
	y, err2 := strconv.ParseFloat(theirs, 64)
	failed = errors.Join(failed, err, err2)
	fmt.Fprintf(&out, "| samples to rows, %d open bins, first-fit | %s k/s | grain %s k/s | %.0f |\n", openBins, ours, theirs, x/y)

	for _, peer := range []struct{ way, text string }{{"TRL, pack", "TRL"}, {"Polars, rewrite", "Polars, no packing,"}, {"DuckDB, rewrite", "DuckDB, no packing,"}} {
		brimful := map[string]string{"lengths": "chat", "what": "brimful, pack"}
		other := map[string]string{"lengths": "chat", "what": peer.way}
		fmt.Fprintf(&out, "| %s MB of JSON lines to Parquet | %s s, %s MB | %s %s s, %s MB | %s |\n", cell("MB", brimful), cell("wall, s", brimful),
			cell("peak, MB", brimful), peer.text, cell("wall, s", other), cell("peak, MB", other), cell("times brimful's wall", other))
	}
	return out.String(), failed
}

// has says whether a row has the values given.
func has(row, want map[string]string) bool {
	for column, value := range want {
		if row[column] != value {
			return false
		}
	}
	return true
}

// rows returns the rows of all tables in a text, each by the names of its columns.
func rows(text string) []map[string]string {
	var all []map[string]string
	var names []string // of the table, nil outside of one
	for line := range strings.Lines(text) {
		line, inTable := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !inTable {
			names = nil
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if names == nil {
			names = cells
			continue
		}
		row := map[string]string{}
		for i, cell := range cells[:min(len(cells), len(names))] {
			row[names[i]] = cell
		}
		all = append(all, row)
	}
	return all
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/brimful/brimful/inspect"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
)

// canvas is what a row is drawn on.
type canvas struct {
	b       *bytes.Buffer
	width   int  // columns of the terminal, or what is assumed
	cut     bool // lines are cut at the width, since a terminal would wrap them
	colour  bool
	decoder *decoder // nil without --decode
	sources []string // of a mixture
}

// colours are those of segments, in turn: names of the terminal's own, which fit its background.
var colours = []string{"36", "33", "35", "32", "34"}

const padColour = "90"

// line writes a line.
func (c *canvas) line(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if runes := []rune(text); c.cut && len(runes) > c.width {
		text = string(runes[:max(0, c.width-1)]) + "~"
	}
	c.b.WriteString(text + "\n")
}

// row draws a row of a file: a bar, a table of the segments, and what stands around each boundary.
func (c *canvas) row(r *inspect.Row) {
	c.bar(r)
	if !r.Bounded {
		c.line("no column says where segments begin: this is taken for one")
	}
	c.segments(r)
	c.boundaries(r)
}

// bar draws the row to scale.
func (c *canvas) bar(r *inspect.Row) {
	if r.Length == 0 {
		return
	}
	digits := len(dataset.Commas(int64(r.Length)))
	columns := max(10, c.width-digits-2)
	lines := min((3*len(r.Segments)+columns-1)/columns, (r.Length+columns-1)/columns)
	scale := (r.Length + lines*columns - 1) / (lines * columns)
	cells := (r.Length + scale - 1) / scale
	kind, owner := make([]byte, cells), make([]int, cells)
	learnt := make([]int, cells)
	for k, s := range r.Segments {
		for cell := s.From / scale; cell*scale < s.To; cell++ {
			if owner[cell] = k; cell*scale < s.From || k > 0 && cell*scale == s.From {
				kind[cell] = '|'
			} else if kind[cell] = '-'; s.Pad {
				kind[cell] = '.'
			}
		}
		for _, run := range s.Supervised {
			for i := run.From; i < run.To; i++ {
				learnt[i/scale]++
			}
		}
	}
	for cell := range kind {
		if kind[cell] == '-' && 2*learnt[cell] >= min(scale, r.Length-cell*scale) {
			kind[cell] = '#'
		}
	}
	for from := 0; from < cells; from += columns {
		var text strings.Builder
		for cell := from; cell < min(cells, from+columns); cell++ {
			text.WriteString(c.paint(r, owner[cell], string(kind[cell])))
		}
		fmt.Fprintf(c.b, "%*s  %s\n", digits, dataset.Commas(int64(from*scale)), text.String())
	}
	c.line("# supervised  - not  . padding  | a segment begins; %s a character", plural(int64(scale), "token"))
}

// paint gives text the colour of a segment.
func (c *canvas) paint(r *inspect.Row, segment int, text string) string {
	if !c.colour {
		return text
	}
	colour := colours[segment%len(colours)]
	if r.Segments[segment].Pad {
		colour = padColour
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// segments prints a table of them.
func (c *canvas) segments(r *inspect.Row) {
	rows := [][]string{{"segment", "sample", "from", "length", "positions", "supervised"}}
	for k, s := range r.Segments {
		name, sample := strconv.Itoa(k), "?"
		if s.Pad {
			name, sample = "pad tail", ""
		} else if s.Sample >= 0 {
			sample = strconv.FormatInt(s.Sample, 10)
		}
		if n := int64(len(c.sources)); n > 1 && !s.Pad && s.Sample >= 0 { // samples of a mixture are numbered in turns
			sample = fmt.Sprintf("%d of %s", s.Sample/n, printable(c.sources[s.Sample%n]))
		} else if s.Source >= 0 && s.Source < n && !s.Pad {
			sample = "of " + printable(c.sources[s.Source])
		}
		positions := "-"
		if r.Positions != nil {
			positions = fmt.Sprintf("%d..%d", r.Positions[s.From], r.Positions[s.To-1])
		}
		rows = append(rows, []string{name, sample, strconv.Itoa(s.From), strconv.Itoa(s.To - s.From), positions, supervised(r, s)})
	}
	c.line("")
	c.table(rows, 5)
}

// mostRuns is how many runs of a segment are listed.
const mostRuns = 4

// supervised says which tokens of a segment are to be learnt, counted from its first.
func supervised(r *inspect.Row, s inspect.Segment) string {
	if r.Targets == nil {
		return "-"
	}
	sum := 0
	var runs []string
	for i, run := range s.Supervised {
		sum += run.To - run.From
		switch {
		case i < mostRuns:
			runs = append(runs, fmt.Sprintf("%d..%d", run.From-s.From, run.To-1-s.From))
		case i == mostRuns:
			runs = append(runs, fmt.Sprintf("and %d more", len(s.Supervised)-mostRuns))
		}
	}
	if sum == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", sum, strings.Join(runs, ", "))
}

// around is how many tokens are shown before and after a boundary, and textAround how many characters.
const (
	around     = 2
	textAround = 32
)

// boundaries prints what stands around each boundary.
func (c *canvas) boundaries(r *inspect.Row) {
	if len(r.Segments) < 2 {
		return
	}
	rows := [][]string{{"boundary", "positions", "input_ids", "targets"}}
	for k, s := range r.Segments[1:] {
		left, right := max(r.Segments[k].From, s.From-around), min(s.To, s.From+around)
		cell := func(values []int64, text func(int64) string) string {
			if values == nil {
				return "-"
			}
			var parts []string
			for i := left; i < right; i++ {
				if i == s.From {
					parts = append(parts, "|")
				}
				parts = append(parts, text(values[i]))
			}
			return strings.Join(parts, " ")
		}
		plain := func(v int64) string { return strconv.FormatInt(v, 10) }
		target := func(v int64) string {
			if v == tokenstream.Ignore {
				return "x"
			}
			return plain(v)
		}
		rows = append(rows, []string{strconv.Itoa(s.From), cell(r.Positions, plain), cell(r.Tokens, plain), cell(r.Targets, target)})
	}
	c.line("")
	c.table(rows, 1)
	c.line("x: nothing to learn")
	if c.decoder == nil || r.Tokens == nil {
		return
	}
	c.line("")
	for k, s := range r.Segments[1:] {
		// A token may be one byte of a character, so twice the characters are decoded.
		p := r.Segments[k]
		left := before(c.decoder.decode(r.Tokens[max(p.From, s.From-2*textAround):s.From]), textAround)
		right := after(c.decoder.decode(r.Tokens[s.From:min(s.To, s.From+2*textAround)]), textAround)
		if s.Pad {
			right = "padding"
		}
		c.line("%d  %s | %s", s.From, left, right)
	}
}

// table prints rows of cells: the columns from left on begin at their left, those before end at their right.
func (c *canvas) table(rows [][]string, left int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			if pad := strings.Repeat(" ", widths[i]-len([]rune(cell))); i < left {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		c.line("%s", line.String())
	}
}

// wantsColour reports whether output to a terminal may be coloured. See no-color.org.
func wantsColour() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

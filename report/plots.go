package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/brimful/brimful/compare"
)

// A plot is as wide as a phone shows it without making it smaller.
const (
	plotWidth  = 350
	plotHeight = 235
)

// series are the marks of what is compared, in turn: a colour, by the name of its CSS variable, and a shape, for print and for those who
// don't tell the colours apart. The library gets a stand-in for each colour, since it knows no variables.
var series = []struct {
	class string
	in    color.RGBA
	shape draw.GlyphDrawer
	mark  string // the shape as a character
}{
	{"s1", color.RGBA{1, 0, 10, 255}, draw.CircleGlyph{}, "●"},
	{"s2", color.RGBA{2, 0, 10, 255}, draw.BoxGlyph{}, "■"},
	{"s3", color.RGBA{3, 0, 10, 255}, draw.PyramidGlyph{}, "▲"},
	{"s4", color.RGBA{4, 0, 10, 255}, draw.RingGlyph{}, "○"},
	{"s5", color.RGBA{5, 0, 10, 255}, draw.SquareGlyph{}, "□"},
	{"s6", color.RGBA{6, 0, 10, 255}, draw.TriangleGlyph{}, "△"},
}

var (
	gridColour = color.RGBA{7, 0, 10, 255}
	inkColour  = color.RGBA{8, 0, 10, 255}
)

// newPlot returns an empty plot.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Tick.Color, a.Label.TextStyle.Color, a.Tick.Label.Color = inkColour, inkColour, inkColour, inkColour
		a.Tick.Length = 3
		a.Label.TextStyle.Font.Variant, a.Tick.Label.Font.Variant = "Sans", "Sans"
		a.Label.TextStyle.Font.Size, a.Tick.Label.Font.Size = 10, 9
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plain{}, plain{}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColour, gridColour
	p.Add(grid)
	return p
}

// plain are ticks at round numbers, labelled as short as can be.
type plain struct{}

func (plain) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = fmt.Sprintf("%.6g", ticks[i].Value)
		}
	}
	return ticks
}

// svg returns a plot as an element of the page. Its title is for those who have it read to them.
func svg(p *plot.Plot, title string) (template.HTML, error) {
	c := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	text := b.String()
	start := strings.Index(text, "<svg")
	open := start + strings.Index(text[start:], ">") + 1
	if start < 0 || open <= start {
		return "", fmt.Errorf("the plot is no SVG: %.60q", text)
	}
	head := fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img"><title>%s</title>`, plotWidth, plotHeight, template.HTMLEscapeString(title))
	var names []string
	for i, s := range series {
		names = append(names, hex(s.in), fmt.Sprintf("var(--s%d)", i+1))
	}
	names = append(names, hex(gridColour), "var(--grid)", hex(inkColour), "var(--ink)", "font-family:Liberation Sans", "font-family:inherit",
		"font-variant:normal;font-weight:normal;font-style:normal;", "")
	return template.HTML(head + strings.NewReplacer(names...).Replace(text[open:])), nil // the library escapes its texts
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// decades labels powers of ten, from 10^from to 10^to. The first stands for everything up to it.
func decades(from, to int) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for e := from; e <= to; e++ {
		label := fmt.Sprintf("%.*f", max(0, -e), math.Pow10(e))
		if e == from {
			label = "≤" + label
		}
		ticks = append(ticks, plot.Tick{Value: math.Pow10(e), Label: label})
	}
	return ticks
}

// powers labels powers of two, and leaves labels out where there would be too many.
func powers(from, to int64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	low := int64(1)
	for low < from {
		low *= 2
	}
	n := 0
	for v := low; v <= to; v *= 2 {
		n++
	}
	every := (n + 8) / 9
	for i, v := 0, low; v <= to; i, v = i+1, v*2 {
		tick := plot.Tick{Value: float64(v)}
		switch {
		case i%every != 0:
		case v >= 1<<20:
			tick.Label = fmt.Sprintf("%dMi", v>>20)
		case v >= 1<<10:
			tick.Label = fmt.Sprintf("%dKi", v>>10)
		default:
			tick.Label = fmt.Sprint(v)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// key says which mark is which capacity.
func key(all []capacity) []keyEntry {
	var entries []keyEntry
	for i, c := range all {
		s := series[i%len(series)]
		entries = append(entries, keyEntry{s.class, s.mark, "capacity " + commas(c.Capacity)})
	}
	return entries
}

// lengthsFigure shows how many samples there are of each length, and how many tokens they hold.
func lengthsFigure(v *view) (figure, error) {
	f := figure{Heading: "Lengths of the samples"}
	l := v.Lengths
	if l.Tokens == 0 {
		return f, nil
	}
	p := newPlot("tokens in a sample", "% of all, each bar")
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powers(l.Min, l.Max)
	p.Y.Min = 0
	const bars = 40
	edges := []int64{l.Min}
	for i := 1; i <= bars; i++ {
		e := int64(math.Round(float64(l.Min) * math.Pow(float64(l.Max+1)/float64(l.Min), float64(i)/bars)))
		if e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	samples, tokens := float64(l.Samples-l.Empty), float64(l.Tokens)
	var shape, outline plotter.XYs
	for i := range len(edges) - 1 {
		a, b := float64(edges[i]), float64(edges[i+1])
		n := 100 * float64(l.UpTo(edges[i+1]-1)-l.UpTo(edges[i]-1)) / samples
		t := 100 * float64(l.TokensUpTo(edges[i+1]-1)-l.TokensUpTo(edges[i]-1)) / tokens
		shape = append(shape, plotter.XY{X: a, Y: n}, plotter.XY{X: b, Y: n})
		outline = append(outline, plotter.XY{X: a, Y: t}, plotter.XY{X: b, Y: t})
	}
	first, last := shape[0].X, shape[len(shape)-1].X
	bar, err := plotter.NewPolygon(append(append(plotter.XYs{{X: first}}, shape...), plotter.XY{X: last}))
	if err != nil {
		return f, err
	}
	bar.Color, bar.LineStyle.Width = series[0].in, 0
	line, err := plotter.NewLine(outline)
	if err != nil {
		return f, err
	}
	line.Color, line.Width = series[1].in, 1.5
	p.Add(bar, line)
	top := 0.
	for _, at := range append(shape, outline...) {
		top = max(top, at.Y)
	}
	p.Y.Max = 1.03 * top
	for _, c := range v.Capacities {
		if x := float64(c.Capacity); x >= first && x <= last {
			mark, err := plotter.NewLine(plotter.XYs{{X: x, Y: 0}, {X: x, Y: 1.03 * top}})
			if err != nil {
				return f, err
			}
			mark.Color, mark.Width, mark.Dashes = inkColour, 1, []vg.Length{3, 3}
			p.Add(mark)
		}
	}
	f.Key = []keyEntry{{"s1", "■", "samples"}, {"s2", "—", "tokens"}}
	f.Caption = lengthsCaption(l)
	f.Plot, err = svg(p, f.Heading)
	return f, err
}

// dots is a plot of a figure for each strategy, one under another, and each capacity.
func dots(f figure, all []capacity, axis string, log bool, value func(*compare.Result) (float64, bool)) (figure, error) {
	if len(all) == 0 {
		return f, nil
	}
	p := newPlot(axis, "")
	var names []string
	row := map[string]int{}
	for _, r := range all[0].Results {
		if _, ok := value(&r); ok {
			names = append(names, r.Strategy)
		}
	}
	for i, name := range names {
		row[name] = len(names) - 1 - i // the first on top
	}
	low, high := -3, 0
	most := 0.
	for i, c := range all {
		var points plotter.XYs
		for _, r := range c.Results {
			x, ok := value(&r)
			y, known := row[r.Strategy]
			if !ok || !known {
				continue
			}
			if log {
				x = max(x, math.Pow10(low))
				high = max(high, int(math.Ceil(math.Log10(x))))
			}
			most = max(most, x)
			points = append(points, plotter.XY{X: x, Y: float64(y) + .12*(float64(len(all)-1)/2-float64(i))})
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return f, err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: series[i%len(series)].in, Radius: 3, Shape: series[i%len(series)].shape}
		p.Add(s)
	}
	var ticks plot.ConstantTicks
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(len(names) - 1 - i), Label: name})
	}
	p.Y.Tick.Marker, p.Y.Min, p.Y.Max = ticks, -.5, float64(len(names))-.5
	if log {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades(low, high)
		p.X.Min, p.X.Max = math.Pow10(low), math.Pow10(high)
	} else {
		p.X.Min, p.X.Max = 0, max(1, 1.05*most)
	}
	f.Key = key(all)
	var err error
	f.Plot, err = svg(p, f.Heading)
	return f, err
}

// paddingFigure shows the padding of each strategy.
func paddingFigure(v *view) (figure, error) {
	all := filled(v.Capacities)
	f := figure{Heading: "Padding left by each strategy"}
	if len(all) > 0 {
		f.Caption = paddingCaption(all)
	}
	return dots(f, all, "padding, % of the slots", true, func(r *compare.Result) (float64, bool) { return 100 * r.Padding, true })
}

// gapFigure shows how far each strategy is from the bound.
func gapFigure(v *view) (figure, error) {
	all := filled(v.Capacities)
	f := figure{Heading: "Distance from the optimum"}
	if len(all) > 0 {
		f.Caption = gapCaption(all)
	}
	return dots(f, all, "rows above the bound, %", true, func(r *compare.Result) (float64, bool) {
		return 100 * float64(r.Gap) / float64(max(1, r.LowerBound)), r.Packed
	})
}

// imbalanceFigure shows what ranks lose by waiting.
func imbalanceFigure(v *view) (figure, error) {
	var all []capacity
	for _, c := range filled(v.Capacities) {
		if c.best().Imbalance != nil && c.padded().Imbalance != nil {
			all = append(all, c)
		}
	}
	f := figure{Heading: fmt.Sprintf("Waiting among %d ranks", v.Comparison.Options.Ranks)}
	if len(all) > 0 {
		f.Caption = imbalanceCaption(all, v.Comparison.Options.Ranks)
	}
	return dots(f, all, "longer steps, %", false, func(r *compare.Result) (float64, bool) {
		if r.Imbalance == nil {
			return 0, false
		}
		return 100 * *r.Imbalance, true
	})
}

// sweepFigure shows padding and what over-long samples hold against the capacity.
func sweepFigure(v *view) (figure, error) {
	f := figure{Heading: "Capacity: padding against what is too long"}
	if v.Lengths.Tokens == 0 || len(v.Sweep) < 2 {
		return f, nil
	}
	p := newPlot("capacity, tokens", "% of slots, of tokens")
	from, to := v.Sweep[0].Capacity, v.Sweep[len(v.Sweep)-1].Capacity
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powers(int64(from), int64(to))
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = float64(from), float64(to), 0, 1
	for i, value := range []func(compare.Point) float64{compare.Point.Padding, compare.Point.Lost} {
		var points plotter.XYs
		for _, at := range v.Sweep {
			points = append(points, plotter.XY{X: float64(at.Capacity), Y: 100 * value(at)})
			p.Y.Max = max(p.Y.Max, 103*value(at))
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return f, err
		}
		line.Color, line.Width = series[i].in, 1.5
		marks.GlyphStyle = draw.GlyphStyle{Color: series[i].in, Radius: 2.5, Shape: series[i].shape}
		p.Add(line, marks)
	}
	f.Key = []keyEntry{{"s1", "●", "padding (bfd), of the slots"}, {"s2", "■", "in over-long samples, of the tokens"}}
	f.Caption = sweepCaption(v.Suggestion)
	var err error
	f.Plot, err = svg(p, f.Heading)
	return f, err
}

// rowsFigure shows how many samples there are in the rows of the first strategy.
func rowsFigure(v *view) (figure, error) {
	all := filled(v.Capacities)
	f := figure{Heading: "Samples in a row"}
	if len(all) == 0 {
		return f, nil
	}
	p := newPlot("samples in a row", "% of the rows")
	shown := 5
	for _, c := range all {
		shown = max(shown, nearlyAll(c.packed()[0]))
	}
	p.Y.Min, p.X.Min, p.X.Max = 0, 0, float64(shown)+.5
	top := 0.
	for i, c := range all {
		r := c.packed()[0]
		var points plotter.XYs
		for n, rows := range r.PerRow[:min(len(r.PerRow), shown+1)] {
			if n > 0 {
				points = append(points, plotter.XY{X: float64(n), Y: 100 * float64(rows) / float64(r.Rows)})
				top = max(top, points[len(points)-1].Y)
			}
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return f, err
		}
		line.Color, line.Width = series[i%len(series)].in, 1
		marks.GlyphStyle = draw.GlyphStyle{Color: series[i%len(series)].in, Radius: 2, Shape: series[i%len(series)].shape}
		p.Add(line, marks)
	}
	p.Y.Max = 1.05 * top
	f.Key = key(all)
	f.Caption = rowsCaption(all, shown)
	var err error
	f.Plot, err = svg(p, f.Heading)
	return f, err
}

// nearlyAll returns the samples that 95 % of the rows do not exceed, or the most that are counted apart.
func nearlyAll(r compare.Result) int {
	sum := int64(0)
	for n, rows := range r.PerRow {
		if sum += rows; 100*sum >= 95*r.Rows {
			return min(n, compare.MostPerRow-1)
		}
	}
	return compare.MostPerRow - 1
}

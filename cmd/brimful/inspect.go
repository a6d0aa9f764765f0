package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/brimful/brimful/inspect"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/verify"
)

func inspectCommand() *cobra.Command {
	row := int64(-1)
	tokenizer := ""
	cmd := &cobra.Command{
		Use:   "inspect FILE|DIR",
		Short: "show what is in a packed file or data set, and draw a row",
		Long: `Inspect shows the columns of a packed file or data set, how many rows there are and how full, and the ledger of
what went in and what was left out. With --row it draws one row: its segments to scale, which tokens are to be
learnt, and positions, ids and targets on both sides of each boundary; with --decode also the text there.

FILE is Parquet, an Arrow file or an Arrow stream. DIR is what pack wrote, or a directory of such files.

--decode reads a tokenizer.json of the kinds byte-level BPE, SentencePiece and WordPiece; of others it shows the
tokens as the vocabulary has them.`,
		Example: `  brimful inspect packed
  brimful inspect packed --row 17 --decode tokenizer.json
  brimful inspect packed/data/shard-00000.parquet --row 0 | less`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%d files or directories: want one", len(args))
			}
			if cmd.Flags().Changed("row") && row < 0 {
				return usagef("--row %d: want 0 or more", row)
			}
			if tokenizer != "" && row < 0 {
				return usagef("--decode without --row: say which row, such as --row 0")
			}
			var b bytes.Buffer
			c := newCanvas(cmd.OutOrStdout(), &b)
			if tokenizer != "" {
				var err error
				if c.decoder, err = openDecoder(tokenizer); err != nil {
					return err
				}
			}
			v := viewer{canvas: c}
			if err := v.open(args[0]); err != nil {
				return err
			}
			err := v.view(cmd.Context(), row)
			if _, wrote := cmd.OutOrStdout().Write(b.Bytes()); err == nil {
				err = wrote
			}
			return stopped(err)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&row, "row", -1, "draw the row of this number, from 0, counted through all files")
	f.Lookup("row").DefValue = ""
	f.StringVar(&tokenizer, "decode", "", "`FILE` tokenizer.json by which to show the text around each boundary")
	return cmd
}

// newCanvas returns a canvas for what is to be written to w.
func newCanvas(w io.Writer, b *bytes.Buffer) *canvas {
	c := &canvas{b: b, width: 100}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		c.cut, c.colour = true, wantsColour()
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			c.width = width
		}
	}
	return c
}

// viewer shows a file or data set.
type viewer struct {
	*canvas
	path     string
	manifest *dataset.Manifest // nil if there is none
	columns  []tokenstream.Column
	files    []viewed
}

// viewed is a file of a data set.
type viewed struct {
	name  string // below the directory
	split string
	rows  int64 // by the manifest; -1 without one
	*inspect.File
}

// open finds the files at path.
func (v *viewer) open(path string) error {
	v.path = path
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		v.columns = columnsOf(path)
		return v.add(path, path, "", -1)
	}
	v.manifest, err = dataset.ReadManifest(path)
	switch {
	case err == nil:
		v.columns, v.sources = v.manifest.Columns, v.manifest.Sources
		for _, split := range v.manifest.Splits {
			for _, s := range split.Shards {
				if !filepath.IsLocal(filepath.FromSlash(s.Path)) {
					return fmt.Errorf("%s: shard %q: want a path below the directory", filepath.Join(path, dataset.ManifestName), s.Path)
				}
				if err := v.add(filepath.Join(path, filepath.FromSlash(s.Path)), s.Path, split.Name, s.Rows); err != nil {
					return err
				}
			}
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	var found []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (strings.HasSuffix(p, ".parquet") || strings.HasSuffix(p, ".arrow")) {
			found = append(found, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("%s: neither a manifest %s nor a file that ends with .parquet or .arrow", path, dataset.ManifestName)
	}
	slices.Sort(found)
	for _, p := range found {
		name, err := filepath.Rel(path, p)
		if err != nil {
			return err
		}
		if err := v.add(p, name, "", -1); err != nil {
			return err
		}
	}
	return nil
}

// columnsOf returns the columns of a shard by the manifest of the data set that it is in, or nil if it is in none.
func columnsOf(path string) []tokenstream.Column {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	dir := path
	for range 3 { // the shards of a split are in DIR/data/SPLIT
		dir = filepath.Dir(dir)
		m, err := dataset.ReadManifest(dir)
		if err != nil {
			continue
		}
		for _, split := range m.Splits {
			for _, s := range split.Shards {
				if filepath.Join(dir, filepath.FromSlash(s.Path)) == path {
					return m.Columns
				}
			}
		}
	}
	return nil
}

// add opens a file.
func (v *viewer) add(path, name, split string, rows int64) error {
	f, err := inspect.Open(path, v.columns)
	if err != nil {
		return err
	}
	v.files = append(v.files, viewed{name, split, rows, f})
	return nil
}

// view shows the data set, or a row of it.
func (v *viewer) view(ctx context.Context, row int64) error {
	if row >= 0 {
		return v.viewRow(ctx, row)
	}
	if v.manifest != nil {
		v.settings()
	} else {
		v.line("%s: %s of %s", v.path, plural(int64(len(v.files)), "file"), v.files[0].Format)
	}
	if len(v.files) > 0 {
		v.schema(v.files[0].Columns)
	}
	if v.manifest == nil {
		return v.count(ctx)
	}
	for _, split := range v.manifest.Splits {
		v.split(&split)
	}
	return nil
}

// settings says how the data set was made, as far as the manifest says.
func (v *viewer) settings() {
	said := func(key string) string { return fmt.Sprint(v.manifest.Job[key]) }
	v.line("%s: %s, layout %s", v.path, v.manifest.Format, v.manifest.Layout)
	var parts []string
	for _, key := range []string{"capacity", "strategy", "seed", "too_long", "labels"} {
		if _, ok := v.manifest.Job[key]; ok {
			parts = append(parts, strings.ReplaceAll(key, "_", "-")+" "+printable(said(key)))
		}
	}
	if len(parts) > 0 {
		v.line("%s", strings.Join(parts, ", "))
	}
}

// schema prints the columns.
func (v *viewer) schema(columns []verify.Column) {
	holds := map[string]string{}
	for _, c := range v.columns {
		holds[c.Name] = c.Kind.Describe()
	}
	rows := [][]string{{"column", "type", ""}}
	for _, c := range columns {
		kind := printable(c.Type)
		switch {
		case c.List:
			kind = "list<" + kind + ">"
		case kind == "":
			kind = "other"
		}
		rows = append(rows, []string{printable(c.Name), kind, holds[c.Name]})
	}
	v.line("")
	v.table(rows, 0)
}

// split prints the counts, the ledger and the shards of a split, from the manifest.
func (v *viewer) split(s *dataset.Split) {
	v.line("")
	if s.Name != "" {
		v.line("split %s", s.Name)
	}
	fill := 0.
	if s.Slots > 0 {
		fill = float64(s.Tokens) / float64(s.Slots)
	}
	text := fmt.Sprintf("%s, %s tokens in %s slots: %s %% full", plural(s.Rows, "row"), dataset.Commas(s.Tokens), dataset.Commas(s.Slots), percent(fill))
	if s.Stats != nil {
		text += fmt.Sprintf("; at least %s needed", plural(s.Stats.LowerBound, "row"))
	}
	v.line("%s", text)
	if s.Stats != nil {
		v.ledger(&s.Stats.Ledger)
		v.mixed(&s.Stats.Ledger)
	}
	rows := [][]string{{"shard", "rows", "tokens", "bytes"}}
	for _, f := range s.Shards {
		rows = append(rows, []string{printable(f.Path), dataset.Commas(f.Rows), dataset.Commas(f.Tokens), dataset.Commas(f.Size)})
	}
	v.line("")
	v.shards(rows)
}

// shards prints a table of files, of which the first column is a name.
func (v *viewer) shards(rows [][]string) {
	widest := 0
	for _, row := range rows {
		widest = max(widest, len([]rune(row[0])))
	}
	for i := range rows {
		rows[i][0] += strings.Repeat(" ", widest-len([]rune(rows[i][0])))
	}
	v.table(rows, len(rows[0]))
}

// ledger prints what went in, what was taken away, and what came out.
func (v *viewer) ledger(l *tokenstream.Ledger) {
	count := func(name string, sign int64, c tokenstream.Count) []string {
		return []string{name, dataset.Commas(sign * c.Samples), dataset.Commas(sign * c.Tokens), dataset.Commas(sign * c.Supervised)}
	}
	rows := [][]string{{"ledger", "samples", "tokens", "supervised"}, count("in", 1, l.In)}
	for _, r := range totals(l.Removed) {
		rows = append(rows, count(printable(string(r.Reason)), -1, r.Count))
	}
	v.line("")
	v.shards(append(rows, count("out", 1, l.Out)))
}

// mixed prints what is in the rows of each source of a mixture.
func (v *viewer) mixed(l *tokenstream.Ledger) {
	if len(l.Sources) != len(v.sources) || len(l.Sources) == 0 {
		return
	}
	rows := [][]string{{"source", "samples", "tokens", "supervised", "tokens %"}}
	for i, u := range l.Sources {
		share := 0.
		if l.Out.Tokens > 0 {
			share = float64(u.Out.Tokens) / float64(l.Out.Tokens)
		}
		rows = append(rows, []string{printable(v.sources[i]), dataset.Commas(u.Out.Samples), dataset.Commas(u.Out.Tokens), dataset.Commas(u.Out.Supervised), percent(share)})
	}
	v.line("")
	v.shards(rows)
}

// count goes through files without a manifest.
func (v *viewer) count(ctx context.Context) error {
	var sum inspect.Counts
	rows := [][]string{{"file", "rows", "tokens", "fill %"}}
	supervised := false
	for _, f := range v.files {
		c, err := f.Count(ctx)
		if err != nil {
			return err
		}
		sum.Add(c)
		supervised = supervised || f.HasTargets()
		rows = append(rows, []string{printable(f.name), dataset.Commas(c.Rows), dataset.Commas(c.Slots - c.Padding), percent(c.Fill())})
	}
	text := ""
	if supervised {
		text = fmt.Sprintf(" (%s supervised)", dataset.Commas(sum.Supervised))
	}
	v.line("")
	v.line("%s of %s, %s tokens%s in %s slots: %s %% full", plural(sum.Rows, "row"), plural(sum.Segments, "segment"),
		dataset.Commas(sum.Slots-sum.Padding), text, dataset.Commas(sum.Slots), percent(sum.Fill()))
	if sum.Rows > 0 {
		v.line("rows of %s to %s slots, with at most %s", dataset.Commas(sum.Shortest), dataset.Commas(sum.Longest), plural(sum.MostInRow, "segment"))
	}
	if len(v.files) > 1 {
		v.line("")
		v.shards(rows)
	}
	return nil
}

// viewRow draws the row of that number.
func (v *viewer) viewRow(ctx context.Context, number int64) error {
	rest := number
	for _, f := range v.files {
		if f.rows < 0 && len(v.files) > 1 {
			c, err := f.Count(ctx)
			if err != nil {
				return err
			}
			f.rows = c.Rows
		}
		if f.rows >= 0 && rest >= f.rows {
			rest -= f.rows
			continue
		}
		r, err := f.Row(ctx, rest)
		if err != nil {
			return err
		}
		padding, samples := 0, 0
		for _, s := range r.Segments {
			if s.Pad {
				padding = s.To - s.From
			} else {
				samples++
			}
		}
		v.line("row %s: row %s of %s", strconv.FormatInt(number, 10), strconv.FormatInt(rest, 10), printable(f.name))
		v.line("%s, %s, %s of padding", plural(int64(r.Length), "slot"), plural(int64(samples), "sample"), plural(int64(padding), "token"))
		v.line("")
		v.row(r)
		return nil
	}
	return fmt.Errorf("--row %d: there are %s, numbered from 0", number, plural(number-rest, "row"))
}

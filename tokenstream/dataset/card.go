package dataset

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/brimful/brimful/tokenstream"
)

// collator is the data collator for the Trainer of transformers, in Python. It needs nothing but torch.
//
//go:embed brimful_collator.py
var collator string

//go:embed card.md.tmpl
var cardText string

var cardTemplate = template.Must(template.New(cardName).Funcs(template.FuncMap{
	"commas":  Commas,
	"percent": func(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) },
	"per": func(a, b int64) string {
		if b == 0 {
			return "n/a"
		}
		return fmt.Sprintf("%.1f", float64(a)/float64(b))
	},
	"batch": func(samples, rows, all int64) string { // how many rows hold as many samples
		if all == 0 {
			return "n/a"
		}
		return fmt.Sprintf("%.1f", float64(samples)*float64(rows)/float64(all))
	},
}).Parse(cardText))

// card returns the dataset card, DIR/README.md.
func (m *Manifest) card() ([]byte, error) {
	f, err := (&Options{Format: m.Format}).format()
	if err != nil {
		return nil, err
	}
	type column struct{ Name, Type, Text string }
	data := struct {
		*Manifest
		Columns             []column
		Glob, Collator      string
		HF, HasBoundaries   bool
		Rows, Tokens        int64
		Samples, Supervised int64
		Named               bool
		Digest              string // of all rows: datasets caches by the front matter, so that it has to change with the rows
	}{Manifest: m, Glob: "*" + f.ext, Collator: collator, HF: f.hf}
	for _, c := range m.Columns {
		t := c.Type.String()
		if c.Kind.List() {
			t = "list of " + t
		}
		data.Columns = append(data.Columns, column{c.Name, t, c.Kind.Describe()})
		data.HasBoundaries = data.HasBoundaries || c.Kind == tokenstream.CuSeqlens
	}
	for _, s := range m.Splits {
		data.Named = data.Named || s.Name != ""
		data.Rows += s.Rows
		data.Tokens += s.Tokens
		if s.Stats != nil {
			data.Samples += s.Stats.Ledger.Out.Samples
			data.Supervised += s.Stats.Ledger.Out.Supervised
		}
	}
	sum := sha256.New()
	for _, s := range m.Splits {
		for _, shard := range s.Shards {
			fmt.Fprintln(sum, shard.Path, shard.SHA256)
		}
	}
	data.Digest = fmt.Sprintf("%.16x", sum.Sum(nil)[:8])
	var b bytes.Buffer
	err = cardTemplate.Execute(&b, data)
	return b.Bytes(), err
}

// Commas writes n with a comma between groups of three digits.
func Commas(n int64) string {
	s := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

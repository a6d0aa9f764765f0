package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/mix"
	"github.com/brimful/brimful/tokenstream/source"
)

// mixFlags are what the flags say of a mixture.
type mixFlags struct {
	mix     []string
	by      mix.Unit
	repeat  []string
	sources []mixSource // set by checkMix; none if the job is no mixture
}

// mixSource is one source of a mixture.
type mixSource struct {
	Name   string     `json:"name"`
	Inputs []string   `json:"inputs"`
	Weight float64    `json:"weight"` // 0 for all: each is read Repeat times
	Repeat mix.Repeat `json:"repeat"`

	args []int // places of the inputs among those of the job
}

// mixName is the NAME of NAME:INPUT. What has a slash or a pattern before the colon is no name.
var mixName = regexp.MustCompile(`^[A-Za-z0-9_.-]+:`)

// checkMix finds the sources of a mixture, and mistakes in the flags about it.
func (j *packJob) checkMix(changed func(string) bool) error {
	m := &j.mixFlags
	m.sources = nil
	switch {
	case len(m.mix) > 0 && len(j.inputs) > 0:
		return usagef("%s beside --mix: name every input by a --mix of its own", j.inputs[0])
	case len(m.mix) == 0 && changed("mix-by"):
		return usagef("--mix-by without --mix: it says what weights are shares of")
	case len(m.mix) > 0:
		for _, text := range m.mix {
			if err := j.addSource(text); err != nil {
				return err
			}
		}
		if !slices.ContainsFunc(m.sources, func(s mixSource) bool { return s.Weight > 0 }) {
			return usagef("--mix: all weights are 0: want one above")
		}
	case len(m.repeat) > 0:
		for i, in := range j.inputs {
			m.sources = append(m.sources, mixSource{Name: in, Inputs: []string{in}, Repeat: 1, args: []int{i}})
		}
	}
	for _, text := range m.repeat {
		at := strings.LastIndex(text, "=")
		i := slices.IndexFunc(m.sources, func(s mixSource) bool { return at > 0 && s.Name == text[:at] })
		if i < 0 {
			var names []string
			for _, s := range m.sources {
				names = append(names, s.Name)
			}
			return usagef("--repeat %s: want NAME=N, where NAME is that of a source (%s)", text, cmp.Or(strings.Join(names, ", "), "there are none"))
		}
		var err error
		if m.sources[i].Repeat, err = mix.ParseRepeat(text[at+1:]); err != nil {
			return usagef("--repeat %s: %w", text, err)
		}
		if m.sources[i].Repeat == mix.Endless && len(m.mix) == 0 {
			return usagef("--repeat %s: without --mix there is no other source to end the mixture: want a number", text)
		}
	}
	endless := func(s mixSource) bool { return s.Weight == 0 || s.Repeat == mix.Endless }
	switch {
	case len(m.sources) == 0:
		if slices.ContainsFunc(j.layout.Columns, func(c tokenstream.Column) bool { return c.Kind == tokenstream.Sources }) {
			return usagef("a column of kind sources without --mix or --repeat: there is one source")
		}
		return nil
	case j.units > 0:
		return usagef("--units with --mix or --repeat: the order of a mixture is that of one stream")
	case j.format == "xtuner":
		return usagef("--mix or --repeat with --format xtuner: the trainer reads the samples from files, each once")
	case len(m.mix) > 0 && !slices.ContainsFunc(m.sources, func(s mixSource) bool { return !endless(s) }) && j.limit == 0 && j.limitTok == 0:
		return usagef("--repeat: every source is endless, and so is the mixture: want a number for one of them, or --limit or --limit-tokens")
	case len(m.sources) > tokenstream.MaxSources:
		return usagef("%d sources: want at most %d", len(m.sources), tokenstream.MaxSources)
	}
	j.options.Sources = len(m.sources)
	return nil
}

// addSource adds what a --mix says: [NAME:]INPUT[=WEIGHT].
func (j *packJob) addSource(text string) error {
	m := &j.mixFlags
	input, weight := text, math.NaN()
	if at := strings.LastIndex(text, "="); at >= 0 {
		w, err := strconv.ParseFloat(text[at+1:], 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 0) {
			return usagef("--mix %s: weight %q: want a number from 0 on", text, text[at+1:])
		}
		input, weight = text[:at], w
	}
	name := input
	if prefix := mixName.FindString(input); prefix != "" {
		name, input = prefix[:len(prefix)-1], input[len(prefix):]
	}
	if input == "" {
		return usagef("--mix %s: want [NAME:]INPUT=WEIGHT", text)
	}
	i := slices.IndexFunc(m.sources, func(s mixSource) bool { return s.Name == name })
	switch {
	case i < 0 && math.IsNaN(weight):
		return usagef("--mix %s: want a weight, as in %s=0.5", text, text)
	case i >= 0 && !math.IsNaN(weight):
		return usagef("--mix %s: the source %s has a weight already: it holds for all its inputs", text, name)
	case i < 0:
		i = len(m.sources)
		m.sources = append(m.sources, mixSource{Name: name, Weight: weight, Repeat: 1})
	}
	s := &m.sources[i]
	s.Inputs, s.args = append(s.Inputs, input), append(s.args, len(j.inputs))
	j.inputs = append(j.inputs, input)
	return nil
}

// sourceNames returns the names of the sources by which a column counts them; nil if the job is no mixture.
func (j *packJob) sourceNames() []string {
	var names []string
	for _, s := range j.sources {
		names = append(names, s.Name)
	}
	return names
}

// mixture returns the samples that go into rows, and those that are held out.
func (j *packJob) mixture(files *source.Files, h *tokenstream.Holdout, s *summary) (samples, held tokenstream.Source, closeSpools func() error, err error) {
	var spools []*tokenstream.Spool
	closeSpools = func() (err error) {
		for _, s := range spools {
			err = errors.Join(err, s.Close())
		}
		return err
	}
	s.mixture = new(mix.Stats)
	o := mix.Options{By: j.by, Count: tokenstream.Counter(j.options), Seed: j.seed, Stats: s.mixture,
		LimitSamples: int64(j.limit), LimitTokens: int64(j.limitTok)}
	var sources []mix.Source
	for _, in := range j.sources {
		if once := files.Once(in.args...); once != "" && (in.Repeat > 1 || in.Weight == 0 && len(j.mix) == 0) {
			return nil, nil, nil, fmt.Errorf("%s: it can be read only once, and --repeat reads it again: write it to a file", once)
		}
		one := mix.Source{Name: in.Name, Samples: files.SamplesOf(in.args...), Weight: in.Weight, Repeat: in.Repeat}
		if h != nil {
			if one.Held, err = tokenstream.NewSpool(""); err != nil {
				return nil, nil, nil, errors.Join(err, closeSpools())
			}
			spools = append(spools, one.Held)
			o.HoldOut = h.Has
		}
		sources = append(sources, one)
	}
	held = func(yield func(tokenstream.Sample, error) bool) {
		for _, spool := range spools {
			for s, err := range spool.Source() {
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
	}
	return mix.Mix(sources, o), held, closeSpools, nil
}

// printMixture prints what became of each source.
func (s *summary) printMixture(w io.Writer, p *splitSummary) {
	uses := p.Stats.Ledger.Sources
	if s.mixture == nil || len(uses) == 0 || p.Name == "validation" {
		return
	}
	all := s.mixture.By.Of(p.Stats.Ledger.Out)
	fmt.Fprintf(w, "  sources, by %v:\n", s.mixture.By)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "  \tshare\treached\tsamples\theld out\tunused\tdrawn\ttokens\tsupervised\t\n")
	for i, u := range s.mixture.Sources {
		reached := 0.
		if all > 0 {
			reached = float64(s.mixture.By.Of(uses[i].Out)) / float64(all)
		}
		samples, unused := dataset.Commas(u.Samples), dataset.Commas(u.Unused())
		if !u.Whole { // a limit came first
			samples, unused = samples+"+", "?"
		}
		fmt.Fprintf(t, "  %s\t%.2f %%\t%.2f %%\t%s\t%s\t%s\t%s\t%s\t%s\t\n", u.Name, 100*u.Share, 100*reached, samples, dataset.Commas(u.HeldOut), unused,
			dataset.Commas(u.Drawn), dataset.Commas(uses[i].Out.Tokens), dataset.Commas(uses[i].Out.Supervised))
	}
	t.Flush()
}

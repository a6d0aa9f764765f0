package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/mix"
	"github.com/brimful/brimful/tokenstream/source"
)

// summary is what pack says at its end.
type summary struct {
	job       *packJob
	files     *source.Files
	tokenizer *tokenizer
	ignored   map[string]bool
	manifest  *dataset.Manifest  // nil for a stream
	stats     *tokenstream.Stats // of a stream
	mixture   *mix.Stats         // nil if it is none
	seconds   float64
}

// splitSummary is a split in the summary. Slots are token slots: the tokens that a trainer computes on, padding included.
type splitSummary struct {
	Name            string             `json:"name"`
	Rows            int64              `json:"rows"`
	LowerBound      int64              `json:"lower_bound"`
	Fill            float64            `json:"fill"`
	SamplesPerRow   float64            `json:"samples_per_row"`
	TargetsPerRow   float64            `json:"supervised_per_row"`
	SavedCapacity   float64            `json:"saved_against_padding_to_capacity"` // share of the slots
	SavedBatch      float64            `json:"saved_against_padding_to_longest"`  // of a batch of tokenstream.BatchOf
	Stats           *tokenstream.Stats `json:"stats"`
	FirstID, LastID *commonID          `json:"-"`
	Shards          int                `json:"shards"`
	Bytes           int64              `json:"bytes"`
}

// commonID is the id that most samples begin or end with.
type commonID struct {
	ID    int32   `json:"id"`
	Text  string  `json:"text,omitempty"`
	Share float64 `json:"share"`
}

func (s *summary) splits() []splitSummary {
	var list []splitSummary
	add := func(name string, st *tokenstream.Stats, shards []dataset.Shard) {
		out := st.Ledger.Out
		p := splitSummary{Name: name, Rows: st.Rows, LowerBound: st.LowerBound, Fill: st.Fill(), Stats: st, Shards: len(shards)}
		if st.Rows > 0 {
			p.SamplesPerRow = float64(out.Samples) / float64(st.Rows)
			p.TargetsPerRow = float64(out.Supervised) / float64(st.Rows)
			p.SavedCapacity = 1 - float64(st.Slots)/float64(st.PaddedToCapacity)
			p.SavedBatch = 1 - float64(st.Slots)/float64(st.PaddedToLongest)
		}
		p.FirstID, p.LastID = s.common(st.First), s.common(st.Last)
		for _, f := range shards {
			p.Bytes += f.Size
		}
		list = append(list, p)
	}
	if s.manifest == nil {
		add("", s.stats, nil)
		return list
	}
	for _, split := range s.manifest.Splits {
		add(split.Name, split.Stats, split.Shards)
	}
	return list
}

// common returns the most frequent id of counts, the smallest of several.
func (s *summary) common(counts tokenstream.IDCount) *commonID {
	all := int64(0)
	best := commonID{}
	most := int64(0)
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		all += counts[id]
		if id >= 0 && counts[id] > most {
			best.ID, most = id, counts[id]
		}
	}
	if all == 0 {
		return nil
	}
	best.Share = float64(most) / float64(all)
	if s.tokenizer != nil {
		best.Text = s.tokenizer.texts[best.ID]
	}
	return &best
}

func (c *commonID) String() string {
	if c.Text != "" {
		return fmt.Sprintf("%.1f %% of the samples, %q (id %d)", 100*c.Share, c.Text, c.ID)
	}
	return fmt.Sprintf("%.1f %% of the samples, id %d", 100*c.Share, c.ID)
}

// print prints the summary for a person.
func (s *summary) print(w io.Writer) {
	for _, p := range s.splits() {
		s.printSplit(w, &p)
	}
	if s.manifest != nil {
		shards, bytes := 0, int64(0)
		for _, p := range s.splits() {
			shards, bytes = shards+p.Shards, bytes+p.Bytes
		}
		fmt.Fprintf(w, "wrote %s: %s of %s, %.1f MB, in %.2f s; how to train on it is in %s/README.md\n",
			s.job.out, plural(int64(shards), "shard"), s.job.format, float64(bytes)/1e6, s.seconds, s.job.out)
	}
}

func (s *summary) printSplit(w io.Writer, p *splitSummary) {
	st, o := p.Stats, s.job.options
	name := ""
	if p.Name != "" {
		name = p.Name + ": "
	}
	lost := "none lost"
	if n := st.Ledger.In.Samples - st.Ledger.Out.Samples; n > 0 {
		lost = dataset.Commas(n) + " left out"
	}
	fmt.Fprintf(w, "%s%s, %s, %s at %.1f %% of %s tokens (at least %s needed)\n", name, plural(st.Ledger.In.Samples, "sample"), lost,
		plural(p.Rows, "row"), 100*p.Fill, dataset.Commas(int64(o.Capacity)), dataset.Commas(p.LowerBound))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(what string, samples, tokens, supervised int64, note string) {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t  %s\n", what, dataset.Commas(samples), dataset.Commas(tokens), dataset.Commas(supervised), note)
	}
	fmt.Fprintf(t, "  \tsamples\ttokens\tsupervised\t\n")
	line("in", st.Ledger.In.Samples, st.Ledger.In.Tokens, st.Ledger.In.Supervised, "")
	for _, r := range totals(st.Ledger.Removed) {
		line(reasonText[r.Reason], -r.Samples, -r.Tokens, -r.Supervised, plural(r.Affected, "sample")+" affected")
	}
	line("out", st.Ledger.Out.Samples, st.Ledger.Out.Tokens, st.Ledger.Out.Supervised, "")
	t.Flush()
	s.printMixture(w, p)
	if p.Rows == 0 {
		return
	}
	fmt.Fprintf(w, "  a row holds %.1f samples (at most %d) and %.0f supervised tokens; a batch of 32 samples is now about %.1f rows,\n"+
		"  so steps, warm-up and evaluation intervals change by that factor\n", p.SamplesPerRow, st.MaxInRow, p.TargetsPerRow, 32/p.SamplesPerRow)
	if st.AlignPad > 0 {
		fmt.Fprintf(w, "  aligned to %d: %s tokens of padding behind samples; rows are %.1f %% full with them, %.1f %% without\n",
			o.Align, dataset.Commas(st.AlignPad), 100*st.FillAligned(), 100*p.Fill)
	}
	fmt.Fprintf(w, "  %s token slots than batches of %d padded to their longest, %s than %s padded to %s\n",
		fewer(p.SavedBatch), tokenstream.BatchOf, fewer(p.SavedCapacity), plural(st.Segments, "row"), dataset.Commas(int64(o.Capacity)))
	if p.FirstID != nil {
		fmt.Fprintf(w, "  most common first token: %v; last: %v\n", p.FirstID, p.LastID)
	}
}

// fewer writes a share that was saved, or that it takes more.
func fewer(saved float64) string {
	if saved < 0 {
		return fmt.Sprintf("%.1f %% more", -100*saved)
	}
	return fmt.Sprintf("%.1f %% fewer", 100*saved)
}

var reasonText = map[tokenstream.Reason]string{
	tokenstream.ReasonTooLong: "too long", tokenstream.ReasonTruncated: "cut off", tokenstream.ReasonSplit: "masked by a split",
	tokenstream.ReasonEmpty: "empty", tokenstream.ReasonNoTarget: "nothing supervised", tokenstream.ReasonCutTarget: "nothing supervised after a cut",
}

// totals adds up removals over the files.
func totals(removed []tokenstream.Removal) []tokenstream.Removal {
	var sums []tokenstream.Removal
	for _, r := range removed {
		if k := len(sums); k == 0 || sums[k-1].Reason != r.Reason {
			sums = append(sums, tokenstream.Removal{Reason: r.Reason})
		}
		sum := &sums[len(sums)-1]
		sum.Affected += r.Affected
		sum.Samples += r.Samples
		sum.Tokens += r.Tokens
		sum.Supervised += r.Supervised
	}
	return sums
}

// warn prints what a person should know even with --quiet.
func (s *summary) warn(w io.Writer) {
	for _, p := range s.splits() {
		if n := p.Stats.Unlabelled; n > 0 {
			fmt.Fprintf(w, "brimful: warning: %s came without labels and without a mask: every token of them is a target, prompts too (--labels all says that this is meant)\n",
				plural(n, "sample"))
		}
	}
	for _, field := range slices.Sorted(maps.Keys(s.ignored)) {
		fmt.Fprintf(w, "brimful: warning: column %s holds a list and is not carried into the rows\n", field)
	}
}

// printJSON prints the summary for a program.
func (s *summary) printJSON(w io.Writer) error {
	v := map[string]any{"out": s.job.out, "format": s.job.format, "seconds": s.seconds, "splits": s.splits(), "inputs": s.files.Inputs()}
	if s.mixture != nil {
		v["mixture"] = s.mixture
	}
	for _, p := range s.splits() {
		if p.FirstID != nil {
			v["first_token"], v["last_token"] = p.FirstID, p.LastID
			break
		}
	}
	return printJSON(w, v)
}

// plural writes a number and what it counts.
func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return dataset.Commas(n) + " " + what + "s"
}

package verify

import (
	"errors"
	"fmt"
	"slices"
)

// setRules finds what the manifest asks of the rows, and notes what it does not say.
func (c *checker) setRules() {
	c.rules = rules{padID: -1, vocabulary: 1 << 31, labels: "own"}
	c.columns = plain
	if c.m == nil {
		c.rules.align = -1
		c.unchecked("checksums", "counts", "ledger", "job")
		return
	}
	m, j, r := c.m, &c.m.Job, &c.rules
	c.columns, c.format = m.Columns, m.Format
	if decoders[m.Format] == nil {
		c.add("manifest", manifestName, "format %q: want parquet, arrow or hf", m.Format)
		c.format = ""
	}
	if j.Format != nil && *j.Format != m.Format {
		c.add("manifest", manifestName, "format is %q: the job's is %q", m.Format, *j.Format)
	}
	if j.Layout != nil && !slices.Equal(j.Layout.Columns, m.Columns) {
		c.add("manifest", manifestName, "columns are %v: the job's layout has %v", m.Columns, j.Layout.Columns)
	}
	for _, col := range m.Columns {
		if k := kindOf(col.Kind); k < 0 || k == sampleIDs {
			c.unchecked("columns." + col.Name)
		}
	}
	for _, s := range m.Splits {
		if s.Stats == nil {
			c.unchecked("ledger")
		}
	}
	if known(c, "job.capacity", j.Capacity, &r.capacity) {
		r.longest = r.capacity
	}
	if known(c, "job.max_sample_tokens", j.MaxSampleTokens, &r.longest) && r.longest == 0 {
		r.longest = r.capacity
		if a := j.Align; a > 1 && j.Layout != nil && j.Layout.AlignInputs {
			r.longest = (r.capacity-1)/a*a + 1
		} else if a > 1 {
			r.longest = r.capacity / a * a
		}
	}
	known(c, "job.max_samples", j.MaxSamples, &r.maxSamples)
	r.align, r.alignRows = j.Align, j.AlignRows
	r.alignInputs = j.Layout != nil && j.Layout.AlignInputs
	if j.FixedCounts {
		r.offsets = int(min(r.maxSamples, r.capacity)) + 2
	}
	if known(c, "job.pad", j.Pad, &r.padded) {
		r.ragged = !r.padded
	}
	known(c, "job.pad_id", j.PadID, &r.padID)
	if known(c, "job.vocab_size", j.VocabSize, &r.vocabulary) && r.vocabulary == 0 {
		r.vocabulary = 1 << 31
	}
	known(c, "job.labels", j.Labels, &r.labels, "own", "shifted", "free", "all")
	c.setMixture()
	var noTarget, tooLong string
	if known(c, "job.no_target", j.NoTarget, &noTarget, "default", "drop", "keep", "error") {
		r.targets = noTarget != "keep"
	}
	if known(c, "job.too_long", j.TooLong, &tooLong, "error", "drop", "truncate", "truncate-left", "split") {
		r.split = tooLong == "split"
		c.content = !r.split && tooLong != "truncate-left" && c.hasKind(labels) && c.hasKind(sampleIndex) && !c.hasKind(sampleIDs)
	}
}

// known sets dst to what the job says, if it does and that is one of the values allowed.
func known[T comparable](c *checker, key string, says, dst *T, allowed ...T) bool {
	if says == nil {
		c.unchecked(key)
		return false
	}
	if len(allowed) > 0 && !slices.Contains(allowed, *says) {
		c.add("manifest", manifestName, "%s is %v: want one of %v", key, *says, allowed)
		return false
	}
	*dst = *says
	return true
}

func (c *checker) unchecked(what ...string) {
	for _, w := range what {
		if !slices.Contains(c.r.Unchecked, w) {
			c.r.Unchecked = append(c.r.Unchecked, w)
		}
	}
}

// comparable returns an error if the samples can't be compared with a source.
func (c *checker) comparable(o *Options) error {
	if c.m == nil {
		return fmt.Errorf("has no %s that can be read: without it the rules by which samples were left out are not known, and there is no comparing with a source", manifestName)
	}
	j := &c.m.Job
	for _, need := range []struct {
		key   string
		there bool
	}{{"capacity", c.rules.longest > 0}, {"labels", j.Labels != nil}, {"no_target", j.NoTarget != nil}, {"too_long", j.TooLong != nil}} {
		if !need.there {
			return fmt.Errorf("has a %s that does not say what job.%s is: without it there is no comparing with a source", manifestName, need.key)
		}
	}
	switch mixed := len(j.Sources) > 0; {
	case mixed && c.mixture == nil:
		return fmt.Errorf("has a %s that does not say right what was drawn of the sources: there is no comparing with them", manifestName)
	case mixed != (o.Sources != nil):
		return fmt.Errorf("is a mixture of %d sources (0 is none): want it compared with so many", len(j.Sources))
	case mixed && j.HoldoutIDs != nil && o.HeldIDs == nil:
		return errors.New("holds samples out by their ids: want these too, to compare it with its source")
	}
	if !c.hasKind(tokens) || !c.hasKind(sampleIndex) {
		return errors.New("has no column that says which samples are in a row: there is no comparing with a source")
	}
	return nil
}

// finish completes the report.
func (c *checker) finish() {
	c.r.Wrong, c.r.Reasons, c.r.Faults = c.wrong, c.reasons, c.list
	slices.Sort(c.r.Unchecked)
}

// Package compare measures, on given lengths, what each way of packing costs and what padding costs without it: rows, padding, the
// distance from a proved bound, attention, imbalance among ranks, time, and how long samples wait in a stream.
//
//	c, err := compare.Run(ctx, lengths, compare.Options{Capacities: []int{4096, 8192}})
//
// A strategy of one's own is a [Candidate] like any other. Everything but the times depends on the lengths and the options only, unless
// [Options.Budget] ends a search.
package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/brimful/brimful/packing"
)

// A Candidate is a strategy and the name by which it is reported.
type Candidate struct {
	Name     string
	Strategy packing.Strategy
}

// Options say what is compared. Only Capacities has no default.
type Options struct {
	Capacities []int         // each from 1 to math.MaxInt32, in the order of the results
	Candidates []Candidate   // nil is every strategy of [packing.Names]
	MaxSamples int           // most samples in a row; 0 is no bound
	Batch      int           // sequences in a batch that is padded to its longest; 0 is 8
	Ranks      int           // ranks that wait for each other; 0 is 8
	Budget     time.Duration // most time at each capacity for a strategy that can be stopped, as [packing.Optimal] can; 0 is no bound
	Seed       uint64        // of the order in which rows go to the ranks
}

// A Comparison is what was measured.
type Comparison struct {
	Lengths    Lengths
	Options    Options   // with the defaults filled in
	Results    []Result  // by capacity, then the candidates in their order, then the ways of padding in that of [Padded]
	Sweep      []Point   // ascending capacities
	Suggestion Candidacy // a capacity, and why
}

// Run compares the candidates on samples of the given lengths, in their order, which is that of the file. Samples that are longer than a
// capacity are left out there and counted, and so are empty ones. The error is that of ctx, or says which option, length or candidate is
// at fault. Lengths is not modified.
//
// A strategy is timed by [packing.Pack]: once, or three times if that is quick, of which the least counts.
func Run(ctx context.Context, lengths []int32, o Options) (*Comparison, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	all, err := summarize(lengths)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Lengths: all, Options: o}
	for _, capacity := range o.Capacities {
		if err := c.at(ctx, lengths, capacity); err != nil {
			return nil, err
		}
	}
	if c.Sweep, err = sweep(ctx, lengths, all, o); err != nil {
		return nil, err
	}
	c.Suggestion = suggest(c.Sweep, all)
	return c, nil
}

// complete fills in the defaults and returns an error if an option is out of range.
func (o *Options) complete() error {
	if len(o.Capacities) == 0 {
		return errors.New("no capacity: want one or more")
	}
	for _, c := range o.Capacities {
		if c < 1 || c > math.MaxInt32 {
			return fmt.Errorf("capacity %d: want 1 to %d", c, math.MaxInt32)
		}
	}
	if o.Candidates == nil {
		for _, name := range packing.Names() {
			s, err := packing.Lookup(name)
			if err != nil {
				return err
			}
			o.Candidates = append(o.Candidates, Candidate{name, s})
		}
	}
	for i, c := range o.Candidates {
		if c.Strategy == nil {
			return fmt.Errorf("candidate %q has no strategy", c.Name)
		}
		same := func(d Candidate) bool { return d.Name == c.Name }
		if c.Name == "" || slices.ContainsFunc(o.Candidates[:i], same) || slices.Contains(Padded(), c.Name) {
			return fmt.Errorf("candidate %q: want a name that no other has", c.Name)
		}
	}
	for _, n := range []struct {
		what  string
		value int
	}{{"samples a row", o.MaxSamples}, {"sequences a batch", o.Batch}, {"ranks", o.Ranks}} {
		if n.value < 0 {
			return fmt.Errorf("%d %s: want 0 or more", n.value, n.what)
		}
	}
	if o.Budget < 0 {
		return fmt.Errorf("budget %v: want 0 or more", o.Budget)
	}
	if o.Batch == 0 {
		o.Batch = 8
	}
	if o.Ranks == 0 {
		o.Ranks = 8
	}
	return nil
}

// at compares at one capacity.
func (c *Comparison) at(ctx context.Context, lengths []int32, capacity int) error {
	kept, common := fitting(lengths, capacity)
	limits := packing.Limits{Capacity: capacity, MaxSamples: c.Options.MaxSamples}
	common.LowerBound = int64(packing.LowerBound(kept, limits))
	first := len(c.Results)
	for _, candidate := range c.Options.Candidates {
		r := common
		r.Strategy, r.Packed = candidate.Name, true
		bound, err := r.run(ctx, candidate.Strategy, kept, limits, c.Options)
		if err != nil {
			return fmt.Errorf("%s at capacity %d: %w", candidate.Name, capacity, err)
		}
		common.LowerBound = max(common.LowerBound, bound)
		c.Results = append(c.Results, r)
	}
	for _, way := range paddings {
		r := common
		r.Strategy = way.name
		r.pad(way, kept, limits, c.Options)
		c.Results = append(c.Results, r)
	}
	results := c.Results[first:]
	base := results[len(results)-len(paddings)+baseline].pairs
	for i := range results {
		results[i].finish(common.LowerBound, base)
	}
	return nil
}

// fitting returns the lengths from 1 to capacity, and a result that counts them and the others.
func fitting(lengths []int32, capacity int) ([]int32, Result) {
	r := Result{Capacity: capacity}
	kept := make([]int32, 0, len(lengths))
	for _, l := range lengths {
		switch {
		case l == 0:
			r.Empty++
		case int(l) > capacity:
			r.OverLong++
			r.OverLongTokens += int64(l)
		default:
			kept = append(kept, l)
			r.Tokens += int64(l)
		}
	}
	r.Samples = int64(len(kept))
	return kept, r
}

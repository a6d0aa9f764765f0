package compare

import (
	"context"
	"errors"
	"time"

	"github.com/brimful/brimful/packing"
)

// A Result is what one way of packing or padding makes of the samples at one capacity.
type Result struct {
	Strategy       string  `json:"strategy"`
	Capacity       int     `json:"capacity"`
	Packed         bool    `json:"packed"`           // false: every sample is a row of its own, padded
	Samples        int64   `json:"samples"`          // in the rows
	Tokens         int64   `json:"tokens"`           // of those samples
	OverLong       int64   `json:"over_long"`        // samples longer than the capacity, left out
	OverLongTokens int64   `json:"over_long_tokens"` // their tokens
	Empty          int64   `json:"empty"`            // samples without tokens, left out
	Rows           int64   `json:"rows"`
	Slots          int64   `json:"slots"`       // tokens of all rows, padding included
	LowerBound     int64   `json:"lower_bound"` // no packing of the same samples has fewer rows: the best bound that any candidate proved
	Gap            int64   `json:"gap"`         // rows above that bound
	Fill           float64 `json:"fill"`        // share of the slots that holds tokens, from 0 to 1
	Padding        float64 `json:"padding"`     // 1 - fill; 0 without rows
	SamplesPerRow  float64 `json:"samples_per_row"`
	MostInRow      int64   `json:"most_in_row"` // samples in the row that has most

	// Attention is what the segments of all rows cost an attention that keeps them apart, the sum of the squares of their lengths, pad
	// tails included, relative to samples in file order padded to the longest of their batch; 0 without rows.
	Attention float64 `json:"attention"`

	// Imbalance is by how much the steps of Options.Ranks ranks take longer than if no rank waited for the slowest, 0 being not at all:
	// rows in random order, in whole steps, each costing its tokens and the squares of its segments as in [RowCost]. nil if there are
	// not enough rows for a step. Where batches are padded each rank takes a batch.
	Imbalance *float64 `json:"imbalance"`

	Seconds          float64 `json:"seconds"`            // that packing takes; 0 for padding
	SamplesPerSecond float64 `json:"samples_per_second"` // 0 for padding
	Stopped          bool    `json:"stopped"`            // Options.Budget ended the search, so that another run may find another packing
	Stream           *Stream `json:"stream,omitempty"`   // the same strategy on a stream, if it is a packing.Streamer

	// PerRow[n] rows hold n samples; entry MostPerRow also counts rows of more.
	PerRow []int64 `json:"rows_by_samples"`

	pairs float64 // sum of the squares of the segments' lengths
}

// MostPerRow is the last entry that [Result.PerRow] may have.
const MostPerRow = 64

// quick is what a strategy may take to be timed three times.
const quick = 100 * time.Millisecond

// A certifier is a strategy that can be stopped and proves a bound, as [packing.Optimal] does.
type certifier interface {
	Pack(ctx context.Context, lengths []int32, limits packing.Limits) (*packing.Plan, packing.Certificate, error)
}

// run packs and measures, and returns the bound that the strategy proved, or 0.
func (r *Result) run(ctx context.Context, s packing.Strategy, lengths []int32, limits packing.Limits, o Options) (bound int64, err error) {
	var plan *packing.Plan
	least := time.Duration(-1)
	for range 3 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		if c, ok := s.(certifier); ok {
			var proof packing.Certificate
			plan, proof, err = certify(ctx, c, lengths, limits, o.Budget)
			bound, r.Stopped = proof.Bound, proof.Aborted
		} else {
			plan, err = packing.Pack(s, lengths, limits)
		}
		took := time.Since(start)
		if err != nil {
			return 0, err
		}
		if least < 0 || took < least {
			least = took
		}
		if took > quick {
			break
		}
	}
	r.Seconds = least.Seconds()
	if least > 0 {
		r.SamplesPerSecond = float64(len(lengths)) / r.Seconds
	}
	r.measure(plan, lengths, o)
	if streamer, ok := s.(packing.Streamer); ok {
		if r.Stream, err = stream(ctx, streamer, lengths, limits); err != nil {
			return 0, err
		}
	}
	return bound, ctx.Err()
}

// certify packs with c for at most that long, if budget is not 0.
func certify(ctx context.Context, c certifier, lengths []int32, limits packing.Limits, budget time.Duration) (*packing.Plan, packing.Certificate, error) {
	if budget == 0 {
		return c.Pack(ctx, lengths, limits)
	}
	timed, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	plan, proof, err := c.Pack(timed, lengths, limits)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, proof, errors.New("the budget is too short for any packing")
	}
	return plan, proof, err
}

// measure counts what is in the rows of a plan, each padded to the capacity.
func (r *Result) measure(p *packing.Plan, lengths []int32, o Options) {
	r.Rows = int64(p.Len())
	r.Slots = r.Rows * int64(r.Capacity)
	costs := make([]float64, 0, p.Len())
	for _, samples := range p.All() {
		tokens, pairs := int64(0), 0.
		for _, i := range samples {
			l := int64(lengths[i])
			tokens += l
			pairs += square(l)
		}
		pairs += square(int64(r.Capacity) - tokens)
		r.pairs += pairs
		costs = append(costs, RowCost(int64(r.Capacity), pairs))
		r.count(int64(len(samples)), 1)
	}
	r.Imbalance = imbalance(costs, o.Ranks, o.Seed)
}

// count counts rows that hold that many samples.
func (r *Result) count(samples, rows int64) {
	r.MostInRow = max(r.MostInRow, samples)
	k := int(min(samples, MostPerRow))
	for len(r.PerRow) <= k {
		r.PerRow = append(r.PerRow, 0)
	}
	r.PerRow[k] += rows
}

// finish fills in what follows from the rest, the best bound of the capacity, and the attention that is 1.
func (r *Result) finish(bound int64, base float64) {
	r.LowerBound = bound
	r.Gap = r.Rows - bound
	if r.Rows > 0 {
		r.Fill = float64(r.Tokens) / float64(r.Slots)
		r.Padding = 1 - r.Fill
		r.SamplesPerRow = float64(r.Samples) / float64(r.Rows)
		r.Attention = r.pairs / base
	}
	if r.Stream != nil && r.Stream.Rows > 0 {
		r.Stream.Gap = r.Stream.Rows - bound
		r.Stream.Fill = float64(r.Tokens) / float64(r.Stream.Rows*int64(r.Capacity))
	}
}

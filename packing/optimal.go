package packing

import (
	"context"
	"slices"

	"github.com/brimful/brimful/packing/internal/cutstock"
)

// Optimal looks for the fewest bins and proves how few there can be. It packs by best-fit decreasing, completes bins one by one, solves
// linear programs over patterns and searches neighbourhoods (Gilmore and Gomory 1961 and what followed), and stops as soon as the bins
// meet the bound. Time and memory depend on the lengths that occur, not on the samples, but for handing out the bins.
type Optimal struct {
	Effort int64  // most work, in steps of 2 to 6 nanoseconds; 0 is 20 billion. Not time, so that results are the same everywhere
	Gap    int64  // stop as soon as there are no more than this many bins above the bound
	Seed   uint64 // of the search
}

// A Certificate says how good a packing is: no packing has fewer than Bound bins, and this one has Bins.
type Certificate struct {
	Bins, Bound int64
	Proof       string // what proves the bound: "items", "size" (tokens over capacity), "L2", "dff" or "lp"
	Aborted     bool   // the context ended the search, so that another run may find another packing
}

// Assign implements [Strategy].
func (s Optimal) Assign(bin, lengths []int32, limits Limits) int {
	c, err := s.assign(context.Background(), bin, lengths, limits)
	if err != nil {
		panic("packing: " + err.Error()) // lengths or limits out of range: the caller's mistake
	}
	return int(c.Bins)
}

// Pack is [Pack] with a certificate. When ctx ends first, the best packing so far is returned.
func (s Optimal) Pack(ctx context.Context, lengths []int32, limits Limits) (*Plan, Certificate, error) {
	if err := check(lengths, limits); err != nil {
		return nil, Certificate{}, err
	}
	lengths, limits = align(lengths, limits)
	bin := make([]int32, len(lengths))
	c, err := s.assign(ctx, bin, lengths, limits)
	if err != nil {
		return nil, c, err
	}
	plan, err := group(bin, int(c.Bins), lengths, limits)
	if err == nil {
		plan.bound = int(c.Bound)
	}
	return plan, c, err
}

// group implements grouper, so that a plan has the bound that was proven.
func (s Optimal) group(lengths []int32, limits Limits) *Plan {
	p, _, err := s.Pack(context.Background(), lengths, limits)
	if err != nil {
		return nil // as Assign will say
	}
	return p
}

// Certify returns the certificate of packing the samples that h counts, without a plan: for as many samples as an int64 counts.
func (s Optimal) Certify(ctx context.Context, h Histogram, limits Limits) (Certificate, error) {
	if err := limits.check(); err != nil {
		return Certificate{}, err
	}
	_, c, err := s.solve(ctx, limits.round(h.sparse()), limits)
	return c, err
}

// solve packs samples of the lengths given, ascending.
func (s Optimal) solve(ctx context.Context, lengths []lengthCount, limits Limits) (*cutstock.Solution, Certificate, error) {
	p := cutstock.Problem{Capacity: limits.Capacity, MaxItems: limits.MaxSamples}
	for _, e := range slices.Backward(lengths) {
		if e.count > 0 && e.length > 0 {
			p.Sizes, p.Counts = append(p.Sizes, e.length), append(p.Counts, e.count)
		}
	}
	if len(p.Sizes) == 0 {
		return &cutstock.Solution{}, Certificate{}, nil
	}
	solution, err := cutstock.Solve(ctx, p, cutstock.Options{Effort: s.Effort, Gap: s.Gap, Seed: s.Seed})
	if err != nil {
		return nil, Certificate{}, err
	}
	return solution, Certificate{Bins: solution.Bins, Bound: solution.Bound, Proof: string(solution.Proof), Aborted: solution.Aborted}, nil
}

// assign gives each bin of the solution's patterns the next samples of its lengths.
func (s Optimal) assign(ctx context.Context, bin, lengths []int32, limits Limits) (Certificate, error) {
	solution, c, err := s.solve(ctx, countLengths(lengths), limits)
	if err != nil {
		return c, err
	}
	order := byLength(lengths)
	next := map[int32]int{} // by length: where its samples begin in order
	for k, i := range order {
		if k == 0 || lengths[i] != lengths[order[k-1]] {
			next[lengths[i]] = k
		}
	}
	b := int32(0)
	for _, p := range solution.Patterns {
		at := make([]int, len(p.Items))
		for k, item := range p.Items {
			at[k] = next[item.Size]
			next[item.Size] += int(item.Copies) * int(p.Bins)
		}
		for range p.Bins {
			for k, item := range p.Items {
				for range item.Copies {
					bin[order[at[k]]] = b
					at[k]++
				}
			}
			b++
		}
	}
	return c, nil
}

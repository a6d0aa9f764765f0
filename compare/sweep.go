package compare

import (
	"context"
	"fmt"
	"slices"

	"github.com/brimful/brimful/packing"
)

// A Point is what best-fit decreasing leaves at one capacity.
type Point struct {
	Capacity       int   `json:"capacity"`
	OverLong       int64 `json:"over_long"`
	OverLongTokens int64 `json:"over_long_tokens"`
	Rows           int64 `json:"rows"`
	Tokens         int64 `json:"tokens"` // in the rows
}

// Padding returns the share of the rows' slots that is padding; 0 without rows.
func (p Point) Padding() float64 {
	if p.Rows == 0 {
		return 0
	}
	return 1 - float64(p.Tokens)/(float64(p.Rows)*float64(p.Capacity))
}

// Lost returns the share of the tokens that over-long samples hold; 0 without tokens.
func (p Point) Lost() float64 {
	if p.OverLongTokens == 0 {
		return 0
	}
	return float64(p.OverLongTokens) / float64(p.OverLongTokens+p.Tokens)
}

// A Candidacy is a capacity that is proposed, and the reason in one sentence, without a full stop.
type Candidacy struct {
	Capacity int    `json:"capacity"`
	Reason   string `json:"reason"`
}

// The powers of two that a sweep tries.
const (
	sweepFrom = 128
	sweepTo   = 1 << 17 // longer rows are for few trainers
)

// tolerable is the share of padding and of the tokens of over-long samples, together, that a suggested capacity may have.
const tolerable = 0.01

// sweep packs by best-fit decreasing at powers of two, up to the first that takes every sample, and at the capacities of o.
func sweep(ctx context.Context, lengths []int32, all Lengths, o Options) ([]Point, error) {
	capacities := slices.Clone(o.Capacities)
	for c := sweepFrom; c <= sweepTo; c *= 2 {
		capacities = append(capacities, c)
		if int64(c) >= all.Max {
			break
		}
	}
	slices.Sort(capacities)
	var points []Point
	for _, capacity := range slices.Compact(capacities) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kept, counted := fitting(lengths, capacity)
		bin := make([]int32, len(kept))
		rows := packing.BestFitDecreasing{}.Assign(bin, kept, packing.Limits{Capacity: capacity, MaxSamples: o.MaxSamples})
		points = append(points, Point{capacity, counted.OverLong, counted.OverLongTokens, int64(rows), counted.Tokens})
	}
	return points, nil
}

// suggest returns the smallest capacity at which padding and what over-long samples hold are together tolerable, or else where they are
// least.
func suggest(points []Point, all Lengths) Candidacy {
	if all.Tokens == 0 {
		return Candidacy{Reason: "there are no tokens to pack"}
	}
	waste := func(p Point) float64 { return p.Padding() + p.Lost() }
	why := func(p Point) string {
		return fmt.Sprintf("padding (%.2g %%) and the tokens of over-long samples (%.2g %%)", 100*p.Padding(), 100*p.Lost())
	}
	best := points[0]
	for _, p := range points {
		if waste(p) <= tolerable {
			return Candidacy{p.Capacity, fmt.Sprintf("the smallest capacity tried at which %s are together at most %.0f %%", why(p), 100*tolerable)}
		}
		if waste(p) < waste(best) {
			best = p
		}
	}
	return Candidacy{best.Capacity, fmt.Sprintf("%s are together least there among the capacities tried", why(best))}
}

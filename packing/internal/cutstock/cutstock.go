// Package cutstock packs items, known only by how many there are of each size, into as few bins of one capacity as it can, and proves
// how many bins no packing can do without. It is the cutting stock problem: the answer is a list of patterns, each with the number of
// bins filled that way, so that neither memory nor time depends on the number of items.
//
// Whatever guides the search is floating point; whatever is claimed is integers: every bound's last step is exact. A product that is added
// to something is converted to float64 first, which keeps processors from fusing the two: results are the same on all of them.
package cutstock

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A Problem is a histogram of sizes and the limits of a bin.
type Problem struct {
	Sizes    []int32 // strictly descending, each in [1, Capacity]
	Counts   []int64 // Counts[i] items have size Sizes[i]; at least 1 each
	Capacity int     // most that the sizes in a bin may add up to, from 1 to math.MaxInt32
	MaxItems int     // most items in a bin; 0 is no bound
}

// An Item is a size and how often it is in a bin.
type Item struct {
	Size   int32
	Copies int32
}

// A Pattern is a way to fill a bin and the number of bins filled that way.
type Pattern struct {
	Items []Item // sizes strictly descending
	Bins  int64
}

// A Proof names the bound that says that no packing has fewer bins.
type Proof string

// The proofs, from the plainest to the strongest.
const (
	ProofItems Proof = "items" // the number of items over MaxItems
	ProofSize  Proof = "size"  // the sum of the sizes over the capacity, L1
	ProofL2    Proof = "L2"    // Martello and Toth 1990
	ProofDFF   Proof = "dff"   // a dual feasible function: Fekete and Schepers 2001, Carlier, Clautiaux and Moukrim 2007
	ProofLP    Proof = "lp"    // the duals of the linear relaxation of Gilmore and Gomory 1961, rounded and checked in integers
)

// Options say how hard to try. The zero value is the default.
type Options struct {
	Effort int64  // most work, in elementary steps of 2 to 6 nanoseconds; 0 is DefaultEffort
	Gap    int64  // stop as soon as the bins exceed the bound by no more than this
	Seed   uint64 // of the neighbourhood search
}

// DefaultEffort is the work allowed when Options.Effort is 0: of the order of a minute, which only problems that resist use up.
const DefaultEffort = 20_000_000_000

// A Solution is a packing and the certificate of how good it is.
type Solution struct {
	Patterns []Pattern // no two alike, in descending order of their items
	Bins     int64     // the sum of the patterns' bins
	Bound    int64     // no packing has fewer bins
	Proof    Proof     // what proved Bound
	Work     int64     // steps done
	Aborted  bool      // the context ended the search: the packing is valid but another run may find a different one
}

// Gap returns the number of bins above the bound; 0 means that the packing is optimal.
func (s *Solution) Gap() int64 { return s.Bins - s.Bound }

// Solve packs p. It stops as soon as the gap is at most o.Gap or the work is used up; both depend on p and o alone, so that equal
// arguments give equal solutions on any machine. When ctx ends first the best packing so far is returned with Aborted set. The
// error, if any, says what is wrong with p or o.
func Solve(ctx context.Context, p Problem, o Options) (*Solution, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if o.Effort < 0 || o.Gap < 0 {
		return nil, fmt.Errorf("effort %d and gap %d: want neither below 0", o.Effort, o.Gap)
	}
	return solve(ctx, p, o), nil
}

// check returns what is wrong with p.
func (p *Problem) check() error {
	if p.Capacity < 1 || p.Capacity > math.MaxInt32 {
		return fmt.Errorf("capacity %d: want 1 to %d", p.Capacity, math.MaxInt32)
	}
	if p.MaxItems < 0 {
		return fmt.Errorf("most items %d: want at least 0", p.MaxItems)
	}
	if len(p.Sizes) != len(p.Counts) {
		return fmt.Errorf("%d sizes and %d counts: want as many", len(p.Sizes), len(p.Counts))
	}
	total, items := uint64(0), uint64(0)
	for i, s := range p.Sizes {
		if s < 1 || int(s) > p.Capacity {
			return fmt.Errorf("size %d of class %d: want 1 to %d", s, i, p.Capacity)
		}
		if i > 0 && s >= p.Sizes[i-1] {
			return fmt.Errorf("size %d of class %d after %d: want descending", s, i, p.Sizes[i-1])
		}
		n := p.Counts[i]
		if n < 1 {
			return fmt.Errorf("count %d of class %d: want at least 1", n, i)
		}
		hi, lo := bits.Mul64(uint64(s), uint64(n))
		total += lo
		items += uint64(n)
		if hi > 0 || lo > math.MaxInt64 || total > math.MaxInt64 || items > math.MaxInt64 {
			return fmt.Errorf("class %d: the sizes add up to more than %d", i, math.MaxInt64)
		}
	}
	return nil
}

// Verify returns an error unless s packs every item of p exactly once within the limits and claims what it holds. It takes time
// linear in the patterns.
func (s *Solution) Verify(p Problem) error {
	at := make(map[int32]int, len(p.Sizes))
	for i, z := range p.Sizes {
		at[z] = i
	}
	left := slices.Clone(p.Counts)
	bins := int64(0)
	for k, t := range s.Patterns {
		if t.Bins < 1 {
			return fmt.Errorf("pattern %d fills %d bins: want at least 1", k, t.Bins)
		}
		bins += t.Bins
		fill, items := int64(0), int64(0)
		for j, it := range t.Items {
			i, ok := at[it.Size]
			if !ok || it.Copies < 1 || j > 0 && it.Size >= t.Items[j-1].Size {
				return fmt.Errorf("pattern %d: %d copies of size %d", k, it.Copies, it.Size)
			}
			fill += int64(it.Size) * int64(it.Copies)
			items += int64(it.Copies)
			hi, lo := bits.Mul64(uint64(it.Copies), uint64(t.Bins))
			if hi > 0 || lo > uint64(left[i]) {
				return fmt.Errorf("pattern %d: more items of size %d than there are", k, it.Size)
			}
			left[i] -= int64(lo)
		}
		if len(t.Items) == 0 || fill > int64(p.Capacity) || p.MaxItems > 0 && items > int64(p.MaxItems) {
			return fmt.Errorf("pattern %d holds %d items of %d in all: want at most %d of %d", k, items, fill, p.MaxItems, p.Capacity)
		}
	}
	for i, n := range left {
		if n != 0 {
			return fmt.Errorf("%d items of size %d are in no bin", n, p.Sizes[i])
		}
	}
	if bins != s.Bins || s.Bound > s.Bins {
		return fmt.Errorf("%d bins with bound %d claimed for %d", s.Bins, s.Bound, bins)
	}
	return nil
}

// comparePatterns orders patterns by their items, larger first.
func comparePatterns(a, b Pattern) int {
	return slices.CompareFunc(a.Items, b.Items, func(x, y Item) int {
		if c := cmp.Compare(y.Size, x.Size); c != 0 {
			return c
		}
		return cmp.Compare(y.Copies, x.Copies)
	})
}

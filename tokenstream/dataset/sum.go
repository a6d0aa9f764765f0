package dataset

import (
	"cmp"
	"slices"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
)

// unitSum adds up the receipts of units, in their order. Its memory grows with the shards and the input files.
type unitSum struct {
	splits []*Split
	parts  map[string]*splitSum
}

// splitSum is what is known of a split beside it.
type splitSum struct {
	*Split
	files   map[string]int // index in the ledger
	removed map[removalKey]int
	lengths packing.Histogram
	limits  packing.Limits
}

type removalKey struct {
	reason tokenstream.Reason
	file   string
}

func newUnitSum() *unitSum { return &unitSum{parts: map[string]*splitSum{}} }

// add adds a unit.
func (u *unitSum) add(r *Receipt) {
	for _, s := range r.Splits {
		p := u.parts[s.Name]
		if p == nil {
			p = &splitSum{Split: &Split{Name: s.Name, Stats: new(tokenstream.Stats)}, files: map[string]int{}, removed: map[removalKey]int{}}
			u.parts[s.Name] = p
			u.splits = append(u.splits, p.Split)
		}
		p.add(&s)
	}
}

func (p *splitSum) add(s *UnitSplit) {
	p.Rows += s.Rows
	p.Tokens += s.Tokens
	p.Slots += s.Slots
	p.Shards = append(p.Shards, s.Shards...)
	p.limits = s.Limits
	for _, l := range s.Lengths {
		for int64(len(p.lengths)) <= l[0] {
			p.lengths = append(p.lengths, 0)
		}
		p.lengths[l[0]] += l[1]
	}
	if s.Stats == nil {
		return
	}
	to, from := p.Stats, s.Stats
	to.Capacity = from.Capacity
	if to.Rows == 0 || from.Rows > 0 && from.Shortest < to.Shortest {
		to.Shortest = from.Shortest
	}
	to.Rows += from.Rows
	to.Placed += from.Placed
	to.AlignPad += from.AlignPad
	to.Slots += from.Slots
	to.Segments += from.Segments
	to.MaxInRow = max(to.MaxInRow, from.MaxInRow)
	to.Longest = max(to.Longest, from.Longest)
	to.Unlabelled += from.Unlabelled
	to.PaddedToCapacity += from.PaddedToCapacity
	to.PaddedToLongest += from.PaddedToLongest
	p.ledger(&from.Ledger)
}

func (p *splitSum) ledger(from *tokenstream.Ledger) {
	to := &p.Stats.Ledger
	to.In, to.Out = to.In.Plus(from.In), to.Out.Plus(from.Out)
	for _, f := range from.Files {
		i, ok := p.files[f.File]
		if !ok {
			i = len(to.Files)
			p.files[f.File] = i
			to.Files = append(to.Files, tokenstream.FileUse{File: f.File})
		}
		to.Files[i].In, to.Files[i].Out = to.Files[i].In.Plus(f.In), to.Files[i].Out.Plus(f.Out)
	}
	for _, r := range from.Removed {
		key := removalKey{r.Reason, r.File}
		i, ok := p.removed[key]
		if !ok {
			i = len(to.Removed)
			p.removed[key] = i
			to.Removed = append(to.Removed, tokenstream.Removal{Reason: r.Reason, File: r.File})
		}
		to.Removed[i].Affected += r.Affected
		to.Removed[i].Count = to.Removed[i].Plus(r.Count)
	}
}

// finish sets what only all units together tell.
func (u *unitSum) finish() []*Split {
	for _, p := range u.parts {
		p.Stats.LowerBound = p.lengths.LowerBound(p.limits)
		slices.SortFunc(p.Stats.Ledger.Removed, func(a, b tokenstream.Removal) int {
			return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.File, b.File))
		})
	}
	return u.splits
}

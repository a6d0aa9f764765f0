package compare

import (
	"slices"

	"github.com/brimful/brimful/packing"
)

// A padding is a way of not packing: each sample is a row, and rows are padded.
type padding struct {
	name   string
	batch  bool // rows are as long as the longest of their batch, not as the capacity
	sorted bool // batches are made of samples in the order of their lengths
}

var paddings = []padding{
	{"pad-to-capacity", false, false},
	{"pad-to-longest", true, false},
	{"pad-sorted", true, true},
}

// baseline is the padding to whose attention the others are compared.
const baseline = 1

// Padded returns the names under which results without packing are reported: "pad-to-capacity" pads each sample to the capacity,
// "pad-to-longest" to the longest of its batch in file order, "pad-sorted" to the longest of its batch where samples are sorted by
// length.
func Padded() []string {
	var names []string
	for _, p := range paddings {
		names = append(names, p.name)
	}
	return names
}

// pad measures a way of padding.
func (r *Result) pad(way padding, lengths []int32, limits packing.Limits, o Options) {
	if way.sorted {
		lengths = slices.Clone(lengths)
		slices.Sort(lengths)
	}
	r.Rows = int64(len(lengths))
	costs := make([]float64, 0, len(lengths)/o.Batch+1)
	for batch := range slices.Chunk(lengths, o.Batch) {
		row := int64(limits.Capacity)
		if way.batch {
			row = int64(slices.Max(batch))
		}
		n := int64(len(batch))
		r.Slots += n * row
		pairs := float64(n) * square(row)
		r.pairs += pairs
		if len(batch) == o.Batch {
			costs = append(costs, RowCost(n*row, pairs))
		}
	}
	r.Imbalance = imbalance(costs, o.Ranks, o.Seed)
	if r.Rows > 0 {
		r.count(1, r.Rows)
	}
}

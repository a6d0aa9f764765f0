package compare

import "math/rand/v2"

// tokensOfSquares is how many squared tokens of attention cost as much as one token of everything else, for a model of about 7 billion
// parameters and causal attention.
const tokensOfSquares = 53_000

// RowCost is what a row costs to train on, in tokens of a short sample: its slots, and the sum of the squares of its segments' lengths
// over 53,000, as for a model of about 7 billion parameters.
func RowCost(slots int64, squares float64) float64 { return float64(slots) + squares/tokensOfSquares }

func square(n int64) float64 { return float64(n) * float64(n) }

// imbalance returns by how much steps of that many ranks take longer than if no rank waited. Costs are dealt in random order; what is
// left after the last whole step is left out. It reorders costs.
func imbalance(costs []float64, ranks int, seed uint64) *float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(costs), func(i, j int) { costs[i], costs[j] = costs[j], costs[i] })
	slowest, sum := 0., 0.
	for ; len(costs) >= ranks; costs = costs[ranks:] {
		most := 0.
		for _, c := range costs[:ranks] {
			most = max(most, c)
			sum += c
		}
		slowest += most
	}
	if sum == 0 {
		return nil
	}
	x := max(0, slowest*float64(ranks)/sum-1) // rounding may leave a little below 0
	return &x
}

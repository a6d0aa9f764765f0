package compare

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Lengths describe the samples as they came, whatever the capacity.
type Lengths struct {
	Samples int64
	Empty   int64 // samples of 0 tokens, which the figures below leave out
	Tokens  int64
	Min     int64 // tokens of the shortest sample; 0 if there is none
	Max     int64
	sorted  []int32
}

// summarize describes lengths.
func summarize(lengths []int32) (Lengths, error) {
	s := Lengths{Samples: int64(len(lengths)), sorted: slices.Clone(lengths)}
	for i, l := range lengths {
		if l < 0 {
			return s, fmt.Errorf("sample %d: length %d: want 0 or more", i, l)
		}
		s.Tokens += int64(l)
	}
	slices.Sort(s.sorted)
	s.Empty = s.UpTo(0)
	s.sorted = s.sorted[s.Empty:]
	if n := len(s.sorted); n > 0 {
		s.Min, s.Max = int64(s.sorted[0]), int64(s.sorted[n-1])
	}
	return s, nil
}

// UpTo returns how many samples have at most n tokens, empty ones left out.
func (l Lengths) UpTo(n int64) int64 {
	return int64(sort.Search(len(l.sorted), func(i int) bool { return int64(l.sorted[i]) > n }))
}

// TokensUpTo returns the tokens of the samples of at most n tokens. It takes a time proportional to their number.
func (l Lengths) TokensUpTo(n int64) int64 {
	sum := int64(0)
	for _, length := range l.sorted[:l.UpTo(n)] {
		sum += int64(length)
	}
	return sum
}

// Quantile returns the least length that a share q, from 0 to 1, of the samples does not exceed; 0 without samples.
func (l Lengths) Quantile(q float64) int64 {
	n := len(l.sorted)
	if n == 0 {
		return 0
	}
	return int64(l.sorted[min(n-1, max(0, int(math.Ceil(q*float64(n)))-1))])
}

// Mean returns the mean length; 0 without samples.
func (l Lengths) Mean() float64 {
	if len(l.sorted) == 0 {
		return 0
	}
	return float64(l.Tokens) / float64(len(l.sorted))
}

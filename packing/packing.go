// Package packing puts samples, known by their lengths, into as few bins of a fixed capacity as it can.
package packing

import "iter"

// Limits bound every bin.
type Limits struct {
	Capacity   int // most tokens, from 1 to math.MaxInt32
	MaxSamples int // most samples; 0 is no bound
}

// A Strategy decides which sample goes into which bin.
type Strategy interface {
	// Assign sets bin[i] to the bin of the sample of length lengths[i] and returns the number of bins, which are numbered from 0
	// without gaps. Lengths are in [1, limits.Capacity]; bin and lengths are equally long. No bin may exceed a limit. Assign must not
	// modify lengths, retain its arguments or keep state between calls, and must be safe for concurrent use.
	Assign(bin, lengths []int32, limits Limits) int
}

// A Streamer is a strategy that also works on-line.
type Streamer interface {
	Strategy
	// Stream draws lengths one by one and yields each bin as soon as it is closed: the ordinals, from 0, of its samples in ascending
	// order, valid until the next iteration. Every sample is in exactly one bin by the time the sequence ends.
	Stream(lengths iter.Seq[int32], limits Limits) iter.Seq[[]int64]
}

package packing

import "slices"

// A Histogram counts samples by length: h[l] samples have l tokens. It is as long as the longest length needs, or longer.
type Histogram []int64

// Add counts n samples of the given length, which is at least 0, and grows h where needed.
func (h *Histogram) Add(length int32, n int64) {
	if int(length) >= len(*h) {
		*h = append(*h, make([]int64, int(length)+1-len(*h))...)
	}
	(*h)[length] += n
}

// A lengthCount is one entry of a histogram that keeps only the lengths that occur.
type lengthCount struct {
	length int32
	count  int64
}

// sparse returns the lengths that occur in h, ascending.
func (h Histogram) sparse() []lengthCount {
	var s []lengthCount
	for l, n := range h {
		if n > 0 {
			s = append(s, lengthCount{int32(l), n})
		}
	}
	return s
}

// countLengths returns how many of lengths are equal, by ascending length, in O(len(lengths)) memory whatever the lengths are.
func countLengths(lengths []int32) []lengthCount {
	if len(lengths) == 0 {
		return nil
	}
	var s []lengthCount
	if longest := slices.Max(lengths); int(longest) <= 2*len(lengths) {
		counts := make([]int32, longest+1)
		tally(counts, make([]int32, longest+1), lengths)
		for l, n := range counts {
			if n > 0 {
				s = append(s, lengthCount{int32(l), int64(n)})
			}
		}
		return s
	}
	for _, i := range slices.Backward(byLength(lengths)) {
		if l := lengths[i]; len(s) == 0 || s[len(s)-1].length != l {
			s = append(s, lengthCount{length: l})
		}
		s[len(s)-1].count++
	}
	return s
}

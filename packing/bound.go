package packing

import "math"

// LowerBound returns a number of bins that no packing of lengths can go below: the largest of the tokens over the capacity, the samples
// over the most samples a bin, both rounded up, and the bound L2 of Martello and Toth ("Lower bounds and reduction procedures for the
// bin packing problem", 1990), which knows that two samples of more than half a capacity are never together. Lengths fit
// a bin. It takes O(n) time and memory, whatever the lengths are.
func LowerBound(lengths []int32, limits Limits) int {
	return int(lowerBound(limits.round(countLengths(lengths)), limits))
}

// LowerBound is [LowerBound] for the samples that h counts. Samples of length 0 need no bin.
func (h Histogram) LowerBound(limits Limits) int64 {
	s := h.sparse()
	if len(s) > 0 && s[0].length == 0 {
		s = s[1:]
	}
	return lowerBound(limits.round(s), limits)
}

// round returns what samples of lengths take, ascending as they are.
func (l Limits) round(lengths []lengthCount) []lengthCount {
	if l.Align <= 1 {
		return lengths
	}
	var s []lengthCount
	for _, e := range lengths {
		e.length = int32(min(l.takes(e.length), math.MaxInt32))
		if n := len(s); n > 0 && s[n-1].length == e.length {
			s[n-1].count += e.count
		} else {
			s = append(s, e)
		}
	}
	return s
}

func lowerBound(s []lengthCount, limits Limits) int64 {
	samples, bound := int64(0), int64(0)
	for _, e := range s {
		samples += e.count
	}
	if limits.MaxSamples > 0 {
		bound = ceilDiv(samples, int64(limits.MaxSamples))
	}
	return max(bound, martelloToth(s, int64(limits.Capacity)))
}

// martelloToth returns the bound L2, which is never below ceil(tokens / capacity), in O(len(s)).
//
// For a threshold k up to half the capacity c, samples longer than c-k ("huge") have no room for a sample of k or more; samples longer
// than c/2 ("big") are in bins of their own; those of k to c/2 ("middle") fill what the big ones leave and then further bins. The bound
// is the largest over all k, and it suffices to try 0 and the lengths that occur.
func martelloToth(s []lengthCount, c int64) int64 {
	mid := 0 // s[:mid] have lengths up to c/2
	for mid < len(s) && 2*int64(s[mid].length) <= c {
		mid++
	}
	bigCount, bigTokens, hugeCount := int64(0), int64(0), int64(0)
	for _, e := range s[mid:] {
		bigCount += e.count
		bigTokens += e.count * int64(e.length)
	}
	middle := int64(0)
	for _, e := range s[:mid] {
		middle += e.count * int64(e.length)
	}
	bound := int64(0)
	huge := len(s) // s[huge:] are longer than c-k
	try := func(k int64) {
		for huge > mid && int64(s[huge-1].length) > c-k {
			huge--
			bigCount -= s[huge].count
			bigTokens -= s[huge].count * int64(s[huge].length)
			hugeCount += s[huge].count
		}
		room := bigCount*c - bigTokens
		bound = max(bound, hugeCount+bigCount+max(0, ceilDiv(middle-room, c)))
	}
	try(0)
	for _, e := range s[:mid] {
		try(int64(e.length))
		middle -= e.count * int64(e.length)
	}
	return bound
}

// ceilDiv returns the least integer not below a/b, for b > 0.
func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

package packing

// assignDecreasing assigns by s in descending order of lengths and, among equals, ascending order of indices.
func assignDecreasing(s Strategy, bin, lengths []int32, limits Limits) int {
	order := byLength(lengths)
	sorted := make([]int32, len(lengths))
	for k, i := range order {
		sorted[k] = lengths[i]
	}
	sortedBin := make([]int32, len(lengths))
	n := s.Assign(sortedBin, sorted, limits)
	for k, i := range order {
		bin[i] = sortedBin[k]
	}
	return n
}

// byLength returns the indices of lengths by descending length and, among equals, ascending, by radix sort.
func byLength(lengths []int32) []int32 {
	const digit = 11
	order, next := make([]int32, len(lengths)), make([]int32, len(lengths))
	longest := int32(0)
	for i, l := range lengths {
		order[i] = int32(i)
		longest = max(longest, l)
	}
	for shift := 0; longest>>shift > 0; shift += digit {
		var at [1 << digit]int32
		for _, l := range lengths {
			at[l>>shift&(1<<digit-1)]++
		}
		start := int32(0)
		for d := len(at) - 1; d >= 0; d-- {
			at[d], start = start, start+at[d]
		}
		for _, i := range order {
			d := lengths[i] >> shift & (1<<digit - 1)
			next[at[d]] = i
			at[d]++
		}
		order, next = next, order
	}
	return order
}

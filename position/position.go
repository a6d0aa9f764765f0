// Package position turns the lengths of a row's segments into the per-token and per-segment columns by which a trainer keeps the
// segments apart, and back.
//
// For segments of 3, 1 and 2 tokens:
//
//	position_ids  0 1 2 0 0 1     one a token, restarting at 0 in every segment
//	seq_idx       0 0 0 1 2 2     one a token, the segment's number from 0
//	cu_seqlens    0 3 4 6         cumulative lengths, one more than there are segments
//
// The pad tail of a row is a segment like any other: one length more. Positions and offsets are relative to their row.
//
// The Append functions grow dst as append does and never keep their arguments. Lengths are at least 1 and add up to at most
// [math.MaxInt32]; anything else is a mistake of the caller and panics. The Lengths functions read columns of unknown origin: they
// return an error for whatever the Append functions cannot have written.
package position

import (
	"fmt"
	"math"
)

// AppendIDs appends the position_ids of segments of the given lengths.
func AppendIDs(dst []int32, lengths ...int32) []int32 {
	for _, n := range check(lengths) {
		for i := range n {
			dst = append(dst, i)
		}
	}
	return dst
}

// AppendSeqIdx appends the seq_idx of segments of the given lengths.
func AppendSeqIdx(dst []int32, lengths ...int32) []int32 {
	for k, n := range check(lengths) {
		for range n {
			dst = append(dst, int32(k))
		}
	}
	return dst
}

// AppendCuSeqlens appends the cu_seqlens of segments of the given lengths: a 0 and then the running sum after each segment.
func AppendCuSeqlens(dst []int32, lengths ...int32) []int32 {
	end := int32(0)
	dst = append(dst, end)
	for _, n := range check(lengths) {
		end += n
		dst = append(dst, end)
	}
	return dst
}

// check returns lengths, or panics when they are no lengths of a row's segments.
func check(lengths []int32) []int32 {
	sum := int64(0)
	for i, n := range lengths {
		if n < 1 {
			panic(fmt.Sprintf("position: length %d of segment %d is below 1", n, i))
		}
		sum += int64(n)
	}
	if sum > math.MaxInt32 {
		panic(fmt.Sprintf("position: lengths add up to %d, above %d", sum, math.MaxInt32))
	}
	return lengths
}

// LengthsFromIDs appends the segment lengths that position_ids describe. A segment begins wherever the position is 0, so that a
// segment of one token is told from its neighbours. It is an error when the first id is not 0 or an id is neither 0 nor one more
// than the id before it.
func LengthsFromIDs(dst []int32, ids []int32) ([]int32, error) {
	start := 0
	for i, id := range ids {
		switch {
		case id == 0:
			if i > 0 {
				dst = append(dst, int32(i-start))
			}
			start = i
		case i == 0:
			return dst, fmt.Errorf("position_ids[0] = %d: want 0", id)
		case id != ids[i-1]+1:
			return dst, fmt.Errorf("position_ids[%d] = %d after %d: want 0 or %d", i, id, ids[i-1], int64(ids[i-1])+1)
		}
	}
	if len(ids) > 0 {
		dst = append(dst, int32(len(ids)-start))
	}
	return dst, nil
}

// LengthsFromSeqIdx appends the segment lengths that seq_idx describes. It is an error when the first index is not 0 or an index is
// neither that of the token before it nor one more.
func LengthsFromSeqIdx(dst []int32, idx []int32) ([]int32, error) {
	start := 0
	for i, k := range idx {
		switch {
		case i == 0 && k != 0:
			return dst, fmt.Errorf("seq_idx[0] = %d: want 0", k)
		case i == 0 || k == idx[i-1]:
		case k == idx[i-1]+1:
			dst = append(dst, int32(i-start))
			start = i
		default:
			return dst, fmt.Errorf("seq_idx[%d] = %d after %d: want %d or %d", i, k, idx[i-1], idx[i-1], int64(idx[i-1])+1)
		}
	}
	if len(idx) > 0 {
		dst = append(dst, int32(len(idx)-start))
	}
	return dst, nil
}

// LengthsFromCuSeqlens appends the segment lengths that cu_seqlens describes. It is an error when it is empty, does not start at 0
// or does not increase strictly.
func LengthsFromCuSeqlens(dst []int32, cu []int32) ([]int32, error) {
	if len(cu) == 0 {
		return dst, fmt.Errorf("cu_seqlens is empty: want at least the leading 0")
	}
	if cu[0] != 0 {
		return dst, fmt.Errorf("cu_seqlens[0] = %d: want 0", cu[0])
	}
	for i := 1; i < len(cu); i++ {
		if cu[i] <= cu[i-1] {
			return dst, fmt.Errorf("cu_seqlens[%d] = %d after %d: want more than that", i, cu[i], cu[i-1])
		}
		dst = append(dst, cu[i]-cu[i-1])
	}
	return dst, nil
}

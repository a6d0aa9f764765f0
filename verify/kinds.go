package verify

import "math"

// The kinds of columns, by their place in [kinds].
const (
	tokens = iota
	labels
	shiftedLabels
	padLength
	sampleIndex
	cuSeqlens
	lengths
	positionIDs
	seqIdx
	lossMask
	maxSeqlen
	shiftedTokens
	shiftedLossMask
	segmentIDs
	targetSegmentIDs
	segmentStarts
	trueCuSeqlens
	trueLengths
	sampleWeights
	shiftedSampleWeights
	sampleIDs
	sources
	numKinds
)

// kinds is what is known of the kinds of columns that a manifest may name. A new kind is a new line.
var kinds = [numKinds]struct {
	name   string // in the manifest
	reason string // of a fault
	tokens bool   // there is one value a token
	single bool   // there is one value a row, which is no list
	float  bool   // values are the bits of a float32

	// want, if not nil, appends the right values to dst, which follow from the ids, the labels and the boundaries of the row.
	want func(dst []int64, w *row) []int64
}{
	tokens:        {name: "tokens", tokens: true},
	labels:        {name: "labels", tokens: true},
	shiftedLabels: {name: "shifted_labels", reason: "shifted_labels", tokens: true, want: wantShiftedLabels},
	padLength:     {name: "pad_length", single: true},
	sampleIndex:   {name: "sample_index"},
	cuSeqlens:     {name: "cu_seqlens", reason: "cu_seqlens", want: wantCuSeqlens},
	lengths:       {name: "lengths", reason: "seq_lengths", want: wantLengths},
	positionIDs:   {name: "position_ids", reason: "position_ids", tokens: true, want: wantPositionIDs},
	seqIdx:        {name: "seq_idx", reason: "seq_idx", tokens: true, want: wantSeqIdx},
	lossMask:      {name: "loss_mask", reason: "loss_mask", tokens: true, want: wantLossMask},
	maxSeqlen:     {name: "max_seqlen", reason: "max_seqlen", single: true, want: wantMaxSeqlen},

	shiftedTokens:    {name: "shifted_tokens", reason: "shifted_tokens", tokens: true, want: wantShiftedTokens},
	shiftedLossMask:  {name: "shifted_loss_mask", reason: "loss_mask", tokens: true, want: wantShiftedLossMask},
	segmentIDs:       {name: "segment_ids", reason: "segment_ids", tokens: true, want: wantSegmentIDs},
	targetSegmentIDs: {name: "target_segment_ids", reason: "segment_ids", tokens: true, want: wantTargetSegmentIDs},
	segmentStarts:    {name: "segment_starts", reason: "segment_starts", want: wantSegmentStarts},
	trueCuSeqlens:    {name: "true_cu_seqlens", reason: "true_cu_seqlens", want: wantTrueCuSeqlens},
	trueLengths:      {name: "true_lengths", reason: "true_lengths", want: wantTrueLengths},

	sampleWeights:        {name: "sample_weights", reason: "sample_weights", tokens: true, float: true, want: wantSampleWeights},
	shiftedSampleWeights: {name: "shifted_sample_weights", reason: "sample_weights", tokens: true, float: true, want: wantShiftedSampleWeights},
	sampleIDs:            {name: "sample_ids"}, // strings are not read
	sources:              {name: "sources", reason: "sources"},
}

// kindOf returns the kind of that name, or -1.
func kindOf(name string) int {
	for k := range kinds {
		if kinds[k].name == name {
			return k
		}
	}
	return -1
}

func wantCuSeqlens(dst []int64, w *row) []int64 {
	return w.filled(append(dst, w.cu...), len(w.cu))
}

// filled repeats the last of n offsets at the end of dst until there are as many as the job wants.
func (w *row) filled(dst []int64, n int) []int64 {
	for ; n < w.offsets; n++ {
		dst = append(dst, dst[len(dst)-1])
	}
	return dst
}

func wantTrueCuSeqlens(dst []int64, w *row) []int64 {
	sum, n := int64(0), len(w.cu)
	dst = append(dst, 0)
	for _, l := range w.lengths {
		sum += l
		dst = append(dst, sum)
	}
	if w.pad > 0 {
		dst = append(dst, sum)
	}
	return w.filled(dst, n)
}

func wantTrueLengths(dst []int64, w *row) []int64 {
	dst = append(dst, w.lengths...)
	if w.pad > 0 {
		dst = append(dst, 0)
	}
	return dst
}

func wantLengths(dst []int64, w *row) []int64 {
	for k := 1; k < len(w.cu); k++ {
		dst = append(dst, w.cu[k]-w.cu[k-1])
	}
	return dst
}

func wantMaxSeqlen(dst []int64, w *row) []int64 {
	longest := int64(0)
	for k := 1; k < len(w.cu); k++ {
		longest = max(longest, w.cu[k]-w.cu[k-1])
	}
	return append(dst, longest)
}

func wantPositionIDs(dst []int64, w *row) []int64 {
	for k := 1; k < len(w.cu); k++ {
		for i := range w.cu[k] - w.cu[k-1] {
			dst = append(dst, i)
		}
	}
	return dst
}

func wantSeqIdx(dst []int64, w *row) []int64 {
	for k := 1; k < len(w.cu); k++ {
		for range w.cu[k] - w.cu[k-1] {
			dst = append(dst, int64(k-1))
		}
	}
	return dst
}

func wantLossMask(dst []int64, w *row) []int64 {
	for _, l := range w.columns[labels] {
		if l == ignore {
			dst = append(dst, 0)
		} else {
			dst = append(dst, 1)
		}
	}
	return dst
}

func wantShiftedLabels(dst []int64, w *row) []int64 {
	for k := 1; k < len(w.cu); k++ {
		dst = append(append(dst, w.columns[labels][w.cu[k-1]+1:w.cu[k]]...), ignore)
	}
	return dst
}

// wantShiftedTokens has the next id of the segment, and 0 where there is none.
func wantShiftedTokens(dst []int64, w *row) []int64 {
	return byToken(dst, w, func(k int, at, end int64) int64 {
		if at+1 == end {
			return 0
		}
		return w.columns[tokens][at+1]
	})
}

func wantShiftedLossMask(dst []int64, w *row) []int64 {
	return byToken(dst, w, func(k int, at, end int64) int64 {
		if at+1 == end || w.columns[labels][at+1] == ignore {
			return 0
		}
		return 1
	})
}

func wantSegmentIDs(dst []int64, w *row) []int64 {
	return byToken(dst, w, func(k int, at, end int64) int64 { return int64(k) + 1 })
}

func wantTargetSegmentIDs(dst []int64, w *row) []int64 {
	return byToken(dst, w, func(k int, at, end int64) int64 {
		if at+1 == end || w.columns[labels][at+1] == ignore {
			return 0
		}
		return int64(k) + 1
	})
}

func wantSegmentStarts(dst []int64, w *row) []int64 { return append(dst, w.cu[:w.segments()]...) }

func wantSampleWeights(dst []int64, w *row) []int64 { return appendWeights(dst, w, 0) }

func wantShiftedSampleWeights(dst []int64, w *row) []int64 { return appendWeights(dst, w, 1) }

// appendWeights appends for each token 1 / the supervised tokens of its segment if the token that comes shift places later in it is to be
// learnt, else 0.
func appendWeights(dst []int64, w *row, shift int64) []int64 {
	weight, of := int64(0), -1
	return byToken(dst, w, func(k int, at, end int64) int64 {
		from := w.cu[k]
		if of != k {
			weight, of = 0, k
			if n := supervised(w.columns[labels][from : from+w.lengths[k]]); n > 0 {
				weight = int64(math.Float32bits(1 / float32(n)))
			}
		}
		if at+shift >= end || w.columns[labels][at+shift] == ignore {
			return 0
		}
		return weight
	})
}

// byToken appends a value for each token: what f says of the segment, the token's place in the row and the segment's end, and 0 on the
// pad tail.
func byToken(dst []int64, w *row, f func(k int, at, end int64) int64) []int64 {
	for k := range w.segments() {
		for i := w.cu[k]; i < w.cu[k+1]; i++ {
			dst = append(dst, f(k, i, w.cu[k+1]))
		}
	}
	for range w.pad {
		dst = append(dst, 0)
	}
	return dst
}

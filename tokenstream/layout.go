package tokenstream

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brimful/brimful/position"
)

// A Layout says which columns a row has in a file. It is a table: another trainer is another table.
type Layout struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`

	Ragged       bool `json:"ragged,omitempty"`         // rows are not padded unless that is asked for
	RowGroupRows int  `json:"row_group_rows,omitempty"` // most rows in a row group of Parquet; 0 is no bound
	AlignInputs  bool `json:"align_inputs,omitempty"`   // the trainer takes a segment without its last token: that is what is aligned

	Aligned []Column `json:"-"` // columns beside or, if the name is the same, in place of the others where segments are aligned

	Trainer string `json:"-"` // who reads it
	Needs   string `json:"-"` // what the trainer has to be told
	Trap    string `json:"-"` // what goes wrong without a word
}

// A Column is one column of a layout.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Type Type   `json:"type"`
}

// A Kind is what a column holds. Kinds of one value a token or a segment are lists, the others one number a row.
type Kind uint8

const (
	Tokens        Kind = iota // the ids, pad tail included
	Labels                    // unshifted labels
	ShiftedLabels             // labels moved by one: the target of each token; Ignore on the last token of every segment
	PositionIDs               // restarting at 0 in every segment; the pad tail is one segment
	SeqIdx                    // number of the segment, from 0, a token
	CuSeqlens                 // offsets of the segments: 0 first, the row's length last
	Lengths                   // lengths of the segments, pad tail included, so that they add up to the row's length
	LossMask                  // 1 where Labels is not Ignore, else 0
	MaxSeqlen                 // longest segment, pad tail included
	PadLength                 // tokens of the pad tail
	SampleIndex               // the source ordinal of each segment but the pad tail

	ShiftedTokens    // the next id of the segment; 0 on its last token and on the pad tail
	ShiftedLossMask  // 1 where ShiftedLabels is not Ignore, else 0
	SegmentIDs       // number of the segment, from 1, a token; 0 on the pad tail
	TargetSegmentIDs // SegmentIDs where ShiftedLabels is not Ignore, else 0
	SegmentStarts    // offsets at which the segments begin, without the pad tail's

	TrueCuSeqlens // sums of TrueLengths, 0 first: CuSeqlens if no padding stood between segments. The pad tail adds nothing
	TrueLengths   // as many as Lengths: the segments without the padding that aligns them, and 0 for the pad tail

	SampleWeights        // 1 / the supervised tokens of the segment where Labels is not Ignore, else 0
	ShiftedSampleWeights // SampleWeights moved by one like ShiftedLabels
	SampleIDs            // the source's own name of each segment's sample, "" if it has none, the pad tail left out
	Sources              // which source of a mixture each segment is of, from 0, the pad tail left out
)

// A Type is the element type of a column.
type Type uint8

const (
	Int32 Type = iota
	Int64
	Int8
	Float32 // of weights
	String  // of sample ids
)

var kindNames = [...]string{"tokens", "labels", "shifted_labels", "position_ids", "seq_idx", "cu_seqlens", "lengths", "loss_mask",
	"max_seqlen", "pad_length", "sample_index", "shifted_tokens", "shifted_loss_mask", "segment_ids", "target_segment_ids", "segment_starts",
	"true_cu_seqlens", "true_lengths", "sample_weights", "shifted_sample_weights", "sample_ids", "sources"}

var kindTexts = [...]string{
	"ids of whole samples one after another, then the pad tail",
	"unshifted: the id at the same place, or -100 where nothing is to be learnt, on the first token of every segment and on the pad tail",
	"the target of each token: labels moved by one inside each segment, -100 on its last token",
	"0, 1, 2, ... restarting in every segment; the pad tail is one segment",
	"number of the segment a token is in, from 0",
	"offsets of the segments: 0 first, the row's length last; the pad tail is the last segment",
	"lengths of the segments; the pad tail counts, so that they add up to the row's length",
	"1 where a token is to be learnt, else 0",
	"the longest segment of the row, pad tail included",
	"tokens of the pad tail, 0 if there is none",
	"where each segment's sample stands in the source, counted from 0; none for the pad tail",
	"the id that follows in the segment; 0 on its last token and on the pad tail",
	"1 where the next token of the segment is to be learnt, else 0",
	"number of the segment a token is in, from 1; 0 on the pad tail",
	"number of the segment, from 1, where the next token is to be learnt, else 0",
	"offsets at which the segments begin; the pad tail is none",
	"sums of the segments' tokens, 0 first, the padding that aligns them and the pad tail not counted; as many as cu_seqlens",
	"lengths of the segments without the padding that aligns them, and 0 for the pad tail",
	"1 / the supervised tokens of the segment where a token is to be learnt, else 0: with them the mean over samples is that of no packing",
	"sample_weights for the next token, like shifted_labels",
	"the source's own name of each segment's sample; none for the pad tail",
	"which source of the mixture each segment is of, counted from 0; none for the pad tail",
}

// Describe returns one sentence on what a column of this kind holds.
func (k Kind) Describe() string { return name(kindTexts[:], int(k), "Kind") }

var typeNames = [...]string{"int32", "int64", "int8", "float32", "string"}

// String returns the kind's name in manifests and tables of a user's own.
func (k Kind) String() string { return name(kindNames[:], int(k), "Kind") }

// String returns the type's name, such as "int32".
func (t Type) String() string { return name(typeNames[:], int(t), "Type") }

func name(names []string, i int, what string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

// MarshalText returns the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalText returns the type's name.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText sets k to the kind of that name.
func (k *Kind) UnmarshalText(text []byte) error {
	i, err := lookup(kindNames[:], text, "kind")
	*k = Kind(i)
	return err
}

// UnmarshalText sets t to the type of that name.
func (t *Type) UnmarshalText(text []byte) error {
	i, err := lookup(typeNames[:], text, "type")
	*t = Type(i)
	return err
}

func lookup(names []string, text []byte, what string) (int, error) {
	i := slices.Index(names, string(text))
	if i < 0 {
		return 0, fmt.Errorf("%s %q: want one of %s", what, text, strings.Join(names, ", "))
	}
	return i, nil
}

// List reports whether a column of this kind holds a list a row, rather than one number.
func (k Kind) List() bool { return k != MaxSeqlen && k != PadLength }

// types reports whether a column of kind k can have elements of type t.
func (k Kind) types(t Type) bool {
	switch k {
	case SampleWeights, ShiftedSampleWeights:
		return t == Float32
	case SampleIDs:
		return t == String
	}
	return t <= Int8
}

// narrow reports whether all values of a column of kind k fit into an int8.
func (k Kind) narrow() bool { return k == LossMask || k == ShiftedLossMask }

// AppendInt32 appends the values of a column of kind k for row b, one value if k is no list; those of weights are the bits of a float32.
// It panics for [SampleIndex], whose values need not fit, and for [SampleIDs]: see [Kind.AppendInt64] and [Segment.ID].
func (k Kind) AppendInt32(dst []int32, b *Batch) []int32 {
	switch k {
	case Tokens:
		return append(dst, b.Tokens...)
	case Labels:
		return append(dst, b.Labels...)
	case ShiftedLabels:
		for i := 1; i < len(b.Labels); i++ {
			dst = append(dst, b.Labels[i]) // Ignore on every first token, hence on every last one after the shift
		}
		return append(dst, Ignore)
	case LossMask:
		for _, l := range b.Labels {
			if l == Ignore {
				dst = append(dst, 0)
			} else {
				dst = append(dst, 1)
			}
		}
		return dst
	case PadLength:
		return append(dst, b.Pad)
	case SampleWeights:
		return b.appendWeights(dst)
	case ShiftedSampleWeights:
		dst = b.appendWeights(dst)
		row := dst[len(dst)-len(b.Labels):]
		copy(row, row[min(1, len(row)):]) // 0 on every first token, hence on every last one after the shift
		if len(row) > 0 {
			row[len(row)-1] = 0
		}
		return dst
	case Sources:
		for _, s := range b.Segments {
			dst = append(dst, s.Source)
		}
		return dst
	case TrueLengths:
		for _, s := range b.Segments {
			dst = append(dst, s.Length)
		}
		if b.Pad > 0 {
			dst = append(dst, 0)
		}
		return dst
	case TrueCuSeqlens:
		sum, n := int32(0), len(dst)
		dst = append(dst, 0)
		for _, s := range b.Segments {
			sum += s.Length
			dst = append(dst, sum)
		}
		if b.Pad > 0 {
			dst = append(dst, sum)
		}
		return b.filled(dst, len(dst)-n)
	case ShiftedTokens, ShiftedLossMask, SegmentIDs, TargetSegmentIDs, SegmentStarts:
		return k.appendBySegment(dst, b)
	case PositionIDs:
		return position.AppendIDs(dst, b.lengths()...)
	case SeqIdx:
		return position.AppendSeqIdx(dst, b.lengths()...)
	case CuSeqlens:
		lengths := b.lengths()
		return b.filled(position.AppendCuSeqlens(dst, lengths...), len(lengths)+1)
	case Lengths:
		return append(dst, b.lengths()...)
	case MaxSeqlen:
		longest := int32(0)
		for _, n := range b.lengths() {
			longest = max(longest, n)
		}
		return append(dst, longest)
	}
	panic(fmt.Sprintf("tokenstream: no int32 values of kind %d", k))
}

// appendWeights appends the bits of the weights of b's tokens.
func (b *Batch) appendWeights(dst []int32) []int32 {
	from := len(dst)
	dst = slices.Grow(dst, len(b.Labels))[:from+len(b.Labels)]
	row := dst[from:]
	clear(row)
	at := 0
	for _, s := range b.Segments {
		labels := b.Labels[at : at+int(s.Length)]
		if n := supervised(labels); n > 0 {
			weight := int32(math.Float32bits(1 / float32(n)))
			for i, l := range labels {
				if l != Ignore {
					row[at+i] = weight
				}
			}
		}
		at += int(s.slots())
	}
	return dst
}

// appendBySegment is AppendInt32 for kinds in which the pad tail is no segment.
func (k Kind) appendBySegment(dst []int32, b *Batch) []int32 {
	at := 0
	for n, s := range b.Segments {
		end := at + int(s.slots())
		if k == SegmentStarts {
			dst = append(dst, int32(at))
			at = end
			continue
		}
		for i := at; i < end; i++ {
			isTarget := i+1 < end && b.Labels[i+1] != Ignore
			switch {
			case k == SegmentIDs, k == TargetSegmentIDs && isTarget:
				dst = append(dst, int32(n+1))
			case k == ShiftedTokens && i+1 < end:
				dst = append(dst, b.Tokens[i+1])
			case k == ShiftedLossMask && isTarget:
				dst = append(dst, 1)
			default:
				dst = append(dst, 0)
			}
		}
		at = end
	}
	if k != SegmentStarts {
		for range b.Pad {
			dst = append(dst, 0)
		}
	}
	return dst
}

// AppendInt64 is AppendInt32 for all kinds, [SampleIndex] included.
func (k Kind) AppendInt64(dst []int64, b *Batch) []int64 {
	if k == SampleIndex {
		for _, s := range b.Segments {
			dst = append(dst, s.Sample)
		}
		return dst
	}
	for _, v := range k.AppendInt32(nil, b) {
		dst = append(dst, int64(v))
	}
	return dst
}

// filled repeats the last of the n offsets at the end of dst until there are as many as b has to have.
func (b *Batch) filled(dst []int32, n int) []int32 {
	for ; n <= b.Counts; n++ {
		dst = append(dst, dst[len(dst)-1])
	}
	return dst
}

// lengths returns the lengths of b's segments with the padding that aligns them, the pad tail's last.
func (b *Batch) lengths() []int32 {
	lengths := make([]int32, 0, len(b.Segments)+1)
	for _, s := range b.Segments {
		lengths = append(lengths, s.slots())
	}
	if b.Pad > 0 {
		lengths = append(lengths, b.Pad)
	}
	return lengths
}

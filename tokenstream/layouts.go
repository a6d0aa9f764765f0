package tokenstream

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// HF is the default layout. The Trainer of transformers, TRL and most of what builds on them read it.
var HF = Layout{Name: "hf", Columns: []Column{
	{"input_ids", Tokens, Int32},
	{"labels", Labels, Int32},
	{"position_ids", PositionIDs, Int32},
	{"cu_seqlens", CuSeqlens, Int32},
	{"seq_lengths", Lengths, Int32},
	{"max_seqlen", MaxSeqlen, Int32},
	{"pad_length", PadLength, Int32},
	{"sample_index", SampleIndex, Int64},
},
	Aligned: []Column{{"cu_seqlens", TrueCuSeqlens, Int32}, {"cu_seqlens_padded", CuSeqlens, Int32}},
	Trainer: "Trainer of transformers, TRL, and what builds on them",
	Needs:   "TRL: packing=True, packing_strategy=\"bfd\", dataset_kwargs={\"skip_prepare_dataset\": True}; Trainer: the collator of the card",
	Trap:    "an attention_mask, even of ones, makes models ignore the boundaries; on hybrid models position_ids alone leak state across samples",
}

// Layouts returns the layouts that have a name, the default first.
func Layouts() []Layout {
	return []Layout{HF,
		{Name: "megatron-bridge", Ragged: true, RowGroupRows: 500, Columns: []Column{
			{"input_ids", Tokens, Int32},
			{"seq_start_id", SegmentStarts, Int32},
			{"loss_mask", ShiftedLossMask, Int8},
		},
			AlignInputs: true,
			Trainer:     "Megatron-Bridge, packed Parquet",
			Needs:       "the directory or a glob of the .parquet files, OUT/metadata.json beside them; micro batch 1, answer_only_loss",
			Trap:        "it reads ids[start:end-1] as input and ids[start+1:end] as labels, and the mask at the input's places; trailing EOS is taken for padding",
		},
		{Name: "automodel", Columns: []Column{
			{"input_ids", Tokens, Int32},
			{"labels", ShiftedLabels, Int32},
			{"position_ids", PositionIDs, Int32},
			{"seq_lens", Lengths, Int32},
		},
			Aligned: []Column{{"seq_lens", TrueLengths, Int32}, {"seq_lens_padded", Lengths, Int32}},
			Trainer: "NeMo Automodel",
			Needs:   "the thd collater; it takes seq_lens for seq_lens_padded where that is absent",
			Trap:    "labels are shifted already: a trainer that shifts by itself learns the token after the next",
		},
		{Name: "torchtitan", Columns: []Column{
			{"input_ids", Tokens, Int32},
			{"labels", ShiftedLabels, Int32},
			{"positions", PositionIDs, Int32},
		},
			Trainer: "torchtitan",
			Needs:   "a data source of a few lines that yields the three columns",
			Trap:    "labels are shifted already",
		},
		{Name: "prime-rl", Columns: []Column{
			{"input_ids", Tokens, Int32},
			{"target_ids", ShiftedTokens, Int32},
			{"position_ids", PositionIDs, Int32},
			{"loss_mask", ShiftedLossMask, Int8},
			{"seq_lens", Lengths, Int32},
		},
			Trainer: "prime-rl, supervised fine-tuning",
			Needs:   "flash attention",
			Trap:    "target_ids are shifted already; what is not to be learnt is in loss_mask alone",
		},
		{Name: "maxtext", Columns: []Column{
			{"inputs", Tokens, Int32},
			{"targets", ShiftedTokens, Int32},
			{"inputs_segmentation", SegmentIDs, Int32},
			{"targets_segmentation", TargetSegmentIDs, Int32},
			{"inputs_position", PositionIDs, Int32},
			{"targets_position", PositionIDs, Int32},
		},
			Trainer: "MaxText, and others that read grain's packed rows",
			Needs:   "rows as long as max_target_length: --capacity is that length",
			Trap:    "0 in a segmentation column is padding, so that segments count from 1",
		},
		{Name: "llama-factory", Columns: []Column{
			{"input_ids", Tokens, Int32},
			{"attention_mask", SegmentIDs, Int32},
			{"labels", Labels, Int32},
			{"position_ids", PositionIDs, Int32},
		},
			Trainer: "LLaMA-Factory",
			Needs:   "--format hf, tokenized_path: OUT, neat_packing: true; --capacity of cutoff_len + 1 gives rows as it makes them",
			Trap:    "the attention_mask counts segments from 1; only with neat_packing does that keep them apart",
		},
		{Name: "torchtune", Columns: []Column{
			{"tokens", Tokens, Int32},
			{"labels", Labels, Int32},
			{"input_pos", PositionIDs, Int32},
			{"seq_lens", Lengths, Int32},
		},
			Trainer: "torchtune",
			Needs:   "its packed collate function, which builds the block mask from seq_lens",
			Trap:    "labels are unshifted, the recipe shifts them",
		},
	}
}

// LookupLayout returns the layout of that name.
func LookupLayout(name string) (Layout, error) {
	var names []string
	for _, l := range Layouts() {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return Layout{}, fmt.Errorf("layout %q: want one of %s", name, strings.Join(names, ", "))
}

// usual returns the type of a column of kind k of which none is given.
func (k Kind) usual() Type {
	switch {
	case k == SampleIndex:
		return Int64
	case k.types(Int32):
		return Int32
	case k.types(Float32):
		return Float32
	}
	return String
}

// ParseColumn reads a column from text such as "labels=shifted_labels:int64". The type may be left out: it is int32, int64 for
// sample_index, float32 for weights and string for sample_ids.
func ParseColumn(text string) (Column, error) {
	var c Column
	name, rest, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return c, fmt.Errorf("column %q: want NAME=KIND or NAME=KIND:TYPE", text)
	}
	c.Name = name
	kind, typeName, typed := strings.Cut(rest, ":")
	if err := c.Kind.UnmarshalText([]byte(kind)); err != nil {
		return c, fmt.Errorf("column %q: %w", text, err)
	}
	c.Type = c.Kind.usual()
	if typed {
		if err := c.Type.UnmarshalText([]byte(typeName)); err != nil {
			return c, fmt.Errorf("column %q: %w", text, err)
		}
	}
	return c, nil
}

// ParseLayout reads a layout of a user's own from JSON: a name and columns with name, kind and, if it is not int32, type.
func ParseLayout(text []byte) (Layout, error) {
	var l Layout
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, err
	}
	return l, l.Check()
}

// ForAlignment returns the layout for rows whose segments are aligned: l.Aligned among its columns, and in any case one from which the
// true lengths of the segments follow.
func (l Layout) ForAlignment() Layout {
	l.Columns = slices.Clone(l.Columns)
	for _, c := range l.Aligned {
		if i := slices.IndexFunc(l.Columns, func(have Column) bool { return have.Name == c.Name }); i >= 0 {
			l.Columns[i] = c
		} else {
			l.Columns = append(l.Columns, c)
		}
	}
	if !slices.ContainsFunc(l.Columns, func(c Column) bool { return c.Kind == TrueLengths || c.Kind == TrueCuSeqlens }) {
		l.Columns = append(l.Columns, Column{"true_lengths", TrueLengths, Int32})
	}
	return l
}

// Check returns an error if no file can have the columns of l.
func (l *Layout) Check() error {
	if l.Name == "" || len(l.Columns) == 0 {
		return fmt.Errorf("layout %q with %d columns: want a name and at least 1 column", l.Name, len(l.Columns))
	}
	for i, c := range l.Columns {
		switch {
		case c.Name == "":
			return fmt.Errorf("layout %q: column %d has no name", l.Name, i)
		case slices.ContainsFunc(l.Columns[:i], func(o Column) bool { return o.Name == c.Name }):
			return fmt.Errorf("layout %q: two columns are named %q", l.Name, c.Name)
		case c.Type == Int8 && !c.Kind.narrow():
			return fmt.Errorf("layout %q: column %q of kind %v is int8: want int32 or int64, which its values need", l.Name, c.Name, c.Kind)
		}
		if err := c.Check(); err != nil {
			return fmt.Errorf("layout %q: %w", l.Name, err)
		}
	}
	if !slices.ContainsFunc(l.Columns, func(c Column) bool { return c.Kind == Tokens }) {
		return fmt.Errorf("layout %q has no column of kind tokens", l.Name)
	}
	return nil
}

// Check returns an error if there can be no such column.
func (c Column) Check() error {
	switch {
	case int(c.Kind) >= len(kindNames) || int(c.Type) >= len(typeNames):
		return fmt.Errorf("column %q of %v, %v: there is no such kind or type", c.Name, c.Kind, c.Type)
	case !c.Kind.types(c.Type):
		return fmt.Errorf("column %q of kind %v is %v: want %s", c.Name, c.Kind, c.Type, c.Kind.allTypes())
	}
	return nil
}

// allTypes names the types that a column of kind k can have.
func (k Kind) allTypes() string {
	var names []string
	for t := range typeNames {
		if k.types(Type(t)) {
			names = append(names, typeNames[t])
		}
	}
	return strings.Join(names, " or ")
}

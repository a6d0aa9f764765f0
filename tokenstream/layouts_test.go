package tokenstream_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
)

// Every layout with a name is one that files can have, and says what a user has to know.
func TestLayouts(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range tokenstream.Layouts() {
		require.False(t, seen[l.Name])
		seen[l.Name] = true
		require.NoError(t, l.Check())
		require.NotEmpty(t, l.Trainer)
		require.NotEmpty(t, l.Needs)
		require.NotEmpty(t, l.Trap)
		got, err := tokenstream.LookupLayout(l.Name)
		require.NoError(t, err)
		require.Equal(t, l, got)
		text, err := json.Marshal(l)
		require.NoError(t, err)
		parsed, err := tokenstream.ParseLayout(text)
		require.NoError(t, err)
		require.Equal(t, l.Columns, parsed.Columns)
		require.Equal(t, l.Ragged, parsed.Ragged)
	}
	require.Equal(t, tokenstream.HF, tokenstream.Layouts()[0])
	_, err := tokenstream.LookupLayout("none")
	require.ErrorContains(t, err, `layout "none": want one of hf, megatron-bridge, automodel`)
}

func TestParseColumn(t *testing.T) {
	for text, want := range map[string]tokenstream.Column{
		"a=tokens":                    {Name: "a", Kind: tokenstream.Tokens},
		"labels=shifted_labels:int64": {Name: "labels", Kind: tokenstream.ShiftedLabels, Type: tokenstream.Int64},
		"i=sample_index":              {Name: "i", Kind: tokenstream.SampleIndex, Type: tokenstream.Int64},
		"m=loss_mask:int8":            {Name: "m", Kind: tokenstream.LossMask, Type: tokenstream.Int8},
	} {
		got, err := tokenstream.ParseColumn(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"a":             `column "a": want NAME=KIND or NAME=KIND:TYPE`,
		"=tokens":       "want NAME=KIND",
		"a=none":        `column "a=none": kind "none": want one of tokens, labels`,
		"a=tokens:none": `type "none": want one of int32`,
	} {
		_, err := tokenstream.ParseColumn(text)
		require.ErrorContains(t, err, want)
	}
}

func TestParseLayoutRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"x"`:                "unexpected EOF",
		`{"name":"x","rows":1}`:      "unknown field",
		`{"name":"x","columns":[]}`:  "with 0 columns",
		`{"columns":[{"name":"a"}]}`: "want a name",
		`{"name":"x","columns":[{"name":"a","kind":"labels"}]}`:                                                  "no column of kind tokens",
		`{"name":"x","columns":[{"name":"a","kind":"tokens"},{"name":"a","kind":"labels"}]}`:                     `two columns are named "a"`,
		`{"name":"x","columns":[{"kind":"tokens"}]}`:                                                             "column 0 has no name",
		`{"name":"x","columns":[{"name":"a","kind":"tokens","type":"int8"}]}`:                                    "is int8: want int32 or int64",
		`{"name":"x","columns":[{"name":"a","kind":"tokens"},{"name":"b","kind":"position_ids","type":"int8"}]}`: "is int8: want int32 or int64",
	} {
		_, err := tokenstream.ParseLayout([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

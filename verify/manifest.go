package verify

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

const manifestName = "brimful.json"

// version is that of the manifests which are known here.
const version = 1

// manifest is what brimful.json says, as far as it is checked.
type manifest struct {
	Version int
	Format  string
	Columns []column
	Job     job
	Splits  []split
	Inputs  []struct{ Path string }
	Sources []string // of a mixture
}

// job is what the rows were asked to be. What the manifest does not say is nil.
type job struct {
	Format *string
	Layout *struct {
		Columns     []column
		AlignInputs bool `json:"align_inputs"`
	}
	Capacity        *int64
	MaxSamples      *int64 `json:"max_samples"`
	MaxSampleTokens *int64 `json:"max_sample_tokens"`
	Pad             *bool
	PadID           *int64  `json:"pad_id"`
	VocabSize       *int64  `json:"vocab_size"`
	TooLong         *string `json:"too_long"`
	NoTarget        *string `json:"no_target"`
	Labels          *string
	Limit           int64
	LimitTokens     int64 `json:"limit_tokens"`
	Units           int64 // parts that were packed apart
	Align           int64
	AlignRows       int64 `json:"align_rows"`
	FixedCounts     bool  `json:"fixed_counts"`
	Holdout         float64
	HoldoutIDs      any `json:"holdout_ids"` // nil if there are none
	Sources         []struct {
		Name   string
		Weight float64
		Repeat any
	}
}

// column is a column in the manifest or in a file.
type column struct {
	Name, Kind, Type string

	list   bool // of a file: it holds lists
	usable bool // of a file: its values are given to the checks
}

type split struct {
	Name                string
	Rows, Tokens, Slots int64
	Stats               *stats
	Mixture             *mixture
	Shards              []shard
}

type shard struct {
	Path                string
	Rows, Tokens, Slots int64
	Content             string
	Size                int64
	SHA256              string
}

type stats struct {
	Ledger struct {
		In, Out count
		Removed []removal
		Files   []struct {
			File    string
			In, Out count
		}
		Sources []struct{ In, Out count }
	}
	Capacity, Rows, Placed, Slots, Segments int64
	LowerBound                              int64 `json:"lower_bound"`
	MaxInRow                                int64 `json:"max_in_row"`
	AlignPad                                int64 `json:"align_pad"`
	Longest, Unlabelled                     int64
	PaddedToCapacity                        int64 `json:"padded_to_capacity"`
	PaddedToLongest                         int64 `json:"padded_to_longest"`
}

type count struct{ Samples, Tokens, Supervised int64 }

func (c count) plus(d count) count {
	return count{c.Samples + d.Samples, c.Tokens + d.Tokens, c.Supervised + d.Supervised}
}

type removal struct {
	Reason, File string
	Affected     int64
	Samples      int64
	Tokens       int64
	Supervised   int64
}

func (r removal) count() count { return count{r.Samples, r.Tokens, r.Supervised} }

// required are the keys that the objects of a manifest have, by where they are.
var required = map[string][]string{
	"":                             {"version", "format", "layout", "columns", "job", "splits", "inputs"},
	".columns":                     {"name", "kind", "type"},
	".splits":                      {"name", "rows", "tokens", "slots", "shards"},
	".splits.shards":               {"path", "rows", "tokens", "slots", "content", "size", "sha256"},
	".splits.stats":                {"ledger", "capacity", "rows", "placed", "slots", "lower_bound", "segments", "max_in_row", "longest", "unlabelled", "padded_to_capacity", "padded_to_longest"},
	".splits.stats.ledger":         {"in", "out", "removed", "files"},
	".splits.stats.ledger.in":      {"samples", "tokens", "supervised"},
	".splits.stats.ledger.out":     {"samples", "tokens", "supervised"},
	".splits.stats.ledger.removed": {"reason", "affected", "samples", "tokens", "supervised"},
	".splits.stats.ledger.files":   {"file", "in", "out"},
}

// missing returns the keys that are not there, each once.
func missing(where string, v any) []string {
	var keys []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			keys = append(keys, missing(where, e)...)
		}
	case map[string]any:
		for _, k := range required[where] {
			if _, ok := v[k]; !ok {
				keys = append(keys, where+"."+k)
			}
		}
		for k, e := range v {
			keys = append(keys, missing(where+"."+k, e)...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// readManifest reads the manifest, and what is wrong with its form. The error is that of the system.
func readManifest(path string) (m *manifest, wrong, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	m = new(manifest)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, err, nil
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err, nil
	}
	if m.Version > version {
		return nil, nil, fmt.Errorf("%s: version %d: this program knows up to %d", path, m.Version, version)
	}
	if keys := missing("", v); len(keys) > 0 {
		wrong = fmt.Errorf("no %v in it", keys)
	}
	return m, wrong, nil
}

// plain are the columns of the default layout and those that may be beside them, by which rows without a manifest are read.
var plain = []column{
	{Name: "input_ids", Kind: "tokens", Type: "int32"}, {Name: "labels", Kind: "labels", Type: "int32"},
	{Name: "position_ids", Kind: "position_ids", Type: "int32"}, {Name: plainCuSeqlens, Kind: "cu_seqlens", Type: "int32"},
	{Name: "seq_lengths", Kind: "lengths", Type: "int32"}, {Name: "max_seqlen", Kind: "max_seqlen", Type: "int32"},
	{Name: "pad_length", Kind: "pad_length", Type: "int32"}, {Name: "sample_index", Kind: "sample_index", Type: "int64"},
	{Name: "seq_idx", Kind: "seq_idx", Type: "int32"}, {Name: plainPadded, Kind: "cu_seqlens", Type: "int32"},
}

// The column plainCuSeqlens is that of the true offsets where there is one of the name plainPadded beside it.
const plainCuSeqlens, plainPadded = "cu_seqlens", "cu_seqlens_padded"

package verify

import (
	"encoding/json"
	"errors"
	"os"
)

const manifestName = "brimful.json"

// manifest is what brimful.json says, as far as it is checked.
type manifest struct {
	Format  string
	Columns []column
	Job     struct {
		Capacity        int
		MaxSamples      int `json:"max_samples"`
		MaxSampleTokens int `json:"max_sample_tokens"`
		Pad             *bool
		PadID           int64  `json:"pad_id"`
		VocabSize       int64  `json:"vocab_size"`
		TooLong         string `json:"too_long"`
		NoTarget        string `json:"no_target"`
		Labels          string
		Limit           int64
		LimitTokens     int64 `json:"limit_tokens"`
	}
	Splits []struct {
		Name                string
		Rows, Tokens, Slots int64
		Stats               *stats
		Shards              []shard
	}
}

type column struct{ Name, Kind, Type string }

type shard struct {
	Path                string
	Rows, Tokens, Slots int64
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
	}
	Rows, Placed, Slots, Segments int64
	LowerBound                    int64 `json:"lower_bound"`
	MaxInRow                      int64 `json:"max_in_row"`
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

// readManifest reads the manifest. It has to name the columns and at least one split.
func readManifest(path string) (*manifest, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	if len(m.Columns) == 0 || len(m.Splits) == 0 {
		return nil, errors.New("no columns or no splits in it")
	}
	return &m, nil
}

// plain are the columns of the default layout, by which rows without a manifest are read.
var plain = []column{
	{"input_ids", "tokens", "int32"}, {"labels", "labels", "int32"}, {"position_ids", "position_ids", "int32"}, {"cu_seqlens", "cu_seqlens", "int32"},
	{"seq_lengths", "lengths", "int32"}, {"max_seqlen", "max_seqlen", "int32"}, {"pad_length", "pad_length", "int32"}, {"sample_index", "sample_index", "int64"},
}

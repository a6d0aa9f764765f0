// Package docs_test holds the Go that README.md and the pages quote, so that it compiles and runs.
package docs_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/jsonl"
)

func readme(ctx context.Context) error {
	file, err := os.Open("train.jsonl")
	if err != nil {
		return err
	}
	var stats tokenstream.Stats
	samples := jsonl.Read(file, jsonl.Options{Name: "train.jsonl"})
	rows := tokenstream.Pack(samples, tokenstream.Options{Capacity: 4096, Stats: &stats})
	manifest, err := dataset.Write(ctx, "packed", rows, dataset.Options{})
	_ = manifest
	return err
}

func TestReadme(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("train.jsonl", []byte(`{"input_ids":[1,2,3],"labels":[-100,2,3]}`), 0o644))
	require.NoError(t, readme(t.Context()))
	require.FileExists(t, "packed/brimful.json")
}

package arrow_test

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
)

// readSplits returns the samples of all splits, numbered through.
func readSplits(t *testing.T, dir fs.FS, splits []arrow.HFSplit) []tokenstream.Sample {
	var list []tokenstream.Sample
	for _, split := range splits {
		for _, name := range split.Files {
			file, err := dir.Open(name)
			require.NoError(t, err)
			defer file.Close()
			got, err := drain(arrow.Read(file, arrow.ReadOptions{Name: name}))
			require.NoError(t, err)
			list = append(list, got...)
		}
	}
	for i := range list {
		list[i].Place.Row = int64(i) + 1
	}
	return list
}

// What datasets saved is what package jsonl reads of the same samples.
func TestHFSplits(t *testing.T) {
	want := original(t)
	dir := os.DirFS("testdata/hf")
	splits, err := arrow.HFSplits(dir)
	require.NoError(t, err)
	require.Equal(t, []arrow.HFSplit{{Files: []string{"data-00000-of-00003.arrow", "data-00001-of-00003.arrow", "data-00002-of-00003.arrow"}}}, splits)
	require.Equal(t, want, readSplits(t, dir, splits))

	dir = os.DirFS("testdata/hf-dict")
	splits, err = arrow.HFSplits(dir)
	require.NoError(t, err)
	require.Equal(t, []arrow.HFSplit{
		{Name: "train", Files: []string{"train/data-00000-of-00001.arrow"}},
		{Name: "validation", Files: []string{"validation/data-00000-of-00001.arrow"}},
	}, splits)
	require.Equal(t, want, readSplits(t, dir, splits))

	splits, err = arrow.HFSplits(os.DirFS("testdata"))
	require.NoError(t, err)
	require.Empty(t, splits, "no such folder")
}

// A split without rows has no files.
func TestHFSplitsEmpty(t *testing.T) {
	dir := fstest.MapFS{"state.json": {Data: []byte(`{"_data_files":[],"_indices_data_files":null}`)}}
	splits, err := arrow.HFSplits(dir)
	require.NoError(t, err)
	require.Equal(t, []arrow.HFSplit{{}}, splits)
}

// What the functions of this package say of a folder, they read.
func TestHFSplitsOfOwn(t *testing.T) {
	dir := fstest.MapFS{"dataset_dict.json": {Data: arrow.HFDict([]string{"train", "a b"})}}
	for _, name := range []string{"train", "a b"} {
		dir[name+"/state.json"] = &fstest.MapFile{Data: arrow.HFState([]string{"2", "10"}, "f")}
		dir[name+"/2"], dir[name+"/10"] = &fstest.MapFile{}, &fstest.MapFile{}
	}
	splits, err := arrow.HFSplits(dir)
	require.NoError(t, err)
	require.Equal(t, []arrow.HFSplit{{"train", []string{"train/2", "train/10"}}, {"a b", []string{"a b/2", "a b/10"}}}, splits)
}

func TestHFSplitsErrors(t *testing.T) {
	const good = `{"_data_files":[{"filename":"d"}]}`
	for _, c := range []struct {
		name string
		dir  map[string]string
		want string
	}{
		{"no JSON", map[string]string{"state.json": "{"}, "state.json: unexpected end of JSON input"},
		{"no files", map[string]string{"state.json": `{}`}, "state.json: _data_files: no such key, or null: want the names of the data files"},
		{"a file that is not there", map[string]string{"state.json": good}, `state.json: _data_files: "d", which is not there: file does not exist`},
		{"a folder", map[string]string{"state.json": good, "d/x": ""}, `state.json: _data_files: "d", which is no file`},
		{"a file above", map[string]string{"state.json": `{"_data_files":[{"filename":"../d"}]}`, "d": ""}, `state.json: _data_files: "../d": want the name of a file in the folder`},
		{"a file below", map[string]string{"state.json": `{"_data_files":[{"filename":"e/d"}]}`, "e/d": ""}, `state.json: _data_files: "e/d": want the name of a file in the folder`},
		{"the folder itself", map[string]string{"state.json": `{"_data_files":[{"filename":"."}]}`}, `state.json: _data_files: ".": want the name of a file in the folder`},
		{"no name", map[string]string{"state.json": `{"_data_files":[{}]}`}, `state.json: _data_files: "": want the name of a file in the folder`},
		{"a selection", map[string]string{"state.json": `{"_data_files":[{"filename":"d"}],"_indices_data_files":[{"filename":"i"}]}`, "d": "", "i": ""},
			"state.json: _indices_data_files: the rows are chosen and ordered by another file: save the data set again, with flatten_indices()"},
		{"no splits", map[string]string{"dataset_dict.json": `{"splits":[]}`, "state.json": good, "d": ""}, "dataset_dict.json: splits: none: want the names of the splits"},
		{"a split above", map[string]string{"dataset_dict.json": `{"splits":[".."]}`}, `dataset_dict.json: splits: "..": want the name of a folder`},
		{"a split that is not there", map[string]string{"dataset_dict.json": `{"splits":["train"]}`}, "open train/state.json: file does not exist"},
		{"a bad split", map[string]string{"dataset_dict.json": `{"splits":["train"]}`, "train/state.json": good}, `train/state.json: _data_files: "d", which is not there: file does not exist`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := fstest.MapFS{}
			for name, text := range c.dir {
				dir[name] = &fstest.MapFile{Data: []byte(text)}
			}
			splits, err := arrow.HFSplits(dir)
			require.EqualError(t, err, c.want)
			require.Empty(t, splits)
		})
	}
}

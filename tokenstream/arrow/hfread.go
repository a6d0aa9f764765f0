package arrow

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/brimful/brimful/tokenstream"
)

// An HFSplit is a split of a Hugging Face save_to_disk folder.
type HFSplit struct {
	Name  string   // "" if the folder is that of a Dataset, without splits
	Files []string // its Arrow streams, below the folder, with slashes, in the order of their rows; none if it has no rows
}

// HFSplits returns the splits of the folder dir, in which datasets.save_to_disk has put a DatasetDict, or the one split of a Dataset.
// It returns no splits and no error if the folder is neither. The files are there. Each is for [Read]. What the folder says about
// features is not looked at: the files say it themselves, and in a form that does not change with the version.
func HFSplits(dir fs.FS) ([]HFSplit, error) {
	var dict struct {
		Splits []string `json:"splits"`
	}
	switch err := readJSON(dir, HFDictName, &dict); {
	case errors.Is(err, fs.ErrNotExist):
		split, err := hfSplit(dir, "")
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []HFSplit{split}, nil
	case err != nil:
		return nil, err
	case len(dict.Splits) == 0:
		return nil, hfError(HFDictName, "splits", errors.New("none: want the names of the splits"))
	}
	var splits []HFSplit
	for _, name := range dict.Splits {
		if !plainName(name) {
			return nil, hfError(HFDictName, "splits", fmt.Errorf("%q: want the name of a folder", name))
		}
		split, err := hfSplit(dir, name)
		if err != nil {
			return nil, err
		}
		splits = append(splits, split)
	}
	return splits, nil
}

// hfSplit returns the split in a folder below dir, or in dir if name is "".
func hfSplit(dir fs.FS, name string) (HFSplit, error) {
	split := HFSplit{Name: name}
	var state struct {
		Files *[]struct {
			Filename string `json:"filename"`
		} `json:"_data_files"`
		Indices []any `json:"_indices_data_files"`
	}
	at := path.Join(name, HFStateName)
	if err := readJSON(dir, at, &state); err != nil {
		return split, err
	}
	if len(state.Indices) > 0 { // of older versions, which did not write out a selection
		return split, hfError(at, "_indices_data_files", errors.New("the rows are chosen and ordered by another file: save the data set again, with flatten_indices()"))
	}
	if state.Files == nil {
		return split, hfError(at, "_data_files", errors.New("no such key, or null: want the names of the data files"))
	}
	for _, f := range *state.Files {
		if !plainName(f.Filename) {
			return split, hfError(at, "_data_files", fmt.Errorf("%q: want the name of a file in the folder", f.Filename))
		}
		file := path.Join(name, f.Filename)
		if info, err := fs.Stat(dir, file); err != nil {
			return split, hfError(at, "_data_files", fmt.Errorf("%q, which is not there: %w", f.Filename, noPath(err)))
		} else if !info.Mode().IsRegular() {
			return split, hfError(at, "_data_files", fmt.Errorf("%q, which is no file", f.Filename))
		}
		split.Files = append(split.Files, file)
	}
	return split, nil
}

// plainName reports whether name can only be that of something right in a folder.
func plainName(name string) bool {
	return fs.ValidPath(name) && path.Base(name) == name && name != "."
}

// noPath returns the cause of an error about a file, which cannot be fs.ErrNotExist any more.
func noPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return errors.New(err.Error())
}

// readJSON reads a file below dir.
func readJSON(dir fs.FS, name string, v any) error {
	b, err := fs.ReadFile(dir, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return hfError(name, "", err)
	}
	return nil
}

func hfError(name, field string, err error) error {
	return &tokenstream.InputError{Place: tokenstream.Place{Name: name}, Field: field, Err: err}
}

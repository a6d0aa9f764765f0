package arrow

import (
	"encoding/json"

	"github.com/brimful/brimful/tokenstream"
)

// Names of the files that datasets.load_from_disk wants beside the data files, which are Arrow streams.
const (
	HFStateName = "state.json"        // in every split's folder
	HFInfoName  = "dataset_info.json" // in every split's folder
	HFDictName  = "dataset_dict.json" // in the folder above, if there are named splits
)

// HFState returns the state.json of a folder with the given data files. The fingerprint stands for the content: datasets derives the
// names of its caches from it.
func HFState(files []string, fingerprint string) []byte {
	type file struct {
		Filename string `json:"filename"`
	}
	state := struct {
		Files       []file         `json:"_data_files"`
		Fingerprint string         `json:"_fingerprint"`
		Columns     []string       `json:"_format_columns"`
		Kwargs      map[string]any `json:"_format_kwargs"`
		Type        *string        `json:"_format_type"`
		All         bool           `json:"_output_all_columns"`
		Split       *string        `json:"_split"`
	}{Fingerprint: fingerprint, Kwargs: map[string]any{}, Files: []file{}}
	for _, name := range files {
		state.Files = append(state.Files, file{name})
	}
	return marshal(state)
}

// HFInfo returns the dataset_info.json of a folder whose rows have the columns of l.
func HFInfo(l tokenstream.Layout) []byte {
	features := map[string]any{}
	for _, c := range l.Columns {
		value := map[string]any{"dtype": c.Type.String(), "_type": "Value"}
		if c.Kind.List() {
			features[c.Name] = map[string]any{"feature": value, "_type": "Sequence"} // "List" is unknown before datasets 4
		} else {
			features[c.Name] = value
		}
	}
	return marshal(map[string]any{"citation": "", "description": "", "features": features, "homepage": "", "license": ""})
}

// HFDict returns the dataset_dict.json of a folder with named splits.
func HFDict(splits []string) []byte { return marshal(map[string][]string{"splits": splits}) }

// marshal marshals what cannot fail to be.
func marshal(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

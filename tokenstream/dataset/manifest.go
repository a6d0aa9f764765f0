package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/mix"
)

// Version is the version of the manifest that this package writes and reads.
const Version = 1

// A Manifest is what DIR/brimful.json says of a data set.
type Manifest struct {
	Version int                  `json:"version"`
	Format  string               `json:"format"`
	Layout  string               `json:"layout"`
	Columns []tokenstream.Column `json:"columns"`
	Job     Job                  `json:"job"`
	Splits  []Split              `json:"splits"`
	Inputs  []tokenstream.Input  `json:"inputs"`
	Sources []string             `json:"sources,omitempty"` // of a mixture, by the numbers in a column of kind sources
}

// A Split is a part of a data set, such as "train"; a data set without named splits has one whose name is "".
type Split struct {
	Name   string             `json:"name"`
	Rows   int64              `json:"rows"`
	Tokens int64              `json:"tokens"` // pad tails not counted
	Slots  int64              `json:"slots"`  // pad tails counted
	Stats  *tokenstream.Stats `json:"stats,omitempty"`

	Mixture *mix.Stats `json:"mixture,omitempty"` // what was drawn of each source
	Shards  []Shard    `json:"shards"`
}

// A Shard is one file of a split.
type Shard struct {
	Path    string `json:"path"` // below DIR, with slashes
	Rows    int64  `json:"rows"`
	Tokens  int64  `json:"tokens"` // pad tails not counted
	Slots   int64  `json:"slots"`
	Content string `json:"content"` // sha256 of its rows, the same in every format and layout
	Size    int64  `json:"size"`    // bytes of the file
	SHA256  string `json:"sha256"`  // of the file
}

// SourceMetadata returns what a file with a column of kind sources has in its metadata: their names, as a list of JSON. nil if there are none.
func SourceMetadata(names []string) map[string]string {
	if len(names) == 0 {
		return nil
	}
	b, _ := json.Marshal(names) // strings can be marshaled
	return map[string]string{"brimful.sources": string(b)}
}

// ReadManifest reads the manifest of the data set in dir.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Version != Version {
		return nil, fmt.Errorf("%s: version %d: want %d", path, m.Version, Version)
	}
	return &m, nil
}

// differences returns the keys in which two jobs differ.
func differences(a, b Job) ([]string, error) {
	x, err := normal(a)
	if err != nil {
		return nil, err
	}
	y, err := normal(b)
	if err != nil {
		return nil, err
	}
	var keys []string
	for k, v := range x {
		if w, ok := y[k]; !ok || !bytes.Equal(v, w) {
			keys = append(keys, k)
		}
	}
	for k := range y {
		if _, ok := x[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for i, k := range keys {
		if len(x[k])+len(y[k]) > 0 && len(x[k])+len(y[k]) < 60 {
			keys[i] = fmt.Sprintf("%s (%s there, %s here)", k, show(x[k]), show(y[k]))
		}
	}
	return keys, nil
}

func show(v json.RawMessage) string {
	if len(v) == 0 {
		return "nothing"
	}
	return string(v)
}

// normal returns the JSON of each value of a job, in the one form that a round trip leaves alone.
func normal(j Job) (map[string]json.RawMessage, error) {
	b, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	m := map[string]json.RawMessage{}
	for k, e := range v {
		if m[k], err = json.Marshal(e); err != nil {
			return nil, err
		}
	}
	return m, nil
}

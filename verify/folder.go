package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// files returns every file, below the directory, that a reader of the data set may take for a shard.
func (c *checker) files() ([]string, error) {
	var files []string
	err := filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(c.dir, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir():
			if name != "." && !strings.HasPrefix(name, "data/") && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
		case strings.HasPrefix(name, "data/"):
			files = append(files, name)
		case c.format == "parquet" || c.format == "arrow":
		case strings.HasSuffix(name, ".arrow") && !strings.HasPrefix(d.Name(), "cache-"): // the datasets library puts such files beside the shards
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// listed compares the files with those that the manifest names.
func (c *checker) listed(files []string) {
	named := map[string]bool{}
	for _, s := range c.m.Splits {
		for _, shard := range s.Shards {
			ext, below := ".arrow", ""
			if c.format == "parquet" {
				ext = ".parquet"
			}
			if c.format != "hf" {
				below = "data/"
			}
			switch {
			case named[shard.Path]:
				c.add("manifest", manifestName, "shard %q is named twice", shard.Path)
			case !strings.HasPrefix(shard.Path, below) || path.Ext(shard.Path) != ext:
				c.add("manifest", manifestName, "shard %q: want %s*%s", shard.Path, below, ext)
			}
			named[shard.Path] = true
		}
	}
	for _, f := range files {
		if !named[f] {
			c.add("extra_file", f, "the manifest does not name it")
		}
	}
	if c.format == "hf" {
		c.hf()
	}
}

// unlisted returns the shards of a data set without a manifest, after it looked for gaps.
func (c *checker) unlisted(files []string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(c.dir, ".brimful")); err == nil {
		return nil, fmt.Errorf("%s is not complete: the run that writes it stopped or is still going on", c.dir)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: neither %s nor a shard is in it", c.dir, manifestName)
	}
	there := map[string]bool{}
	for _, f := range files {
		there[f] = true
	}
	want := map[string]bool{}
	for _, f := range files {
		var n, of int
		dir, base := path.Split(f)
		if k, _ := fmt.Sscanf(base, "data-%d-of-%d", &n, &of); k == 2 && of <= 1e6 {
			for i := range of {
				want[fmt.Sprintf("%sdata-%05d-of-%05d.arrow", dir, i, of)] = true
			}
		} else if k, _ := fmt.Sscanf(base, "shard-%d", &n); k == 1 && n <= 1e6 {
			for i := range n {
				want[fmt.Sprintf("%sshard-%05d%s", dir, i, path.Ext(base))] = true
			}
		}
	}
	for _, f := range slices.Sorted(maps.Keys(want)) {
		if !there[f] {
			c.add("missing_shard", f, "there are shards with other numbers")
		}
	}
	return files, nil
}

// hf checks the files by which datasets.load_from_disk finds the shards and their columns.
func (c *checker) hf() {
	var names []string
	for _, s := range c.m.Splits {
		if s.Name != "" {
			names = append(names, s.Name)
		}
		var state struct {
			Files []struct{ Filename string } `json:"_data_files"`
		}
		if f := path.Join(s.Name, "state.json"); c.load(f, &state) {
			var have, want []string
			for _, f := range state.Files {
				have = append(have, f.Filename)
			}
			for _, shard := range s.Shards {
				want = append(want, strings.TrimPrefix(shard.Path, s.Name+"/"))
			}
			if !slices.Equal(have, want) {
				c.add("folder", f, "it names %v: want %v", have, want)
			}
		}
		var info struct{ Features map[string]feature }
		if f := path.Join(s.Name, "dataset_info.json"); c.load(f, &info) {
			for _, col := range c.columns {
				value := feature{DType: col.Type}
				want := value
				if k := kindOf(col.Kind); k < 0 || !kinds[k].single {
					want = feature{Feature: &value}
				}
				if have, ok := info.Features[col.Name]; !ok || !have.equal(&want) {
					c.add("folder", f, "the feature %s is not %s", col.Name, describe(col.Type, want.Feature != nil))
				}
				delete(info.Features, col.Name)
			}
			for _, name := range slices.Sorted(maps.Keys(info.Features)) {
				c.add("folder", f, "a feature %s that is no column", name)
			}
		}
	}
	if len(names) > 0 {
		var dict struct{ Splits []string }
		if f := "dataset_dict.json"; c.load(f, &dict) && !slices.Equal(dict.Splits, names) {
			c.add("folder", f, "it names %v: want %v", dict.Splits, names)
		}
	}
}

// feature is the type of a column in dataset_info.json.
type feature struct {
	DType   string `json:"dtype"`
	Feature *feature
}

// equal reports whether two features are the same number or a list of the same numbers.
func (f *feature) equal(g *feature) bool {
	if f.Feature != nil && g.Feature != nil {
		return f.DType == "" && f.Feature.equal(g.Feature)
	}
	return f.Feature == g.Feature && f.DType == g.DType
}

// load decodes a file of JSON and reports whether it could.
func (c *checker) load(name string, v any) bool {
	b, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		c.add("folder", name, "it is not there")
		return false
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		c.add("folder", name, "%v", err)
	}
	return err == nil
}

package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
)

// stagedPath returns where shard i of a split is until the data set is finished, below the stage. A unit's shards have its prefix.
func stagedPath(split, prefix string, i int, f format) string {
	return path.Join(dataName, split, fmt.Sprintf("shard-%s%05d%s", prefix, i, f.ext))
}

// finalPath returns where shard i of n of a split is in the end, below the directory.
func (f format) finalPath(split string, i, n int) string {
	if f.hf {
		return path.Join(split, fmt.Sprintf("data-%05d-of-%05d%s", i, n, f.ext))
	}
	return stagedPath(split, "", i, f)
}

// fingerprint returns a hash of the split's rows.
func (s *Split) fingerprint() string {
	h := sha256.New()
	for _, f := range s.Shards {
		h.Write([]byte(f.Content))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// companions returns the files of a finished data set besides its shards, the manifest among them.
func (f format) companions(m *Manifest) []string {
	files := []string{ManifestName, cardName}
	if m.Layout == bridge {
		files = append(files, bridgeName)
	}
	if !f.hf {
		return files
	}
	for _, s := range m.Splits {
		files = append(files, path.Join(s.Name, arrow.HFStateName), path.Join(s.Name, arrow.HFInfoName))
		if s.Name != "" && !slices.Contains(files, arrow.HFDictName) {
			files = append(files, arrow.HFDictName)
		}
	}
	return files
}

// arrange lays out the data set that m describes below the stage as it will be in the directory, and sets the shards' final paths in m.
func (f format) arrange(stage string, m *Manifest, l tokenstream.Layout) error {
	root := filepath.Join(stage, finalName)
	put := func(name string, b []byte) error {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		return writeFile(p, b)
	}
	for k := range m.Splits {
		split := &m.Splits[k]
		var files []string
		for i := range split.Shards {
			s := &split.Shards[i]
			from := filepath.Join(stage, filepath.FromSlash(s.Path))
			s.Path = f.finalPath(split.Name, i, len(split.Shards))
			to := filepath.Join(root, filepath.FromSlash(s.Path))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if err := os.Rename(from, to); err != nil && !(errors.Is(err, fs.ErrNotExist) && exists(to)) { // an interrupted run moved it
				return err
			}
			files = append(files, path.Base(s.Path))
		}
		if f.hf {
			if err := put(path.Join(split.Name, arrow.HFStateName), arrow.HFState(files, split.fingerprint())); err != nil {
				return err
			}
			if err := put(path.Join(split.Name, arrow.HFInfoName), arrow.HFInfo(l)); err != nil {
				return err
			}
		}
	}
	if f.hf && m.Splits[0].Name != "" {
		var names []string
		for _, s := range m.Splits {
			names = append(names, s.Name)
		}
		if err := put(arrow.HFDictName, arrow.HFDict(names)); err != nil {
			return err
		}
	}
	if m.Layout == bridge {
		b, err := json.MarshalIndent(m.bridge(), "", "  ")
		if err != nil {
			return err
		}
		if err := put(bridgeName, append(b, '\n')); err != nil {
			return err
		}
	}
	card, err := m.card()
	if err != nil {
		return err
	}
	if err := put(cardName, card); err != nil {
		return err
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return put(ManifestName, append(b, '\n')) // its presence says that the rest is there
}

// move moves an arranged data set from the stage to dir, the manifest last, and removes the stage. It can be repeated.
func move(dir, stage string) error {
	root := filepath.Join(stage, finalName)
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != ManifestName {
			if err := os.Rename(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	if err := rename(filepath.Join(root, ManifestName), filepath.Join(dir, ManifestName)); err != nil {
		return err
	}
	return os.RemoveAll(stage)
}

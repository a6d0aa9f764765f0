package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// resume takes up a directory with a stage, which an earlier run left.
func (w *Writer) resume() error {
	job, err := readJob(filepath.Join(w.stage, jobName))
	if errors.Is(err, os.ErrNotExist) { // stopped before anything was written
		_, err := w.openJournal()
		return err
	}
	if err != nil {
		return err
	}
	if err := w.same(job); err != nil {
		return err
	}
	if _, err := w.openJournal(); err != nil {
		return err
	}
	if exists(filepath.Join(w.stage, finalName, ManifestName)) { // stopped while things moved to their places
		w.journal.close()
		w.journal = nil
		if err := move(w.dir, w.stage); err != nil {
			return err
		}
		return w.reopen()
	}
	if err := os.RemoveAll(filepath.Join(w.stage, finalName)); err != nil {
		return err
	}
	w.earlier, err = readJournal(w.stage)
	w.whole = len(w.earlier)
	return err
}

// reopen takes up a directory with a manifest. If all of it is as the manifest says it returns ErrComplete; otherwise it makes a stage
// of what is, and leaves the rest to be written again.
func (w *Writer) reopen() error {
	m, err := ReadManifest(w.dir)
	if err != nil {
		return err
	}
	if err := w.same(m.Job); err != nil {
		return err
	}
	f, err := w.o.format()
	if err != nil {
		return err
	}
	var intact []Shard // under their paths in the stage
	var final []string // where they are now
	var stale []string // what is to be written again
	for _, split := range m.Splits {
		for i, s := range split.Shards {
			p := filepath.Join(w.dir, filepath.FromSlash(s.Path))
			if s.intact(w.dir) {
				s.Path = stagedPath(split.Name, "", i, f)
				intact, final = append(intact, s), append(final, p)
			} else {
				stale = append(stale, p)
			}
		}
	}
	missing := false
	for _, name := range f.companions(m) {
		p := filepath.Join(w.dir, filepath.FromSlash(name))
		missing = missing || !exists(p)
		if name != ManifestName {
			stale = append(stale, p)
		}
	}
	if len(stale) == len(f.companions(m))-1 && !missing {
		return ErrComplete
	}
	if _, err := w.openJournal(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(w.dir, ManifestName)); err != nil { // from here on the data set is not complete
		return err
	}
	w.earlier = map[string]Shard{}
	for i, s := range intact {
		staged := filepath.Join(w.stage, filepath.FromSlash(s.Path))
		if err := os.MkdirAll(filepath.Dir(staged), 0o755); err != nil {
			return err
		}
		if err := rename(final[i], staged); err != nil {
			return err
		}
		if err := w.journal.add(s); err != nil {
			return err
		}
		w.earlier[s.Path] = s
	}
	w.whole = len(w.earlier)
	for _, p := range stale {
		if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, split := range m.Splits {
		for _, d := range []string{filepath.Join(w.dir, dataName, split.Name), filepath.Join(w.dir, split.Name), filepath.Join(w.dir, dataName)} {
			if d != filepath.Clean(w.dir) {
				_ = os.Remove(d) // if it is empty now
			}
		}
	}
	return nil
}

// same returns a ForeignError if job is not the writer's.
func (w *Writer) same(job Job) error {
	differs, err := differences(job, w.job)
	if err != nil {
		return err
	}
	if len(differs) > 0 {
		return &ForeignError{Dir: w.dir, Differs: differs}
	}
	return nil
}

func readJob(path string) (Job, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var job Job
	if err := json.Unmarshal(b, &job); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return job, nil
}

// Package dataset writes packed rows as a directory of shards that a trainer opens as it is.
//
//	DIR/data/shard-00000.parquet, ...   nothing but shards, so that every reader of folders takes it
//	DIR/README.md                       the dataset card: what is in it, the columns, how to train on it
//	DIR/brimful.json                    the [Manifest], written last: where it is, the data set is complete
//
// With named splits the shards are in DIR/data/train and so on. In the format "hf" DIR is what datasets.load_from_disk opens, with the
// manifest and the card beside the data files.
//
// Until it is complete everything is in DIR/.brimful, and it moves to its place by renaming: a reader never sees a part of a data set.
// A shard gets its name when it is whole and on disk. When a run ends early, the finished shards stay; the next run of the same job
// finds them, checks them and writes only what is missing, and ends with the same bytes. Shards are encoded in parallel, each by one
// goroutine; their bytes depend on the rows and the options only.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/brimful/brimful/tokenstream"
)

// Options say how rows become files.
type Options struct {
	Layout    tokenstream.Layout // the columns; the zero layout is tokenstream.HF
	Format    string             // one of [Formats]; "" is "parquet"
	ShardRows int                // rows in a shard; 0 is as many as hold about 8 Mi tokens
	Workers   int                // shards encoded at a time; 0 is runtime.GOMAXPROCS(0)
	Sources   []string           // names of the sources that a column of kind sources counts; recorded in the shards and the manifest

	// Job identifies the job: whatever the rows depend on, such as options and the names and sizes of the inputs. It is recorded in the
	// manifest. Work that an earlier run left in the directory is used only if its Job is the same.
	Job Job
}

// Job describes what was asked for. It has to be marshalable and is compared by its JSON.
type Job map[string]any

// Write writes rows as a data set without named splits into dir and returns its manifest. See [Create] for what dir may hold.
func Write(ctx context.Context, dir string, rows iter.Seq2[*tokenstream.Batch, error], o Options) (*Manifest, error) {
	w, err := Create(dir, o)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if _, err := w.Write(ctx, "", rows); err != nil {
		return nil, err
	}
	return w.Finish(nil)
}

// ErrComplete is returned by [Create] for a directory that already holds the complete data set of the same job.
var ErrComplete = errors.New("the data set is complete")

// A ForeignError says that a directory holds something else than the work of the same job.
type ForeignError struct {
	Dir     string
	Entries []string // files that are not of a data set, or
	Differs []string // what differs between its job and the one asked for
}

func (e *ForeignError) Error() string {
	if len(e.Entries) > 0 {
		return fmt.Sprintf("%s holds other files (%s): want a new or an empty directory, or one of the same job", e.Dir, list(e.Entries))
	}
	return fmt.Sprintf("%s belongs to another job, which differs in %s: remove it or choose another directory", e.Dir, list(e.Differs))
}

// list joins at most five names.
func list(names []string) string {
	s := ""
	for i, n := range names {
		switch {
		case i == 5:
			return fmt.Sprintf("%s and %d more", s, len(names)-5)
		case i > 0:
			s += ", "
		}
		s += n
	}
	return s
}

// Names of the parts of a data set's directory.
const (
	ManifestName = "brimful.json"
	cardName     = "README.md"
	dataName     = "data"
	stageName    = ".brimful"
)

// Create opens dir for writing. It may be missing, empty, or hold what an earlier run of the same job left; a complete data set of that
// job is [ErrComplete], and anything else a [*ForeignError]. Nothing is written before the first shard is.
func Create(dir string, o Options) (*Writer, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, stage: filepath.Join(dir, stageName), o: o, job: o.job()}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	has := map[string]bool{}
	for _, e := range entries {
		has[e.Name()] = true
	}
	switch {
	case len(entries) == 0:
		w.fresh = true
		return w, nil
	case has[ManifestName] && !exists(filepath.Join(w.stage, finalName, ManifestName)):
		if err = os.RemoveAll(w.stage); err == nil { // of a run that was stopped when nothing was left to do but this
			err = w.reopen()
		}
	case has[stageName]:
		err = w.resume()
	default:
		err = &ForeignError{Dir: dir, Entries: names(entries)}
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func names(entries []os.DirEntry) []string {
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return s
}

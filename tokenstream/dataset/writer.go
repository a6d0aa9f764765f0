package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/brimful/brimful/tokenstream"
)

// A Writer writes the splits of a data set one after another. It is not safe for concurrent use.
type Writer struct {
	dir, stage string
	prefix     string // of the names of shards: that of a unit
	o          Options
	job        Job // what the bytes depend on: o.Job and the options that matter
	splits     []*Split
	fresh      bool // there was nothing in dir

	mu      sync.Mutex       // guards what follows
	journal *journal         // nil before the first shard
	earlier map[string]Shard // whole shards of an earlier run, by their path
	whole   int              // shards that are whole, whoever wrote them
	created bool             // dir was not there before
	refused bool             // the input is not what it has to be, so that there is nothing to go on with
}

var splitName = regexp.MustCompile(`^[A-Za-z0-9_]*$`)

// Write writes rows as the split name, which is "" for a data set of one part, and returns what it wrote. The first error of rows is
// returned as it is; other errors name the shard. When ctx ends, Write ends with its error as soon as rows yields.
func (w *Writer) Write(ctx context.Context, name string, rows iter.Seq2[*tokenstream.Batch, error]) (*Split, error) {
	if !splitName.MatchString(name) {
		return nil, fmt.Errorf("split %q: want letters, digits and _", name)
	}
	for _, s := range w.splits {
		if s.Name == name || s.Name == "" || name == "" {
			return nil, fmt.Errorf("split %q beside split %q: want one split without a name, or several names", name, s.Name)
		}
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(w.o.Workers)
	free := make(chan *buffer, w.o.Workers+1)
	var shards []*Shard
	encode := func(b *buffer) {
		i, shard := len(shards), new(Shard)
		shards = append(shards, shard)
		g.Go(func() error {
			err := running.Err()
			if err == nil {
				*shard, err = w.shard(name, i, b)
			}
			if err != nil {
				return fmt.Errorf("shard %d: %w", i, err)
			}
			b.reset()
			free <- b // there is room for every buffer
			return nil
		})
	}
	b := new(buffer)
	for row, err := range rows {
		if err != nil {
			w.refused = isInput(err)
			return nil, errors.Join(err, ignoreCanceled(g.Wait()))
		}
		if running.Err() != nil {
			break
		}
		b.add(row, w.o.ShardRows)
		if len(b.rows) == w.o.ShardRows || w.o.ShardRows == 0 && len(b.tokens) >= shardTokens {
			encode(b)
			select {
			case b = <-free:
			default:
				b = new(buffer)
			}
		}
	}
	if len(b.rows) > 0 || len(shards) == 0 {
		encode(b) // a split without rows has one shard, which carries the columns
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	split := &Split{Name: name}
	for _, s := range shards {
		split.Rows += s.Rows
		split.Tokens += s.Tokens
		split.Slots += s.Slots
		split.Shards = append(split.Shards, *s)
	}
	w.splits = append(w.splits, split)
	return split, nil
}

// shard makes sure that the shard of the rows in b is on disk.
func (w *Writer) shard(split string, i int, b *buffer) (Shard, error) {
	f, err := w.o.format()
	if err != nil {
		return Shard{}, err
	}
	s := b.describe()
	s.Path = stagedPath(split, w.prefix, i, f)
	w.mu.Lock()
	old, found := w.earlier[s.Path]
	w.mu.Unlock()
	if found && old.Content == s.Content {
		return old, nil
	}
	j, err := w.openJournal()
	if err != nil {
		return s, err
	}
	file := filepath.Join(w.stage, filepath.FromSlash(s.Path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return s, err
	}
	metadata := map[string]string{"brimful.layout": w.o.Layout.Name, "brimful.content": s.Content}
	maps.Copy(metadata, SourceMetadata(w.o.Sources))
	if err := b.encode(file, &s, f, w.o.Layout, metadata); err != nil {
		return s, err
	}
	w.mu.Lock()
	w.whole++
	w.mu.Unlock()
	return s, j.add(s)
}

// openJournal returns the journal of the finished shards. The first call creates the directory.
func (w *Writer) openJournal() (*journal, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal != nil {
		return w.journal, nil
	}
	_, err := os.Stat(w.dir)
	w.created = errors.Is(err, fs.ErrNotExist)
	j, err := openJournal(w.stage, w.job)
	if err != nil {
		return nil, err
	}
	if w.fresh && exists(filepath.Join(w.dir, ManifestName)) { // nobody held the lock until the first shard
		err := fmt.Errorf("%s was made by another process in the meantime", w.dir)
		return nil, errors.Join(err, j.close(), os.RemoveAll(w.stage))
	}
	w.journal = j
	return j, nil
}

// Finish completes the data set and returns its manifest, in which the inputs are recorded. After Finish the writer is closed.
func (w *Writer) Finish(inputs []tokenstream.Input) (*Manifest, error) {
	defer w.Close()
	f, err := w.o.format()
	if err != nil {
		return nil, err
	}
	if _, err := w.openJournal(); err != nil {
		return nil, err
	}
	m := &Manifest{Version: Version, Format: w.o.Format, Layout: w.o.Layout.Name, Columns: w.o.Layout.Columns, Job: w.job, Inputs: inputs, Sources: w.o.Sources}
	for _, s := range w.splits {
		m.Splits = append(m.Splits, *s)
	}
	if err := f.arrange(w.stage, m, w.o.Layout); err != nil {
		return nil, err
	}
	err = errors.Join(w.journal.close(), move(w.dir, w.stage))
	w.journal = nil
	return m, err
}

// Close releases the directory. Unless the data set was finished, whole shards stay for the next run; nothing stays if there
// are none or the input was refused.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil {
		return nil
	}
	err := w.journal.close()
	if w.whole == 0 || w.refused {
		err = errors.Join(err, os.RemoveAll(w.stage))
		if w.created {
			_ = os.Remove(w.dir) // if there is nothing else in it
		}
	}
	w.journal = nil
	return err
}

// isInput reports whether err is about the samples, and would come again.
func isInput(err error) bool {
	var input *tokenstream.InputError
	var length *tokenstream.LengthError
	return errors.As(err, &input) || errors.As(err, &length)
}

// ignoreCanceled returns err, or nil if it only says that work was called off.
func ignoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

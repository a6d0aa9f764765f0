package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
)

// A Receipt is the record of a unit whose shards are whole and on disk.
type Receipt struct {
	Unit   int         `json:"unit"`
	Splits []UnitSplit `json:"splits"`
}

// A UnitSplit is what a unit adds to a split. The paths of its shards are below the stage.
type UnitSplit struct {
	Split
	Limits  packing.Limits `json:"limits"`
	Lengths [][2]int64     `json:"lengths"` // of the segments: length and how many, for the bound on all units together
}

// A MissingError says which units have no valid receipt.
type MissingError struct {
	Dir   string
	Units []int // sorted
	Of    int
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: %d of %d units are not done: %s", e.Dir, len(e.Units), e.Of, list(strings.Split(Ranges(e.Units), ",")))
}

// Ranges writes sorted numbers in the form of a Slurm array: "2,3,7-9".
func Ranges(sorted []int) string {
	var b strings.Builder
	for i := 0; i < len(sorted); {
		k := i
		for k+1 < len(sorted) && sorted[k+1] == sorted[k]+1 {
			k++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(sorted[i]))
		if k > i {
			sep := "-"
			if k == i+1 {
				sep = ","
			}
			b.WriteString(sep + strconv.Itoa(sorted[k]))
		}
		i = k + 1
	}
	return b.String()
}

const (
	unitsName    = "units"    // in the stage, the receipts
	attemptsName = "attempts" // in the stage, what running units write
)

func receiptPath(stage string, unit int) string {
	return filepath.Join(stage, unitsName, fmt.Sprintf("unit-%05d.json", unit))
}

// WriteUnit writes unit number unit of units, from 0, of a data set that any number of processes write together, on any number of
// machines that share dir. Write is given a [Writer] whose splits are those of the unit alone, each with its Stats. It may be called
// twice at the same time, killed, and repeated: what becomes visible is whole shards and then the receipt, by renaming, and if the rows
// are the same so are the bytes. A unit that has a valid receipt is not written again. [ErrComplete] says that the data set is complete.
//
// [FinishUnits] makes the data set of all units.
func WriteUnit(ctx context.Context, dir string, unit, units int, o Options, write func(*Writer) error) (*Receipt, error) {
	if unit < 0 || unit >= units {
		return nil, fmt.Errorf("unit %d: want 0..%d", unit, units-1)
	}
	w, err := openUnits(dir, o)
	if err != nil {
		return nil, err
	}
	if r, err := readReceipt(w.stage, unit); err == nil {
		return r, nil
	}
	r, err := w.unit(ctx, unit, write)
	if exists(filepath.Join(dir, ManifestName)) { // a twin was faster, and all others too, so that the stage is a leftover of this one
		return nil, errors.Join(ErrComplete, os.RemoveAll(w.stage))
	}
	return r, err
}

// unit writes a unit.
func (w *Writer) unit(ctx context.Context, unit int, write func(*Writer) error) (*Receipt, error) {
	attempts := filepath.Join(w.stage, attemptsName)
	if err := os.MkdirAll(attempts, 0o755); err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	attempt, err := os.MkdirTemp(attempts, fmt.Sprintf("unit-%05d-%s-%d-*", unit, strings.ReplaceAll(host, "*", ""), os.Getpid()))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(attempt)
	part := &Writer{dir: attempt, stage: attempt, prefix: fmt.Sprintf("%05d-", unit), o: w.o, job: w.job}
	defer part.Close()
	if err := write(part); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &Receipt{Unit: unit}
	for _, s := range part.splits {
		if s.Stats == nil {
			return nil, fmt.Errorf("split %q of unit %d has no statistics", s.Name, unit)
		}
		u := UnitSplit{Split: *s, Limits: s.Stats.Limits}
		for n, count := range s.Stats.Lengths {
			if count > 0 {
				u.Lengths = append(u.Lengths, [2]int64{int64(n), count})
			}
		}
		r.Splits = append(r.Splits, u)
	}
	return r, w.publish(attempt, r)
}

// openUnits opens dir for units of a job.
func openUnits(dir string, o Options) (*Writer, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, stage: filepath.Join(dir, stageName), o: o, job: o.job()}
	if err := w.complete(); !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if foreign := slices.DeleteFunc(names(entries), func(s string) bool { return s == stageName }); len(foreign) > 0 && !exists(filepath.Join(w.stage, finalName, ManifestName)) {
		if err := w.complete(); !errors.Is(err, fs.ErrNotExist) { // since a moment ago
			return nil, err
		}
		return nil, &ForeignError{Dir: dir, Entries: foreign}
	}
	if err := os.MkdirAll(w.stage, 0o755); err != nil {
		return nil, err
	}
	name := filepath.Join(w.stage, jobName)
	job, err := readJob(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b, err := json.MarshalIndent(w.job, "", "  ")
		if err != nil {
			return nil, err
		}
		return w, writeFile(name, append(b, '\n'))
	case err != nil:
		return nil, err
	}
	return w, w.same(job)
}

// complete returns ErrComplete, that the data set is another one, or that there is none.
func (w *Writer) complete() error {
	m, err := ReadManifest(w.dir)
	if err != nil {
		return err
	}
	if err := w.same(m.Job); err != nil {
		return err
	}
	return ErrComplete
}

// publish moves the shards of an attempt to the stage, and then the receipt.
func (w *Writer) publish(attempt string, r *Receipt) error {
	for _, s := range r.Splits {
		for _, shard := range s.Shards {
			to := filepath.Join(w.stage, filepath.FromSlash(shard.Path))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if err := rename(filepath.Join(attempt, filepath.FromSlash(shard.Path)), to); err != nil {
				return err
			}
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	name := receiptPath(w.stage, r.Unit)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return writeFile(name, append(b, '\n'))
}

// parseReceipt returns the receipt of a unit.
func parseReceipt(stage string, unit int) (*Receipt, error) {
	b, err := os.ReadFile(receiptPath(stage, unit))
	if err != nil {
		return nil, err
	}
	r := new(Receipt)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, err
	}
	if r.Unit != unit {
		return nil, fmt.Errorf("the receipt of unit %d is in the place of that of unit %d", r.Unit, unit)
	}
	for _, s := range r.Splits {
		for _, shard := range s.Shards {
			if !filepath.IsLocal(filepath.FromSlash(shard.Path)) {
				return nil, fmt.Errorf("shard %q is not below the directory", shard.Path)
			}
		}
	}
	return r, nil
}

// readReceipt returns the receipt of a unit whose shards are there, in the size they had.
func readReceipt(stage string, unit int) (*Receipt, error) {
	r, err := parseReceipt(stage, unit)
	if err != nil {
		return nil, err
	}
	for _, s := range r.Splits {
		for _, shard := range s.Shards {
			info, err := os.Stat(filepath.Join(stage, filepath.FromSlash(shard.Path)))
			if err != nil {
				return nil, err
			}
			if info.Size() != shard.Size {
				return nil, fmt.Errorf("shard %q has %d bytes: want %d", shard.Path, info.Size(), shard.Size)
			}
		}
	}
	return r, nil
}

// MissingUnits returns the numbers of the units that have no valid receipt. If the data set is complete there are none.
func MissingUnits(dir string, units int, o Options) ([]int, error) {
	w, err := openUnits(dir, o)
	switch {
	case errors.Is(err, ErrComplete):
		return nil, nil
	case err != nil:
		return nil, err
	case exists(filepath.Join(w.stage, finalName)): // a FinishUnits was interrupted, before which there were none
		return nil, nil
	}
	return w.missing(context.Background(), units, func(*Receipt) {})
}

// missing calls use with the receipts in the order of their units, and returns the units that have no valid one.
func (w *Writer) missing(ctx context.Context, units int, use func(*Receipt)) ([]int, error) {
	var missing []int
	const chunk = 1024
	receipts := make([]*Receipt, chunk)
	for from := 0; from < units; from += chunk {
		n := min(chunk, units-from)
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(4 * runtime.GOMAXPROCS(0)) // most of the time is that of the file system
		for i := range n {
			g.Go(func() error {
				receipts[i], _ = readReceipt(w.stage, from+i)
				return ctx.Err()
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		for i, r := range receipts[:n] {
			if r == nil {
				missing = append(missing, from+i)
			} else {
				use(r)
			}
		}
	}
	return missing, nil
}

// FinishUnits makes the data set of the units that [WriteUnit] has written, removes what killed runs left and returns the manifest, in
// which inputs are recorded. A *[MissingError] says which units are not done. It can be repeated, also for a complete data set.
func FinishUnits(ctx context.Context, dir string, units int, o Options, inputs []tokenstream.Input) (*Manifest, error) {
	w, err := openUnits(dir, o)
	if errors.Is(err, ErrComplete) {
		if err := os.RemoveAll(filepath.Join(dir, stageName)); err != nil { // of a run that was killed when only this was left to do
			return nil, err
		}
		return ReadManifest(dir)
	}
	if err != nil {
		return nil, err
	}
	if _, err := w.openJournal(); err != nil { // which is the lock
		return nil, err
	}
	w.whole = units // so that Close leaves the units alone
	defer w.Close()
	final := filepath.Join(w.stage, finalName)
	if exists(filepath.Join(final, ManifestName)) {
		if err := move(dir, w.stage); err != nil {
			return nil, err
		}
		return ReadManifest(dir)
	}
	if err := w.putBack(units); err != nil {
		return nil, err
	}
	sum := newUnitSum()
	missing, err := w.missing(ctx, units, sum.add)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, &MissingError{dir, missing, units}
	}
	w.splits = sum.finish()
	return w.Finish(inputs)
}

// putBack undoes the part of arrange that an interrupted run has done.
func (w *Writer) putBack(units int) error {
	final := filepath.Join(w.stage, finalName)
	if !exists(final) {
		return nil
	}
	f, err := w.o.format()
	if err != nil {
		return err
	}
	staged := map[string][]string{} // by split
	for i := range units {
		r, err := parseReceipt(w.stage, i)
		if err != nil {
			return err
		}
		for _, s := range r.Splits {
			for _, shard := range s.Shards {
				staged[s.Name] = append(staged[s.Name], shard.Path)
			}
		}
	}
	for name, paths := range staged {
		for i, p := range paths {
			from := filepath.Join(final, filepath.FromSlash(f.finalPath(name, i, len(paths))))
			if err := os.Rename(from, filepath.Join(w.stage, filepath.FromSlash(p))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return os.RemoveAll(final)
}

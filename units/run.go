package units

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/source"
)

// A Job says what becomes of the samples. It has to be the same for all units of a plan.
type Job struct {
	Dir     string              // of the data set
	Pack    tokenstream.Options // Stats are not used
	Dataset dataset.Options     // its Job says what the rows depend on
	HoldOut float64             // share of the samples in a split "validation", beside "train"; 0 makes one split
	Source  source.Options      // how inputs are read
}

// options returns the options of the data set, which is another one with another plan.
func (p *Plan) options(j *Job) dataset.Options {
	o := j.Dataset
	o.Job = maps.Clone(o.Job)
	if o.Job == nil {
		o.Job = dataset.Job{}
	}
	o.Job["units"], o.Job["plan"] = p.Units, p.Digest
	return o
}

// Run runs a unit, unless it has been run, and returns its receipt. [dataset.ErrComplete] says that the data set is complete. The plan
// has to hold the parts of the unit.
func (p *Plan) Run(ctx context.Context, j Job, unit int) (*dataset.Receipt, error) {
	if unit < 0 || unit >= p.Units {
		return nil, fmt.Errorf("unit %d: want 0..%d", unit, p.Units-1)
	}
	r, err := dataset.WriteUnit(ctx, j.Dir, unit, p.Units, p.options(&j), func(w *dataset.Writer) error {
		return j.write(ctx, w, p.Source(unit, j.Source))
	})
	if err != nil && !errors.Is(err, dataset.ErrComplete) {
		err = fmt.Errorf("unit %d: %w", unit, err)
	}
	return r, err
}

// write packs the samples of a unit.
func (j *Job) write(ctx context.Context, w *dataset.Writer, samples tokenstream.Source) error {
	split := func(name string, src tokenstream.Source) error {
		stats := new(tokenstream.Stats)
		o := j.Pack
		o.Stats = stats
		s, err := w.Write(ctx, name, tokenstream.Pack(src, o))
		if err == nil {
			s.Stats = stats
		}
		return err
	}
	if j.HoldOut == 0 {
		return split("", samples)
	}
	spool, err := tokenstream.NewSpool("")
	if err != nil {
		return err
	}
	defer spool.Close()
	if err := split("train", tokenstream.HoldOut(samples, &tokenstream.Holdout{Share: j.HoldOut}, spool)); err != nil {
		return err
	}
	if spool.Len() == 0 {
		return nil // of the other units some has one
	}
	return split("validation", spool.Source())
}

// RunAll runs all units by so many goroutines; 0 is runtime.GOMAXPROCS(0). Done, if not nil, is called after each, by one goroutine at
// a time.
func (p *Plan) RunAll(ctx context.Context, j Job, workers int, done func(*dataset.Receipt)) error {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	j.Source.Workers, j.Dataset.Workers = 1, 1 // several units at a time are better than several goroutines on each
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	turn := make(chan struct{}, 1)
	for u := range p.Units {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			r, err := p.Run(ctx, j, u)
			if err == nil && done != nil {
				turn <- struct{}{}
				done(r)
				<-turn
			}
			return err
		})
	}
	return g.Wait()
}

// Finish makes the data set of all units, which have to be done, and returns its manifest. It can be repeated. A
// *[dataset.MissingError] says which units are not done.
func (p *Plan) Finish(ctx context.Context, j Job) (*dataset.Manifest, error) {
	return dataset.FinishUnits(ctx, j.Dir, p.Units, p.options(&j), p.Inputs)
}

// Missing returns the units that have no valid receipt.
func (p *Plan) Missing(j Job) ([]int, error) {
	return dataset.MissingUnits(j.Dir, p.Units, p.options(&j))
}

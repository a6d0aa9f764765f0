package units

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/jsonl"
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
	if err := split("train", tokenstream.HoldOut(samples, j.HoldOut, spool)); err != nil {
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

// Source returns the samples of a unit. A sample's Number is that in the whole source. Inputs that are not what they were when the plan
// was made are an error.
func (p *Plan) Source(unit int, o source.Options) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		for _, q := range p.parts[unit] {
			name := p.Inputs[q.Input].Path
			n := int64(0)
			for s, err := range p.part(&q, o) {
				if err != nil {
					var at *tokenstream.InputError
					if errors.As(err, &at) && at.Place.Row > 0 {
						at.Place.Row += q.Line
					}
					yield(tokenstream.Sample{}, err)
					return
				}
				n++
				s.Number = q.First + n
				s.Place.Row += q.Line
				if !yield(s, nil) {
					return
				}
			}
			if n != q.Samples {
				yield(tokenstream.Sample{}, changed(name, "it has %d samples from byte %d on where it had %d", n, q.From, q.Samples))
				return
			}
		}
	}
}

func changed(name, format string, args ...any) error {
	return &tokenstream.InputError{Place: tokenstream.Place{Name: name}, Err: fmt.Errorf("the file is not what it was when the plan was made: "+format, args...)}
}

// part returns the samples of a part.
func (p *Plan) part(q *Part, o source.Options) tokenstream.Source {
	in := p.Inputs[q.Input]
	return func(yield func(tokenstream.Sample, error) bool) {
		file, err := os.Open(in.Path)
		if err != nil {
			yield(tokenstream.Sample{}, err)
			return
		}
		defer file.Close()
		info, err := file.Stat()
		if err == nil && info.Size() != in.Size {
			err = changed(in.Path, "it has %d bytes, and had %d", info.Size(), in.Size)
		}
		if err != nil {
			yield(tokenstream.Sample{}, err)
			return
		}
		if q.CRC == 0 {
			files, err := source.Open([]string{in.Path}, o)
			if err != nil {
				yield(tokenstream.Sample{}, err)
				return
			}
			files.Samples()(yield)
			return
		}
		r := &checked{r: io.NewSectionReader(file, q.From, q.To-q.From)}
		lines := o.JSONL
		lines.Name = in.Path
		for s, err := range jsonl.Read(r, lines) {
			if !yield(s, err) || err != nil {
				return
			}
		}
		if r.crc != q.CRC {
			yield(tokenstream.Sample{}, changed(in.Path, "its bytes from %d to %d are others", q.From, q.To))
		}
	}
}

// checked computes the CRC of what is read through it.
type checked struct {
	r   io.Reader
	crc uint32
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.crc = crc32.Update(c.crc, castagnoli, b[:n])
	return n, err
}

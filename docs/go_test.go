package docs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/brimful/brimful/compare"
	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/position"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/source"
	"github.com/brimful/brimful/units"
	"github.com/brimful/brimful/verify"
)

const data = "../examples/data/gsm8k-512.jsonl.gz"

func Example_lengths() {
	lengths := []int32{700, 300, 512, 500, 1000, 12}
	plan, err := packing.Pack(packing.BestFitDecreasing{}, lengths, packing.Limits{Capacity: 1024})
	if err != nil {
		fmt.Println(err)
		return
	}
	for bin, samples := range plan.All() {
		fmt.Println("row", bin, "holds samples", samples)
	}
	fmt.Println("rows above the bound:", plan.Gap())
	fmt.Println("position_ids of segments of 3 and 2 tokens:", position.AppendIDs(nil, 3, 2))
	// Output:
	// row 0 holds samples [4]
	// row 1 holds samples [0 1]
	// row 2 holds samples [2 3 5]
	// rows above the bound: 0
	// position_ids of segments of 3 and 2 tokens: [0 1 2 0 1]
}

// WorstFit puts each sample into the row that has most room, if it fits there, so that rows are about equally full.
type WorstFit struct{}

func (WorstFit) Assign(bin, lengths []int32, limits packing.Limits) int {
	var fill, count []int
	for i, length := range lengths {
		best := -1
		for b := range fill {
			fits := fill[b]+int(length) <= limits.Capacity && (limits.MaxSamples == 0 || count[b] < limits.MaxSamples)
			if fits && (best < 0 || fill[b] < fill[best]) {
				best = b
			}
		}
		if best < 0 {
			best, fill, count = len(fill), append(fill, 0), append(count, 0)
		}
		bin[i], fill[best], count[best] = int32(best), fill[best]+int(length), count[best]+1
	}
	return len(fill)
}

// lengths returns how many tokens the samples in the files named have.
func lengths(names ...string) ([]int32, error) {
	files, err := source.Open(names, source.Options{})
	if err != nil {
		return nil, err
	}
	var list []int32
	for sample, err := range files.Samples() {
		if err != nil {
			return nil, err
		}
		list = append(list, int32(len(sample.Tokens)))
	}
	return list, nil
}

func Example_compare() {
	list, err := lengths(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := compare.Run(context.Background(), list, compare.Options{
		Capacities: []int{600},
		Candidates: []compare.Candidate{
			{Name: "worst-fit", Strategy: WorstFit{}},
			{Name: "bfd", Strategy: packing.BestFitDecreasing{}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range c.Results {
		fmt.Printf("%s: %d rows, %d above the bound, %.1f %% full\n", r.Strategy, r.Rows, r.Gap, 100*r.Fill)
	}
	// Output:
	// worst-fit: 197 rows, 20 above the bound, 89.6 % full
	// bfd: 182 rows, 5 above the bound, 96.9 % full
	// pad-to-capacity: 512 rows, 335 above the bound, 34.5 % full
	// pad-to-longest: 512 rows, 335 above the bound, 65.8 % full
	// pad-sorted: 512 rows, 335 above the bound, 98.3 % full
}

// write packs the samples in the files named into a data set.
func write(ctx context.Context, dir string, names ...string) error {
	files, err := source.Open(names, source.Options{})
	if err != nil {
		return err
	}
	var stats tokenstream.Stats
	o := tokenstream.Options{
		Capacity: 600,
		Strategy: packing.Windows{Strategy: packing.Decorrelate(WorstFit{}, 1)}, // window by window, rows in random order by seed 1
		TooLong:  tokenstream.Drop,
		Stats:    &stats,
	}
	job := dataset.Job{
		"inputs": files.Inputs(), "strategy": "worst-fit", "seed": 1, // another job is not taken for this one
		"capacity": o.Capacity, "too_long": o.TooLong.String(), "labels": o.Labels.String(), "no_target": o.NoTarget.String(), // for verify
	}
	manifest, err := dataset.Write(ctx, dir, tokenstream.Pack(files.Samples(), o), dataset.Options{Job: job})
	if errors.Is(err, dataset.ErrComplete) {
		return nil // by an earlier run
	}
	if err != nil {
		return err
	}
	fmt.Println(manifest.Splits[0].Rows, "rows, at least", stats.LowerBound, "needed, in", manifest.Splits[0].Shards[0].Path)
	fmt.Println(stats.Ledger.In.Samples, "samples in,", stats.Ledger.Out.Samples, "out")
	return nil
}

// check compares the data set with the files that it was made of.
func check(ctx context.Context, dir string, names ...string) error {
	files, err := source.Open(names, source.Options{})
	if err != nil {
		return err
	}
	report, err := verify.Dir(ctx, dir, verify.Options{Source: files.Samples()})
	if err != nil {
		return err // it could not be checked
	}
	for _, fault := range report.Faults {
		fmt.Println(fault)
	}
	fmt.Println("right:", report.OK(), "samples:", report.Samples)
	fmt.Println("not checked:", report.Unchecked)
	return nil
}

// first prints the first sample that was packed.
func first(ctx context.Context, dir string) error {
	for sample, err := range verify.Unpack(ctx, dir, "") {
		if err != nil {
			return err
		}
		fmt.Println("the first sample has", len(sample.Tokens), "tokens")
		break
	}
	return nil
}

func Example_dataset() {
	ctx := context.Background()
	temp, err := os.MkdirTemp("", "docs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "packed")
	fmt.Println(write(ctx, dir, data), write(ctx, dir, data), check(ctx, dir, data), first(ctx, dir))
	// Output:
	// 197 rows, at least 177 needed, in data/shard-00000.parquet
	// 512 samples in, 512 out
	// right: true samples: 512
	// not checked: [job.max_sample_tokens job.max_samples job.pad job.pad_id job.vocab_size ledger]
	// the first sample has 119 tokens
	// <nil> <nil> <nil> <nil>
}

func Example_errors() {
	long := func(yield func(tokenstream.Sample, error) bool) {
		yield(tokenstream.Sample{Tokens: make([]int32, 9), Place: tokenstream.Place{Name: "mine", Row: 1}}, nil)
	}
	for _, err := range tokenstream.Pack(long, tokenstream.Options{Capacity: 8}) {
		var tooLong *tokenstream.LengthError
		if errors.As(err, &tooLong) {
			fmt.Println(tooLong.Count, "sample is too long, the longest has", tooLong.Longest, "tokens; the first is at", tooLong.First)
		}
	}
	// Output:
	// 1 sample is too long, the longest has 9 tokens; the first is at mine:1
}

// send writes rows as an Arrow stream for torchtitan, each as soon as it is there.
func send(w io.Writer, rows iter.Seq2[*tokenstream.Batch, error]) error {
	layout, err := tokenstream.LookupLayout("torchtitan")
	if err != nil {
		return err
	}
	sink, err := arrow.NewWriter(w, layout, arrow.Options{Form: arrow.Stream, BatchRows: 1})
	if err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := sink.Write(row); err != nil {
			return err
		}
		fmt.Println(len(row.Segments), "samples, lengths", tokenstream.Lengths.AppendInt32(nil, row))
	}
	return sink.Close()
}

func Example_sink() {
	samples := func(yield func(tokenstream.Sample, error) bool) {
		for n := range 5 {
			if !yield(tokenstream.Sample{Tokens: make([]int32, 4+n)}, nil) {
				return
			}
		}
	}
	fmt.Println(send(io.Discard, tokenstream.Pack(samples, tokenstream.Options{Capacity: 12, Strategy: packing.OldestFirst{}})))
	// Output:
	// 2 samples, lengths [4 8]
	// 2 samples, lengths [5 7]
	// 1 samples, lengths [6 6]
	// <nil>
}

// inUnits packs by units, which any processes may run in any order.
func inUnits(ctx context.Context, dir string, names ...string) error {
	plan, err := units.New(ctx, names, units.Options{Units: 1})
	if err != nil {
		return err
	}
	job := units.Job{Dir: dir, Pack: tokenstream.Options{Capacity: 600}, Dataset: dataset.Options{Job: dataset.Job{"capacity": 600}}}
	missing, err := plan.Missing(job)
	if err != nil {
		return err
	}
	for _, unit := range missing {
		if _, err := plan.Run(ctx, job, unit); err != nil {
			return err
		}
	}
	manifest, err := plan.Finish(ctx, job)
	if err != nil {
		return err
	}
	fmt.Println(len(missing), "units,", manifest.Splits[0].Rows, "rows")
	return nil
}

func Example_units() {
	temp, err := os.MkdirTemp("", "docs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(temp)
	fmt.Println(inUnits(context.Background(), filepath.Join(temp, "packed"), data))
	// Output:
	// 1 units, 182 rows
	// <nil>
}

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/source"
	"github.com/brimful/brimful/units"
)

// fewRows is how many rows a unit wants at least: the last of each are less full, which then costs less than .01 % of all rows.
const fewRows = 5000

// unitGCPercent is [gcPercent] for units, which are small: a tenth of little would be collected all the time.
const unitGCPercent = 100

// local are the flags of pack that concern one process rather than the job.
var local = []string{"workers", "spool", "help"}

func planCommand() *cobra.Command {
	j := new(packJob)
	n := 0
	var path string
	cmd := &cobra.Command{
		Use:   "plan INPUT... --out DIR --capacity N --units N",
		Short: "split a packing job into units for many processes",
		Long: `Plan reads the inputs once and writes a plan: what each of --units units reads, and the options of the job,
which are those of pack. Then

  run-unit   packs one unit or several, in any order, anywhere, as often as it takes
  missing    says which units still have to be run
  finish     makes the data set when all are done

All of them have to see the inputs and DIR under the same paths. The bytes are those of pack --units.`,
		Example: `  brimful plan shards/ --out packed --capacity 8192 --units 64 --plan packed.plan
  seq 0 63 | xargs -P 8 -n 1 brimful run-unit --plan packed.plan --unit
  brimful finish --plan packed.plan`,
		RunE: func(cmd *cobra.Command, args []string) error {
			j.inputs, j.units = args, n
			if err := j.check(cmd); err != nil {
				return err
			}
			if n < 1 {
				return usagef("--units %d: want 1 or more", n)
			}
			p, err := j.plan(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			if path == "" {
				path = filepath.Clean(j.out) + ".plan"
			}
			if err := p.WriteFile(path); err != nil {
				return err
			}
			w := cmd.ErrOrStderr()
			fmt.Fprintf(w, "%s, about %s tokens, in %s: %s\n", plural(p.Samples, "sample"), dataset.Commas(p.Tokens), plural(int64(n), "unit"), path)
			if rows := p.Tokens / int64(n) / int64(j.options.Capacity); rows < fewRows && n > 1 {
				fmt.Fprintf(w, "brimful: warning: a unit has about %s: fewer than %s leave more room at the end of each (fewer --units are better)\n",
					plural(rows, "row"), dataset.Commas(fewRows))
			}
			fmt.Fprintf(w, "run each unit with: brimful run-unit --plan %s --unit 0-%d\n", path, n-1)
			return nil
		},
	}
	j.setFlags(cmd)
	cmd.Flags().IntVar(&n, "units", 0, "how many units")
	cmd.Flags().StringVar(&path, "plan", "", "`FILE` to write (default DIR.plan)")
	return cmd
}

// plan makes the plan of a job that was checked.
func (j *packJob) plan(ctx context.Context, cmd *cobra.Command) (*units.Plan, error) {
	settings := map[string]string{}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case slices.Contains(local, f.Name) || f.Name == "units" || f.Name == "plan" || f.Name == "json" || f.Name == "quiet":
			return
		case f.Name == "out" || f.Name == "tokenizer":
			var abs string
			abs, e := filepath.Abs(value)
			value, err = abs, errors.Join(err, e)
		}
		settings[f.Name] = value
	})
	if err != nil {
		return nil, err
	}
	o := j.source(nil)
	o.Workers = 1
	return units.New(ctx, j.inputs, units.Options{Units: j.units, Seed: j.seed, Source: o, Workers: j.workers, Settings: settings})
}

// unitJob returns what units need to know.
func (j *packJob) unitJob(p *units.Plan, tok *tokenizer) units.Job {
	return units.Job{
		Dir: j.out, Pack: j.options, HoldOut: float64(j.holdout), Source: j.source(nil),
		Dataset: dataset.Options{Layout: j.layout, Format: j.format, ShardRows: j.shardRows, Workers: j.workers, Job: j.settings(p.Inputs, tok)},
	}
}

// checkUnits finds options of pack that make no sense with units.
func (j *packJob) checkUnits() error {
	switch {
	case j.units < 0:
		return usagef("--units %d: want 0 or more", j.units)
	case j.units == 0:
	case j.isSink():
		return usagef("--units with --format %s: it is one unit", j.format)
	case j.limit > 0 || j.limitTok > 0:
		return usagef("--units with --limit or --limit-tokens: name fewer inputs")
	}
	return nil
}

// runUnits packs by units, all of them here.
func (j *packJob) runUnits(ctx context.Context, cmd *cobra.Command, tok *tokenizer, start time.Time) error {
	stderr := cmd.ErrOrStderr()
	p, err := j.plan(ctx, cmd)
	if err != nil {
		return err
	}
	debug.SetGCPercent(unitGCPercent)
	job := j.unitJob(p, tok)
	done, next := 0, time.Now().Add(lineEvery)
	err = p.RunAll(ctx, job, j.workers, func(*dataset.Receipt) {
		if done++; !j.quiet && time.Now().After(next) {
			next = time.Now().Add(lineEvery)
			fmt.Fprintf(stderr, "brimful: %d of %d units\n", done, p.Units)
		}
	})
	switch {
	case errors.Is(err, dataset.ErrComplete):
		if !j.quiet {
			fmt.Fprintf(stderr, "brimful: %s is up to date\n", j.out)
		}
		return nil
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case err != nil:
		return err
	}
	m, err := p.Finish(ctx, job)
	if err != nil {
		return err
	}
	return j.summarize(cmd, m, tok, start)
}

// summarize prints the summary of a data set made of units.
func (j *packJob) summarize(cmd *cobra.Command, m *dataset.Manifest, tok *tokenizer, start time.Time) error {
	var paths []string
	for _, in := range m.Inputs {
		paths = append(paths, in.Path)
	}
	files, err := source.Open(paths, j.source(nil))
	if err != nil {
		return err
	}
	s := &summary{job: j, files: files, tokenizer: tok, manifest: m, seconds: time.Since(start).Seconds()}
	if !j.quiet {
		s.print(cmd.ErrOrStderr())
	}
	s.warn(cmd.ErrOrStderr())
	if j.json {
		return s.printJSON(cmd.OutOrStdout())
	}
	return nil
}

// openPlan reads the plan in a file with the parts of the units given, and the job that it is for.
func openPlan(cmd *cobra.Command, path string, workers int, wanted ...int) (*packJob, *units.Plan, *tokenizer, error) {
	if path == "" {
		return nil, nil, nil, usagef("no --plan: name the file that brimful plan wrote")
	}
	p, err := units.ReadFile(path, wanted...)
	if err != nil {
		return nil, nil, nil, err
	}
	j := &packJob{units: p.Units, quiet: true}
	flags := &cobra.Command{}
	flags.SetContext(cmd.Context())
	j.setFlags(flags)
	for _, name := range slices.Sorted(maps.Keys(p.Settings)) {
		if err := flags.Flags().Set(name, p.Settings[name]); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: settings: --%s %s: %w", path, name, p.Settings[name], err)
		}
	}
	for _, in := range p.Inputs {
		j.inputs = append(j.inputs, in.Path)
	}
	j.workers = workers
	if err := j.check(flags); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: settings: %w", path, errors.Unwrap(err))
	}
	tok, err := j.openTokenizer()
	return j, p, tok, err
}

// parseUnits reads numbers such as 3 or 2,5,7-9.
func parseUnits(s string) ([]int, error) {
	var list []int
	for _, part := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b-a > 1e6 {
			return nil, usagef("--unit %s: want numbers from 0 on, such as 3 or 2,5,7-9", s)
		}
		for u := a; u <= b; u++ {
			list = append(list, u)
		}
	}
	return list, nil
}

func runUnitCommand() *cobra.Command {
	var path, which string
	workers, perTask := 0, 0
	cmd := &cobra.Command{
		Use:   "run-unit --plan FILE --unit I[,J-K]",
		Short: "run units of a plan",
		Long: `Run-unit packs units of a plan and leaves their shards and a receipt of each in the directory of the plan. It
can be killed, repeated, and run beside a twin: the bytes are the same. What has a receipt is not run again.

With --per-task N the numbers are those of tasks, and task I is the units from I*N to I*N+N-1 that the plan
has: for schedulers that number their tasks and allow only so many.`,
		Example: `  brimful run-unit --plan packed.plan --unit 17
  brimful run-unit --plan packed.plan --per-task 20 --unit "$SLURM_ARRAY_TASK_ID"
  brimful run-unit --plan packed.plan --unit "$(brimful missing --plan packed.plan)"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := parseUnits(which)
			if err != nil {
				return err
			}
			if list, err = unitsOf(path, list, perTask); err != nil {
				return err
			}
			j, p, tok, err := openPlan(cmd, path, workers, list...)
			if err != nil {
				return err
			}
			debug.SetGCPercent(unitGCPercent)
			job := j.unitJob(p, tok)
			for _, u := range list {
				start := time.Now()
				r, err := p.Run(cmd.Context(), job, u)
				switch {
				case errors.Is(err, dataset.ErrComplete):
					fmt.Fprintf(cmd.ErrOrStderr(), "brimful: %s is complete\n", j.out)
					return nil
				case errors.Is(err, context.Canceled):
					return errInterrupted
				case err != nil:
					return err
				}
				rows, tokens := int64(0), int64(0)
				for _, s := range r.Splits {
					rows, tokens = rows+s.Rows, tokens+s.Tokens
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "unit %d: %s, %s tokens, in %.2f s\n", u, plural(rows, "row"), dataset.Commas(tokens), time.Since(start).Seconds())
			}
			return nil
		},
	}
	planFlag(cmd, &path)
	perTaskFlag(cmd, &perTask)
	cmd.Flags().StringVar(&which, "unit", "", "`NUMBERS` of units, from 0 on, such as 3 or 2,5,7-9")
	cmd.Flags().IntVar(&workers, "workers", 0, "goroutines that read and that write (default the number of cores); the bytes do not depend on it")
	return cmd
}

func planFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(path, "plan", "", "`FILE` that brimful plan wrote")
}

func perTaskFlag(cmd *cobra.Command, n *int) {
	cmd.Flags().IntVar(n, "per-task", 1, "how many units a task has; numbers are then those of tasks")
}

// unitsOf returns the units of the tasks given, each of so many units. The last task of a plan may have fewer.
func unitsOf(path string, tasks []int, perTask int) ([]int, error) {
	if perTask < 1 {
		return nil, usagef("--per-task %d: want 1 or more", perTask)
	}
	if perTask == 1 || path == "" {
		return tasks, nil
	}
	p, err := units.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, t := range tasks {
		if last := (p.Units - 1) / perTask; t > last {
			return nil, fmt.Errorf("%s: task %d of %d units each: want 0..%d", path, t, perTask, last)
		}
		for u := t * perTask; u < min(t*perTask+perTask, p.Units); u++ {
			list = append(list, u)
		}
	}
	return list, nil
}

func missingCommand() *cobra.Command {
	var path string
	perTask := 0
	cmd := &cobra.Command{
		Use:   "missing --plan FILE",
		Short: "print the units of a plan that still have to be run",
		Long: `Missing prints the units without a valid receipt in the form that sbatch --array and run-unit take, such as
2,3,7-9, and nothing if there are none. With --per-task N it prints the tasks of N units, as of run-unit, that
have such a unit.`,
		Example: `  sbatch --array="$(brimful missing --plan packed.plan --per-task 20)" slurm.sh packed.plan 20`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if perTask < 1 {
				return usagef("--per-task %d: want 1 or more", perTask)
			}
			j, p, tok, err := openPlan(cmd, path, 0)
			if err != nil {
				return err
			}
			missing, err := p.Missing(j.unitJob(p, tok))
			for i := range missing {
				missing[i] /= perTask
			}
			missing = slices.Compact(missing)
			if err == nil && len(missing) > 0 {
				fmt.Fprintln(cmd.OutOrStdout(), dataset.Ranges(missing))
			}
			return err
		},
	}
	planFlag(cmd, &path)
	perTaskFlag(cmd, &perTask)
	return cmd
}

func finishCommand() *cobra.Command {
	var path string
	quiet, asJSON := false, false
	cmd := &cobra.Command{
		Use:   "finish --plan FILE",
		Short: "make the data set of the units of a plan",
		Long: `Finish checks the receipt of every unit, moves the shards to their places, writes the card and, last, the
manifest, and removes what killed runs left. It can be repeated. If units are missing it says which.`,
		Example: `  brimful finish --plan packed.plan`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start := time.Now()
			j, p, tok, err := openPlan(cmd, path, 0)
			if err != nil {
				return err
			}
			m, err := p.Finish(cmd.Context(), j.unitJob(p, tok))
			var missing *dataset.MissingError
			if errors.As(err, &missing) {
				return fmt.Errorf("%w (brimful missing --plan %s prints them for run-unit)", err, path)
			}
			if err != nil {
				return err
			}
			j.quiet, j.json = quiet, asJSON
			return j.summarize(cmd, m, tok, start)
		},
	}
	planFlag(cmd, &path)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON to standard output")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print nothing but errors and warnings")
	return cmd
}

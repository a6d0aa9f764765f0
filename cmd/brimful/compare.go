package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/brimful/brimful/compare"
	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/report"
)

// compareJob is what the flags of compare say.
type compareJob struct {
	inputs     []string
	lengths    string
	histogram  string
	capacities []string
	strategies []string
	padded     []string // the ways of padding that --strategy names
	timing     bool
	json       bool
	html       string
	command    string // the command line
	options    compare.Options
}

func compareCommand() *cobra.Command {
	j := &compareJob{}
	o := &j.options
	cmd := &cobra.Command{
		Use:   "compare INPUT... --capacity N[,N...]",
		Short: "show what each packing strategy, and padding, costs on given samples",
		Long: `Compare reads how long samples are, packs them by every strategy at every capacity, and prints a table: rows,
their distance from a proved lower bound, padding, attention, imbalance among ranks, time; the same for samples
that are padded instead; how long samples wait in a stream; and a capacity to begin with. It writes no rows.

INPUT is what pack reads. Lengths alone do as well: --lengths FILE has one a line; entry i of --histogram FILE,
from 1, is how many samples have i tokens. Both may be gzip or zstd, # begins a comment, and - is standard input.

Samples longer than a capacity are counted there and left out.`,
		Example: `  brimful compare train.jsonl --capacity 2048,4096,8192
  brimful compare train.jsonl --capacity 4096 --strategy bfd,optimal --budget 30s --json
  brimful compare train.jsonl --capacity 4096,8192 --html report.html
  brimful compare --histogram counts.txt --capacity 512
  cut -f2 lengths.tsv | brimful compare --lengths - --capacity 8Ki`,
		RunE: func(cmd *cobra.Command, args []string) error {
			j.inputs = args
			j.command = commandLine(append([]string{"brimful"}, os.Args[1:]...))
			return j.run(cmd.Context(), cmd)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringSliceVar(&j.capacities, "capacity", nil, "most tokens in a row; several with commas between them")
	f.StringSliceVar(&j.strategies, "strategy", []string{"all"}, "all, or some of "+strings.Join(packing.Names(), ", ")+
		"; with --json also "+strings.Join(compare.Padded(), ", "))
	f.StringVar(&j.lengths, "lengths", "", "`FILE` of one length a line, instead of INPUT")
	f.StringVar(&j.histogram, "histogram", "", "`FILE` of how many samples there are of each length from 1, instead of INPUT")
	f.DurationVar(&o.Budget, "budget", 2*time.Second, "most time for optimal at each capacity; 0 lets it use up its effort, as pack does")
	f.IntVar(&o.MaxSamples, "max-samples", 0, "most samples in a row; 0 is no bound")
	f.IntVar(&o.Batch, "batch", 8, "samples in a batch that is padded to its longest")
	f.IntVar(&o.Ranks, "ranks", 8, "ranks that wait for each other at every step")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of optimal, of the order of rows among ranks, and of samples in a histogram")
	f.BoolVar(&j.timing, "timing", true, "print times; without them, and with --budget 0, the table is the same in every run")
	f.StringVar(&j.html, "html", "", "`FILE` for a report with plots, one page that needs nothing else; - is standard output")
	f.BoolVar(&j.json, "json", false, "print an array with an object for each strategy and capacity instead of the table")
	return cmd
}

// check completes the job and finds mistakes in the flags.
func (j *compareJob) check(cmd *cobra.Command) error {
	ways := 0
	for _, given := range []bool{len(j.inputs) > 0, j.lengths != "", j.histogram != ""} {
		if given {
			ways++
		}
	}
	o := &j.options
	switch {
	case ways == 0:
		return usagef("no input: name files, directories or - for standard input, or --lengths or --histogram")
	case ways > 1:
		return usagef("more than one of INPUT, --lengths and --histogram: want one of them")
	case len(j.capacities) == 0:
		return usagef("no --capacity: say how many tokens a row has, such as --capacity 2048,4096")
	case j.html == "-" && j.json:
		return usagef("--json beside --html -: standard output holds the report")
	case o.Batch < 1:
		return usagef("--batch %d: want 1 or more", o.Batch)
	case o.Ranks < 1:
		return usagef("--ranks %d: want 1 or more", o.Ranks)
	case o.MaxSamples < 0:
		return usagef("--max-samples %d: want 0 or more", o.MaxSamples)
	case o.Budget < 0:
		return usagef("--budget %v: want 0 or more", o.Budget)
	}
	for _, s := range j.capacities {
		var n amount
		if err := n.Set(s); err != nil {
			return usagef("--capacity %q: %w", s, err)
		}
		if n < 1 || n > math.MaxInt32 {
			return usagef("--capacity %s: want 1..%d", s, math.MaxInt32)
		}
		if slices.Contains(o.Capacities, int(n)) {
			return usagef("--capacity %s: it stands there twice", s)
		}
		o.Capacities = append(o.Capacities, int(n))
	}
	return j.candidates()
}

// candidates finds the strategies.
func (j *compareJob) candidates() error {
	var names []string
	for _, name := range j.strategies {
		switch {
		case name == "all":
			names = append(names, packing.Names()...)
		case slices.Contains(compare.Padded(), name):
			j.padded = append(j.padded, name)
		default:
			names = append(names, name)
		}
	}
	j.options.Candidates = []compare.Candidate{}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		s, err := packing.Lookup(name)
		if err != nil {
			return usagef("--strategy: %w, or all", err)
		}
		if optimal, ok := s.(packing.Optimal); ok {
			optimal.Seed = j.options.Seed
			s = optimal
		}
		j.options.Candidates = append(j.options.Candidates, compare.Candidate{Name: name, Strategy: s})
	}
	return nil
}

// read reads the lengths.
func (j *compareJob) read(ctx context.Context, cmd *cobra.Command) ([]int32, error) {
	switch {
	case j.lengths != "":
		return listedLengths(ctx, j.lengths, cmd.InOrStdin())
	case j.histogram != "":
		return histogramLengths(ctx, j.histogram, cmd.InOrStdin(), j.options.Seed)
	}
	return inputLengths(ctx, j.inputs, cmd.InOrStdin())
}

func (j *compareJob) run(ctx context.Context, cmd *cobra.Command) error {
	if err := j.check(cmd); err != nil {
		return err
	}
	lengths, err := j.read(ctx, cmd)
	if err == nil && len(lengths) == 0 {
		err = errors.New("0 samples read")
	}
	if err != nil {
		return stopped(err)
	}
	c, err := compare.Run(ctx, lengths, j.options)
	if err != nil {
		return stopped(err)
	}
	switch {
	case j.html == "-":
		return j.report(cmd.OutOrStdout(), c)
	case j.html != "":
		if err := writeFile(j.html, func(w io.Writer) error { return j.report(w, c) }); err != nil {
			return fmt.Errorf("--html: %w", err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", j.html)
	}
	if j.json {
		return printJSON(cmd.OutOrStdout(), j.asked(c))
	}
	t := table{w: cmd.OutOrStdout(), timing: j.timing}
	return t.print(c)
}

// report writes the report.
func (j *compareJob) report(w io.Writer, c *compare.Comparison) error {
	source := strings.Join(j.inputs, ", ")
	if len(j.inputs) > 4 {
		source = fmt.Sprintf("%s and %d more", strings.Join(j.inputs[:3], ", "), len(j.inputs)-3)
	}
	return report.Write(w, c, report.Options{Source: cmp.Or(source, j.lengths, j.histogram), Command: j.command})
}

// writeFile writes a file as a whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := errors.Join(file.Chmod(0o644), write(file), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// commandLine returns a command as one would type it.
func commandLine(args []string) string {
	var quoted []string
	for _, arg := range args {
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./,=:@%+", r))
		}) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		quoted = append(quoted, arg)
	}
	return strings.Join(quoted, " ")
}

// stopped returns what the command says after a signal, or err.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

// asked returns the results that --strategy names.
func (j *compareJob) asked(c *compare.Comparison) []compare.Result {
	return slices.DeleteFunc(slices.Clone(c.Results), func(r compare.Result) bool {
		return !r.Packed && !slices.Contains(j.padded, r.Strategy)
	})
}

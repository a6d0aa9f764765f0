package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/source"
	"github.com/brimful/brimful/verify"
)

// errWrong says that the data is wrong, which has been printed.
var errWrong = errors.New("the data is wrong")

func verifyCommand() *cobra.Command {
	var inputs []string
	var split string
	var asJSON bool
	var faults int
	cmd := &cobra.Command{
		Use:   "verify DIR [--source INPUT]...",
		Short: "check a data set against the laws of packed rows and against its source",
		Long: `Verify reads a data set with a reader of its own and checks every row: lengths, positions, offsets, labels,
padding, checksums, and the counts and the ledger of the manifest. With --source it also checks that every
sample is there exactly once and whole, with the right labels, or left out by a rule that the ledger names.

It exits with 3 when the data is wrong and with 1 when it could not be checked.`,
		Example: `  brimful verify packed
  brimful verify packed --source train.jsonl --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%d directories: want one", len(args))
			}
			if faults < 1 {
				return usagef("--faults %d: want 1 or more", faults)
			}
			o := verify.Options{Faults: faults}
			var files *source.Files
			if len(inputs) > 0 {
				var err error
				files, err = source.Open(inputs, source.Options{Stdin: cmd.InOrStdin(), Split: split, Fields: fieldsOf(args[0])})
				if err != nil {
					return err
				}
				if err := setSources(&o, args[0], files, inputs); err != nil {
					return err
				}
			}
			r, err := verify.Dir(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			printReport(cmd.ErrOrStderr(), args[0], r)
			if files != nil && !r.OK() {
				noteOtherInputs(cmd.ErrOrStderr(), args[0], files.Inputs())
			}
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), r); err != nil {
					return err
				}
			}
			if !r.OK() {
				return errWrong
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&inputs, "source", nil, "`INPUT` that the data set was packed from, in the order given to pack; can be given again")
	f.StringVar(&split, "split", "", "`NAME` of the split of a save_to_disk folder with several")
	f.IntVar(&faults, "faults", 10, "most faults to print one by one")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON to standard output")
	return cmd
}

// jobOf is what the manifest of a data set says of how the inputs were read.
type jobOf struct {
	Sources   []mixSource `json:"sources"`
	HoldoutBy string      `json:"holdout_by"`
	IDField   string      `json:"id_field"`
}

func readJob(dir string) (j jobOf) {
	if m, err := dataset.ReadManifest(dir); err == nil {
		if b, err := json.Marshal(m.Job); err == nil {
			_ = json.Unmarshal(b, &j) // what is wrong with the manifest is said by verify
		}
	}
	return j
}

// fieldsOf returns the fields of the source that decide what is held out of a mixture.
func fieldsOf(dir string) tokenstream.Fields {
	j := readJob(dir)
	if len(j.Sources) == 0 {
		return tokenstream.Fields{}
	}
	return tokenstream.Fields{KeyField: j.HoldoutBy, IDField: j.IDField}
}

// setSources sets what the data set in dir is compared with: the files, or for a mixture the files of each of its sources.
func setSources(o *verify.Options, dir string, files *source.Files, inputs []string) error {
	j := readJob(dir)
	if len(j.Sources) == 0 {
		o.Source = files.Samples()
		return nil
	}
	n := 0
	for _, s := range j.Sources {
		var args []int
		for range s.Inputs {
			args = append(args, n)
			n++
		}
		o.Sources = append(o.Sources, files.SamplesOf(args...))
	}
	if n != len(inputs) {
		var all []string
		for _, s := range j.Sources {
			all = append(all, s.Inputs...)
		}
		return usagef("%d times --source: %s is a mixture of %s, want as many, in this order", len(inputs), dir, strings.Join(all, ", "))
	}
	return nil
}

// printReport says what was found and, if nothing was, why that can be trusted.
func printReport(w io.Writer, dir string, r *verify.Report) {
	for _, f := range r.Faults {
		fmt.Fprintf(w, "%v\n", f)
	}
	if more := r.Wrong - int64(len(r.Faults)); more > 0 {
		fmt.Fprintf(w, "and %s\n", plural(more, "more fault"))
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		fmt.Fprintf(w, "  %s: %s (%s)\n", reason, plural(r.Reasons[reason], "fault"), verify.Reasons[reason])
	}
	verdict := "ok"
	if !r.OK() {
		verdict = plural(r.Wrong, "fault")
	}
	held := plural(r.Samples, "sample")
	if r.Samples == 0 && r.Segments > 0 { // no column says whose they are
		held = plural(r.Segments, "segment")
	}
	fmt.Fprintf(w, "%s: %s: %s, %s of %s, %s tokens (%s supervised) checked one by one\n", dir, verdict, plural(int64(r.Shards), "shard"),
		plural(r.Rows, "row"), held, dataset.Commas(r.Tokens), dataset.Commas(r.Supervised))
	switch {
	case !r.Manifest:
		fmt.Fprintf(w, "there is no manifest: the rows were checked for what they show by themselves; capacity, checksums, counts and the ledger could not be\n")
	case len(r.Unchecked) > 0:
		fmt.Fprintf(w, "not checked, since the manifest does not say enough: %s\n", strings.Join(r.Unchecked, ", "))
	}
	often := "exactly once"
	if r.Mixture {
		often = "as often as it was drawn"
	}
	switch {
	case !r.Manifest:
	case r.Source && r.OK():
		fmt.Fprintf(w, "every sample of the source is there %s and whole, or in the ledger with the rule that left it out or cut it\n", often)
	case !r.Source:
		fmt.Fprintf(w, "the samples were not compared with their source: --source does that\n")
	}
}

// noteOtherInputs says which inputs are not those on record, since that explains most differences between rows and source.
func noteOtherInputs(w io.Writer, dir string, inputs []tokenstream.Input) {
	m, err := dataset.ReadManifest(dir)
	if err != nil || len(m.Inputs) == 0 {
		return
	}
	if len(inputs) != len(m.Inputs) {
		fmt.Fprintf(w, "note: it was packed from %s, and compared with %d\n", plural(int64(len(m.Inputs)), "input"), len(inputs))
		return
	}
	for i, in := range inputs {
		if was := m.Inputs[i]; in.SHA256 != was.SHA256 && in.SHA256 != "" && was.SHA256 != "" {
			fmt.Fprintf(w, "note: %s is not what was packed as %s: its sha256 is another\n", in.Path, was.Path)
		}
	}
}

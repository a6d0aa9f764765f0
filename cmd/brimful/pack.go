package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/mix"
	"github.com/brimful/brimful/tokenstream/source"
)

// packJob is what the flags of pack say.
type packJob struct {
	inputs []string
	out    string
	format string
	layout tokenstream.Layout

	layoutName string
	layoutFile string
	addColumns []string

	shardRows int
	workers   int

	strategy string
	effort   amount
	window   amount
	shuffle  bool
	seed     uint64
	pad      bool
	options  tokenstream.Options

	mixFlags

	tokenizer string
	holdout   share
	holdoutBy string
	limit     amount
	limitTok  amount
	maxLine   amount
	split     string
	idField   string
	eos       int32
	units     int
	json      bool
	quiet     bool
}

const defaultWindow = 32 << 20

func packCommand() *cobra.Command {
	j := new(packJob)
	cmd := &cobra.Command{
		Use:   "pack INPUT... --out DIR --capacity N",
		Short: "pack samples into rows and write them as a data set",
		Long: `Pack reads tokenized samples, packs them into rows of at most --capacity tokens and writes them.

INPUT is a file, a directory of files, a pattern, or - for standard input: JSON lines (plain, gzip or zstd),
Parquet, Arrow files and streams, save_to_disk folders, Megatron's NAME.idx with NAME.bin, NumPy's NAME.npy
with NAME.offsets.npy. A sample has input_ids and, if not every token is to be learnt, either labels (-100 or
the id at the same place) or one or more 0/1 masks: loss_mask, assistant_masks, completion_mask. Padding
that an attention_mask marks is stripped.

DIR is new, empty, or what an interrupted run of the same command left; that run is then completed.`,
		Example: `  brimful pack train.jsonl --out packed --capacity 4096
  brimful pack 'shards/*.jsonl.zst' --out packed --capacity 8192 --holdout 1% --tokenizer tokenizer.json
  brimful pack --mix web.jsonl=0.7 --mix code:src/=0.3 --repeat code=2 --out packed --capacity 8192 --column source=sources
  brimful pack - --out - --format arrow-stream --capacity 4096 <train.jsonl | python train.py`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if help, _ := cmd.Flags().GetBool("layout-help"); help {
				printLayouts(cmd.OutOrStdout())
				return nil
			}
			j.inputs = args
			return j.run(cmd.Context(), cmd)
		},
	}
	j.setFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&j.units, "units", 0, "split the input into `N` parts that are packed apart and in parallel, as plan and run-unit do; 0 does not")
	f.Bool("layout-help", false, "print the columns and the needs of every layout, as brimful layouts does, and do nothing else")
	f.BoolVar(&j.json, "json", false, "print the summary as JSON to standard output")
	f.BoolVar(&j.quiet, "quiet", false, "print nothing but errors and warnings")
	return cmd
}

// setFlags adds the flags that say what becomes of the samples.
func (j *packJob) setFlags(cmd *cobra.Command) {
	o := &j.options
	j.window = defaultWindow
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&j.out, "out", "", "directory to write; with --format arrow-stream a file, or - for standard output")
	f.IntVar(&o.Capacity, "capacity", 0, "most tokens in a row")
	f.StringVar(&j.strategy, "strategy", "", "how to pack: "+strings.Join(packing.Names(), ", ")+" (default bfd, for a stream rolling)")
	f.Var(&j.effort, "effort", "with --strategy optimal, most work a window, in steps of 2 to 6 ns (default 20G)")
	f.StringVar(&j.layoutName, "layout", "hf", "columns of a row, by trainer: "+strings.Join(layoutNames(), ", ")+"; see brimful layouts")
	f.StringVar(&j.layoutFile, "layout-file", "", "`FILE` of JSON with a layout of your own")
	f.StringArrayVar(&j.addColumns, "column", nil, "`NAME=KIND[:TYPE]` of one more column, such as seq_idx=seq_idx; can be given again")
	f.StringVar(&j.format, "format", "parquet", "parquet, arrow, hf (a folder for load_from_disk), arrow-stream, olmo (OLMo-core's arrays) or xtuner (its plan)")
	f.Var(newChoice(&o.TooLong, option[tokenstream.TooLong]{"error", tokenstream.TooLongError},
		option[tokenstream.TooLong]{"drop", tokenstream.Drop}, option[tokenstream.TooLong]{"truncate", tokenstream.Truncate},
		option[tokenstream.TooLong]{"truncate-left", tokenstream.TruncateLeft}, option[tokenstream.TooLong]{"split", tokenstream.Split}),
		"too-long", "what happens to samples longer than --max-sample-tokens")
	f.IntVar(&o.MaxSampleTokens, "max-sample-tokens", 0, "longest sample (default --capacity)")
	f.IntVar(&o.MaxSamples, "max-samples", 0, "most samples in a row; 0 is no bound")
	f.BoolVar(&j.pad, "pad", true, "pad every row to the capacity")
	f.Int32Var(&o.PadID, "pad-id", 0, "id of the padding")
	f.Var((*multiple)(&o.Align), "align", "pad every sample to a multiple of `N`, or of all of several: 2 x CP for context parallelism, CP x TP for sequence parallelism, 16 or 32 for FP8")
	f.Var((*multiple)(&o.AlignRows), "align-rows", "pad every row to a multiple of `N`, or of all of several")
	f.BoolVar(&o.FixedCounts, "fixed-counts", false, "repeat the last offset in cu_seqlens so that every row has as many, for CUDA graphs; with --max-samples")
	f.IntVar(&o.VocabSize, "vocab-size", 0, "ids at or above it are an error (the model's embedding size); 0 is no bound")
	f.StringVar(&j.tokenizer, "tokenizer", "", "`FILE` tokenizer.json to check ids against and to record")
	f.Var(newChoice(&o.Labels, option[tokenstream.LabelRule]{"own", tokenstream.LabelsOwn}, option[tokenstream.LabelRule]{"shifted", tokenstream.LabelsShifted},
		option[tokenstream.LabelRule]{"free", tokenstream.LabelsFree}, option[tokenstream.LabelRule]{"all", tokenstream.LabelsAll}),
		"labels", "what labels are: -100 or the own id, -100 or the next id, -100 or any id; or: every token is a target")
	f.Bool("labels-shifted", false, "the same as --labels shifted")
	f.Bool("labels-free", false, "the same as --labels free")
	f.Var(newChoice(&o.NoTarget, option[tokenstream.Policy]{"drop", tokenstream.PolicyDrop},
		option[tokenstream.Policy]{"keep", tokenstream.PolicyKeep}, option[tokenstream.Policy]{"error", tokenstream.PolicyError}),
		"no-target", "what happens to samples without a supervised token")
	f.Var(newChoice(&o.Empty, option[tokenstream.Policy]{"error", tokenstream.PolicyError}, option[tokenstream.Policy]{"drop", tokenstream.PolicyDrop}),
		"empty", "what happens to samples without tokens")
	f.StringArrayVar(&j.mix, "mix", nil, "`[NAME:]INPUT=WEIGHT` of a source of a mixture; can be given again, without a weight for another INPUT of NAME")
	f.Var(newChoice(&j.by, option[mix.Unit]{"tokens", mix.Tokens}, option[mix.Unit]{"samples", mix.Samples}, option[mix.Unit]{"supervised", mix.Supervised}),
		"mix-by", "what the weights of --mix are shares of")
	f.StringArrayVar(&j.repeat, "repeat", nil, "`NAME=N`: a source or, without --mix, an INPUT is read at most N times, 1.5 is one and a half; endless has no end; can be given again")
	f.Var(&j.holdout, "holdout", "share of the samples for a validation split, such as 1%")
	f.StringVar(&j.holdoutBy, "holdout-by", "", "`FIELD` whose value decides, so that samples with the same value stay together")
	f.Var(&j.limit, "limit", "read at most that many samples")
	f.Var(&j.limitTok, "limit-tokens", "read at most that many tokens")
	f.Var(&j.maxLine, "max-line-bytes", "longest line of JSON (default 256Mi)")
	f.StringVar(&j.split, "split", "", "`NAME` of the split of a save_to_disk folder with several")
	f.Int32Var(&j.eos, "eos", -1, "with --format olmo, the id that ends every sample")
	f.StringVar(&j.idField, "id-field", "", "`FIELD` of the input that goes into a column of sample_ids (default id)")
	f.IntVar(&j.shardRows, "shard-rows", 0, "rows in a file (default about 8 Mi tokens)")
	f.Var(&j.window, "window", "tokens that are packed at a time; 0 packs everything at once, in memory")
	f.StringVar(&o.Spool, "spool", "", "`DIR` for a temporary file in which samples wait for their row, for windows larger than memory")
	f.BoolVar(&j.shuffle, "shuffle", true, "shuffle rows and samples of equal length, by --seed, inside a window")
	f.Uint64Var(&j.seed, "seed", 0, "seed of the shuffle")
	f.IntVar(&j.workers, "workers", 0, "goroutines that read and that write (default the number of cores); the bytes do not depend on it")
}

// check completes the job and finds mistakes in the flags.
func (j *packJob) check(cmd *cobra.Command) error {
	o := &j.options
	changed := cmd.Flags().Changed
	switch {
	case len(j.inputs) == 0 && len(j.mix) == 0:
		return usagef("no input: name files, directories or - for standard input")
	case j.out == "":
		return usagef("no --out: name a directory")
	case !changed("capacity"):
		return usagef("no --capacity: say how many tokens a row has")
	case o.Capacity < 1 || o.Capacity > math.MaxInt32:
		return usagef("--capacity %d: want 1..%d", o.Capacity, math.MaxInt32)
	case !slices.Contains(allFormats(), j.format):
		return usagef("--format %q: want one of %s", j.format, strings.Join(allFormats(), ", "))
	case j.out == "-" && j.format != "arrow-stream":
		return usagef("--out -: want --format arrow-stream with it, or a directory")
	case j.out == "-" && j.json:
		return usagef("--json beside --out -: standard output holds the rows")
	case j.holdoutBy != "" && j.holdout == 0:
		return usagef("--holdout-by without --holdout: say how much to hold out")
	case j.workers < 0:
		return usagef("--workers %d: want 0 or more", j.workers)
	case j.shardRows < 0:
		return usagef("--shard-rows %d: want 0 or more", j.shardRows)
	}
	for flag, rule := range map[string]tokenstream.LabelRule{"labels-shifted": tokenstream.LabelsShifted, "labels-free": tokenstream.LabelsFree} {
		if on, _ := cmd.Flags().GetBool(flag); on {
			if o.Labels != tokenstream.LabelsOwn && o.Labels != rule {
				return usagef("--%s beside --labels %s or another such flag: want one of them", flag, cmd.Flags().Lookup("labels").Value)
			}
			o.Labels = rule
		}
	}
	if j.strategy == "" {
		j.strategy = "bfd"
		if j.format == "arrow-stream" {
			j.strategy = "rolling"
		}
	}
	s, err := packing.Lookup(j.strategy)
	if err != nil {
		return usagef("--strategy: %w", err)
	}
	if optimal, ok := s.(packing.Optimal); ok {
		optimal.Effort = int64(j.effort)
		s = optimal
	} else if j.effort > 0 {
		return usagef("--effort with --strategy %s: it bounds the work of optimal", j.strategy)
	}
	if err := j.checkUnits(); err != nil {
		return err
	}
	if err := j.checkSink(changed); err != nil {
		return err
	}
	if j.workers == 0 {
		j.workers = runtime.GOMAXPROCS(0)
	}
	if err := j.setLayout(changed("layout")); err != nil {
		return err
	}
	if err := j.checkMix(changed); err != nil {
		return err
	}
	o.AlignInputs = j.layout.AlignInputs
	o.KeepIDs = slices.ContainsFunc(j.layout.Columns, func(c tokenstream.Column) bool { return c.Kind == tokenstream.SampleIDs })
	if j.idField != "" && !o.KeepIDs {
		return usagef("--id-field without a column for it: want --column sample_ids=sample_ids too")
	}
	o.Ragged = !j.pad || j.layout.Ragged && !changed("pad")
	if o.Align > 1 || o.AlignRows > 1 || j.layout.Ragged && !o.Ragged { // there is padding that the layout says nothing of
		j.layout = j.layout.ForAlignment()
	}
	o.Strategy = j.streamer(s, changed("window"))
	if err := o.Check(); err != nil {
		return usageError{err}
	}
	return nil
}

// streamer returns the strategy that packs the stream of samples by s.
func (j *packJob) streamer(s packing.Strategy, windowSet bool) packing.Streamer {
	tokens := int64(j.window)
	if tokens == 0 {
		tokens = math.MaxInt64
	}
	shuffled := func(s packing.Strategy) packing.Strategy {
		if j.shuffle {
			return packing.Decorrelate(s, j.seed)
		}
		return s
	}
	if rolling, ok := s.(packing.Rolling); ok {
		rolling.Strategy = shuffled(packing.BestFitDecreasing{})
		if windowSet {
			rolling.Tokens = tokens
		}
		return rolling
	}
	if streamer, ok := s.(packing.Streamer); ok && j.format == "arrow-stream" {
		return streamer
	}
	return packing.Windows{Strategy: shuffled(s), Tokens: tokens}
}

// settings returns what the rows depend on, for the manifest.
func (j *packJob) settings(inputs []tokenstream.Input, tok *tokenizer) dataset.Job {
	o := j.options
	job := dataset.Job{
		"brimful": version, "inputs": inputs, "capacity": o.Capacity, "max_sample_tokens": o.MaxSampleTokens, "max_samples": o.MaxSamples,
		"strategy": j.strategy, "effort": int64(j.effort), "window": int64(j.window), "shuffle": j.shuffle, "seed": j.seed, "pad": !o.Ragged, "pad_id": o.PadID,
		"vocab_size": o.VocabSize, "too_long": o.TooLong.String(), "labels": o.Labels.String(), "no_target": o.NoTarget.String(),
		"empty": o.Empty.String(), "align": o.Align, "align_rows": o.AlignRows, "fixed_counts": o.FixedCounts, "holdout": float64(j.holdout), "holdout_by": j.holdoutBy, "id_field": j.idField, "limit": int64(j.limit), "limit_tokens": int64(j.limitTok),
	}
	if tok != nil {
		job["tokenizer"] = tok
	}
	if len(j.sources) > 0 {
		job["sources"], job["mix_by"] = j.sources, j.by
	}
	return job
}

// openTokenizer opens the tokenizer, if one is named, and takes the size of its vocabulary for the bound on ids unless that was given.
func (j *packJob) openTokenizer() (*tokenizer, error) {
	if j.tokenizer == "" {
		return nil, nil
	}
	tok, err := openTokenizer(j.tokenizer)
	if err == nil && j.options.VocabSize == 0 {
		j.options.VocabSize = tok.Size
	}
	return tok, err
}

// source returns how inputs are read.
func (j *packJob) source(stdin io.Reader) source.Options {
	return source.Options{
		Fields: tokenstream.Fields{KeyField: j.holdoutBy, IDField: j.idField}, Stdin: stdin, Split: j.split, Workers: j.workers, MaxLineBytes: int(j.maxLine),
	}
}

// run packs.
func (j *packJob) run(ctx context.Context, cmd *cobra.Command) error {
	if err := j.check(cmd); err != nil {
		return err
	}
	start := time.Now()
	stderr := cmd.ErrOrStderr()
	tok, err := j.openTokenizer()
	if err != nil {
		return err
	}
	if j.units > 0 {
		return j.runUnits(ctx, cmd, tok, start)
	}
	ignored := map[string]bool{}
	o := j.source(cmd.InOrStdin())
	o.Unused = func(field string) { ignored[field] = true }
	files, err := source.Open(j.inputs, o)
	if err != nil {
		return err
	}
	bar := newProgress(stderr, files, j.quiet)
	s := &summary{job: j, files: files, tokenizer: tok, ignored: ignored}
	in, err := j.read(files, s)
	if err != nil {
		return err
	}
	defer in.close()
	in.samples = bar.watch(in.samples)
	if j.isSink() {
		err = j.sink(ctx, cmd.OutOrStdout(), in.samples, bar, s)
	} else {
		err = j.dataset(ctx, in, bar, s)
	}
	bar.done()
	var tooLong *tokenstream.LengthError
	switch {
	case errors.Is(err, dataset.ErrComplete):
		return j.upToDate(files, stderr)
	case errors.As(err, &tooLong):
		return fmt.Errorf("%w (--too-long drop, truncate, truncate-left or split keeps the rest; --capacity %d takes all)", err, tooLong.Longest)
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case errors.Is(err, tokenstream.ErrNoSamples) && (j.holdout > 0 || j.limit > 0 || j.limitTok > 0):
		return fmt.Errorf("--holdout, --limit or --limit-tokens left no sample to pack: %w", err)
	case err != nil:
		return err
	}
	s.seconds = time.Since(start).Seconds()
	if !j.quiet {
		s.print(stderr)
	}
	s.warn(stderr)
	if j.json {
		return s.printJSON(cmd.OutOrStdout())
	}
	return nil
}

// input is the samples of a job.
type input struct {
	samples tokenstream.Source // that go into rows
	held    tokenstream.Source // that are held out, known when samples have ended; nil if none are to be
	close   func() error
}

// read returns the samples of a job.
func (j *packJob) read(files *source.Files, s *summary) (in input, err error) {
	limit := func(src tokenstream.Source) tokenstream.Source {
		return tokenstream.Limit(src, int64(j.limit), int64(j.limitTok))
	}
	var h *tokenstream.Holdout
	if j.holdout > 0 {
		h = &tokenstream.Holdout{Share: float64(j.holdout)}
	}
	in.close = func() error { return nil }
	switch {
	case len(j.sources) > 0:
		in.samples, in.held, in.close, err = j.mixture(files, h, s)
		if h == nil {
			in.held = nil
		}
	case h == nil:
		in.samples = limit(files.Samples())
	default:
		spool, err := tokenstream.NewSpool("")
		if err != nil {
			return in, err
		}
		in.samples, in.held, in.close = tokenstream.HoldOut(limit(files.Samples()), h, spool), spool.Source(), spool.Close
	}
	return in, err
}

// upToDate says that there is nothing to do, if the inputs are still those of the complete data set.
func (j *packJob) upToDate(files *source.Files, stderr io.Writer) error {
	m, err := dataset.ReadManifest(j.out)
	if err != nil {
		return err
	}
	if err := files.Same(m.Inputs); err != nil {
		return fmt.Errorf("%s was packed from other data: %w: remove it or choose another directory", j.out, err)
	}
	if !j.quiet {
		fmt.Fprintf(stderr, "brimful: %s is up to date\n", j.out)
	}
	return nil
}

// dataset packs samples into a data set.
func (j *packJob) dataset(ctx context.Context, in input, bar *progress, s *summary) error {
	w, err := dataset.Create(j.out, dataset.Options{
		Layout: j.layout, Format: j.format, ShardRows: j.shardRows, Workers: j.workers, Job: j.settings(s.files.Inputs(), s.tokenizer),
		Sources: j.sourceNames(),
	})
	if err != nil {
		return err
	}
	defer w.Close()
	write := func(name string, src tokenstream.Source, mixture *mix.Stats) error {
		stats := new(tokenstream.Stats)
		o := j.options
		o.Stats = stats
		split, err := w.Write(ctx, name, bar.rows(tokenstream.Pack(src, o), stats))
		if err != nil {
			return err
		}
		split.Stats, split.Mixture = stats, mixture
		return nil
	}
	if in.held == nil {
		err = write("", in.samples, s.mixture)
	} else if err = write("train", in.samples, s.mixture); err == nil {
		err = write("validation", in.held, nil)
		if errors.Is(err, tokenstream.ErrNoSamples) {
			err = fmt.Errorf("--holdout %v: no sample was held out, there are too few", float64(j.holdout))
		}
	}
	if err != nil {
		return err
	}
	s.manifest, err = w.Finish(s.files.Inputs())
	return err
}

// printJSON prints v to w.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

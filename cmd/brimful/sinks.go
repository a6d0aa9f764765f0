package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
	"github.com/brimful/brimful/tokenstream/dataset"
	"github.com/brimful/brimful/tokenstream/olmo"
	"github.com/brimful/brimful/tokenstream/xtuner"
)

// sinkFormats are the formats that are no data set with a manifest.
var sinkFormats = []string{"arrow-stream", "olmo", "xtuner"}

func allFormats() []string { return append(dataset.Formats(), sinkFormats...) }

// isSink reports whether the rows go to something else than a data set.
func (j *packJob) isSink() bool { return slices.Contains(sinkFormats, j.format) }

// checkSink finds mistakes in the flags of such formats.
func (j *packJob) checkSink(changed func(string) bool) error {
	o := &j.options
	switch {
	case !j.isSink():
		if j.eos >= 0 {
			return usagef("--eos with --format %s: it is for olmo", j.format)
		}
		return nil
	case j.holdout > 0:
		return usagef("--holdout with --format %s: it has one split", j.format)
	case j.format == "arrow-stream":
		return nil
	case changed("layout") || j.layoutFile != "" || len(j.addColumns) > 0:
		return usagef("--layout, --layout-file or --column with --format %s: its columns are its own", j.format)
	case o.Align > 1:
		return usagef("--align with --format %s: it has no place for padding between samples", j.format)
	case j.format == "xtuner" && slices.Contains(j.inputs, "-"):
		return usagef("standard input with --format xtuner: the trainer reads the samples from files")
	case j.format == "olmo" && !j.pad:
		return usagef("--pad=false with --format olmo: rows are as long as the trainer's sequence_length")
	case j.format == "olmo" && j.eos < 0:
		return usagef("no --eos: say which id ends a sample, by which OLMo-core finds it")
	}
	return nil
}

// sink packs samples into something else than a data set.
func (j *packJob) sink(ctx context.Context, stdout io.Writer, samples tokenstream.Source, bar *progress, s *summary) error {
	s.stats = new(tokenstream.Stats)
	o := j.options
	o.Stats = s.stats
	rows := bar.rows(tokenstream.Pack(samples, o), s.stats)
	if j.out == "-" {
		return j.stream(ctx, stdout, rows)
	}
	if _, err := os.Stat(j.out); err == nil {
		return fmt.Errorf("%s is there already: remove it or choose another name", j.out)
	}
	if j.format == "arrow-stream" {
		return j.file(ctx, rows)
	}
	return j.directory(ctx, rows, &s.stats.Ledger)
}

// file writes rows as one Arrow stream, which appears whole.
func (j *packJob) file(ctx context.Context, rows iter.Seq2[*tokenstream.Batch, error]) error {
	file, err := os.CreateTemp(filepath.Dir(j.out), "."+filepath.Base(j.out)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := errors.Join(file.Chmod(0o644), j.stream(ctx, file, rows)); err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), j.out)
}

// directory writes rows as a directory of files, which appears whole.
func (j *packJob) directory(ctx context.Context, rows iter.Seq2[*tokenstream.Batch, error], ledger *tokenstream.Ledger) error {
	parent := filepath.Dir(j.out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, "."+filepath.Base(j.out)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var sink tokenstream.Sink
	if j.format == "olmo" {
		sink, err = olmo.NewWriter(dir, olmo.Options{Capacity: j.options.Capacity, EOS: j.eos, VocabSize: j.options.VocabSize, PartRows: j.shardRows})
	} else {
		sink, err = xtuner.NewWriter(dir, ledger)
	}
	if err != nil {
		return err
	}
	if err := write(ctx, sink, rows); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	return os.Rename(dir, j.out)
}

// stream writes rows to w as an Arrow IPC stream.
func (j *packJob) stream(ctx context.Context, w io.Writer, rows iter.Seq2[*tokenstream.Batch, error]) error {
	buffered := bufio.NewWriterSize(w, 1<<20)
	sink, err := arrow.NewWriter(buffered, j.layout, arrow.Options{Form: arrow.Stream, Metadata: dataset.SourceMetadata(j.sourceNames())})
	if err != nil {
		return err
	}
	return errors.Join(write(ctx, sink, rows), buffered.Flush())
}

// write writes rows to a sink and closes it, also after an error.
func write(ctx context.Context, sink tokenstream.Sink, rows iter.Seq2[*tokenstream.Batch, error]) error {
	for row, err := range rows {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = sink.Write(row)
		}
		if err != nil {
			_ = sink.Close() // what is written is of no use
			return err
		}
	}
	return sink.Close()
}

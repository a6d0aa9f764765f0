package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/verify"
)

func unpackCommand() *cobra.Command {
	var out, split string
	cmd := &cobra.Command{
		Use:   "unpack DIR",
		Short: "print the samples in the rows of a data set as JSON lines",
		Long: `Unpack gives the samples back: one JSON object a line with input_ids and labels, in the order of the source if
the rows have a column of kind sample_index, else in that of the rows. The first label of a sample is -100.
Samples of a mixture come source by source, with its name as source, each as often as it was drawn.`,
		Example: `  brimful unpack packed --out samples.jsonl
  brimful unpack packed --split train | head -1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			samples := verify.Unpack(cmd.Context(), args[0], split)
			if out == "" || out == "-" {
				return writeLines(cmd.OutOrStdout(), samples)
			}
			if _, err := os.Stat(out); err == nil {
				return fmt.Errorf("%s is there already: remove it or name another file", out)
			}
			file, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".tmp-*")
			if err != nil {
				return err
			}
			defer os.Remove(file.Name())
			defer file.Close()
			if err := writeLines(file, samples); err != nil {
				return err
			}
			if err := errors.Join(file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
				return err
			}
			return os.Rename(file.Name(), out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write (default standard output)")
	cmd.Flags().StringVar(&split, "split", "", "`NAME` of the split of a data set with several")
	return cmd
}

// writeLines writes samples as JSON lines.
func writeLines(w io.Writer, samples tokenstream.Source) error {
	buffered := bufio.NewWriterSize(w, 1<<20)
	var b []byte
	for s, err := range samples {
		if err != nil {
			return err
		}
		b = append(b[:0], '{')
		if s.Key != "" { // the source in a mixture
			name, err := json.Marshal(s.Key)
			if err != nil {
				return err
			}
			b = append(append(append(b, `"source":`...), name...), ',')
		}
		b = appendList(append(b, `"input_ids":`...), s.Tokens)
		if s.Labels != nil {
			b = appendList(append(b, `,"labels":`...), s.Labels)
		}
		if _, err := buffered.Write(append(b, "}\n"...)); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

func appendList(b []byte, values []int32) []byte {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return append(b, ']')
}

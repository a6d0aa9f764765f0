package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/brimful/brimful/tokenstream"
)

func layoutNames() []string {
	var names []string
	for _, l := range tokenstream.Layouts() {
		names = append(names, l.Name)
	}
	return names
}

// setLayout sets the layout that the flags name, with the columns that are added.
func (j *packJob) setLayout(named bool) error {
	var err error
	if j.layoutFile != "" {
		if named {
			return usagef("--layout beside --layout-file: want one of them")
		}
		text, err := os.ReadFile(j.layoutFile)
		if err != nil {
			return err
		}
		if j.layout, err = tokenstream.ParseLayout(text); err != nil {
			return fmt.Errorf("%s: %w", j.layoutFile, err)
		}
	} else if j.layout, err = tokenstream.LookupLayout(j.layoutName); err != nil {
		return usagef("--layout: %w", err)
	}
	for _, text := range j.addColumns {
		c, err := tokenstream.ParseColumn(text)
		if err != nil {
			return usagef("--column: %w", err)
		}
		j.layout.Columns = append(j.layout.Columns, c)
	}
	if err := j.layout.Check(); err != nil {
		return usageError{err}
	}
	return nil
}

func layoutsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "layouts",
		Short: "print the layouts: columns, trainers, and what they have to be told",
		Long: `Layouts prints the columns that pack --layout writes for each trainer, what the trainer has to be told, and
what goes wrong without a word. Other columns can be added by pack --column, and a layout of your own is a
file of JSON for pack --layout-file:

  {"name":"mine","columns":[{"name":"input_ids","kind":"tokens","type":"int32"},{"name":"labels","kind":"labels"}]}`,
		Example: `  brimful layouts | less`,
		Args:    cobra.NoArgs,
		Run:     func(cmd *cobra.Command, _ []string) { printLayouts(cmd.OutOrStdout()) },
	}
}

func printLayouts(w io.Writer) {
	for i, l := range tokenstream.Layouts() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n", l.Name, l.Trainer)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		columns := func(list []tokenstream.Column) {
			for _, c := range list {
				kind := c.Type.String()
				if c.Kind.List() {
					kind = "list of " + kind
				}
				fmt.Fprintf(t, "  %s\t%s\t%v\t%s\n", c.Name, kind, c.Kind, c.Kind.Describe())
			}
		}
		columns(l.Columns)
		var aligned []tokenstream.Column
		for _, c := range l.ForAlignment().Columns {
			if !slices.Contains(l.Columns, c) {
				aligned = append(aligned, c)
			}
		}
		fmt.Fprintf(t, "  with --align:\n")
		columns(aligned)
		t.Flush()
		if l.Ragged {
			fmt.Fprintln(w, "  rows:  not padded")
		}
		fmt.Fprintf(w, "  needs: %s\n  trap:  %s\n", l.Needs, l.Trap)
	}
}

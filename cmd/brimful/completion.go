package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/brimful/brimful/compare"
	"github.com/brimful/brimful/packing"
)

// completed are the values of flags that a shell completes, by the flag's name; flags that are a choice say theirs by themselves.
var completed = map[string]func(cmd *cobra.Command) []string{
	"strategy": func(cmd *cobra.Command) []string {
		if cmd.Name() == "compare" {
			return slices.Concat([]string{"all"}, packing.Names(), compare.Padded())
		}
		return packing.Names()
	},
	"format":   func(*cobra.Command) []string { return allFormats() },
	"layout":   func(*cobra.Command) []string { return layoutNames() },
	"capacity": func(*cobra.Command) []string { return []string{"2048", "4096", "8192", "16384", "32768"} },
}

// files are the flags that take a file, by the endings that a shell shows; none is any file.
var files = map[string][]string{
	"tokenizer": {"json"}, "decode": {"json"}, "html": {"html"}, "layout-file": {"json"}, "lengths": nil, "histogram": nil,
	"source": nil, "plan": nil}

// directories are the flags that take a directory.
var directories = []string{"out", "spool"}

// complete tells shells what the flags of a command take. Arguments are files.
func complete(cmd *cobra.Command) error {
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		var err error
		endings, file := files[f.Name]
		values, known := completed[f.Name]
		switch {
		case slices.Contains(directories, f.Name):
			err = cmd.MarkFlagDirname(f.Name)
		case file:
			err = cmd.MarkFlagFilename(f.Name, endings...)
		case known:
			_, list := f.Value.(pflag.SliceValue)
			err = cmd.RegisterFlagCompletionFunc(f.Name, completeValues(values(cmd), list))
		case strings.Contains(f.Value.Type(), "|"):
			err = cmd.RegisterFlagCompletionFunc(f.Name, completeValues(strings.Split(f.Value.Type(), "|"), false))
		case f.Value.Type() != "bool" && f.Name != "help":
			err = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
		}
		if failed == nil {
			failed = err
		}
	})
	return failed
}

// completeValues completes one of values or, in a list, the part behind the last comma by a value that is not there yet.
func completeValues(values []string, list bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		begun := ""
		if i := strings.LastIndexByte(typed, ','); list && i >= 0 {
			begun = typed[:i+1]
		}
		var found []string
		for _, v := range values {
			if !slices.Contains(strings.Split(begun, ","), v) {
				found = append(found, begun+v)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

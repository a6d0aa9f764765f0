package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says what is wrong with a flag, and which flag may have been meant.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if unknown.GetSpecifiedShortnames() != "" {
			// -capacity is a list of one-letter flags to the parser.
			name = strings.TrimPrefix(unknown.GetSpecifiedShortnames(), "-")
			if !slices.Contains(names, name) {
				return usageError{err}
			}
			return usagef("-%s: flags are written --%s", name, name)
		}
		if near := nearest(name, names); near != "" {
			return usagef("%w: did you mean --%s?", err, near)
		}
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return usagef("--%s %q: %w", f.Name, invalid.GetValue(), wanted(f.Value.Type(), invalid.Unwrap()))
	}
	return usageError{err}
}

// wanted says what a flag of a type of the library takes; our own types say that by themselves.
func wanted(kind string, err error) error {
	switch kind {
	case "int", "int32", "int64":
		if errors.Is(err, strconv.ErrRange) {
			return errors.New("the number is too large")
		}
		return errors.New("want an integer")
	case "uint64":
		return errors.New("want an integer from 0 on")
	case "bool":
		return errors.New("want true or false")
	case "duration":
		return errors.New("want a duration such as 2s or 1m30s")
	}
	return err
}

// nearest returns the name that is least different from one that was typed, or "" if none is like it.
func nearest(typed string, names []string) string {
	best, least := "", 1+max(1, len(typed)/3)
	for _, name := range names {
		d := distance(typed, name)
		if strings.HasPrefix(name, typed) && len(typed) > 2 {
			d = 0 // it was cut short
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the least number of letters to insert, remove, replace or exchange with their neighbour that makes b of a (the optimal
// string alignment distance).
func distance(a, b string) int {
	rows := [3][]int{}
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// commandError says which command may have been meant instead of one that is not there.
func commandError(root *cobra.Command, args []string, err error) error {
	i := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if i < 0 {
		return err
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if near := nearest(args[i], names); near != "" {
		return fmt.Errorf("%w: did you mean %s?", err, near)
	}
	return fmt.Errorf("%w: want one of %s", err, strings.Join(names, ", "))
}

// usageTemplate is the library's, with flags within 100 columns.
func usageTemplate(root *cobra.Command) string {
	t := root.UsageTemplate()
	for _, flags := range []string{".LocalFlags.FlagUsages", ".InheritedFlags.FlagUsages"} {
		t = strings.ReplaceAll(t, flags+" ", flags+"Wrapped 100 ")
	}
	return t
}

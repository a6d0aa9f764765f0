package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// A decoder calls begin with the columns of a file, in their order, and then each with the values of every row, by column: one value for
// a number, and nil for a null or where the column's type is "". The values are valid during the call. An error of begin or each ends
// it and is returned as it is.
type decoder func(path string, begin func([]column) error, each func([][]int64) error) error

// decoders are the decoders of the formats, by their names in the manifest.
var decoders = map[string]decoder{
	"parquet": decodeParquet,
	"arrow": func(p string, b func([]column) error, e func([][]int64) error) error {
		return decodeArrow(p, true, b, e)
	},
	"hf": func(p string, b func([]column) error, e func([][]int64) error) error {
		return decodeArrow(p, false, b, e)
	},
}

// formatOf guesses the format of a file of a data set without a manifest.
func formatOf(path string) string {
	switch {
	case strings.HasSuffix(path, ".parquet"):
		return "parquet"
	case strings.HasPrefix(path, "data/"):
		return "arrow"
	}
	return "hf"
}

// A systemError is a failure of the machine to give the bytes of a file, rather than something wrong with them.
type systemError struct{ error }

func (e systemError) Unwrap() error { return e.error }

// system marks an error of the operating system.
func system(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return systemError{err}
	}
	return err
}

// decode decodes a file. Libraries that decode damaged files may panic in an index: the file is at fault, and that is an error here.
func decode(d decoder, path string, begin func([]column) error, each func([][]int64) error) (err error) {
	ours := false // a panic of begin or each is a bug and no fault of the file
	defer func() {
		if ours {
			return
		}
		if r := recover(); r != nil {
			err = fmt.Errorf("the file is damaged: %v", r)
		}
	}()
	return d(path, func(c []column) error {
		ours = true
		err := begin(c)
		ours = false
		return err
	}, func(v [][]int64) error {
		ours = true
		err := each(v)
		ours = false
		return err
	})
}

package source

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// endings are the names' ends by which files in a directory are taken for inputs.
var endings = []string{".jsonl", ".json", ".ndjson", ".jsonl.gz", ".json.gz", ".ndjson.gz", ".jsonl.zst", ".json.zst", ".ndjson.zst"}

// expand returns the files that args name.
func expand(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-":
			if slices.Contains(paths, "-") {
				return nil, fmt.Errorf("-: standard input can be read once only")
			}
			paths = append(paths, arg)
		case err == nil && info.IsDir():
			found, err := walk(arg)
			if err != nil {
				return nil, err
			}
			paths = append(paths, found...)
		case err == nil:
			paths = append(paths, arg)
		case strings.Contains(arg, "**"):
			return nil, fmt.Errorf("%s: ** is not a pattern here: name the directory, which is searched to every depth", arg)
		case strings.ContainsAny(arg, "*?["):
			found, err := filepath.Glob(arg)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", arg, err)
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("%s: no file matches", arg)
			}
			slices.SortFunc(found, natural)
			paths = append(paths, found...)
		default:
			return nil, err
		}
	}
	return paths, nil
}

// walk returns the inputs below dir. What begins with a dot is left out, and so is a data set that was written there.
func walk(dir string) ([]string, error) {
	var found []string
	root := filepath.Clean(dir) + string(filepath.Separator) // so that a link to a directory is followed
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p != root && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if p != root && isDataset(p) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		if info.IsDir() {
			return fmt.Errorf("%s is a link to a directory: name that as an input of its own", p)
		}
		if info.Mode().IsRegular() && slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(d.Name(), e) }) {
			found = append(found, p)
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: no file in it ends with one of %s", dir, strings.Join(endings, ", "))
	}
	slices.SortFunc(found, natural)
	return found, err
}

// isDataset reports whether dir is one of package dataset, finished or not.
func isDataset(dir string) bool {
	for _, name := range []string{"brimful.json", ".brimful"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// natural compares names so that runs of digits count as numbers: shard-2 is before shard-10.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m > 0 && n > 0 {
			p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits returns how many bytes at the start of s are digits.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

package source

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/brimful/brimful/tokenstream/arrow"
)

// kinds are the kinds of files that are taken for inputs in a directory, by how their names end.
var kinds = []struct {
	name    string
	endings []string
}{
	{"JSON lines", []string{".jsonl", ".json", ".ndjson", ".jsonl.gz", ".json.gz", ".ndjson.gz", ".jsonl.zst", ".json.zst", ".ndjson.zst"}},
	{"Parquet", []string{".parquet"}},
	{"Arrow", []string{".arrow", ".arrows"}},
	{"Megatron", []string{".idx"}},
	{"NumPy", []string{".npy"}},
}

// kindOf returns the index of a file's kind, or -1.
func kindOf(name string) int {
	if strings.HasSuffix(name, offsetsEnd) || strings.HasSuffix(name, labelsEnd) {
		return -1
	}
	for i, k := range kinds {
		if slices.ContainsFunc(k.endings, func(e string) bool { return strings.HasSuffix(name, e) }) {
			return i
		}
	}
	return -1
}

// endings returns how the names of inputs end.
func endings() string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.endings...)
	}
	return strings.Join(all, ", ")
}

// expand returns the files that args name, and of each the place of the argument. Split is that of save_to_disk folders.
func expand(args []string, split string) (paths []string, of []int, err error) {
	for i, arg := range args {
		found, err := expandOne(arg, split)
		if err != nil {
			return nil, nil, err
		}
		if arg == "-" && slices.Contains(paths, "-") {
			return nil, nil, fmt.Errorf("-: standard input can be read once only")
		}
		paths = append(paths, found...)
		of = append(of, slices.Repeat([]int{i}, len(found))...)
	}
	return paths, of, nil
}

// expandOne returns the files that arg names.
func expandOne(arg, split string) ([]string, error) {
	info, err := os.Stat(arg)
	switch {
	case arg == "-":
		return []string{arg}, nil
	case err == nil && info.IsDir():
		return directory(arg, split)
	case err == nil:
		return []string{arg}, nil
	case strings.Contains(arg, "**"):
		return nil, fmt.Errorf("%s: ** is not a pattern here: name the directory, which is searched to every depth", arg)
	case !strings.ContainsAny(arg, "*?["):
		return nil, err
	}
	found, err := filepath.Glob(arg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no file matches", arg)
	}
	slices.SortFunc(found, natural)
	return found, nil
}

// directory returns the inputs in a directory.
func directory(dir, split string) ([]string, error) {
	splits, err := arrow.HFSplits(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if len(splits) == 0 {
		return walk(dir)
	}
	var names []string
	for _, s := range splits {
		if s.Name == split || len(splits) == 1 && split == "" {
			var files []string
			for _, f := range s.Files {
				files = append(files, filepath.Join(dir, filepath.FromSlash(f)))
			}
			if len(files) == 0 {
				return nil, fmt.Errorf("%s: the split %s has no rows", dir, s.Name)
			}
			return files, nil
		}
		names = append(names, fmt.Sprintf("%q", s.Name))
	}
	return nil, fmt.Errorf("%s: a save_to_disk folder with the splits %s: want one of them named, and not %q", dir, strings.Join(names, ", "), split)
}

// walk returns the inputs below dir, which are of one kind: of two, one is most likely a copy of the other. What begins with a dot is left out, and so is a data set that was written there.
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
			for _, name := range []string{"state.json", "dataset_dict.json"} {
				if p != root && exists(filepath.Join(p, name)) {
					return fmt.Errorf("%s is a save_to_disk folder: name it as an input of its own", p)
				}
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
		if kind := kindOf(d.Name()); info.Mode().IsRegular() && kind >= 0 {
			if other := slices.IndexFunc(found, func(f string) bool { return kindOf(f) != kind }); other >= 0 {
				return fmt.Errorf("%s: both %s (%s) and %s (%s) are in it: name a pattern for one of them", dir,
					kinds[kindOf(found[other])].name, found[other], kinds[kind].name, p)
			}
			found = append(found, p)
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: no file in it ends with one of %s", dir, endings())
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

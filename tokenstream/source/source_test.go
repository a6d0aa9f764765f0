package source_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/source"
)

// write writes a file of n samples, whose first id is first and counts up, below dir.
func write(t *testing.T, dir, name string, first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"input_ids\":[%d,1]}\n", first+i)
	}
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	return path
}

// firsts returns the first id of every sample.
func firsts(t *testing.T, src tokenstream.Source) (ids []int32) {
	n := int64(0)
	for s, err := range src {
		require.NoError(t, err)
		n++
		require.Equal(t, n, s.Number, "samples are numbered through")
		ids = append(ids, s.Tokens[0])
	}
	return ids
}

// Files of a directory and of a pattern come in the order of the numbers in their names; hidden ones and those of other kinds are left out.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a.jsonl", "shard-1.jsonl", "shard-2.jsonl", "shard-02b.jsonl", "shard-10.jsonl", "sub/9.ndjson", "sub/010.json"} {
		write(t, dir, name, i, 1)
	}
	write(t, dir, ".hidden.jsonl", 100, 1)
	write(t, dir, ".git/x.jsonl", 100, 1)
	write(t, dir, "notes.txt", 100, 1)
	write(t, dir, "packed/brimful.json", 100, 1)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	files, err := source.Open([]string{dir}, source.Options{})
	require.NoError(t, err)
	require.Equal(t, []int32{0, 1, 2, 3, 4, 5, 6}, firsts(t, files.Samples()))
	files, err = source.Open([]string{link}, source.Options{})
	require.NoError(t, err)
	require.Equal(t, []int32{0, 1, 2, 3, 4, 5, 6}, firsts(t, files.Samples()), "a link to a directory")
	files, err = source.Open([]string{filepath.Join(dir, "shard-*.jsonl")}, source.Options{})
	require.NoError(t, err)
	require.Equal(t, []int32{1, 2, 3, 4}, firsts(t, files.Samples()))
	files, err = source.Open([]string{filepath.Join(dir, "shard-10.jsonl"), filepath.Join(dir, "a.jsonl")}, source.Options{})
	require.NoError(t, err)
	require.Equal(t, []int32{4, 0}, firsts(t, files.Samples()), "files that are named keep their order")
}

// What is on record of an input is its path, its size and its hash, compressed or not, once it was read to its end.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	plain := write(t, dir, "a.jsonl", 0, 1000)
	text, err := os.ReadFile(plain)
	require.NoError(t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	zipped := filepath.Join(dir, "b.gz")
	require.NoError(t, os.WriteFile(zipped, packed.Bytes(), 0o644))
	files, err := source.Open([]string{plain, zipped, "-"}, source.Options{Stdin: bytes.NewReader(text)})
	require.NoError(t, err)
	require.Zero(t, files.Size(), "standard input has no size beforehand")
	require.Empty(t, files.Inputs()[0].SHA256)
	require.Len(t, firsts(t, files.Samples()), 3000)
	want := []tokenstream.Input{
		{Path: plain, Size: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256(text))},
		{Path: zipped, Size: int64(packed.Len()), SHA256: fmt.Sprintf("%x", sha256.Sum256(packed.Bytes()))},
		{Path: "-", Size: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256(text))},
	}
	require.Equal(t, want, files.Inputs())
	require.EqualValues(t, 2*len(text)+packed.Len(), files.BytesRead())

	files, err = source.Open([]string{plain, zipped}, source.Options{})
	require.NoError(t, err)
	require.EqualValues(t, len(text)+packed.Len(), files.Size())
	require.NoError(t, files.Same(want[:2]))
	require.ErrorContains(t, files.Same(want[1:]), "a.jsonl is not what it was")
	require.ErrorContains(t, files.Same(nil), "is not what it was")
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "a.jsonl", 0, 1)
	empty := filepath.Join(dir, "empty.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	none := filepath.Join(dir, "none")
	require.NoError(t, os.Mkdir(none, 0o755))
	linked := t.TempDir()
	require.NoError(t, os.Symlink(none, filepath.Join(linked, "sub")))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{filepath.Join(dir, "missing")}, "no such file"},
		{[]string{empty}, "the file is empty"},
		{[]string{none}, "no file in it ends with"},
		{[]string{filepath.Join(dir, "x*")}, "no file matches"},
		{[]string{filepath.Join(dir, "[")}, "syntax error in pattern"},
		{[]string{a, a}, "named twice"},
		{[]string{a, dir + "/./a.jsonl"}, "named twice"},
		{[]string{"-", "-"}, "once only"},
		{[]string{filepath.Join(dir, "**", "*.jsonl")}, "** is not a pattern here"},
		{[]string{linked}, "sub is a link to a directory"},
	} {
		_, err := source.Open(c.args, source.Options{})
		require.ErrorContains(t, err, c.want, "%v", c.args)
	}
}

// What begins like another format is that format, and damaged; what has to be a file is refused in a stream.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	for magic, c := range map[string]struct{ file, stream string }{
		"PAR1":                     {"too short for a Parquet file", "this is a Parquet file, which can't be read from a stream: name the file"},
		"ARROW1\x00\x00":           {"cut off", "cut off"},
		"\xff\xff\xff\xff\x00\x00": {"", ""},
		"\x93NUMPY\x01\x00":        {"the file ends within its header", "this is a NumPy array"},
		"MMIDIDX\x00\x00":          {"the index has 9 bytes: want at least 34", "this is an index of Megatron"},
	} {
		path := filepath.Join(dir, "x.idx")
		require.NoError(t, os.WriteFile(path, []byte(magic), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.bin"), nil, 0o644))
		for _, how := range []struct{ arg, want string }{{path, c.file}, {"-", c.stream}} {
			files, err := source.Open([]string{how.arg}, source.Options{Stdin: strings.NewReader(magic)})
			require.NoError(t, err)
			for _, err := range files.Samples() {
				require.ErrorContains(t, err, how.want)
			}
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y"), []byte("MMIDIDX\x00\x00"), 0o644))
	_, err := source.Open([]string{filepath.Join(dir, "y")}, source.Options{})
	require.ErrorContains(t, err, "want its name to end with .idx")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "y.idx"), []byte("MMIDIDX\x00\x00"), 0o644))
	_, err = source.Open([]string{filepath.Join(dir, "y.idx")}, source.Options{})
	require.ErrorContains(t, err, "y.bin: no such file")
}

// A file that grows while it is read is noticed.
func TestGrows(t *testing.T) {
	path := write(t, t.TempDir(), "a.jsonl", 0, 1)
	files, err := source.Open([]string{path}, source.Options{})
	require.NoError(t, err)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("{\"input_ids\":[1]}\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	var last error
	for _, err := range files.Samples() {
		last = err
	}
	require.ErrorContains(t, last, "the file had")
}

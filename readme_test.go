package brimful_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// Every shell block of README.md is run, in a copy of the repository: a block of "$ command" and what it prints, or of a command alone.
// The test command is not run inside itself; that it is the one that CI calls is checked instead.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the command in a copy of the repository")
	}
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 150)
	dir := t.TempDir()
	copyTree(t, dir)
	ran := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		command, want, checked := strings.Cut(block[1], "\n")
		command = strings.TrimPrefix(command, "$ ")
		if command == "make test" {
			ci, err := os.ReadFile(".ci/run")
			require.NoError(t, err)
			require.Contains(t, string(ci), "\n"+command+"\n", "CI runs the test command of the README")
			continue
		}
		cmd := exec.Command("bash", "-c", command)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if checked && want != "" {
			require.Equal(t, want, string(out), command)
		} else {
			require.NoError(t, err, "%s\n%s", command, out)
			require.Contains(t, string(text), "    "+firstLine(out), "the README quotes what the command says first")
		}
		ran++
	}
	require.Equal(t, 4, ran, "blocks that were run")
	for _, file := range []string{"data/shard-00000.parquet", "README.md", "brimful.json"} {
		require.FileExists(t, filepath.Join(dir, "packed", file))
	}
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return line + "\n"
}

// copyTree copies the repository but for what git ignores, what is hidden, and the part in Python.
func copyTree(t *testing.T, to string) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		part := e.Name()
		if strings.HasPrefix(part, ".") || slices.Contains([]string{"bin", "packed", "trained", "interop"}, part) {
			continue
		}
		require.NoError(t, filepath.WalkDir(part, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			target := filepath.Join(to, p)
			if d.IsDir() {
				return os.MkdirAll(target, 0o755)
			}
			if !d.Type().IsRegular() {
				return nil
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return os.WriteFile(target, b, 0o644)
		}))
	}
}

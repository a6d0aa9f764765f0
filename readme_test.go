package brimful_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	fence  = regexp.MustCompile("(?m)^```")
	link   = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

// A page is a page of the documentation, with what it takes to try what it says.
type page struct {
	name, text string
	dir        string   // where its commands run
	env        []string // of the commands
	quotes     string   // the Go files that it may quote
}

// check runs the sh blocks of the page in their order, looks up its go blocks, and returns an error if the page is not right. What it
// can not check it refuses, but for Python, which the tests in Python concern, and for text and JSON.
func (p *page) check(ctx context.Context) error {
	blocks := fenced.FindAllStringSubmatchIndex(p.text, -1)
	if n := len(fence.FindAllString(p.text, -1)); n != 2*len(blocks) {
		return fmt.Errorf("%s: %d fences around %d blocks", p.name, n, len(blocks))
	}
	for _, at := range blocks {
		language, body := p.text[at[2]:at[3]], p.text[at[4]:at[5]]
		var err error
		switch language {
		case "sh":
			err = p.shell(ctx, body)
		case "go":
			err = p.quoted(body)
		case "python", "json", "text":
		default:
			err = fmt.Errorf("a block of %q, which is not checked: want sh or go", language)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", p.name, 1+strings.Count(p.text[:at[0]], "\n"), err)
		}
	}
	for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(p.text, ""), -1) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(p.name), m[1])); err != nil {
			return fmt.Errorf("%s: a link to nothing: %w", p.name, err)
		}
	}
	return nil
}

// shell runs a block: either each command after a "$ " prints exactly the lines below it, where a line of "..." stands for any lines, or
// there is no "$ " and the block is a script, which has to succeed, and whose first line of output the page quotes.
func (p *page) shell(ctx context.Context, block string) error {
	if !strings.HasPrefix(block, "$ ") {
		out, err := p.run(ctx, "set -euo pipefail\n"+block)
		first, _, _ := strings.Cut(out, "\n")
		switch {
		case err != nil:
			return fmt.Errorf("%s%s%w", block, out, err)
		case out != "" && !strings.Contains(p.text, "\n    "+first+"\n"):
			return fmt.Errorf("%sit says first, which the page does not quote: %s", block, first)
		}
		return nil
	}
	for _, step := range strings.Split(block[len("$ "):], "\n$ ") {
		lines := strings.SplitAfter(strings.TrimSuffix(step, "\n")+"\n", "\n")
		n := 1
		for strings.HasSuffix(lines[n-1], "\\\n") { // the command goes on
			n++
		}
		command, want := strings.Join(lines[:n], ""), strings.Join(lines[n:], "")
		out, err := p.run(ctx, command)
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && strings.HasSuffix(want, fmt.Sprintf("exit status %d\n", exit.ExitCode())): // go run says it
		case err != nil:
			return fmt.Errorf("%s%s%w", command, out, err)
		}
		if !matches(want, out) {
			return fmt.Errorf("%sit says:\n%swant:\n%s", command, out, want)
		}
	}
	return nil
}

// matches reports whether a command that should print want printed got.
func matches(want, got string) bool {
	pattern := regexp.QuoteMeta(want)
	pattern = regexp.MustCompile(`(?m)^\\\.\\\.\\\.\n`).ReplaceAllString(pattern, "(?:.*\n)*?")
	return regexp.MustCompile("^" + pattern + "$").MatchString(got)
}

// run runs a command of the shell and returns what it printed.
func (p *page) run(ctx context.Context, command string) (string, error) {
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, p.env, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// quoted returns an error unless the lines of a block follow each other in the Go files, all indented by as many tabs more.
func (p *page) quoted(block string) error {
	for range 3 {
		if strings.Contains("\n"+p.quotes, "\n"+block) {
			return nil
		}
		block = regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(block, "\t$1")
	}
	return fmt.Errorf("a block that is not in the Go files beside the pages:\n%s", block)
}

// Every shell block of README.md and of the pages in docs is run, each page in a copy of the repository, with the command on the PATH.
// Every block of Go stands in a file of examples that is compiled and, where it says what it prints, run.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the command in copies of the repository")
	}
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-o", bin, "./cmd/brimful").CombinedOutput()
	require.NoError(t, err, "%s", out)
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C")
	var quotes strings.Builder
	examples, err := filepath.Glob("docs/*_test.go")
	require.NoError(t, err)
	for _, name := range examples {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		quotes.Write(text)
	}
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(readme), "\n"), 150)
	for _, name := range pages {
		require.True(t, strings.Contains(string(readme), "]("+name+")"), "README.md has no link to %s", name)
	}
	for _, name := range append(pages, "README.md") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			p := page{name: name, text: string(text), dir: t.TempDir(), env: env, quotes: quotes.String()}
			copyTree(t, p.dir)
			if name == "README.md" { // its test command is not run inside itself; that it is the one that CI calls is checked instead
				ci, err := os.ReadFile(".ci/run")
				require.NoError(t, err)
				require.Contains(t, string(ci), "\nmake test\n")
				before, after, found := strings.Cut(p.text, "\n```sh\nmake test\n```\n")
				require.True(t, found, "CI runs the test command of the README")
				p.text = before + "\n" + after
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			require.NoError(t, p.check(ctx))
			if name == "README.md" {
				for _, file := range []string{"data/shard-00000.parquet", "README.md", "brimful.json"} {
					require.FileExists(t, filepath.Join(p.dir, "packed", file))
				}
			}
		})
	}
}

// A page that is wrong is seen to be.
func TestDocsFaults(t *testing.T) {
	sh := func(lines string) string { return "Text.\n\n```sh\n" + lines + "```\n" }
	for _, c := range []struct{ fault, text, err string }{
		{"", sh("$ echo a; echo b\na\nb\n$ true\n$ echo \\\n  c\nc\n"), ""},
		{"", sh("$ seq 9\n1\n...\n5\n...\n9\n$ seq 2\n1\n2\n...\n"), ""},
		{"", sh("$ echo exit status 3; exit 3\nexit status 3\n"), ""},
		{"", sh("x=1\ntest $x = 1\n") + sh("echo said\n") + "\n    said\n", ""},
		{"", "```go\nif x {\n\ty()\n}\n```\n", ""},
		{"other output", sh("$ echo a\nb\n"), "page.md:3: echo a\nit says:\na\nwant:\nb\n"},
		{"more output", sh("$ seq 2\n1\n"), "it says:\n1\n2\nwant:\n1\n"},
		{"output where there should be none", sh("$ echo a\n"), "it says:\na\nwant:\n"},
		{"less output", sh("$ seq 2\n1\n...\n3\n"), "it says:\n1\n2\nwant:\n1\n...\n3\n"},
		{"the second command", sh("$ echo a\na\n$ echo b\n"), "echo b\nit says"},
		{"a failure", sh("$ echo a; exit 3\na\n"), "exit status 3"},
		{"another failure", sh("$ echo exit status 3; exit 4\nexit status 3\n"), "exit status 4"},
		{"a script that fails", sh("false\ntrue\n"), "exit status 1"},
		{"a script that says something else", sh("echo said\n") + "\n    says\n", "which the page does not quote: said"},
		{"Go of its own", "```go\nif x {\n\tz()\n}\n```\n", "not in the Go files"},
		{"Go that is indented in another way", "```go\nif x {\ny()\n}\n```\n", "not in the Go files"},
		{"an unknown block", "```console\n$ true\n```\n", `a block of "console"`},
		{"an open block", "```sh\n$ true\n", "1 fences around 0 blocks"},
		{"a link", "[docs](docs/none.md)", "a link to nothing"},
	} {
		p := page{name: "page.md", text: c.text, dir: t.TempDir(), env: os.Environ(), quotes: "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n"}
		if err := p.check(t.Context()); c.err == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.err, c.fault)
		}
	}
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

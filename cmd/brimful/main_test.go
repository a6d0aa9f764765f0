package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"brimful": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			data, err := filepath.Abs("../../examples/data/gsm8k-512.jsonl.gz")
			env.Setenv("EXAMPLE", data)
			return errors.Join(err, writeSamples(filepath.Join(env.WorkDir, "generated")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// exits CODE brimful ARG... runs the command and wants that exit code and nothing on standard output.
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				err := ts.Exec(args[1], args[2:]...)
				code := "0"
				if exit := (*exec.ExitError)(nil); err != nil {
					if e, ok := err.(*exec.ExitError); ok {
						exit = e
					}
					if exit == nil {
						ts.Fatalf("%v", err)
					}
					code = strings.TrimPrefix(exit.ProcessState.String(), "exit status ")
				}
				if code != args[0] || neg {
					ts.Fatalf("exit code %s, want %s", code, args[0])
				}
			},
		},
	})
}

// writeSamples writes 3,000 samples into two files.
func writeSamples(dir string) error {
	r := rand.New(rand.NewPCG(1, 1))
	err := os.MkdirAll(dir, 0o755)
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		var b bytes.Buffer
		for range 1500 {
			b.WriteString(`{"input_ids":[1`)
			for range 1 + r.IntN(150) {
				fmt.Fprintf(&b, ",%d", r.IntN(50000))
			}
			b.WriteString("]}\n")
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644))
	}
	return err
}

// A full disk is an error that names the shard, and leaves nothing behind under a final name.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	defer func() { require.NoError(t, syscall.Unmount(disk, 0)) }()
	self, err := os.Executable()
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "brimful")
	require.NoError(t, os.Symlink(self, binary)) // the test binary is the command under that name
	out := filepath.Join(disk, "out")
	for _, format := range []string{"parquet", "arrow", "hf"} {
		text, err := exec.Command(binary, "pack", "../../examples/data/gsm8k-512.jsonl.gz", "--out", out, "--capacity", "1024", "--format", format).CombinedOutput()
		require.Error(t, err, format)
		require.Contains(t, string(text), "shard 0: ", format)
		require.Contains(t, string(text), "no space left on device", format)
		_, err = os.Stat(out)
		require.ErrorIs(t, err, os.ErrNotExist, "nothing is left")
	}
}

// safeBuffer is a buffer that may be written and read at the same time.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// brimful returns the command with the arguments given: the test binary is the command under its name.
func brimful(t *testing.T, args ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "brimful")
	require.NoError(t, os.Symlink(self, binary))
	return exec.Command(binary, args...)
}

// tree returns the hash of every file below dir.
func tree(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		files[name] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	}))
	return files
}

// Killed with -9 at a random moment, again and again, and then left alone, the command ends with the bytes of a run that was never
// interrupted. A data set is never there half: where the manifest is, everything is.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills hundreds of processes")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	kills, finished := 0, 0
	for round := 0; kills < 200; round++ {
		format := []string{"parquet", "arrow", "hf"}[round%3]
		dir := filepath.Join(t.TempDir(), "out")
		args := []string{"pack", "../../examples/data/gsm8k-512.jsonl.gz", "--capacity", "600", "--shard-rows", "4", "--quiet", "--holdout", "10%", "--format", format, "--out"}
		start := time.Now()
		require.NoError(t, brimful(t, append(args, dir+"-whole")...).Run())
		took := time.Since(start)
		want := tree(t, dir+"-whole")
		for range 25 {
			cmd := brimful(t, append(args, dir)...)
			require.NoError(t, cmd.Start())
			time.Sleep(time.Duration(r.Float64() * 1.1 * float64(took)))
			_ = cmd.Process.Kill()
			if cmd.Wait() == nil {
				finished++
			} else {
				kills++
			}
			if _, err := os.Stat(filepath.Join(dir, "brimful.json")); err == nil {
				got := tree(t, dir)
				for name, sum := range want {
					require.Equal(t, sum, got[name], "%s, complete by its manifest", name)
				}
				if r.IntN(2) == 0 {
					require.NoError(t, os.RemoveAll(dir))
				}
			}
		}
		require.NoError(t, brimful(t, append(args, dir)...).Run())
		require.Equal(t, want, tree(t, dir))
	}
	t.Logf("%d kills, %d runs that were faster", kills, finished)
	fmt.Printf("kill test: %d kills, the bytes of an uninterrupted run after each series\n", kills)
}

// SIGINT ends the run with a message that says how to go on.
func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	cmd := brimful(t, "pack", "-", "--capacity", "8", "--out", dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	var said safeBuffer
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	for range 1000 {
		_, err = in.Write([]byte("{\"input_ids\":[1,2,3]}\n"))
		require.NoError(t, err)
	}
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	time.Sleep(100 * time.Millisecond)
	require.NoError(t, in.Close())
	require.Error(t, cmd.Wait())
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.Contains(t, said.String(), "interrupted: run the same command again")
	require.NoFileExists(t, filepath.Join(dir, "brimful.json"))
}

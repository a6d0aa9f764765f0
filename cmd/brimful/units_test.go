package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A unitRun is a job of units by processes of the command, each way of running them in a directory of its own.
type unitRun struct {
	t    *testing.T
	temp string // where the processes keep temporary files
	plan string
	out  string
}

const unitCount = 8

// start makes a plan for the data set at out.
func (u *unitRun) start(out string, flags ...string) {
	u.out, u.plan = out, out+".plan"
	u.must(append([]string{"plan", "--out", out, "--plan", u.plan, "--units", strconv.Itoa(unitCount)}, flags...)...)
}

func (u *unitRun) command(args ...string) *exec.Cmd {
	cmd := brimful(u.t, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+u.temp)
	return cmd
}

// must runs the command and returns what it says on standard output.
func (u *unitRun) must(args ...string) string {
	cmd := u.command(args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	require.NoError(u.t, err, "brimful %s: %s", strings.Join(args, " "), &stderr)
	return strings.TrimSpace(string(b))
}

func (u *unitRun) unit(list string) *exec.Cmd {
	return u.command("run-unit", "--plan", u.plan, "--unit", list)
}

// killed starts the command, kills it after the time given, unless it has ended by then, and reports whether it did.
func (u *unitRun) killed(cmd *exec.Cmd, after time.Duration) bool {
	require.NoError(u.t, cmd.Start())
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(u.t, status.Signaled() || status.ExitStatus() == 0, "%v: %v", cmd.Args, cmd.ProcessState)
	return status.Signaled()
}

// Whoever runs the units, in which order, how often, at the same time or killed: every file is the same, and nothing else is left.
func TestUnitsSameBytes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	root := t.TempDir()
	data := filepath.Join(root, "generated")
	require.NoError(t, writeSamples(data))
	flags := []string{data, "--capacity", "256", "--shard-rows", "20", "--holdout", "10%"}
	u := &unitRun{t: t, temp: filepath.Join(root, "temp")}
	require.NoError(t, os.Mkdir(u.temp, 0o755))
	pack := func(out, workers string) map[string]string {
		u.must(append([]string{"pack", "--out", out, "--quiet", "--units", strconv.Itoa(unitCount), "--workers", workers}, flags...)...)
		return tree(t, out)
	}
	start := time.Now()
	want := pack(filepath.Join(root, "one"), "1")
	took := time.Since(start)
	require.Greater(t, len(want), 2*unitCount, "shards, the card and the manifest")
	require.Equal(t, want, pack(filepath.Join(root, "four"), "4"))

	for name, run := range map[string]func(*testing.T, *rand.Rand){
		"random order": func(*testing.T, *rand.Rand) {
			for _, i := range r.Perm(unitCount) {
				u.must("run-unit", "--plan", u.plan, "--unit", strconv.Itoa(i))
			}
		},
		"each twice at the same time": func(t *testing.T, _ *rand.Rand) {
			for i := range unitCount {
				twins := []*exec.Cmd{u.unit(strconv.Itoa(i)), u.unit(strconv.Itoa(i))}
				for _, c := range twins {
					require.NoError(t, c.Start())
				}
				for _, c := range twins {
					require.NoError(t, c.Wait())
				}
			}
			u.must("run-unit", "--plan", u.plan, "--unit", fmt.Sprintf("0-%d", unitCount-1)) // and again
		},
		"20 kills": func(t *testing.T, r *rand.Rand) {
			if testing.Short() {
				t.Skip("kills dozens of processes")
			}
			all := fmt.Sprintf("0-%d", unitCount-1)
			for kills := 0; kills < 20; {
				left := u.must("missing", "--plan", u.plan)
				if left == "" { // everything is done: lose a unit
					require.NoError(t, os.Remove(filepath.Join(u.out, ".brimful", "units", fmt.Sprintf("unit-%05d.json", r.IntN(unitCount)))))
					continue
				}
				twin := u.unit(all) // which is at the same units
				require.NoError(t, twin.Start())
				if u.killed(u.unit(left), rand.N(took/4)) {
					kills++
				}
				_ = twin.Process.Kill()
				_ = twin.Wait()
				require.NoFileExists(t, filepath.Join(u.out, "brimful.json"))
			}
			entries, err := os.ReadDir(filepath.Join(u.out, ".brimful", "attempts"))
			require.NoError(t, err)
			t.Logf("20 processes were killed, and left %d directories", len(entries))
			require.NotEmpty(t, entries)
			for left := u.must("missing", "--plan", u.plan); left != ""; left = u.must("missing", "--plan", u.plan) {
				u.must("run-unit", "--plan", u.plan, "--unit", left)
			}
			for range 8 {
				u.killed(u.command("finish", "--plan", u.plan, "--quiet"), rand.N(took/6))
			}
		},
		"a twin that sleeps until all is finished": func(t *testing.T, _ *rand.Rand) {
			twin := u.unit("3")
			require.NoError(t, twin.Start())
			attempts := filepath.Join(u.out, ".brimful", "attempts")
			require.Eventually(t, func() bool { entries, _ := os.ReadDir(attempts); return len(entries) > 0 }, 10*time.Second, 100*time.Microsecond)
			require.NoError(t, twin.Process.Signal(syscall.SIGSTOP))
			u.must("run-unit", "--plan", u.plan, "--unit", fmt.Sprintf("0-%d", unitCount-1))
			u.must("finish", "--plan", u.plan, "--quiet")
			require.NoError(t, twin.Process.Signal(syscall.SIGCONT))
			require.NoError(t, twin.Wait())
		},
	} {
		t.Run(name, func(t *testing.T) {
			u.t = t
			u.start(filepath.Join(root, strings.ReplaceAll(name, " ", "-")), flags...)
			run(t, r)
			u.must("finish", "--plan", u.plan, "--quiet")
			u.must("finish", "--plan", u.plan, "--quiet") // and again
			require.Equal(t, want, tree(t, u.out))
			entries, err := os.ReadDir(u.out)
			require.NoError(t, err)
			require.Len(t, entries, 3, "data, the card and the manifest")
			require.NoError(t, filepath.WalkDir(u.temp, func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				info, err := d.Info()
				require.Zero(t, info.Size(), "%s: want no temporary file, or one that was killed before it lost its name", p)
				return err
			}))
		})
	}
}

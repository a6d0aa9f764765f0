package cutstock_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/brimful/brimful/packing/internal/cutstock"
	"github.com/stretchr/testify/require"
)

func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return time.Duration(u.Utime.Nano())
}

func TestDev(t *testing.T) {
	which := os.Getenv("DEV")
	eff, _ := strconv.ParseFloat(os.Getenv("EFF"), 64)
	o := cutstock.Options{Effort: int64(eff)}
	run := func(name string, p cutstock.Problem) *cutstock.Solution {
		t0 := time.Now()
		c0 := cpuTime()
		s, err := cutstock.Solve(context.Background(), p, o)
		require.NoError(t, err)
		require.NoError(t, s.Verify(p))
		d := time.Since(t0)
		cpu := cpuTime() - c0
		fmt.Printf("%-22s D=%5d bins=%d bound=%d gap=%d %s pats=%d work=%.3fG cpu=%v wall=%v ns/w=%.2f\n", name, len(p.Sizes), s.Bins, s.Bound, s.Gap(), s.Proof, len(s.Patterns), float64(s.Work)/1e9, cpu.Round(time.Millisecond), d.Round(time.Millisecond), float64(cpu)/float64(s.Work))
		return s
	}
	switch which {
	case "dist":
		c := 2048
		if v := os.Getenv("CAP"); v != "" {
			c, _ = strconv.Atoi(v)
		}
		for i, d := range distributions {
			if v := os.Getenv("ONLY"); v != "" && v != strconv.Itoa(i) {
				continue
			}
			run(d.name, d.sample(1_000_000, c, 1))
		}
	case "real":
		run("wiki", histogram(t, "hist_wikipedia_512.txt", 512))
		run("squad", histogram(t, "hist_squad11_384.txt", 384))
		for _, c := range []int{2048, 1024} {
			run(fmt.Sprint("gsm", c), gsm8k(t, "/work/shared/data/gsm8k-qwen.jsonl.gz", c))
		}
	case "bpp":
		for _, class := range []string{"falkenauer_u", "falkenauer_t", "scholl1"} {
			t0 := time.Now()
			opt, n, lbopt, plus := 0, 0, 0, 0
			var worst time.Duration
			for _, in := range bpplib(t, class) {
				t1 := time.Now()
				s, err := cutstock.Solve(context.Background(), in.Problem, o)
				require.NoError(t, err)
				require.NoError(t, s.Verify(in.Problem))
				require.LessOrEqual(t, s.Bound, in.opt)
				n++
				worst = max(worst, time.Since(t1))
				if s.Bins == in.opt {
					opt++
				} else if s.Bins > in.opt+1 {
					plus++
				}
				if s.Bound == in.opt {
					lbopt++
				}
				if s.Gap() > 0 || time.Since(t1) > 300*time.Millisecond {
					fmt.Println(in.name, s.Bins, s.Bound, in.opt, s.Proof, time.Since(t1))
				}
			}
			fmt.Println(class, "n", n, "opt", opt, "bound=opt", lbopt, "beyond+1", plus, time.Since(t0), "worst", worst)
		}
	}
}

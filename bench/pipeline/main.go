// Pipeline measures the command as a whole process: what it takes in memory and time, and what windows cost in rows.
//
//	go run ./bench/pipeline memory            peak memory, with default options, on 100 million tokens and on a billion
//	go run ./bench/pipeline cores             one core and two, beside what a spin loop gets from the second
//	go run ./bench/pipeline units             a job of units beside one process
//	go run ./bench/pipeline windows FILE      rows of the default window and of a global plan; FILE holds one length a line, gzip
//
// It builds the command, makes its inputs in a temporary directory, and removes both.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/brimful/brimful/bench/workload"
	"github.com/brimful/brimful/packing"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: pipeline memory|cores|units|windows FILE")
	}
	dir, err := os.MkdirTemp("", "brimful-bench")
	if err != nil {
		log.Fatal(err)
	}
	b := &bench{dir: dir}
	switch os.Args[1] {
	case "memory":
		err = b.memory()
	case "cores":
		err = b.cores()
	case "units":
		err = b.units()
	case "windows":
		err = b.windows(os.Args[2:])
	default:
		err = fmt.Errorf("%s: want memory, cores, units or windows", os.Args[1])
	}
	os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
}

type bench struct{ dir string }

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// build builds the command.
func (b *bench) build() error {
	cmd := exec.Command("go", "build", "-o", b.path("brimful"), "github.com/brimful/brimful/cmd/brimful")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// result is what a run of the command took.
type result struct {
	wall, cpu float64 // seconds
	peak      float64 // MB
	rows      int64
	tokens    int64
}

// pack runs the command on an input, or on what source writes into its standard input.
func (b *bench) pack(input string, source func(io.Writer) error, env []string, args ...string) (result, error) {
	out := b.path("out")
	defer os.RemoveAll(out)
	cmd := exec.Command(b.path("brimful"), append([]string{"pack", input, "--out", out, "--json", "--quiet"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	var fed chan error
	if source != nil {
		in, err := cmd.StdinPipe()
		if err != nil {
			return result{}, err
		}
		fed = make(chan error, 1)
		go func() {
			err := source(in)
			in.Close()
			fed <- err
		}()
	}
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start).Seconds()
	if err == nil && fed != nil {
		err = <-fed
	}
	if err != nil {
		return result{}, err
	}
	var said struct {
		Splits []struct {
			Rows  int64
			Stats struct {
				Ledger struct{ Out struct{ Tokens int64 } }
			}
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &said); err != nil {
		return result{}, err
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return result{wall, cpu, float64(usage.Maxrss) * 1024 / 1e6, said.Splits[0].Rows, said.Splits[0].Stats.Ledger.Out.Tokens}, nil
}

// input writes a file of samples.
func (b *bench) input(name string, lengths []int32, repeat int) (string, error) {
	file, err := os.Create(b.path(name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	return file.Name(), workload.WriteJSONL(file, lengths, repeat, 1)
}

// memory compares the peak memory on 100 million tokens, which fill the window some times, with that on a billion. The tokens are made as
// they are read.
func (b *bench) memory() error {
	lengths, err := workload.Lengths("chat", 154_000, 8192, 1)
	if err != nil {
		return err
	}
	if err := b.build(); err != nil {
		return err
	}
	var peaks []float64
	for _, repeat := range []int{1, 10} {
		r, err := b.pack("-", func(w io.Writer) error { return workload.WriteJSONL(w, lengths, repeat, 1) }, nil, "--capacity", "8192")
		if err != nil {
			return err
		}
		peaks = append(peaks, r.peak)
		fmt.Printf("%10d tokens: peak memory %.0f MB, %.0f CPU-seconds\n", r.tokens, r.peak, r.cpu)
	}
	fmt.Printf("10 times the data takes %+.1f %% memory\n", 100*(peaks[1]/peaks[0]-1))
	return nil
}

// cores compares one core with two, five times in turn.
func (b *bench) cores() error {
	lengths, err := workload.Lengths("chat", 100_000, 8192, 1)
	if err != nil {
		return err
	}
	if err := b.build(); err != nil {
		return err
	}
	in, err := b.input("in.jsonl", lengths, 1)
	if err != nil {
		return err
	}
	var ratios, spins []float64
	for range 5 {
		one, err := b.pack(in, nil, []string{"GOMAXPROCS=1"}, "--capacity", "8192")
		if err != nil {
			return err
		}
		two, err := b.pack(in, nil, []string{"GOMAXPROCS=2"}, "--capacity", "8192")
		if err != nil {
			return err
		}
		ratios, spins = append(ratios, one.wall/two.wall), append(spins, workload.SecondCore())
		fmt.Printf("one core %.2f s, two %.2f s: %.2f times; a spin loop gets %.2f times\n", one.wall, two.wall, one.wall/two.wall, spins[len(spins)-1])
	}
	slices.Sort(ratios)
	slices.Sort(spins)
	fmt.Printf("median: %.2f times the speed, a spin loop %.2f times\n", ratios[2], spins[2])
	return nil
}

// units compares a job of 64 units, planning included, with one process for everything, three times in turn.
func (b *bench) units() error {
	lengths, err := workload.Lengths("chat", 100_000, 8192, 1)
	if err != nil {
		return err
	}
	if err := b.build(); err != nil {
		return err
	}
	in, err := b.input("in.jsonl", lengths, 1)
	if err != nil {
		return err
	}
	fmt.Println("| what | wall, s | CPU, s | peak, MB | rows |")
	fmt.Println("|---|---|---|---|---|")
	for range 3 {
		for _, way := range []struct {
			name string
			args []string
		}{{"pack", nil}, {"pack --units 64", []string{"--units", "64"}}} {
			r, err := b.pack(in, nil, nil, append([]string{"--capacity", "8192"}, way.args...)...)
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %.1f | %.1f | %.0f | %d |\n", way.name, r.wall, r.cpu, r.peak, r.rows)
		}
	}
	return nil
}

// windows compares the rows of the default window with those of a plan over everything, on lengths alone.
func (b *bench) windows(args []string) error {
	type input struct {
		name     string
		lengths  []int32
		capacity int
	}
	var inputs []input
	for _, path := range args {
		lengths, err := readLengths(path, 32768)
		if err != nil {
			return err
		}
		all := slices.Repeat(lengths, 20)
		inputs = append(inputs, input{filepath.Base(path) + " x 20", all, 32768})
	}
	for _, capacity := range []int{2048, 8192} {
		for _, name := range []string{"chat", "third"} {
			lengths, err := workload.Lengths(name, 1_000_000, capacity, 1)
			if err != nil {
				return err
			}
			inputs = append(inputs, input{fmt.Sprintf("%s, C = %d", name, capacity), lengths, capacity})
		}
	}
	fmt.Println("| input | order | global | default window | more rows |")
	fmt.Println("|---|---|---|---|---|")
	for _, in := range inputs {
		for _, order := range []string{"as it comes", "sorted"} {
			if order == "sorted" {
				in.lengths = slices.Clone(in.lengths)
				slices.Sort(in.lengths)
			}
			limits := packing.Limits{Capacity: in.capacity}
			rows := func(tokens int64) int {
				n := 0
				for range (packing.Windows{Tokens: tokens}).Stream(slices.Values(in.lengths), limits) {
					n++
				}
				return n
			}
			global, window := rows(1<<62), rows(32<<20)
			fmt.Printf("| %s | %s | %d | %d | %.3f %% |\n", in.name, order, global, window, 100*(float64(window)/float64(global)-1))
		}
	}
	return nil
}

// readLengths reads a gzip file of one length a line and cuts each at limit.
func readLengths(path string, limit int) ([]int32, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var lengths []int32
	for lines := bufio.NewScanner(z); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(lengths)+1, err)
		}
		lengths = append(lengths, int32(min(n, limit)))
	}
	return lengths, nil
}

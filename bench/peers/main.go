// Peers runs brimful beside other tools, on the same data in the same minutes, and writes what each took:
//
//	make .venv-peers/installed
//	go run ./bench/peers
//
// It takes some minutes, prints its tables as they come, and at the end writes them with the versions and the machine into
// bench/peers/results.md, and the table of README.md that is made from them. What each figure is, and what it is not, stands above its table.
// With -part one of them is run and printed, and nothing is written; with -readme nothing is run, and README.md is made again.
//
//   - packing: lengths to bins, against seqpacker and the packing loop of TRL
//   - streams: samples to rows through 64 open bins, against grain
//   - files: JSON lines to packed Parquet, against TRL, and against Polars and DuckDB which only rewrite the file
//
// The lengths are the seeded ones of bench/workload, "chat" and "third", and "gsm8k", the 512 real samples in examples/data.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/brimful/brimful/bench/workload"
	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/jsonl"
)

const (
	script  = "bench/peers/peers.py" // the part in Python
	results = "bench/peers/results.md"
	example = "examples/data/gsm8k-512.jsonl.gz"
)

// bench is a run.
type bench struct {
	out    io.Writer
	python string
	rounds int
	mb     int                  // how large the file is, about
	dir    string               // for what is written, removed at the end
	gsm8k  []tokenstream.Sample // those of examples/data
	cores  []float64            // how much of a second core was free, between the turns of files
}

func main() {
	log.SetFlags(0)
	var b bench
	flag.StringVar(&b.python, "python", ".venv-peers/bin/python", "a Python with what bench/peers/requirements.txt lists")
	flag.IntVar(&b.rounds, "rounds", 3, "turns of each tool; those that take long have one")
	flag.IntVar(&b.mb, "mb", 200, "megabytes of JSON lines in the large file, about")
	part := flag.String("part", "", "only print packing, streams or files")
	readme := flag.Bool("readme", false, "only make the table of README.md from "+results)
	flag.Parse()
	if b.rounds < 1 || b.mb < 1 || flag.NArg() > 0 {
		log.Fatal("usage: peers [-python PROGRAM] [-rounds N] [-mb N] [-part packing|streams|files] [-readme]")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *readme:
		err = writeReadme()
	case *part != "":
		b.out = os.Stdout
		err = b.run(ctx, *part)
	default:
		var text bytes.Buffer
		b.out = io.MultiWriter(os.Stdout, &text)
		if err = b.run(ctx, ""); err == nil {
			err = os.WriteFile(results, text.Bytes(), 0o644)
		}
		if err == nil {
			err = writeReadme()
		}
	}
	if ctx.Err() != nil {
		log.Fatal("peers: interrupted, nothing written")
	}
	if err != nil {
		log.Fatal("peers: ", err)
	}
}

// run runs one part, or all if none is named.
func (b *bench) run(ctx context.Context, only string) (err error) {
	parts := []struct {
		name string
		run  func(context.Context) error
	}{{"packing", b.packing}, {"streams", b.streams}, {"files", b.files}}
	known := only == ""
	for _, p := range parts {
		known = known || p.name == only
	}
	if !known {
		return fmt.Errorf("-part %q: want packing, streams or files", only)
	}
	if _, err := exec.LookPath(b.python); err != nil {
		return fmt.Errorf("-python: %w (make .venv-peers/installed makes the default one)", err)
	}
	if b.dir, err = os.MkdirTemp("", "brimful-peers-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.readExample(); err != nil {
		return err
	}
	if err := b.header(ctx); err != nil {
		return err
	}
	for _, p := range parts {
		if only != "" && only != p.name {
			continue
		}
		fmt.Fprintln(b.out)
		if err := p.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// header says what ran where.
func (b *bench) header(ctx context.Context) error {
	var versions []string
	if err := b.ask(ctx, &versions, "versions"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(b.out, `# brimful beside other tools

Made by %s.

brimful of this repository, Go %s, %s; %s.

Machine: %s, %d cores in use, %s. Other work may have been on it: only ratios within one table mean something.
`, "`"+strings.Join(append([]string{"go run ./bench/peers"}, os.Args[1:]...), " ")+"`",
		strings.TrimPrefix(runtime.Version(), "go"), runtime.GOARCH, strings.Join(versions, ", "), processor(), runtime.GOMAXPROCS(0), runtime.GOOS)
	return err
}

// processor returns the name of the processor, as far as Linux tells it.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "model name"); ok {
			return strings.TrimLeft(name, "\t: ")
		}
	}
	return "unknown processor"
}

// readExample reads the real samples.
func (b *bench) readExample() error {
	file, err := os.Open(example)
	if err != nil {
		return err
	}
	defer file.Close()
	for sample, err := range jsonl.Read(file, jsonl.Options{Name: example}) {
		if err != nil {
			return err
		}
		b.gsm8k = append(b.gsm8k, sample.Clone())
	}
	return nil
}

// lengths returns a workload of n lengths, or those of all real samples.
func (b *bench) lengths(name string, n, capacity int) ([]int32, error) {
	if name != "gsm8k" {
		return workload.Lengths(name, n, capacity, 1)
	}
	var lengths []int32
	for _, sample := range b.gsm8k {
		lengths = append(lengths, int32(len(sample.Tokens)))
	}
	return lengths, nil
}

// ask runs the part in Python and decodes what it prints last.
func (b *bench) ask(ctx context.Context, answer any, args ...string) error {
	cmd := exec.CommandContext(ctx, b.python, append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "HF_HOME="+b.path("hf"), "HF_HUB_OFFLINE=1", "TMPDIR="+b.dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends what it runs
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		return fmt.Errorf("%s %s: %w: %s", script, args[0], err, text[max(0, len(text)-2000):])
	}
	out = bytes.TrimSpace(out)
	if err := json.Unmarshal(out[bytes.LastIndexByte(out, '\n')+1:], answer); err != nil {
		return fmt.Errorf("%s %s: %w", script, args[0], err)
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

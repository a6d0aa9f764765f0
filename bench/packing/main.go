// Packing times this module's best-fit decreasing against seqpacker's and TRL's on the same lengths, in turns within one minute:
//
//	go run ./bench/packing -python .venv/bin/python
//
// Every figure is the least of the rounds. What is compared is said in each column: seqpacker's pack_flat returns samples grouped by
// bin, of which Pack is the counterpart; bin ids are less, and only brimful gives them without the rest. TRL's is its packing loop
// alone, in Python, without its tables, and it runs once.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/brimful/brimful/bench/workload"
	"github.com/brimful/brimful/packing"
)

func main() {
	log.SetFlags(0)
	python := flag.String("python", "python3", "a Python with numpy, seqpacker and trl")
	rounds := flag.Int("rounds", 5, "turns of each packer")
	flag.Parse()
	fmt.Println("| lengths | capacity | samples | bins | ids, M/s | grouped, M/s | seqpacker, M/s | TRL's loop, M/s | ids / seqpacker | grouped / seqpacker | ids / TRL |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, name := range []string{"chat", "third"} {
		for _, capacity := range []int{2048, 8192} {
			for _, n := range []int{10_000, 1_000_000} {
				if err := compare(*python, *rounds, name, capacity, n); err != nil {
					log.Fatalf("%s, capacity %d, %d samples: %v", name, capacity, n, err)
				}
			}
		}
	}
}

// peers is what peers.py prints: bins and least seconds of each peer, 0 seconds if it did not run.
type peers struct {
	Seqpacker, TRL struct {
		Bins    int
		Seconds float64
	}
}

// compare prints the row of one workload.
func compare(python string, rounds int, name string, capacity, n int) error {
	lengths, err := workload.Lengths(name, n, capacity, 1)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "brimful-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "lengths")
	raw, err := binary.Append(nil, binary.LittleEndian, lengths)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return err
	}

	limits := packing.Limits{Capacity: capacity}
	bin := make([]int32, n)
	bins := 0
	ids, grouped, seqpacker, trl := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
	for round := range rounds {
		for range 5 {
			ids = min(ids, seconds(func() { bins = packing.BestFitDecreasing{}.Assign(bin, lengths, limits) }))
			grouped = min(grouped, seconds(func() { _, err = packing.Pack(packing.BestFitDecreasing{}, lengths, limits) }))
		}
		if err != nil {
			return err
		}
		trlOnce := "0"
		if round == 0 {
			trlOnce = "1"
		}
		out, err := exec.Command(python, "bench/packing/peers.py", file, fmt.Sprint(capacity), "5", trlOnce).Output()
		if exit, ok := err.(*exec.ExitError); ok {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		} else if err != nil {
			return err
		}
		var p peers
		if err := json.Unmarshal(out, &p); err != nil {
			return fmt.Errorf("peers.py: %w", err)
		}
		seqpacker = min(seqpacker, p.Seqpacker.Seconds)
		if p.Seqpacker.Bins != bins {
			return fmt.Errorf("seqpacker: %d bins, brimful: %d", p.Seqpacker.Bins, bins)
		}
		if round == 0 {
			trl = p.TRL.Seconds
			if p.TRL.Bins != bins {
				return fmt.Errorf("TRL: %d bins, brimful: %d", p.TRL.Bins, bins)
			}
		}
	}
	million := float64(n) / 1e6
	fmt.Printf("| %s | %d | %d | %d | %.1f | %.1f | %.2f | %.3f | %.0f | %.1f | %.0f |\n", name, capacity, n, bins,
		million/ids, million/grouped, million/seqpacker, million/trl, seqpacker/ids, seqpacker/grouped, trl/ids)
	return nil
}

// seconds returns how long f takes.
func seconds(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}

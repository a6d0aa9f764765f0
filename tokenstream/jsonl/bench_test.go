package jsonl_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/brimful/brimful/tokenstream/jsonl"
)

// benchText returns lines of samples with ids of a vocabulary of 152k, mostly small, and labels of which a third is -100; and the number
// of integers in it.
func benchText() ([]byte, int) {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	integers := 0
	for i := range 3000 {
		n := 100 + r.IntN(1000)
		ids, labels := make([]string, n), make([]string, n)
		for k := range ids {
			ids[k] = fmt.Sprint(int(152_000 * r.Float64() * r.Float64()))
			labels[k] = ids[k]
			if k < n/3 {
				labels[k] = "-100"
			}
		}
		fmt.Fprintf(&b, `{"id":"sample-%d","input_ids":[%s],"labels":[%s]}`+"\n", i, strings.Join(ids, ","), strings.Join(labels, ","))
		integers += 2 * n
	}
	return b.Bytes(), integers
}

// BenchmarkRead compares reading with encoding/json and with a loop that only looks at every byte, in one run.
func BenchmarkRead(b *testing.B) {
	text, integers := benchText()
	run := func(name string, f func() int) {
		b.Run("by="+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if f() == 0 {
					b.Fatal("nothing read")
				}
			}
			b.ReportMetric(float64(integers)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mints/s")
		})
	}
	for _, workers := range []int{1, 2} {
		run(fmt.Sprintf("jsonl/workers=%d", workers), func() int {
			n := 0
			for s, err := range jsonl.Read(bytes.NewReader(text), jsonl.Options{Workers: workers}) {
				if err != nil {
					b.Fatal(err)
				}
				n += len(s.Tokens)
			}
			return n
		})
	}
	run("encoding-json", func() int {
		n := 0
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var s struct {
				ID       string  `json:"id"`
				InputIDs []int32 `json:"input_ids"`
				Labels   []int32 `json:"labels"`
			}
			if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
				b.Fatal(err)
			}
			n += len(s.InputIDs)
		}
		return n
	})
	run("memory", func() int {
		n := 0
		for _, c := range text {
			n += int(c)
		}
		return n
	})
}

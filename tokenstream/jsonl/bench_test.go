package jsonl_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/brimful/brimful/tokenstream/jsonl"
)

// benchText returns lines of samples with ids of a vocabulary of 152k, mostly small, and labels of which a third is -100; and the number
// of integers in it. What before returns comes first in each line.
func benchText(before func(line int) string) ([]byte, int) {
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
		fmt.Fprintf(&b, `{%s"input_ids":[%s],"labels":[%s]}`+"\n", before(i), strings.Join(ids, ","), strings.Join(labels, ","))
		integers += 2 * n
	}
	return b.Bytes(), integers
}

// BenchmarkRead compares reading with encoding/json and with a loop that only adds up the text, eight bytes at a time, in one run.
func BenchmarkRead(b *testing.B) {
	named := func(i int) string { return fmt.Sprintf(`"id":"sample-%d",`, i) }
	text, integers := benchText(named)
	run := func(name string, text []byte, f func(text []byte) int) {
		b.Run("by="+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if f(text) == 0 {
					b.Fatal("nothing read")
				}
			}
			b.ReportMetric(float64(integers)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mints/s")
		})
	}
	read := func(workers int) func([]byte) int {
		return func(text []byte) int {
			n := 0
			for s, err := range jsonl.Read(bytes.NewReader(text), jsonl.Options{Workers: workers}) {
				if err != nil {
					b.Fatal(err)
				}
				n += len(s.Tokens)
			}
			return n
		}
	}
	run("jsonl/workers=1", text, read(1))
	run("jsonl/workers=2", text, read(2))
	for _, shape := range []struct {
		name   string
		before func(i int) string
	}{
		{"integer-id", func(i int) string { return fmt.Sprintf(`"id":%d,`, i) }},
		{"metadata", func(i int) string {
			return `"source":"a","lang":"en","url":"b","date":"c","title":"d","split":"e","score":0.5,"hash":"f","turns":3,`
		}},
		{"messages", func(i int) string {
			return `"messages":[{"role":"user","content":"` + strings.Repeat(`all the text, \"as it was\";\n`, 80) + `"}],`
		}},
	} {
		text, _ := benchText(shape.before)
		run("jsonl/workers=1/shape="+shape.name, text, read(1))
	}
	run("encoding-json", text, func(text []byte) int {
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
	run("memory", text, func(text []byte) int {
		n := uint64(0)
		for ; len(text) >= 8; text = text[8:] {
			n += binary.LittleEndian.Uint64(text)
		}
		return int(n | 1)
	})
}

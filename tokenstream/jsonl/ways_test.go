package jsonl_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/jsonl"
)

// same requires equal samples and equal errors. It is silent about what is equal, since samples are long.
func same(t *testing.T, want, got []tokenstream.Sample, wantErr, gotErr error, text []byte) {
	t.Helper()
	require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr), "%.300q", text)
	require.Len(t, got, len(want), "%.300q", text)
	for i := range want {
		if !reflect.DeepEqual(want[i], got[i]) {
			require.Equal(t, fmt.Sprintf("%.300v", want[i]), fmt.Sprintf("%.300v", got[i]), "%.300q", text)
			t.Fatalf("sample %d differs; labels %d, %d, nil: %t, %t", i, len(want[i].Labels), len(got[i].Labels), want[i].Labels == nil, got[i].Labels == nil)
		}
	}
}

// agree requires that the fast way and encoding/json read the same from a text, or refuse it in the same words, and so do all numbers
// of workers and sizes of blocks; also about what is unused.
func agree(t *testing.T, text []byte) {
	t.Helper()
	all := func(o jsonl.Options) ([]tokenstream.Sample, []string, error) {
		var unused []string
		o.Unused = func(key string) { unused = append(unused, key) }
		samples, err := read(bytes.NewReader(text), o)
		return samples, unused, err
	}
	slow, slowUnused, slowErr := all(jsonl.WithoutScan(jsonl.WithBlockBytes(jsonl.Options{Workers: 1}, 4096)))
	for _, c := range []struct{ workers, block int }{{1, 4096}, {1, 7}, {3, 7}} {
		fast, unused, err := all(jsonl.WithBlockBytes(jsonl.Options{Workers: c.workers}, c.block))
		same(t, slow, fast, slowErr, err, text)
		if slowErr == nil { // else a larger block may have been told of more keys
			require.Equal(t, slowUnused, unused, "%q", text)
		}
	}
}

// FuzzRead: all ways agree on every text, and on every text as the value of a key that is skipped, that names, that is a mask.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"input_ids":[1,2,3],"labels":[-100,2,3],"id":"a"}`, `{"input_ids": [ 12345678 , 123456789 ],"loss_mask":[0,1]}`, `{"x":{"y":[1,"]"]},"input_ids":[0]}`,
		"{\"input_ids\":[1]}\r\n\n{\"input_ids\":[2147483648]}", `{"input_ids":[1],"attention_mask":[1],"position_ids":[0]}`, `{"input_ids":[-100]}`,
		`{"id":-1,"input_ids":[00]}`, `{"input_ids":[1.0]}`, `{"a":1,"a":2,"input_ids":[]}`, "\xef\xbb\xbf{\"input_ids\":[1]}", `{"input_ids":[1]`, `{"input_ids":[1]]}`,
		`{"input_ids":[1],"x":tru}`, `{"input_ids":[1],"x":1 2}`, `{"input_ids":[1],"x":"\ud800"}`, `{"input_ids":[1234567890123]}`, `{"input_ids":[-1000]}`,
		`"abcdefg\"\\\/\b\f\n\r\té\u00e9"`, "\"abcdefgh\x1f\"", "\"abcdefgh\xff\"", `"\u12g4"`, `-0.5e+10`, `-`, `1.`, `1e`, `01`, `-0`, `[true,false]`, `[true,0]`, `[[],{"a":{}}]`,
		`{"a":1,}`, `[1,]`, `[true false]`, `[true;false]`, `[false,]`, `[true`, `"\v"`, `"\a"`, `"\u12"`, `"\`, `nul`, `null`, `truefalse`, `"a":1,"a"`, `1,"é":2,"\u00e9"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		agree(t, text)
		for _, form := range []string{`{"input_ids":[1],"x":%s}`, `{"id":%s,"input_ids":[1]}`, `{"input_ids":[1],"loss_mask":%s}`, `{"input_ids":%s}`} {
			agree(t, fmt.Appendf(nil, form, text))
		}
	})
}

// TestWays is FuzzRead with lines put together from parts that meet in files, some of them spoilt in one byte.
func TestWays(t *testing.T) {
	keys := []string{`"input_ids"`, `"labels"`, `"loss_mask"`, `"completion_mask"`, `"attention_mask"`, `"position_ids"`, `"id"`, `"cu_seqlens"`,
		`"x"`, `"messages"`, `"meta data"`, `"é"`, `"\u00e9"`, `"input_id\u0073"`, `""`}
	pairs := []string{`[1,2]`, `[0,1]`, `[1,1]`, `[ 1 , 2 ]`, `[0,2147483647]`}
	values := []string{`[]`, `[1]`, `[1,0]`, `[-100,2]`, `[1,-100]`, `[-1,2]`, `[123456789,2147483647]`, `[2147483648,1]`, `[1.0,2]`, `[1,null]`, `[[1,2]]`,
		`[true,false]`, `["1","2"]`, `null`, `true`, `17`, `-3`, `1.5e3`, `"a"`, `"a long name of a sample"`, `"caf\u00e9 \"\\"`, `"日本"`, `{"role":"user","content":"a, b]} \n"}`,
		`[{"a":[1,{"b":null}]}]`, `{}`, strings.Repeat("[", 150) + strings.Repeat("]", 150)}
	spaces := []string{"", "", "", " ", "\t", "  "}
	const seed = 11 // fixed
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	good := 0
	lines := 3000
	if testing.Short() {
		lines = 300
	}
	for range lines {
		var b strings.Builder
		b.WriteString(pick(spaces) + "{" + pick(spaces))
		parts := []string{`"input_ids"` + pick(spaces) + ":" + pick(spaces) + pick(pairs)}
		for range r.IntN(4) {
			from := values
			if r.IntN(2) == 0 {
				from = pairs
			}
			parts = append(parts, pick(keys)+pick(spaces)+":"+pick(spaces)+pick(from))
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		b.WriteString(strings.Join(parts, pick(spaces)+","+pick(spaces)) + pick(spaces))
		b.WriteString("}" + pick(spaces))
		text := []byte(b.String())
		if r.IntN(3) == 0 {
			const spoilt = "\"\\{}[]:,-+.0123456789eEtfnu \t\r\x00\x1f\x7f\xc3"
			text[r.IntN(len(text))] = spoilt[r.IntN(len(spoilt))]
		}
		agree(t, text)
		if _, err := read(bytes.NewReader(text), jsonl.Options{Workers: 1}); err == nil {
			good++
		}
	}
	require.Greater(t, good, lines/10, "many lines are wrong in some way, but not all")
}

// Lines with anything that is usual take the fast way, which shows in that they cost no memory.
func TestUsualLinesAreFast(t *testing.T) {
	list := func(n int, of string) string { return "[" + strings.TrimSuffix(strings.Repeat(of+",", n), ",") + "]" }
	ids, ones, zeros := list(500, "12345"), list(500, "1"), list(500, "0")
	meta := ""
	for i := range 40 {
		meta += fmt.Sprintf(`,"meta%d":%d`, i, i)
	}
	for name, line := range map[string]string{
		"ids":             `{"input_ids":` + ids + `}`,
		"python":          `{"id": "a", "input_ids": ` + strings.ReplaceAll(ids, ",", ", ") + `, "labels": ` + list(500, " -100") + `}`,
		"integer id":      `{"id":17,"input_ids":` + ids + `,"labels":` + ids + `}`,
		"nulls":           `{"id":null,"labels":null,"loss_mask":null,"input_ids":` + ids + `,"attention_mask":` + ones + `}`,
		"much metadata":   `{"input_ids":` + ids + meta + `}`,
		"booleans":        `{"input_ids":` + ids + `,"loss_mask":` + list(500, "true") + `,"completion_mask":` + list(500, " false ") + `}`,
		"conversation":    `{"messages":[{"role":"user","content":"a \"b\"\n\u00e9 é"},{"role":"assistant","content":"` + strings.Repeat("x", 1000) + `"}],"input_ids":` + ids + `}`,
		"unused":          `{"input_ids":` + ids + `,"token_type_ids":` + zeros + `,"weights":` + list(500, "0.5") + `}`,
		"positions":       `{"input_ids":[7,8,9],"position_ids":[0,1,2]}`,
		"nothing but ids": `{"input_ids":[]}`,
	} {
		text := []byte(strings.Repeat(line+"\n", 1000))
		allocs := testing.AllocsPerRun(1, func() {
			n := 0
			for _, err := range jsonl.Read(bytes.NewReader(text), jsonl.Options{Workers: 1}) {
				if err != nil {
					t.Fatal(name, err)
				}
				n++
			}
			require.Equal(t, 1000, n)
		})
		require.Less(t, allocs, 300.0, "%s: allocations for 1000 samples", name)
	}
}

// randomText returns many lines of every kind.
func randomText(r *rand.Rand, lines int) string {
	var b strings.Builder
	for i := range lines {
		n := r.IntN(300)
		fmt.Fprintf(&b, `{"id":"s%d","input_ids":%s`, i, strings.ReplaceAll(fmt.Sprint(randomIDs(r, n)), " ", ","))
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, `,"labels":%s`, strings.ReplaceAll(fmt.Sprint(randomIDs(r, n)), " ", ", "))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func randomIDs(r *rand.Rand, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(r.Uint32() >> (1 + r.IntN(31)))
	}
	return ids
}

func TestWorkers(t *testing.T) {
	text := randomText(rand.New(rand.NewPCG(3, 4)), 3000)
	want, err := read(strings.NewReader(text), jsonl.Options{Workers: 1})
	require.NoError(t, err)
	require.Len(t, want, 3000)
	for _, workers := range []int{2, 5} {
		for _, block := range []int{100, 4096, 1 << 20} {
			got, err := read(strings.NewReader(text), jsonl.WithBlockBytes(jsonl.Options{Workers: workers}, block))
			same(t, want, got, nil, err, nil)
		}
	}
}

// A consumer that stops early leaves no goroutine behind.
func TestEarlyBreak(t *testing.T) {
	text := randomText(rand.New(rand.NewPCG(5, 6)), 2000)
	before := runtime.NumGoroutine()
	for range 20 {
		for range jsonl.Read(strings.NewReader(text), jsonl.WithBlockBytes(jsonl.Options{Workers: 4}, 1000)) {
			break
		}
	}
	for i := 0; runtime.NumGoroutine() > before && i < 100; i++ { // those that have returned may still be counted for a moment
		time.Sleep(time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

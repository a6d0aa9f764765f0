package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/jsonl"
)

// read returns copies of all samples and the error, if any. It overwrites every sample after use.
func read(r io.Reader, o jsonl.Options) (samples []tokenstream.Sample, err error) {
	for s, err := range jsonl.Read(r, o) {
		if err != nil {
			return samples, err
		}
		samples = append(samples, s.Clone())
		for i := range s.Tokens {
			s.Tokens[i] = -7
		}
		for i := range s.Labels {
			s.Labels[i] = -7
		}
	}
	return samples, nil
}

func TestGoodLines(t *testing.T) {
	for _, c := range []struct {
		name, line string
		tokens     []int32
		labels     []int32
		id         string
	}{
		{"plain", `{"input_ids":[1,22,333]}`, []int32{1, 22, 333}, nil, ""},
		{"spaces", "\t{ \"id\" : \"a\" , \"input_ids\" : [ 1 ,\t2, 3 ] } \r", []int32{1, 2, 3}, nil, "a"},
		{"python's spacing", `{"id": 12, "input_ids": [1, 2], "labels": [-100, 2]}`, []int32{1, 2}, []int32{-100, 2}, "12"},
		{"digits", `{"input_ids":[0,12345678,123456789,1234567890,2147483647]}`, []int32{0, 12345678, 123456789, 1234567890, 2147483647}, nil, ""},
		{"a large id stays as it is", `{"id":9007199254740993,"input_ids":[65535,65536,119546]}`, []int32{65535, 65536, 119546}, nil, "9007199254740993"},
		{"escaped key", `{"input\u005fids":[1]}`, []int32{1}, nil, ""},
		{"unicode id", `{"id":"é\n","input_ids":[1]}`, []int32{1}, nil, "é\n"},
		{"null labels are none", `{"labels":null,"input_ids":[1]}`, []int32{1}, nil, ""},
		{"other keys", `{"messages":[{"role":"user","content":"a \" ] } , b"}],"input_ids":[1],"n":1.5,"ok":true,"x":null,"y":{}}`, []int32{1}, nil, ""},
		{"empty ids", `{"input_ids":[],"labels":[]}`, []int32{}, []int32{}, ""},
		{"mask", `{"input_ids":[1,2,3],"assistant_masks":[0,0,1]}`, []int32{1, 2, 3}, []int32{-100, -100, 3}, ""},
		{"boolean mask", `{"input_ids":[4,5],"completion_mask":[false,true]}`, []int32{4, 5}, []int32{-100, 5}, ""},
		{"two masks", `{"input_ids":[1,2,3],"loss_mask":[1,1,0],"completion_mask":[0,1,1]}`, []int32{1, 2, 3}, []int32{-100, 2, -100}, ""},
		{"padding left", `{"input_ids":[0,0,7,8],"attention_mask":[0,0,1,1],"labels":[-100,-100,7,8]}`, []int32{7, 8}, []int32{7, 8}, ""},
		{"padding right", `{"input_ids":[7,8,0,0],"attention_mask":[1,1,0,0],"loss_mask":[0,1,0,0]}`, []int32{7, 8}, []int32{-100, 8}, ""},
		{"id 0 inside", `{"input_ids":[7,0,8],"attention_mask":[1,1,1]}`, []int32{7, 0, 8}, nil, ""},
		{"all padding", `{"input_ids":[7,0],"attention_mask":[0,0]}`, []int32{}, nil, ""},
		{"positions of one sample", `{"input_ids":[7,0],"position_ids":[0,1]}`, []int32{7, 0}, nil, ""},
		{"negative ids are for Pack to refuse", `{"input_ids":[1],"labels":[-1]}`, []int32{1}, []int32{-1}, ""},
	} {
		for _, workers := range []int{1, 2} {
			got, err := read(strings.NewReader(c.line), jsonl.Options{Name: "a", Workers: workers})
			require.NoError(t, err, c.name)
			require.Len(t, got, 1, c.name)
			require.Equal(t, c.tokens, append([]int32{}, got[0].Tokens...), c.name)
			if c.labels == nil {
				require.Nil(t, got[0].Labels, c.name)
			} else {
				require.Equal(t, c.labels, append([]int32{}, got[0].Labels...), c.name)
			}
			require.Equal(t, c.id, got[0].ID, c.name)
			require.Equal(t, tokenstream.Place{Name: "a", Row: 1}, got[0].Place, c.name)
		}
	}
}

func TestBadLines(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"not JSON", `input_ids: 1`, "a:3: not JSON: invalid character 'i'"},
		{"cut", `{"input_ids":[1,2`, "not JSON: unexpected end"},
		{"two values", `{"input_ids":[1]} {"input_ids":[2]}`, "not JSON"},
		{"NUL", "{\"input_ids\":[1\x00]}", "not JSON"},
		{"list", `[1,2]`, "a list: want an object with input_ids"},
		{"number", `5`, "the number 5: want an object"},
		{"no ids", `{"ids":[1]}`, "a:3: input_ids: no such key"},
		{"empty object", `{}`, "input_ids: no such key"},
		{"null ids", `{"input_ids":null}`, "input_ids: no such key, or null"},
		{"scalar", `{"input_ids":5}`, "input_ids: the number 5: want a list of integers"},
		{"string for list", `{"input_ids":"1 2"}`, `input_ids: the string "1 2": want a list`},
		{"nested", `{"input_ids":[[1,2,3]]}`, "input_ids: a list of lists: want a flat list"},
		{"object in list", `{"input_ids":[1,{}]}`, "input_ids[1]: an object: want an integer"},
		{"null element", `{"input_ids":[1,null,3],"labels":[1,2,3]}`, "input_ids[1]: null: want an integer"},
		{"fraction", `{"input_ids":[1.5]}`, "input_ids[0]: 1.5: want an integer without"},
		{"whole float", `{"input_ids":[1.0,2.0]}`, "input_ids[0]: 1.0: want an integer without"},
		{"exponent", `{"input_ids":[1e3]}`, "input_ids[0]: 1e3: want an integer without"},
		{"string", `{"input_ids":["1"]}`, `input_ids[0]: the string "1": want an integer`},
		{"boolean", `{"input_ids":[true]}`, "input_ids[0]: true: want an integer"},
		{"beyond int32", `{"input_ids":[7,2147483648]}`, "input_ids[1]: 2147483648: want 0..2147483647"},
		{"negative", `{"input_ids":[5,-1,7]}`, "input_ids[1]: -1: want 0..2147483647"},
		{"-100 in ids", `{"input_ids":[-100,5]}`, "input_ids[0]: -100: want 0..2147483647"},
		{"beyond float64", `{"input_ids":[9007199254740993]}`, "input_ids[0]: 9007199254740993: want"},
		{"leading zero", `{"input_ids":[01]}`, "not JSON"},
		{"empty element", `{"input_ids":[1,,2]}`, "not JSON"},
		{"comma at the end", `{"input_ids":[1,]}`, "not JSON"},
		{"short labels", `{"input_ids":[1,2,3],"labels":[1,2]}`, "labels: 2 values for 3 ids"},
		{"long labels", `{"input_ids":[1,2],"labels":[1,2,3]}`, "labels: 3 values for 2 ids"},
		{"short mask", `{"input_ids":[1,2],"attention_mask":[1]}`, "attention_mask: 1 values for 2 ids"},
		{"mask of 2", `{"input_ids":[1,2],"loss_mask":[1,2]}`, "loss_mask[1]: 2: want 0 or 1"},
		{"hole", `{"input_ids":[1,2,3],"attention_mask":[1,0,1]}`, "attention_mask[1]: 0 between ones"},
		{"labels and mask", `{"input_ids":[1],"labels":[1],"loss_mask":[1]}`, "loss_mask: both a mask and labels"},
		{"twice", `{"input_ids":[1],"input_ids":[1]}`, "input_ids: the key stands twice"},
		{"twice, other", `{"input_ids":[1],"x":1,"x":2}`, "x: the key stands twice"},
		{"twice, escaped", `{"input_ids":[1],"input_id\u0073":[1]}`, "input_ids: the key stands twice"},
		{"id of another type", `{"input_ids":[1],"id":[1]}`, "id: a list: want a string or an integer"},
		{"packed", `{"input_ids":[1,2],"cu_seqlens":[0,1,2]}`, "cu_seqlens: the line is packed already"},
		{"packed, by positions", `{"input_ids":[1,2],"position_ids":[0,0]}`, "position_ids[1]: 0: want 1"},
		{"deep", `{"input_ids":[1],"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "exceeded max depth"},
		{"cut inside another value", `{"input_ids":[1],"x":"abc`, "not JSON"},
	} {
		for _, workers := range []int{1, 3} {
			text := "{\"input_ids\":[1,2]}\n\n" + c.line + "\n{\"input_ids\":[3]}\n"
			got, err := read(strings.NewReader(text), jsonl.Options{Name: "a", Workers: workers})
			require.ErrorContains(t, err, c.want, c.name)
			var at *tokenstream.InputError
			require.ErrorAs(t, err, &at, c.name)
			require.Equal(t, tokenstream.Place{Name: "a", Row: 3}, at.Place, c.name)
			require.Len(t, got, 1, "%s: what comes before is there", c.name)
		}
	}
}

func TestLongLines(t *testing.T) {
	line := func(n int) string {
		const head, tail = `{"input_ids":[1`, `]}`
		return head + strings.Repeat(",1", (n-len(head)-len(tail))/2) + strings.Repeat(" ", (n-len(head)-len(tail))%2) + tail
	}
	var text strings.Builder
	sizes := []int{65535, 65536, 65537, 1<<20 + 1, 40 << 20, 17}
	for _, n := range sizes {
		text.WriteString(line(n) + "\n")
	}
	for _, workers := range []int{1, 2} {
		got, err := read(strings.NewReader(text.String()), jsonl.Options{Workers: workers})
		require.NoError(t, err)
		require.Len(t, got, len(sizes))
		for i, n := range sizes {
			require.Len(t, got[i].Tokens, 1+(n-17)/2)
		}
		got, err = read(strings.NewReader(text.String()), jsonl.Options{Workers: workers, MaxLineBytes: 2 << 20})
		require.ErrorContains(t, err, "row 5: the line has")
		require.Len(t, got, 4)
	}
}

func TestText(t *testing.T) {
	const a, b = `{"input_ids":[1]}`, `{"input_ids":[2]}`
	for name, text := range map[string]string{
		"no newline at the end": a + "\n" + b, "CRLF": a + "\r\n" + b + "\r\n", "blank lines": "\n \n" + a + "\n\t\n\n" + b + "\n\n",
		"byte order mark": "\xef\xbb\xbf" + a + "\n" + b,
	} {
		got, err := read(iotest.OneByteReader(strings.NewReader(text)), jsonl.Options{})
		require.NoError(t, err, name)
		require.Len(t, got, 2, name)
	}
	for _, text := range []string{"", "\n", "  \n\n"} {
		got, err := read(strings.NewReader(text), jsonl.Options{})
		require.NoError(t, err)
		require.Empty(t, got)
	}
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func zstded(text string) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll([]byte(text), nil)
}

func TestCompressed(t *testing.T) {
	first, second := "{\"input_ids\":[1,2]}\n{\"input_", "ids\":[3]}\n"
	for name, pack := range map[string]func(string) []byte{"gzip": gzipped, "zstd": zstded} {
		whole := append(pack(first), pack(second)...) // members or frames that end within a line
		got, err := read(bytes.NewReader(whole), jsonl.Options{})
		require.NoError(t, err, name)
		require.Len(t, got, 2, name)
		for cut := 5; cut < len(whole); cut++ {
			if cut == len(pack(first)) {
				continue // that is a whole text, of which the last line is cut
			}
			_, err := read(bytes.NewReader(whole[:cut]), jsonl.Options{Name: "x"})
			require.Error(t, err, "%s cut at %d", name, cut)
		}
		_, err = read(bytes.NewReader(pack(first)[:len(pack(first))-3]), jsonl.Options{Name: "x"})
		require.ErrorContains(t, err, name, "the error says what is cut")
		_, err = read(bytes.NewReader(append(whole, "garbage at the end"...)), jsonl.Options{Name: "x"})
		require.Error(t, err, "%s with garbage", name)
	}
}

func TestKeyField(t *testing.T) {
	for key, want := range map[string]string{"group": "g1", "id": "7"} {
		got, err := read(strings.NewReader(`{"id":7,"group":"g1","input_ids":[1]}`), jsonl.Options{KeyField: key})
		require.NoError(t, err)
		require.Equal(t, want, got[0].Key)
	}
	_, err := read(strings.NewReader(`{"id":7,"input_ids":[1]}`), jsonl.Options{KeyField: "group"})
	require.ErrorContains(t, err, "group: no such key")
}

func TestUnused(t *testing.T) {
	var keys []string
	text := strings.Repeat(`{"input_ids":[1],"token_type_ids":[0],"messages":[{}],"none":[],"weights":[0.5],"t\u0020":[1]}`+"\n", 3)
	_, err := read(strings.NewReader(text), jsonl.Options{Unused: func(k string) { keys = append(keys, k) }})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"token_type_ids", "weights", "t "}, keys)
}

func TestNames(t *testing.T) {
	got, err := read(strings.NewReader(`{"tokens":[1,2],"m":[0,1]}`), jsonl.Options{IDs: "tokens", Masks: []string{"m"}})
	require.NoError(t, err)
	require.Equal(t, []int32{-100, 2}, got[0].Labels)
}

// A reader's error comes after the samples before it.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{1, 2} {
		got, err := read(io.MultiReader(strings.NewReader("{\"input_ids\":[1]}\n{\"inp"), iotest.ErrReader(broken)), jsonl.Options{Name: "a", Workers: workers})
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "a:2: broken")
		require.Len(t, got, 1)
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
			require.NoError(t, err)
			require.Equal(t, want, got)
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

// FuzzRead: the fast way and encoding/json agree on every text, and so do all numbers of workers.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"input_ids":[1,2,3],"labels":[-100,2,3],"id":"a"}`, `{"input_ids": [ 12345678 , 123456789 ],"loss_mask":[0,1]}`, `{"x":{"y":[1,"]"]},"input_ids":[0]}`,
		"{\"input_ids\":[1]}\r\n\n{\"input_ids\":[2147483648]}", `{"input_ids":[1],"attention_mask":[1],"position_ids":[0]}`, `{"input_ids":[-100]}`,
		`{"id":-1,"input_ids":[00]}`, `{"input_ids":[1.0]}`, `{"a":1,"a":2,"input_ids":[]}`, "\xef\xbb\xbf{\"input_ids\":[1]}", `{"input_ids":[1]`, `{"input_ids":[1]]}`,
		`{"input_ids":[1],"x":tru}`, `{"input_ids":[1],"x":1 2}`, `{"input_ids":[1],"x":"\ud800"}`, `{"input_ids":[1234567890123]}`, `{"input_ids":[-1000]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fast, fastErr := read(bytes.NewReader(text), jsonl.Options{Workers: 1})
		slow, slowErr := read(bytes.NewReader(text), jsonl.WithoutScan(jsonl.Options{Workers: 1}))
		many, manyErr := read(bytes.NewReader(text), jsonl.WithBlockBytes(jsonl.Options{Workers: 3}, 7))
		require.Equal(t, fmt.Sprint(slowErr), fmt.Sprint(fastErr))
		require.Equal(t, slow, fast)
		require.Equal(t, fmt.Sprint(slowErr), fmt.Sprint(manyErr))
		require.Equal(t, slow, many)
	})
}

package jsonl_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

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
		{"escaped id", `{"id":"\u00e9\"\\","input_ids":[1]}`, []int32{1}, nil, "é\"\\"},
		{"negative id", `{"id":-12,"input_ids":[1]}`, []int32{1}, nil, "-12"},
		{"a null id is none", `{"id":null,"input_ids":[1]}`, []int32{1}, nil, ""},
		{"null labels are none", `{"labels":null,"input_ids":[1]}`, []int32{1}, nil, ""},
		{"null offsets are none", `{"cu_seqlens":null,"input_ids":[1]}`, []int32{1}, nil, ""},
		{"keys in another script", `{"来源":"a","类型":"b","input_ids":[1]}`, []int32{1}, nil, ""},
		{"other keys", `{"messages":[{"role":"user","content":"a \" ] } , b"}],"input_ids":[1],"n":1.5,"ok":true,"x":null,"y":{}}`, []int32{1}, nil, ""},
		{"empty ids", `{"input_ids":[],"labels":[]}`, []int32{}, []int32{}, ""},
		{"mask", `{"input_ids":[1,2,3],"assistant_masks":[0,0,1]}`, []int32{1, 2, 3}, []int32{-100, -100, 3}, ""},
		{"boolean mask", `{"input_ids":[4,5],"completion_mask":[false,true]}`, []int32{4, 5}, []int32{-100, 5}, ""},
		{"mixed mask", `{"input_ids":[4,5],"completion_mask":[0, true]}`, []int32{4, 5}, []int32{-100, 5}, ""},
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
				require.NotNil(t, got[0].Labels, "%s: no labels make every token a target", c.name)
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
		{"cut", `{"input_ids":[1,2`, "not JSON: unexpected end of JSON input (at byte 17 of the line): want one object a line"},
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
		{"id with a fraction", `{"input_ids":[1],"id":1.5}`, "id: the number 1.5: want a string or an integer"},
		{"boolean id", `{"input_ids":[1],"id":true}`, "id: true: want a string or an integer"},
		{"twice, null", `{"labels":null,"input_ids":[1],"labels":[1]}`, "labels: the key stands twice"},
		{"boolean labels", `{"input_ids":[1],"labels":[true]}`, "labels[0]: true: want an integer"},
		{"null in a mask", `{"input_ids":[1,2],"loss_mask":[true,null]}`, "loss_mask[1]: null: want an integer"},
		{"labels beyond int32", `{"input_ids":[1],"labels":[-2147483649]}`, "labels[0]: -2147483649: want -2147483648..2147483647"},
		{"packed", `{"input_ids":[1,2],"cu_seqlens":[0,1,2]}`, "cu_seqlens: the line is packed already"},
		{"packed, by numbers", `{"input_ids":[1,2],"seq_idx":[0,1]}`, "seq_idx: the line is packed already"},
		{"packed, by lengths", `{"input_ids":[1,2],"seq_lengths":[1,1]}`, "seq_lengths: the line is packed already"},
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

func TestKeyField(t *testing.T) {
	for key, want := range map[string]string{"group": "g1", "id": "7"} {
		got, err := read(strings.NewReader(`{"id":7,"group":"g1","input_ids":[1]}`), jsonl.Options{Fields: tokenstream.Fields{KeyField: key}})
		require.NoError(t, err)
		require.Equal(t, want, got[0].Key)
	}
	_, err := read(strings.NewReader(`{"id":7,"input_ids":[1]}`), jsonl.Options{Fields: tokenstream.Fields{KeyField: "group"}})
	require.ErrorContains(t, err, "group: no such key")
}

func TestUnused(t *testing.T) {
	text := strings.Repeat(`{"input_ids":[1],"token_type_ids":[0],"messages":[{}],"none":[],"weights":[0.5],"t\u0020":[1],"is_text":[true],`+
		`"some":[null,1],"tags":["a"],"score":[-1],"count":1}`+"\n", 3)
	for _, workers := range []int{1, 3} {
		for _, o := range []jsonl.Options{{Workers: workers}, jsonl.WithoutScan(jsonl.Options{Workers: workers}), jsonl.WithBlockBytes(jsonl.Options{Workers: workers}, 50)} {
			var keys []string
			o.Unused = func(k string) { keys = append(keys, k) }
			_, err := read(strings.NewReader(text), o)
			require.NoError(t, err)
			require.Equal(t, []string{"token_type_ids", "weights", "t ", "is_text", "some", "score"}, keys)
		}
	}
}

// Keys that differ in every line must not fill the memory.
func TestUnusedIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "{\"input_ids\":[1],\"x%d\":[1]}\n", i)
	}
	for _, workers := range []int{1, 3} {
		var keys []string
		o := jsonl.WithBlockBytes(jsonl.Options{Fields: tokenstream.Fields{Unused: func(k string) { keys = append(keys, k) }}, Workers: workers}, 100)
		_, err := read(strings.NewReader(text.String()), o)
		require.NoError(t, err)
		require.Len(t, keys, 1000)
		require.Equal(t, "x999", keys[999])
	}
}

// Options out of range are refused before the first line.
func TestOptions(t *testing.T) {
	for want, o := range map[string]jsonl.Options{
		"labels can't be read as two things":        {Fields: tokenstream.Fields{Labels: "input_ids", IDs: "labels", KeyField: "labels", Masks: []string{"labels"}}},
		"-1 workers: want at least 1":               {Workers: -1},
		"longest line of -1 bytes: want at least 1": {MaxLineBytes: -1},
	} {
		got, err := read(strings.NewReader(`{"input_ids":[1],"labels":[1],"m":[1]}`), o)
		require.ErrorContains(t, err, want)
		require.Empty(t, got)
	}
}

func TestNames(t *testing.T) {
	got, err := read(strings.NewReader(`{"tokens":[1,2],"m":[0,1]}`), jsonl.Options{Fields: tokenstream.Fields{IDs: "tokens", Masks: []string{"m"}}})
	require.NoError(t, err)
	require.Equal(t, []int32{-100, 2}, got[0].Labels)
}

func ExampleRead() {
	text := `{"id":"a","input_ids":[1,2,3],"loss_mask":[0,1,1]}
{"id":"b","input_ids":[4,-5]}`
	for s, err := range jsonl.Read(strings.NewReader(text), jsonl.Options{Name: "train.jsonl"}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(s.ID, s.Tokens, s.Labels)
	}
	// Output:
	// a [1 2 3] [-100 2 3]
	// train.jsonl:2: input_ids[1]: -5: want 0..2147483647
}

package arrow_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
)

var (
	i8, i16, i32, i64 = lib.PrimitiveTypes.Int8, lib.PrimitiveTypes.Int16, lib.PrimitiveTypes.Int32, lib.PrimitiveTypes.Int64
	u8, u16, u32, u64 = lib.PrimitiveTypes.Uint8, lib.PrimitiveTypes.Uint16, lib.PrimitiveTypes.Uint32, lib.PrimitiveTypes.Uint64
	boolean           = lib.FixedWidthTypes.Boolean
	text              = lib.BinaryTypes.String
)

func list(t lib.DataType) lib.DataType { return lib.ListOf(t) }

// fields returns columns from pairs of names and types.
func fields(pairs ...any) []lib.Field {
	var f []lib.Field
	for i := 0; i < len(pairs); i += 2 {
		f = append(f, lib.Field{Name: pairs[i].(string), Type: pairs[i+1].(lib.DataType), Nullable: true})
	}
	return f
}

// encode returns a stream of one record batch that holds rows, written as a JSON array.
func encode(t testing.TB, f []lib.Field, rows string) []byte {
	schema := lib.NewSchema(f, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	require.NoError(t, err)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	return b.Bytes()
}

func read(b []byte, o arrow.ReadOptions) ([]tokenstream.Sample, error) {
	o.Name = "a"
	return drain(arrow.Read(bytes.NewReader(b), o))
}

func TestGoodRows(t *testing.T) {
	masks := fields("input_ids", list(i32), "loss_mask", list(i8), "assistant_masks", list(i64), "completion_mask", list(boolean))
	padded := fields("input_ids", list(i32), "labels", list(i32), "loss_mask", list(i32), "attention_mask", list(i64), "position_ids", list(i16))
	byteIndex := func(t lib.DataType) lib.DataType { return &lib.DictionaryType{IndexType: i8, ValueType: t} }
	for _, c := range []struct {
		name   string
		fields []lib.Field
		row    string
		tokens []int32
		labels []int32
		id     string
	}{
		{"plain", fields("input_ids", list(i32)), `{"input_ids":[1,22,333]}`, []int32{1, 22, 333}, nil, ""},
		{"extremes", fields("input_ids", list(i32)), `{"input_ids":[0,2147483647]}`, []int32{0, 2147483647}, nil, ""},
		{"empty", fields("input_ids", list(i32)), `{"input_ids":[]}`, []int32{}, nil, ""},
		{"int8", fields("input_ids", list(i8)), `{"input_ids":[0,127]}`, []int32{0, 127}, nil, ""},
		{"int16", fields("input_ids", list(i16)), `{"input_ids":[0,32767]}`, []int32{0, 32767}, nil, ""},
		{"int64", fields("input_ids", list(i64)), `{"input_ids":[65535,65536,119546,2147483647]}`, []int32{65535, 65536, 119546, 2147483647}, nil, ""},
		{"uint8", fields("input_ids", list(u8)), `{"input_ids":[0,255]}`, []int32{0, 255}, nil, ""},
		{"uint16", fields("input_ids", list(u16)), `{"input_ids":[0,65535]}`, []int32{0, 65535}, nil, ""},
		{"uint32", fields("input_ids", list(u32)), `{"input_ids":[0,2147483647]}`, []int32{0, 2147483647}, nil, ""},
		{"uint64", fields("input_ids", list(u64)), `{"input_ids":[0,2147483647]}`, []int32{0, 2147483647}, nil, ""},
		{"large list", fields("input_ids", lib.LargeListOf(i32)), `{"input_ids":[1,2]}`, []int32{1, 2}, nil, ""},
		{"fixed-size list", fields("input_ids", lib.FixedSizeListOf(2, i64)), `{"input_ids":[1,2]}`, []int32{1, 2}, nil, ""},
		{"list view", fields("input_ids", lib.ListViewOf(i32)), `{"input_ids":[1,2]}`, []int32{1, 2}, nil, ""},
		{"large list view", fields("input_ids", lib.LargeListViewOf(u16)), `{"input_ids":[1,2]}`, []int32{1, 2}, nil, ""},
		{"dictionary", fields("input_ids", list(byteIndex(u32))), `{"input_ids":[9,8,9]}`, []int32{9, 8, 9}, nil, ""},
		{"labels", fields("input_ids", list(i32), "labels", list(i64)), `{"input_ids":[1,2],"labels":[-100,2]}`, []int32{1, 2}, []int32{-100, 2}, ""},
		{"null labels are none", fields("input_ids", list(i32), "labels", list(i32)), `{"input_ids":[1,2],"labels":null}`, []int32{1, 2}, nil, ""},
		{"labels of nulls are none", fields("input_ids", list(i32), "labels", lib.Null), `{"input_ids":[1,2],"labels":null}`, []int32{1, 2}, nil, ""},
		{"empty labels of no type", fields("input_ids", list(i32), "labels", list(lib.Null)), `{"input_ids":[],"labels":[]}`, []int32{}, []int32{}, ""},
		{"negative labels are for Pack to refuse", fields("input_ids", list(i32), "labels", list(i32)), `{"input_ids":[1],"labels":[-2147483648]}`, []int32{1}, []int32{-2147483648}, ""},
		{"mask", masks, `{"input_ids":[1,2,3],"loss_mask":[0,0,1]}`, []int32{1, 2, 3}, []int32{-100, -100, 3}, ""},
		{"wide mask", masks, `{"input_ids":[1,2,3],"assistant_masks":[0,0,1]}`, []int32{1, 2, 3}, []int32{-100, -100, 3}, ""},
		{"boolean mask", masks, `{"input_ids":[4,5],"completion_mask":[false,true]}`, []int32{4, 5}, []int32{-100, 5}, ""},
		{"three masks", masks, `{"input_ids":[1,2,3,4],"loss_mask":[1,1,0,1],"assistant_masks":[1,1,1,0],"completion_mask":[true,false,true,true]}`, []int32{1, 2, 3, 4}, []int32{1, -100, -100, -100}, ""},
		{"padding left", padded, `{"input_ids":[0,0,7,8],"attention_mask":[0,0,1,1],"labels":[-100,-100,7,8]}`, []int32{7, 8}, []int32{7, 8}, ""},
		{"padding right", padded, `{"input_ids":[7,8,0,0],"attention_mask":[1,1,0,0],"loss_mask":[0,1,0,0]}`, []int32{7, 8}, []int32{-100, 8}, ""},
		{"id 0 inside", padded, `{"input_ids":[7,0,8],"attention_mask":[1,1,1]}`, []int32{7, 0, 8}, nil, ""},
		{"all padding", padded, `{"input_ids":[7,0],"attention_mask":[0,0]}`, []int32{}, nil, ""},
		{"positions of one sample", padded, `{"input_ids":[7,0],"position_ids":[0,1]}`, []int32{7, 0}, nil, ""},
		{"id", fields("id", text, "input_ids", list(i32)), `{"id":"é\n","input_ids":[1]}`, []int32{1}, nil, "é\n"},
		{"large id", fields("id", lib.BinaryTypes.LargeString, "input_ids", list(i32)), `{"id":"x","input_ids":[1]}`, []int32{1}, nil, "x"},
		{"id that is a view", fields("id", lib.BinaryTypes.StringView, "input_ids", list(i32)), `{"id":"longer than twelve bytes","input_ids":[1]}`, []int32{1}, nil, "longer than twelve bytes"},
		{"id of a dictionary", fields("id", byteIndex(text), "input_ids", list(i32)), `{"id":"x","input_ids":[1]}`, []int32{1}, nil, "x"},
		{"null id", fields("id", text, "input_ids", list(i32)), `{"id":null,"input_ids":[1]}`, []int32{1}, nil, ""},
		{"integer id", fields("id", i64, "input_ids", list(i32)), `{"id":9007199254740993,"input_ids":[1]}`, []int32{1}, nil, "9007199254740993"},
		{"unsigned id", fields("id", u64, "input_ids", list(i32)), `{"id":18446744073709551615,"input_ids":[1]}`, []int32{1}, nil, "18446744073709551615"},
		{"small id", fields("id", i8, "input_ids", list(i32)), `{"id":-7,"input_ids":[1]}`, []int32{1}, nil, "-7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(encode(t, c.fields, "["+c.row+"]"), arrow.ReadOptions{})
			require.NoError(t, err)
			require.Equal(t, []tokenstream.Sample{{ID: c.id, Tokens: c.tokens, Labels: c.labels, Place: tokenstream.Place{Row: 1}}}, got)
		})
	}
}

// A row does not depend on the one before.
func TestRowsOneByOne(t *testing.T) {
	f := fields("input_ids", list(u16), "completion_mask", list(boolean))
	got, err := read(encode(t, f, `[{"input_ids":[1,2],"completion_mask":[true,true]},{"input_ids":[3,4],"completion_mask":[false,true]},{"input_ids":[5]}]`), arrow.ReadOptions{})
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, []int32{1, 2}, got[0].Labels)
	require.Equal(t, []int32{-100, 4}, got[1].Labels)
	require.Nil(t, got[2].Labels)
}

// A negative id is found wherever it is.
func TestNegative(t *testing.T) {
	for n := 1; n < 20; n++ {
		for i := range n {
			ids := make([]int32, n)
			ids[i] = -5
			row := &tokenstream.Batch{Tokens: ids, Labels: ids, Segments: []tokenstream.Segment{{Length: int32(n)}}}
			_, err := read(write(t, samples, arrow.Options{}, []*tokenstream.Batch{row}), arrow.ReadOptions{})
			require.EqualError(t, err, fmt.Sprintf("a:1: input_ids[%d]: -5: want 0..2147483647", i))
		}
	}
}

// TestBadRows puts a wrong row third.
func TestBadRows(t *testing.T) {
	padded := fields("input_ids", list(i32), "labels", list(i32), "loss_mask", list(i32), "attention_mask", list(i32), "position_ids", list(i32))
	codes := list(&lib.DictionaryType{IndexType: i32, ValueType: i64})
	for _, c := range []struct {
		name   string
		fields []lib.Field
		row    string
		want   string
	}{
		{"negative", padded, `{"input_ids":[5,-1,7]}`, "a:3: input_ids[1]: -1: want 0..2147483647"},
		{"negative, far", padded, `{"input_ids":[0,1,2,3,4,5,6,7,8,-9]}`, "a:3: input_ids[9]: -9: want 0..2147483647"},
		{"short labels", padded, `{"input_ids":[1,2,3],"labels":[1,2]}`, "a:3: labels: 2 values for 3 ids: want as many"},
		{"long labels", padded, `{"input_ids":[1,2],"labels":[1,2,3]}`, "a:3: labels: 3 values for 2 ids: want as many"},
		{"short mask", padded, `{"input_ids":[1,2],"attention_mask":[1]}`, "a:3: attention_mask: 1 values for 2 ids: want as many"},
		{"mask of 2", padded, `{"input_ids":[1,2],"loss_mask":[1,2]}`, "a:3: loss_mask[1]: 2: want 0 or 1"},
		{"attention of 2", padded, `{"input_ids":[1,2],"attention_mask":[1,2]}`, "a:3: attention_mask[1]: 2: want 0 or 1"},
		{"hole", padded, `{"input_ids":[1,2,3],"attention_mask":[1,0,1]}`, "a:3: attention_mask[1]: 0 between ones: want one run of ones, with padding at the ends only"},
		{"labels and mask", padded, `{"input_ids":[1],"labels":[1],"loss_mask":[1]}`, "a:3: loss_mask: both a mask and labels: want one of them"},
		{"packed, by positions", padded, `{"input_ids":[1,2],"position_ids":[0,0]}`, "a:3: position_ids[1]: 0: want 1; does the row hold several samples, packed already?"},
		{"null element", padded, `{"input_ids":[1,null,2]}`, "a:3: input_ids[1]: null: want an integer"},
		{"null label", padded, `{"input_ids":[1,2],"labels":[1,null]}`, "a:3: labels[1]: null: want an integer"},
		{"null ids", padded, `{"input_ids":null}`, "a:3: input_ids: null: want a list of token ids"},
		{"beyond int32", fields("input_ids", list(i64)), `{"input_ids":[7,3000000000]}`, "a:3: input_ids[1]: 3000000000: want 0..2147483647"},
		{"far below", fields("input_ids", list(i64)), `{"input_ids":[-4294967295]}`, "a:3: input_ids[0]: -4294967295: want 0..2147483647"},
		{"uint32 beyond int32", fields("input_ids", list(u32)), `{"input_ids":[7,3000000000]}`, "a:3: input_ids[1]: 3000000000: want 0..2147483647"},
		{"uint64 beyond int64", fields("input_ids", list(u64)), `{"input_ids":[7,18446744073709551615]}`, "a:3: input_ids[1]: 18446744073709551615: want 0..2147483647"},
		{"label beyond int32", fields("input_ids", list(i32), "labels", list(i64)), `{"input_ids":[1],"labels":[-3000000000]}`, "a:3: labels[0]: -3000000000: want -2147483648..2147483647"},
		{"beyond int32 in a dictionary", fields("input_ids", codes), `{"input_ids":[7,3000000000]}`, "a:3: input_ids[1]: 3000000000: want 0..2147483647"},
		{"null beside a dictionary", fields("input_ids", codes), `{"input_ids":[7,8,null]}`, "a:3: input_ids[2]: null: want an integer"},
		{"labels of nulls", fields("input_ids", list(i32), "labels", list(lib.Null)), `{"input_ids":[1],"labels":[null]}`, "a:3: labels[0]: null: want an integer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(encode(t, c.fields, `[{"input_ids":[1,2]},{"input_ids":[]},`+c.row+`,{"input_ids":[3]}]`), arrow.ReadOptions{})
			require.EqualError(t, err, c.want)
			var at *tokenstream.InputError
			require.ErrorAs(t, err, &at)
			require.Len(t, got, 2, "what comes before is there")
		})
	}
}

func TestBadColumns(t *testing.T) {
	object := lib.StructOf(lib.Field{Name: "x", Type: list(i32)})
	for _, c := range []struct {
		name   string
		fields []lib.Field
		o      arrow.ReadOptions
		want   string
	}{
		{"no columns", nil, arrow.ReadOptions{}, "input_ids: no such column"},
		{"no ids", fields("ids", list(i32)), arrow.ReadOptions{}, "input_ids: no such column"},
		{"ids of nulls", fields("input_ids", lib.Null), arrow.ReadOptions{}, "input_ids: no such column"},
		{"scalar", fields("input_ids", i32), arrow.ReadOptions{}, "input_ids: one value a row: want a list of integers"},
		{"string", fields("input_ids", text), arrow.ReadOptions{}, "input_ids: one value a row: want a list of integers"},
		{"binary", fields("input_ids", lib.BinaryTypes.Binary), arrow.ReadOptions{}, "input_ids: one value a row: want a list of integers"},
		{"strings", fields("input_ids", list(text)), arrow.ReadOptions{}, "input_ids: a list of utf8 values: want a list of integers"},
		{"doubles", fields("input_ids", list(lib.PrimitiveTypes.Float64)), arrow.ReadOptions{}, "input_ids: a list of float64 values: want a list of integers"},
		{"booleans", fields("input_ids", list(boolean)), arrow.ReadOptions{}, "input_ids: a list of bool values: want a list of integers"},
		{"labels of booleans", fields("input_ids", list(i32), "labels", list(boolean)), arrow.ReadOptions{}, "labels: a list of bool values: want a list of integers"},
		{"dates", fields("input_ids", list(lib.FixedWidthTypes.Date32)), arrow.ReadOptions{}, "input_ids: a list of date32 values: want a list of integers"},
		{"nested", fields("input_ids", list(list(i32))), arrow.ReadOptions{}, "input_ids: a list of lists: want a list of integers"},
		{"struct", fields("input_ids", object), arrow.ReadOptions{}, "input_ids: a struct or a map: want a list of integers"},
		{"structs", fields("input_ids", list(object)), arrow.ReadOptions{}, "input_ids: a list of structs: want a list of integers"},
		{"runs", fields("input_ids", list(lib.RunEndEncodedOf(i32, i32))), arrow.ReadOptions{}, "input_ids: a list of run_end_encoded<run_ends: int32, values: int32> values: want a list of integers"},
		{"packed", fields("input_ids", list(i32), "cu_seqlens", list(i32)), arrow.ReadOptions{}, "cu_seqlens: the file is packed already: want single samples"},
		{"no key", fields("input_ids", list(i32)), arrow.ReadOptions{Fields: tokenstream.Fields{KeyField: "doc"}}, "doc: no such column"},
		{"list for a key", fields("input_ids", list(i32), "doc", list(i32)), arrow.ReadOptions{Fields: tokenstream.Fields{KeyField: "doc"}}, "doc: a list: want a string or an integer"},
		{"struct for a key", fields("input_ids", list(i32), "doc", object), arrow.ReadOptions{Fields: tokenstream.Fields{KeyField: "doc"}}, "doc: a struct or a map: want a string or an integer"},
		{"double for an id", fields("input_ids", list(i32), "id", lib.PrimitiveTypes.Float64), arrow.ReadOptions{}, "id: a float64 value: want a string or an integer"},
		{"two columns of a name", fields("input_ids", list(i32), "labels", list(i32), "input_ids", list(i32)), arrow.ReadOptions{}, "input_ids: two columns have this name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, ipc.NewWriter(&b, ipc.WithSchema(lib.NewSchema(c.fields, nil))).Close())
			got, err := read(b.Bytes(), c.o)
			require.EqualError(t, err, "a: "+c.want)
			require.Empty(t, got)
		})
	}
	for _, form := range []arrow.Form{arrow.File, arrow.Stream} {
		_, err := read(write(t, tokenstream.HF, arrow.Options{Form: form}, randomRows(1, 3, 9)), arrow.ReadOptions{})
		require.EqualError(t, err, "a: cu_seqlens: the file is packed already: want single samples")
	}
}

func TestReadOptions(t *testing.T) {
	f := fields("tokens", list(i32), "target", list(i32), "doc", i64, "id", text, "scores", list(lib.PrimitiveTypes.Float64), "labels", lib.LargeListOf(u8),
		"text", list(text), "number", i32, "weird", list(list(i32)))
	file := encode(t, f, `[{"tokens":[1,2],"target":[-100,2],"doc":-5,"id":"x"}]`)
	var unused []string
	o := arrow.ReadOptions{Fields: tokenstream.Fields{IDs: "tokens", Labels: "target", KeyField: "doc", Unused: func(c string) { unused = append(unused, c) }}}
	got, err := read(file, o)
	require.NoError(t, err)
	require.Equal(t, []tokenstream.Sample{{ID: "x", Key: "-5", Tokens: []int32{1, 2}, Labels: []int32{-100, 2}, Place: tokenstream.Place{Row: 1}}}, got)
	require.Equal(t, []string{"scores", "labels"}, unused)

	o.KeyField = "id"
	got, err = read(file, o)
	require.NoError(t, err)
	require.Equal(t, "x", got[0].Key)
	require.Equal(t, "x", got[0].ID)

	got, err = read(file, arrow.ReadOptions{Fields: tokenstream.Fields{IDs: "tokens", Masks: []string{"no mask"}, Labels: "none"}})
	require.NoError(t, err)
	require.Nil(t, got[0].Labels)

	file = encode(t, fields("id", text, "input_ids", list(i32)), `[{"id":null,"input_ids":[1]}]`)
	_, err = read(file, arrow.ReadOptions{Fields: tokenstream.Fields{KeyField: "id"}})
	require.EqualError(t, err, "a:1: id: null: want a string or an integer")
}

// No rows are no samples; whether that is an error is for Pack to say.
func TestNoRows(t *testing.T) {
	for _, form := range []arrow.Form{arrow.File, arrow.Stream} {
		got, err := read(write(t, samples, arrow.Options{Form: form}, nil), arrow.ReadOptions{})
		require.NoError(t, err)
		require.Empty(t, got)
	}
}

// FuzzRoundTrip: what Writer writes, Read reads.
func FuzzRoundTrip(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed, uint8(seed), uint8(3*seed), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, form, compression, batch uint8) {
		rows := randomRows(seed, int(seed%20), 1+int(seed%40))
		o := arrow.Options{Form: arrow.Form(form % 2), Compression: arrow.Compression(compression % 3), BatchRows: int(batch)}
		got, err := read(write(t, samples, o, rows), arrow.ReadOptions{})
		require.NoError(t, err)
		require.Len(t, got, len(rows))
		for i, s := range got {
			require.Equal(t, rows[i].Tokens, s.Tokens)
			require.Equal(t, rows[i].Labels, s.Labels)
		}
	})
}

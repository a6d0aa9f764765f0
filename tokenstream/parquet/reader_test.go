package parquet_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/parquet"
)

// encode returns a file that parquet-go writes of rows.
func encode[T any](t testing.TB, rows []T, o ...pq.WriterOption) []byte {
	t.Helper()
	var file bytes.Buffer
	w := pq.NewGenericWriter[T](&file, o...)
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return file.Bytes()
}

// read returns all samples of a file, and the error at their end. What the source yields is overwritten when it is used no more.
func read(file []byte, o parquet.ReadOptions) (samples []tokenstream.Sample, err error) {
	if o.Name == "" {
		o.Name = "a"
	}
	for s, err := range parquet.Read(bytes.NewReader(file), int64(len(file)), o) {
		if err != nil {
			return samples, err
		}
		samples = append(samples, s.Clone())
		_, _ = append(s.Tokens, -7), append(s.Labels, -7)
		for i := range s.Tokens {
			s.Tokens[i] = -7
		}
		for i := range s.Labels {
			s.Labels[i] = -7
		}
	}
	return samples, nil
}

type ids struct {
	IDs []int32 `parquet:"input_ids,list"`
}

type labelled struct {
	IDs    []int32 `parquet:"input_ids,list"`
	Labels []int32 `parquet:"labels,list,optional"`
}

type masked struct {
	IDs        []int32 `parquet:"input_ids,list"`
	Loss       []int8  `parquet:"loss_mask,list,optional"`
	Assistant  []int64 `parquet:"assistant_masks,list,optional"`
	Completion []bool  `parquet:"completion_mask,list,optional"`
}

type padded struct {
	IDs       []int32 `parquet:"input_ids,list"`
	Labels    []int32 `parquet:"labels,list,optional"`
	Loss      []int32 `parquet:"loss_mask,list,optional"`
	Attention []int32 `parquet:"attention_mask,list,optional"`
	Positions []int32 `parquet:"position_ids,list,optional"`
}

type named struct {
	ID  *string `parquet:"id,optional"`
	IDs []int32 `parquet:"input_ids,list"`
	Doc int64   `parquet:"doc"`
}

func TestGoodRows(t *testing.T) {
	name := "é\n"
	for _, test := range []struct {
		name   string
		file   []byte
		tokens []int32
		labels []int32
		id     string
	}{
		{"plain", encode(t, []ids{{[]int32{1, 22, 333}}}), []int32{1, 22, 333}, nil, ""},
		{"extremes", encode(t, []ids{{[]int32{0, math.MaxInt32}}}), []int32{0, math.MaxInt32}, nil, ""},
		{"empty", encode(t, []ids{{nil}}), []int32{}, nil, ""},
		{"labels", encode(t, []labelled{{[]int32{1, 2}, []int32{-100, 2}}}), []int32{1, 2}, []int32{-100, 2}, ""},
		{"null labels are none", encode(t, []labelled{{[]int32{1, 2}, nil}}), []int32{1, 2}, nil, ""},
		{"negative labels are for Pack to refuse", encode(t, []labelled{{[]int32{1}, []int32{math.MinInt32}}}), []int32{1}, []int32{math.MinInt32}, ""},
		{"mask", encode(t, []masked{{IDs: []int32{1, 2, 3}, Loss: []int8{0, 0, 1}}}), []int32{1, 2, 3}, []int32{-100, -100, 3}, ""},
		{"wide mask", encode(t, []masked{{IDs: []int32{1, 2, 3}, Assistant: []int64{0, 0, 1}}}), []int32{1, 2, 3}, []int32{-100, -100, 3}, ""},
		{"boolean mask", encode(t, []masked{{IDs: []int32{4, 5}, Completion: []bool{false, true}}}), []int32{4, 5}, []int32{-100, 5}, ""},
		{"three masks", encode(t, []masked{{[]int32{1, 2, 3, 4}, []int8{1, 1, 0, 1}, []int64{1, 1, 1, 0}, []bool{true, false, true, true}}}), []int32{1, 2, 3, 4}, []int32{1, -100, -100, -100}, ""},
		{"padding left", encode(t, []padded{{IDs: []int32{0, 0, 7, 8}, Attention: []int32{0, 0, 1, 1}, Labels: []int32{-100, -100, 7, 8}}}), []int32{7, 8}, []int32{7, 8}, ""},
		{"padding right", encode(t, []padded{{IDs: []int32{7, 8, 0, 0}, Attention: []int32{1, 1, 0, 0}, Loss: []int32{0, 1, 0, 0}}}), []int32{7, 8}, []int32{-100, 8}, ""},
		{"id 0 inside", encode(t, []padded{{IDs: []int32{7, 0, 8}, Attention: []int32{1, 1, 1}}}), []int32{7, 0, 8}, nil, ""},
		{"all padding", encode(t, []padded{{IDs: []int32{7, 0}, Attention: []int32{0, 0}}}), []int32{}, nil, ""},
		{"positions of one sample", encode(t, []padded{{IDs: []int32{7, 0}, Positions: []int32{0, 1}}}), []int32{7, 0}, nil, ""},
		{"id", encode(t, []named{{ID: &name, IDs: []int32{1}}}), []int32{1}, nil, name},
		{"null id", encode(t, []named{{IDs: []int32{1}}}), []int32{1}, nil, ""},
		{"integer id", encode(t, []struct {
			ID  int64   `parquet:"id"`
			IDs []int32 `parquet:"input_ids,list"`
		}{{9007199254740993, []int32{1}}}), []int32{1}, nil, "9007199254740993"},
		{"unsigned id", encode(t, []struct {
			ID  uint64  `parquet:"id"`
			IDs []int32 `parquet:"input_ids,list"`
		}{{math.MaxUint64, []int32{1}}}), []int32{1}, nil, "18446744073709551615"},
		{"uint16", encode(t, []struct {
			IDs []uint16 `parquet:"input_ids,list"`
		}{{[]uint16{0, 65535}}}), []int32{0, 65535}, nil, ""},
		{"uint32", encode(t, []struct {
			IDs []uint32 `parquet:"input_ids,list"`
		}{{[]uint32{0, math.MaxInt32}}}), []int32{0, math.MaxInt32}, nil, ""},
		{"int64", encode(t, []struct {
			IDs []int64 `parquet:"input_ids,list"`
		}{{[]int64{65535, 65536, 119546, math.MaxInt32}}}), []int32{65535, 65536, 119546, math.MaxInt32}, nil, ""},
		{"uint64", encode(t, []struct {
			IDs []uint64 `parquet:"input_ids,list"`
		}{{[]uint64{0, math.MaxInt32}}}), []int32{0, math.MaxInt32}, nil, ""},
		{"repeated, without a list around", encode(t, []struct {
			IDs []int32 `parquet:"input_ids"`
		}{{[]int32{1, 0}}}), []int32{1, 0}, nil, ""},
		{"null labels of no type", encode(t, []struct {
			IDs    []int32 `parquet:"input_ids,list"`
			Labels []int32 `parquet:"labels,list,optional"`
		}{{IDs: []int32{1}}}), []int32{1}, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := read(test.file, parquet.ReadOptions{})
			require.NoError(t, err)
			require.Len(t, got, 1)
			require.Equal(t, test.tokens, append([]int32{}, got[0].Tokens...))
			if test.labels == nil {
				require.Nil(t, got[0].Labels)
			} else {
				require.Equal(t, test.labels, got[0].Labels)
			}
			require.Equal(t, test.id, got[0].ID)
			require.Equal(t, tokenstream.Place{Name: "a", Row: 1}, got[0].Place)
		})
	}
}

// TestBadRows puts a wrong row third.
func TestBadRows(t *testing.T) {
	good := padded{IDs: []int32{1, 2}}
	row := func(p padded) []byte { return encode(t, []padded{good, good, p, good}) }
	type nullable struct {
		IDs []*int32 `parquet:"input_ids,list" parquet-element:",optional"`
	}
	one, two := int32(1), int32(2)
	type optional struct {
		IDs []int32 `parquet:"input_ids,list,optional"`
	}
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"negative", row(padded{IDs: []int32{5, -1, 7}}), "a:3: input_ids[1]: -1: want 0..2147483647"},
		{"short labels", row(padded{IDs: []int32{1, 2, 3}, Labels: []int32{1, 2}}), "a:3: labels: 2 values for 3 ids: want as many"},
		{"long labels", row(padded{IDs: []int32{1, 2}, Labels: []int32{1, 2, 3}}), "a:3: labels: 3 values for 2 ids: want as many"},
		{"short mask", row(padded{IDs: []int32{1, 2}, Attention: []int32{1}}), "a:3: attention_mask: 1 values for 2 ids: want as many"},
		{"mask of 2", row(padded{IDs: []int32{1, 2}, Loss: []int32{1, 2}}), "a:3: loss_mask[1]: 2: want 0 or 1"},
		{"attention of 2", row(padded{IDs: []int32{1, 2}, Attention: []int32{1, 2}}), "a:3: attention_mask[1]: 2: want 0 or 1"},
		{"hole", row(padded{IDs: []int32{1, 2, 3}, Attention: []int32{1, 0, 1}}), "a:3: attention_mask[1]: 0 between ones: want one run of ones, with padding at the ends only"},
		{"labels and mask", row(padded{IDs: []int32{1}, Labels: []int32{1}, Loss: []int32{1}}), "a:3: loss_mask: both a mask and labels: want one of them"},
		{"packed, by positions", row(padded{IDs: []int32{1, 2}, Positions: []int32{0, 0}}), "a:3: position_ids[1]: 0: want 1; does the row hold several samples, packed already?"},
		{"null element", encode(t, []nullable{{[]*int32{&one}}, {[]*int32{&one, &two}}, {[]*int32{&one, nil, &two}}}), "a:3: input_ids[1]: null: want an integer"},
		{"null ids", encode(t, []optional{{[]int32{1}}, {[]int32{1}}, {nil}}), "a:3: input_ids: null: want a list of token ids"},
		{"beyond int32", encode(t, []struct {
			IDs []int64 `parquet:"input_ids,list"`
		}{{[]int64{1}}, {[]int64{3}}, {[]int64{7, 3_000_000_000}}}), "a:3: input_ids[1]: 3000000000: want 0..2147483647"},
		{"uint32 beyond int32", encode(t, []struct {
			IDs []uint32 `parquet:"input_ids,list"`
		}{{[]uint32{1}}, {[]uint32{3}}, {[]uint32{7, 3_000_000_000}}}), "a:3: input_ids[1]: 3000000000: want 0..2147483647"},
		{"uint64 beyond int64", encode(t, []struct {
			IDs []uint64 `parquet:"input_ids,list"`
		}{{[]uint64{1}}, {[]uint64{3}}, {[]uint64{7, math.MaxUint64}}}), "a:3: input_ids[1]: 18446744073709551615: want 0..2147483647"},
		{"label beyond int32", encode(t, []struct {
			IDs    []int32 `parquet:"input_ids,list"`
			Labels []int64 `parquet:"labels,list"`
		}{{[]int32{1}, []int64{1}}, {[]int32{1}, []int64{1}}, {[]int32{1}, []int64{-3_000_000_000}}}), "a:3: labels[0]: -3000000000: want -2147483648..2147483647"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := read(test.file, parquet.ReadOptions{})
			require.EqualError(t, err, test.want)
			var at *tokenstream.InputError
			require.ErrorAs(t, err, &at)
			require.Len(t, got, 2, "what comes before is there")
		})
	}
}

func TestBadColumns(t *testing.T) {
	for _, test := range []struct {
		name string
		file []byte
		o    parquet.ReadOptions
		want string
	}{
		{"no ids", encode(t, []struct {
			IDs []int32 `parquet:"ids,list"`
		}{{[]int32{1}}}), parquet.ReadOptions{}, "a: input_ids: no such column"},
		{"scalar", encode(t, []struct {
			IDs int32 `parquet:"input_ids"`
		}{{1}}), parquet.ReadOptions{}, "a: input_ids: one value a row: want a list of integers"},
		{"string", encode(t, []struct {
			IDs string `parquet:"input_ids"`
		}{{"1"}}), parquet.ReadOptions{}, "a: input_ids: one value a row: want a list of integers"},
		{"strings", encode(t, []struct {
			IDs []string `parquet:"input_ids,list"`
		}{{[]string{"1"}}}), parquet.ReadOptions{}, "a: input_ids: a list of text values: want a list of integers"},
		{"doubles", encode(t, []struct {
			IDs []float64 `parquet:"input_ids,list"`
		}{{[]float64{1}}}), parquet.ReadOptions{}, "a: input_ids: a list of floating-point values: want a list of integers"},
		{"booleans", encode(t, []struct {
			IDs []bool `parquet:"input_ids,list"`
		}{{[]bool{true}}}), parquet.ReadOptions{}, "a: input_ids: a list of boolean values: want a list of integers"},
		{"nested", encode(t, []struct {
			IDs [][]int32 `parquet:"input_ids,list"`
		}{{[][]int32{{1}}}}), parquet.ReadOptions{}, "a: input_ids: a list of lists: want a list of integers"},
		{"struct", encode(t, []struct {
			IDs struct {
				X []int32 `parquet:"x,list"`
			} `parquet:"input_ids"`
		}{{}}), parquet.ReadOptions{}, "a: input_ids: a struct or a map: want a list of integers"},
		{"structs", encode(t, []struct {
			IDs []struct {
				X int32 `parquet:"x"`
			} `parquet:"input_ids,list"`
		}{{}}), parquet.ReadOptions{}, "a: input_ids: a list of structs: want a list of integers"},
		{"dates", encode(t, []struct {
			IDs []int32 `parquet:"input_ids,list" parquet-element:",date"`
		}{{[]int32{1}}}), parquet.ReadOptions{}, "a: input_ids: a list of INT32 values: want a list of integers"},
		{"packed", encode(t, []struct {
			IDs []int32 `parquet:"input_ids,list"`
			Cu  []int32 `parquet:"cu_seqlens,list"`
		}{{[]int32{1}, []int32{0, 1}}}), parquet.ReadOptions{}, "a: cu_seqlens: the file is packed already: want single samples"},
		{"a file of this package", write(t, tokenstream.HF, parquet.Options{}), parquet.ReadOptions{}, "a: cu_seqlens: the file is packed already: want single samples"},
		{"no key", encode(t, []ids{{[]int32{1}}}), parquet.ReadOptions{Fields: tokenstream.Fields{KeyField: "doc"}}, "a: doc: no such column"},
		{"list for a key", encode(t, []struct {
			IDs []int32 `parquet:"input_ids,list"`
			Doc []int32 `parquet:"doc,list"`
		}{{[]int32{1}, []int32{0, 1}}}), parquet.ReadOptions{Fields: tokenstream.Fields{KeyField: "doc"}}, "a: doc: a list: want a string or an integer"},
		{"double for an id", encode(t, []struct {
			IDs []int32 `parquet:"input_ids,list"`
			ID  float64 `parquet:"id"`
		}{{[]int32{1}, 1}}), parquet.ReadOptions{}, "a: id: a floating-point value: want a string or an integer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parquet.NewReader(bytes.NewReader(test.file), int64(len(test.file)), with(test.o, "a"))
			require.EqualError(t, err, test.want)
			got, err := read(test.file, test.o)
			require.EqualError(t, err, test.want)
			require.Empty(t, got)
		})
	}
}

func with(o parquet.ReadOptions, name string) parquet.ReadOptions {
	o.Name = name
	return o
}

func TestReadOptions(t *testing.T) {
	file := encode(t, []struct {
		Tokens []int32   `parquet:"tokens,list"`
		Target []int32   `parquet:"target,list"`
		Doc    int64     `parquet:"doc"`
		ID     string    `parquet:"id"`
		Scores []float64 `parquet:"scores,list"`
		Labels []int32   `parquet:"labels,list"`
		Text   []string  `parquet:"text,list"`
		Number int32     `parquet:"number"`
		Weird  [][]int32 `parquet:"weird,list"`
	}{{Tokens: []int32{1, 2}, Target: []int32{-100, 2}, Doc: -5, ID: "x"}})
	var unused []string
	o := parquet.ReadOptions{Fields: tokenstream.Fields{IDs: "tokens", Labels: "target", KeyField: "doc", Unused: func(c string) { unused = append(unused, c) }}}
	got, err := read(file, o)
	require.NoError(t, err)
	require.Equal(t, []tokenstream.Sample{{ID: "x", Key: "-5", Tokens: []int32{1, 2}, Labels: []int32{-100, 2}, Place: tokenstream.Place{Name: "a", Row: 1}}}, got)
	require.Equal(t, []string{"scores", "labels"}, unused)

	o.KeyField = "id"
	got, err = read(file, o)
	require.NoError(t, err)
	require.Equal(t, "x", got[0].Key)
	require.Equal(t, "x", got[0].ID)

	got, err = read(file, parquet.ReadOptions{Fields: tokenstream.Fields{IDs: "tokens", Masks: []string{"no mask"}, Labels: "none"}})
	require.NoError(t, err)
	require.Nil(t, got[0].Labels)

	file = encode(t, []named{{IDs: []int32{1}}})
	_, err = read(file, parquet.ReadOptions{Fields: tokenstream.Fields{KeyField: "id"}})
	require.EqualError(t, err, "a:1: id: null: want a string or an integer")

	_, err = read(file, parquet.ReadOptions{MaxPageBytes: 3})
	require.ErrorContains(t, err, "after decompression: want at most 3")
}

// TestNullsAfterLists has rows without a list that the row before has.
func TestNullsAfterLists(t *testing.T) {
	got, err := read(encode(t, []masked{
		{IDs: []int32{1, 2}, Loss: []int8{0, 1}},
		{IDs: []int32{3, 4}, Completion: []bool{true, true}},
		{IDs: []int32{5, 6, 7}},
	}), parquet.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []int32{-100, 2}, got[0].Labels)
	require.Equal(t, []int32{3, 4}, got[1].Labels)
	require.Nil(t, got[2].Labels)
}

func TestTwoColumnsOfAName(t *testing.T) {
	file := encode(t, []labelled{{[]int32{1}, []int32{1}}})
	m := footer(t, file)
	for i := range m.Schema {
		if m.Schema[i].Name == "labels" {
			m.Schema[i].Name = "input_ids"
		}
	}
	n := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	_, err := read(withFooter(t, file[:len(file)-8-n], m), parquet.ReadOptions{})
	require.EqualError(t, err, "a: input_ids: two columns have this name")
}

func TestNoRows(t *testing.T) {
	file := encode(t, []ids{})
	rd, err := parquet.NewReader(bytes.NewReader(file), int64(len(file)), parquet.ReadOptions{})
	require.NoError(t, err)
	require.Zero(t, rd.NumRows())
	got, err := read(file, parquet.ReadOptions{})
	require.NoError(t, err)
	require.Empty(t, got)
}

// TestSamplesTwice ranges over a reader twice, the first time not to the end.
func TestSamplesTwice(t *testing.T) {
	file := encode(t, []ids{{[]int32{1}}, {[]int32{2}}, {[]int32{3}}})
	rd, err := parquet.NewReader(bytes.NewReader(file), int64(len(file)), parquet.ReadOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3, rd.NumRows())
	for range rd.Samples() {
		break
	}
	n := int32(0)
	for s, err := range rd.Samples() {
		require.NoError(t, err)
		n++
		require.Equal(t, []int32{n}, s.Tokens)
		require.EqualValues(t, n, s.Place.Row)
	}
	require.EqualValues(t, 3, n)
}

package npy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/npy"
)

// array returns the file of values, a slice of integers or booleans, with a header that says descr and shape.
func array(descr, shape string, values any) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	for len(head)%64 != 53 {
		head += " "
	}
	head += "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b, err := binary.Append(append(b, head...), binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return b
}

func file(name string, b []byte) *npy.File {
	if b == nil {
		return nil
	}
	return &npy.File{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: name}
}

func read(tokens, offsets, labels []byte, raw int) (list []tokenstream.Sample, err error) {
	s := npy.Source{Tokens: *file("a.npy", tokens), Offsets: file("a.offsets.npy", offsets), Labels: file("a.labels.npy", labels), Raw: raw}
	for s, err := range s.Samples() {
		if err != nil {
			return list, err
		}
		list = append(list, s.Clone())
	}
	return list, nil
}

func TestSamples(t *testing.T) {
	offsets := array("<i8", "(4,)", []int64{0, 2, 2, 5})
	labels := array("<i4", "(5,)", []int32{-100, 2, -100, -100, 5})
	for descr, values := range map[string]any{
		"|u1": []uint8{1, 2, 3, 4, 5}, "<i1": []int8{1, 2, 3, 4, 5}, "<u2": []uint16{1, 2, 3, 4, 5}, "<i2": []int16{1, 2, 3, 4, 5}, "<u4": []uint32{1, 2, 3, 4, 5},
		"<i4": []int32{1, 2, 3, 4, 5}, "<u8": []uint64{1, 2, 3, 4, 5}, "<i8": []int64{1, 2, 3, 4, 5},
	} {
		got, err := read(array(descr, "(5,)", values), offsets, labels, 0)
		require.NoError(t, err, descr)
		require.Equal(t, []tokenstream.Sample{
			{Tokens: []int32{1, 2}, Labels: []int32{-100, 2}, Place: tokenstream.Place{Name: "a.npy", Row: 1}},
			{Tokens: []int32{}, Labels: []int32{}, Place: tokenstream.Place{Name: "a.npy", Row: 2}},
			{Tokens: []int32{3, 4, 5}, Labels: []int32{-100, -100, 5}, Place: tokenstream.Place{Name: "a.npy", Row: 3}},
		}, got, descr)
	}
	got, err := read(array("<i4", "(5,)", []int32{1, 2, 3, 4, 5}), offsets, array("|b1", "(5,)", []bool{false, true, false, true, false}), 0)
	require.NoError(t, err)
	require.Equal(t, []int32{-100, 4, -100}, got[2].Labels, "a mask")
	got, err = read(array("<i4", "(2, 3)", []int32{1, 2, 3, 4, 5, 6}), nil, nil, 0)
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, []int32{4, 5, 6}, got[1].Tokens)
	require.Nil(t, got[1].Labels)
	got, err = read(array("<i4", "(0, 3)", []int32{}), nil, nil, 0)
	require.NoError(t, err)
	require.Empty(t, got)
	got, err = read([]byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 1}, offsets, nil, 2)
	require.NoError(t, err)
	require.Equal(t, []int32{3, 4, 261}, got[2].Tokens, "raw")
}

func TestRefused(t *testing.T) {
	five := array("<i4", "(5,)", []int32{1, 2, 3, 4, 5})
	fine := array("<i8", "(4,)", []int64{0, 2, 2, 5})
	long := array("<i4", "(5,)", []int32{1, 2, 3, 4, 5})
	long[6] = 2
	for want, c := range map[string][3][]byte{
		"a.npy: descr is '<f4': want integers":                          {array("<f4", "(5,)", make([]byte, 20)), fine},
		"a.npy: descr is '>i4': want little-endian":                     {array(">i4", "(5,)", make([]byte, 20)), fine},
		"a.npy: descr is '<i3'":                                         {array("<i3", "(5,)", make([]byte, 15)), fine},
		"a.npy: descr is 'O'":                                           {array("O", "(5,)", make([]byte, 20)), fine},
		"a.npy: shape is ()":                                            {array("<i4", "()", make([]byte, 4)), fine},
		"a.npy: shape is (1, 1, 5)":                                     {array("<i4", "(1, 1, 5)", make([]byte, 20)), fine},
		"a.npy: shape is (9223372036854775807,)":                        {array("<i4", "(9223372036854775807,)", make([]byte, 20)), fine},
		"a.npy: shape is (4294967296, 4294967296)":                      {array("<i4", "(4294967296, 4294967296)", make([]byte, 20)), fine},
		"a.npy: shape is (4611686018427387904, 0)":                      {array("<i4", "(4611686018427387904, 0)", []int32{}), fine},
		"bytes: want 152 for 6 elements of int32":                       {array("<i4", "(6,)", make([]byte, 20)), fine},
		"a.npy: an array of one dimension without offsets":              {five},
		"a.offsets.npy: offsets with an array of two dimensions":        {array("<i4", "(1, 5)", make([]byte, 20)), fine},
		"a.offsets.npy: offsets of type int32: want int64 or uint64":    {five, five},
		"a.offsets.npy: no offsets":                                     {five, array("<i8", "(0,)", []int64{})},
		"a.offsets.npy: offset 0 is 1: want 0":                          {five, array("<i8", "(2,)", []int64{1, 5})},
		"a.offsets.npy: offset 2 is 1: want 3..5":                       {five, array("<i8", "(4,)", []int64{0, 3, 1, 5})},
		"a.offsets.npy: offset 1 is 6: want 0..5":                       {five, array("<i8", "(3,)", []int64{0, 6, 5})},
		"a.offsets.npy: the last offset is 4: want 5":                   {five, array("<i8", "(2,)", []int64{0, 4})},
		"a.labels.npy: 4 labels in 0 rows for 5 ids":                    {five, fine, array("<i4", "(4,)", make([]byte, 16))},
		"a.npy:1: tokens[1]: -2: want 0..2147483647":                    {array("<i4", "(5,)", []int32{1, -2, 3, 4, 5}), fine},
		"a.npy:3: tokens[0]: 2147483648: want 0..2147483647":            {array("<u4", "(5,)", []uint32{1, 2, 1 << 31, 4, 5}), fine},
		"a.npy:1: labels[0]: -2147483649: want -2147483648..2147483647": {five, fine, array("<i8", "(5,)", []int64{-1<<31 - 1, 2, 3, 4, 5})},
		"a header of ":                        {long, fine},
		`it begins with "PK\x03\x04\x00\x00"`: {[]byte("PK\x03\x04\x00\x00\x00\x00\x00\x00\x00\x00"), fine},
	} {
		_, err := read(c[0], c[1], c[2], 0)
		require.ErrorContains(t, err, want)
	}
	for n := range five {
		_, err := read(five[:n:n], fine, nil, 0)
		require.Error(t, err, "%d bytes", n)
	}
	_, err := read(make([]byte, 5), fine, nil, 2)
	require.ErrorContains(t, err, "5 bytes of raw integers of 2 bytes")
	_, err = read(make([]byte, 6), fine, nil, 3)
	require.ErrorContains(t, err, "of 1, 2, 4 or 8")
}

// TestDamage reads damaged files: nothing worse than an error may come of it.
func TestDamage(t *testing.T) {
	const times = 2000
	r := rand.New(rand.NewPCG(3, 4))
	refused := 0
	for range times {
		files := [][]byte{array("<i4", "(5,)", []int32{1, 2, 3, 4, 5}), array("<i8", "(4,)", []int64{0, 2, 2, 5}), array("<i4", "(5,)", []int32{-100, 2, 3, 4, 5})}
		b := &files[r.IntN(3)]
		switch r.IntN(3) {
		case 0:
			*b = (*b)[:r.IntN(len(*b))]
		case 1:
			(*b)[r.IntN(len(*b))] ^= 1 << r.IntN(8)
		default:
			copy((*b)[r.IntN(len(*b)):], bytes.Repeat([]byte{byte(r.IntN(2) * 0xff)}, 8))
		}
		got, err := read(files[0], files[1], files[2], 0)
		if err != nil {
			refused++
		}
		total := 0
		for _, s := range got {
			total += len(s.Tokens)
		}
		require.LessOrEqual(t, total, 20)
	}
	t.Logf("of %d damaged sets of files %d were refused", times, refused)
	require.Greater(t, refused, times/2)
}

func FuzzSamples(f *testing.F) {
	f.Add(array("<i4", "(5,)", []int32{1, 2, 3, 4, 5}), array("<i8", "(4,)", []int64{0, 2, 2, 5}), array("|b1", "(5,)", make([]bool, 5)))
	f.Add(array("<u2", "(2, 3)", make([]uint16, 6)), []byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, tokens, offsets, labels []byte) {
		got, err := read(append([]byte{}, tokens...), offsets, labels, 0)
		total := 0
		for _, s := range got {
			total += len(s.Tokens)
		}
		require.LessOrEqual(t, total, len(tokens))
		_ = err
	})
}

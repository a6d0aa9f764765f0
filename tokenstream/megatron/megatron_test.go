package megatron_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/megatron"
)

// set is a data set in its parts, so that a test can change any of them.
type set struct {
	version       uint64
	code          byte
	lengths       []int32
	starts, marks []int64
	tokens        any // a slice of integers
	more          []byte
}

// good returns three documents, 10 11 12, nothing, and 20 21 of two sequences.
func good() set {
	return set{version: 1, code: 4, lengths: []int32{3, 0, 1, 1}, starts: []int64{0, 12, 12, 16}, marks: []int64{0, 1, 2, 4}, tokens: []int32{10, 11, 12, 20, 21}}
}

func (s set) files(t testing.TB) (index, tokens []byte) {
	index = append([]byte(megatron.Magic), binary.LittleEndian.AppendUint64(nil, s.version)...)
	index = append(index, s.code)
	index = binary.LittleEndian.AppendUint64(index, uint64(len(s.lengths)))
	index = binary.LittleEndian.AppendUint64(index, uint64(len(s.marks)))
	for _, v := range []any{s.lengths, s.starts, s.marks, s.more} {
		var err error
		index, err = binary.Append(index, binary.LittleEndian, v)
		require.NoError(t, err)
	}
	tokens, err := binary.Append(nil, binary.LittleEndian, s.tokens)
	require.NoError(t, err)
	return index, tokens
}

func read(index, tokens []byte) (list []tokenstream.Sample, err error) {
	for s, err := range megatron.Read(input(index), input(tokens), "a.idx") {
		if err != nil {
			return list, err
		}
		list = append(list, s.Clone())
	}
	return list, nil
}

func input(b []byte) megatron.Input {
	return megatron.Input{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

func TestRead(t *testing.T) {
	for code, tokens := range map[byte]any{
		1: []uint8{10, 11, 12, 20, 21}, 2: []int8{10, 11, 12, 20, 21}, 3: []int16{10, 11, 12, 20, 21}, 4: []int32{10, 11, 12, 20, 21}, 5: []int64{10, 11, 12, 20, 21}, 8: []uint16{10, 11, 12, 20, 21},
	} {
		s := good()
		s.code, s.tokens = code, tokens
		size := int64(binary.Size(tokens) / 5)
		for i := range s.starts {
			s.starts[i] = s.starts[i] / 4 * size
		}
		got, err := read(s.files(t))
		require.NoError(t, err, "code %d", code)
		require.Len(t, got, 3)
		require.Equal(t, []int32{10, 11, 12}, got[0].Tokens)
		require.Empty(t, got[1].Tokens)
		require.Equal(t, []int32{20, 21}, got[2].Tokens)
		require.Nil(t, got[2].Labels)
		require.Equal(t, tokenstream.Place{Name: "a.idx", Row: 3}, got[2].Place)
	}
}

func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*set){
		"a.idx: version 2: want 1":                                          func(s *set) { s.version = 2 },
		"a.idx: tokens of type 7: want integers: 1 to 5, or 8":              func(s *set) { s.code = 7 },
		"a.idx: the index has modes":                                        func(s *set) { s.more = make([]byte, 4) },
		"a.idx: the index has 115 bytes: want 114":                          func(s *set) { s.more = make([]byte, 1) },
		"a.idx: no document boundaries":                                     func(s *set) { s.marks = nil },
		"a.idx: the first document begins at sequence 1: want 0":            func(s *set) { s.marks[0] = 1 },
		"a.idx:2: the document ends before sequence 0: want 1..4":           func(s *set) { s.marks[2] = 0 },
		"a.idx:3: the document ends before sequence 5: want 2..4":           func(s *set) { s.marks[3] = 5 },
		"a.idx: the documents end at sequence 3 and byte 16: want 4 and 20": func(s *set) { s.marks[3] = 3 },
		"a.idx:2: sequence 1 begins at byte 8: want 12":                     func(s *set) { s.starts[1] = 8 },
		"a.idx:1: sequence 0 has -1 tokens from byte 0 on":                  func(s *set) { s.lengths[0] = -1 },
		"a.idx:1: sequence 0 has 6 tokens from byte 0 on: the tokens have":  func(s *set) { s.lengths[0] = 6 },
		"a.idx: the documents end at sequence 4 and byte 20: want 4 and 24": func(s *set) { s.tokens = []int32{10, 11, 12, 20, 21, 22} },
		"a.idx:3: tokens[1]: -21: want 0..2147483647":                       func(s *set) { s.tokens = []int32{10, 11, 12, 20, -21} },
	} {
		s := good()
		change(&s)
		_, err := read(s.files(t))
		require.ErrorContains(t, err, want)
	}
	s := good()
	s.code, s.tokens, s.starts = 5, []int64{10, 11, 1 << 31, 20, 21}, []int64{0, 24, 24, 32}
	_, err := read(s.files(t))
	require.EqualError(t, err, "a.idx:1: tokens[2]: 2147483648: want 0..2147483647")
	index, tokens := good().files(t)
	for n := range index {
		_, err := read(index[:n], tokens)
		require.Error(t, err, "%d bytes", n)
	}
	huge := bytes.Clone(index)
	copy(huge[len(megatron.Magic)+9:], bytes.Repeat([]byte{0xff}, 8))
	_, err = read(huge, tokens)
	require.ErrorContains(t, err, "has no room for them")
}

// Long documents go over the ends of what is read at a time.
func TestLong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := set{version: 1, code: 8, marks: []int64{0}}
	var all []uint16
	var want [][]int32
	for len(all) < 1_000_000 {
		n := r.IntN(200_000)
		s.lengths, s.starts, s.marks = append(s.lengths, int32(n)), append(s.starts, int64(2*len(all))), append(s.marks, int64(len(s.lengths)+1))
		var d []int32
		for range n {
			v := r.Uint32N(1 << 16)
			all, d = append(all, uint16(v)), append(d, int32(v))
		}
		want = append(want, d)
	}
	s.tokens = all
	got, err := read(s.files(t))
	require.NoError(t, err)
	for i := range got {
		require.Equal(t, len(want[i]), len(got[i].Tokens))
		require.True(t, len(want[i]) == 0 || bytes.Equal(raw(want[i]), raw(got[i].Tokens)))
	}
}

func raw(v []int32) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, v)
	return b
}

// TestDamage reads damaged files: nothing worse than an error may come of it, and no sample that exceeds the data.
func TestDamage(t *testing.T) {
	const times = 2000
	r := rand.New(rand.NewPCG(3, 4))
	refused := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		index, tokens := good().files(t)
		file := &index
		if r.IntN(4) == 0 {
			file = &tokens
		}
		switch r.IntN(3) {
		case 0:
			*file = (*file)[:r.IntN(len(*file))]
		case 1:
			(*file)[r.IntN(len(*file))] ^= 1 << r.IntN(8)
		default:
			i := r.IntN(len(*file))
			copy((*file)[i:], bytes.Repeat([]byte{byte(r.IntN(2) * 0xff)}, 8))
		}
		got, err := read(index, tokens)
		if err != nil {
			var at *tokenstream.InputError
			require.True(t, errors.As(err, &at))
			refused++
		}
		total := 0
		for _, s := range got {
			total += len(s.Tokens)
		}
		require.LessOrEqual(t, total, len(tokens))
	}
	runtime.ReadMemStats(&after)
	t.Logf("of %d damaged files %d were refused, %d MB allocated", times, refused, (after.TotalAlloc-before.TotalAlloc)>>20)
	require.Greater(t, refused, times/2)
}

func FuzzRead(f *testing.F) {
	index, tokens := good().files(f)
	f.Add(index, tokens)
	f.Fuzz(func(t *testing.T, index, tokens []byte) {
		got, err := read(index, tokens)
		if err != nil {
			return
		}
		total := 0
		for _, s := range got {
			total += len(s.Tokens)
		}
		require.LessOrEqual(t, total, len(tokens))
	})
}

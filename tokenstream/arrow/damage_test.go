package arrow_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream/arrow"
)

// markers returns where messages begin, and what is between.
func markers(file []byte) []int {
	var at []int
	for i := 0; i+8 <= len(file); i += 8 {
		if binary.LittleEndian.Uint32(file[i:]) == 0xffffffff {
			at = append(at, i)
		}
	}
	return at
}

// mutate returns a damaged copy of a file.
func mutate(r *rand.Rand, file []byte) []byte {
	m := bytes.Clone(file)
	at := r.IntN(len(m))
	if marks := markers(m); len(marks) > 0 && r.IntN(3) > 0 { // most of the damage where it does most: in metadata
		at = min(marks[r.IntN(len(marks))]+r.IntN(400), len(m)-1)
	}
	switch r.IntN(6) {
	case 0:
		return m[:at]
	case 1:
		m[at] ^= 1 << r.IntN(8)
	case 2:
		for i := range min(1+r.IntN(8), len(m)-at) {
			m[at+i] = []byte{0, 0xff, 0x7f, 0x80}[r.IntN(4)]
		}
	case 3: // a number somewhere
		at &^= 3
		if at+4 <= len(m) {
			binary.LittleEndian.PutUint32(m[at:], r.Uint32()>>r.IntN(32))
		}
	case 4: // a large number somewhere
		at &^= 7
		if at+8 <= len(m) {
			binary.LittleEndian.PutUint64(m[at:], r.Uint64()>>r.IntN(64))
		}
	case 5:
		n := min(r.IntN(64), len(m)-at)
		return append(m[:at], m[at+n:]...) // cut out
	}
	return m
}

// TestDamage reads damaged files: nothing worse than an error may come of it, and memory stays bounded.
func TestDamage(t *testing.T) {
	const times = 2500
	want := original(t)
	files := theirs(t)
	names := slices.Sorted(maps.Keys(files))
	r := rand.New(rand.NewPCG(1, 2))
	refused, same, other := 0, 0, 0
	var before, after runtime.MemStats
	for i := range times {
		name := names[i%len(names)]
		file := mutate(r, files[name])
		runtime.ReadMemStats(&before)
		start := time.Now()
		got, err := drain(arrow.Read(bytes.NewReader(file), arrow.ReadOptions{MaxBatchBytes: 64 << 20}))
		runtime.ReadMemStats(&after)
		require.Less(t, time.Since(start), 10*time.Second, "mutation %d", i)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20), "mutation %d of %s", i, name)
		switch {
		case err != nil:
			refused++
		case reflect.DeepEqual(got, want):
			same++
		default:
			other++
		}
	}
	t.Logf("of %d damaged files %d were refused, %d still had all their samples, %d had others, without a checksum to tell", times, refused, same, other)
	require.Greater(t, refused, times/2)
}

func FuzzReader(f *testing.F) {
	for _, file := range theirs(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		n := int64(0)
		for s, err := range arrow.Read(bytes.NewReader(file), arrow.ReadOptions{MaxBatchBytes: 1 << 22}) {
			if err != nil {
				return
			}
			n++
			require.Equal(t, n, s.Place.Row)
			if s.Labels != nil {
				require.Equal(t, len(s.Tokens), len(s.Labels))
			}
			for _, id := range s.Tokens {
				require.GreaterOrEqual(t, id, int32(0))
			}
			if n == 1000 {
				return
			}
		}
	})
}

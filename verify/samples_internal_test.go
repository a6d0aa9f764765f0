package verify

import (
	"hash/maphash"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// The register takes what the package comment says.
func TestRegisterMemory(t *testing.T) {
	for _, c := range []struct {
		name    string
		every   int64 // how sparse the numbers are
		samples int64
		most    float64 // bytes a sample
	}{{"dense", 1, 1 << 21, 30}, {"sparse", 100, 1 << 18, 260}} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := &register{pages: map[int64]uint32{}}
		for i := range c.samples {
			r.add([]note{{i * c.every, digest{1, 2, 1, 10}}})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.Equal(t, c.samples, r.n)
		got := float64(after.HeapAlloc-before.HeapAlloc) / float64(c.samples)
		t.Logf("%s: %.1f bytes a sample", c.name, got)
		require.Less(t, got, c.most, c.name)
		runtime.KeepAlive(r)
	}
}

func TestRegister(t *testing.T) {
	r := &register{pages: map[int64]uint32{}}
	r.add([]note{{5, digest{1, 2, 1, 10}}, {1 << 60, digest{3, 4, 1, 20}}, {5, digest{10, 20, 1, 1<<32 - 5}}})
	require.Equal(t, digest{}, r.take(6))
	require.Equal(t, digest{}, r.take(100))
	require.Equal(t, digest{3, 4, 1, 20}, r.take(1<<60))
	require.Equal(t, digest{}, r.take(1<<60))
	for k, d := range r.all() {
		require.Equal(t, int64(5), k)
		require.Equal(t, digest{11, 22, 2, 1<<32 - 1}, d)
	}
}

// A digest tells segments apart by every id, every label but the first, and the length.
func TestDigest(t *testing.T) {
	h := hasher{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	ids, labels := []int64{1, 2, 3}, []int64{-100, -100, 3}
	base := h.of(ids, labels)
	require.Equal(t, base, h.of([]int64{1, 2, 3}, []int64{1, -100, 3}))
	for _, d := range []digest{h.of([]int64{1, 2, 4}, labels), h.of(ids, []int64{-100, 2, 3}), h.of([]int64{2, 1, 3}, labels), h.of(ids[:2], labels[:2]), h.of(ids, nil)} {
		require.NotEqual(t, base.a, d.a)
		require.NotEqual(t, base.b, d.b)
	}
	require.NotEqual(t, base.a, base.b)
}

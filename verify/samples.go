package verify

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"sync"
)

// A digest stands for the segments of one sample: how many there are, their tokens, and the sums of two hashes of each. Adding is
// commutative, so that it does not matter in which order segments are found.
type digest struct {
	a, b      uint64
	n, tokens uint32
}

func (d digest) plus(e digest) digest {
	return digest{d.a + e.a, d.b + e.b, saturated(d.n, e.n), saturated(d.tokens, e.tokens)}
}

// by returns the digest of so many times the same segments.
func (d digest) by(times int64) digest {
	times = max(0, times)
	all := digest{d.a * uint64(times), d.b * uint64(times), 1<<32 - 1, 1<<32 - 1}
	if n := int64(d.n); n == 0 || times < 1<<32/n {
		all.n = uint32(n * times)
	}
	if n := int64(d.tokens); n == 0 || times < 1<<32/n {
		all.tokens = uint32(n * times)
	}
	return all
}

func saturated(a, b uint32) uint32 {
	if a+b < a {
		return 1<<32 - 1
	}
	return a + b
}

// hasher makes digests. All hashers of one run have the same two seeds, which are not those of another run.
type hasher struct {
	seeds [2]maphash.Seed
	b     []byte
}

// of returns the digest of a segment. What the label of its first token is does not matter; nil labels are not compared.
func (h *hasher) of(ids, labels []int64) digest {
	h.b = h.b[:0]
	for _, id := range ids {
		h.b = binary.LittleEndian.AppendUint32(h.b, uint32(id))
	}
	if labels != nil {
		for _, l := range labels[1:] {
			h.b = binary.LittleEndian.AppendUint32(h.b, uint32(l))
		}
	}
	return digest{maphash.Bytes(h.seeds[0], h.b), maphash.Bytes(h.seeds[1], h.b), 1, uint32(len(ids))}
}

// note says that a segment belongs to a sample.
type note struct {
	sample int64
	digest digest
}

const (
	pageSamples = 8    // whose digests are together
	slabPages   = 1024 // that are allocated together
)

// register holds the digests of the samples that are in the rows, by sample. It takes 24 bytes a sample and some 3 more where samples are
// numbered closely. It may be added to from several goroutines.
type register struct {
	mu    sync.Mutex
	pages map[int64]uint32 // of sample/pageSamples, where its page is
	slabs [][][pageSamples]digest
	n     int64 // samples
}

// at returns the place of a sample's digest, or nil.
func (r *register) at(sample int64) *digest {
	p, ok := r.pages[sample/pageSamples]
	if !ok {
		return nil
	}
	return &r.slabs[p/slabPages][p%slabPages][sample%pageSamples]
}

// add adds notes.
func (r *register) add(notes []note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range notes {
		d := r.at(n.sample)
		if d == nil {
			p := len(r.pages)
			if p%slabPages == 0 {
				r.slabs = append(r.slabs, make([][pageSamples]digest, slabPages))
			}
			r.pages[n.sample/pageSamples] = uint32(p)
			d = r.at(n.sample)
		}
		if d.n == 0 {
			r.n++
		}
		*d = d.plus(n.digest)
	}
}

// take returns the digest of a sample, or an empty one, and forgets it.
func (r *register) take(sample int64) (d digest) {
	if at := r.at(sample); at != nil {
		d, *at = *at, d
	}
	return d
}

// all yields the samples that have not been taken, in their order.
func (r *register) all() iter.Seq2[int64, digest] {
	return func(yield func(int64, digest) bool) {
		for _, p := range slices.Sorted(maps.Keys(r.pages)) {
			for i := range int64(pageSamples) {
				if d := *r.at(p*pageSamples + i); d.n > 0 && !yield(p*pageSamples+i, d) {
					return
				}
			}
		}
	}
}

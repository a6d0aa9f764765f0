package tokenstream

import (
	"encoding/binary"
	"hash/fnv"
	"math"
)

// Concat yields the samples of all sources, one source after another, and numbers them through.
func Concat(sources ...Source) Source {
	return func(yield func(Sample, error) bool) {
		number := int64(0)
		for _, src := range sources {
			for s, err := range src {
				if err != nil {
					yield(Sample{}, err)
					return
				}
				number++
				s.Number = number
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// Limit yields the samples of src up to the last that makes no more than that many samples and tokens. 0 is no bound.
func Limit(src Source, samples, tokens int64) Source {
	return func(yield func(Sample, error) bool) {
		n, t := int64(0), int64(0)
		for s, err := range src {
			n++
			t += int64(len(s.Tokens))
			if err == nil && (samples > 0 && n > samples || tokens > 0 && t > tokens) {
				return
			}
			if !yield(s, err) || err != nil || n == samples {
				return
			}
		}
	}
}

// A Holdout says which samples are held out. Whether a sample belongs to the share depends on its Key alone or, if it has none, on its
// tokens alone: neither other data nor the order changes it, samples of one Key stay together, and so do copies of one sample.
type Holdout struct {
	Share float64          // of the samples, from 0 to 1
	IDs   map[string]int64 // those with one of these IDs besides; [Holdout.Has] counts how many have each
}

// Has reports whether s is held out. It is not safe for concurrent use where there are IDs.
func (h *Holdout) Has(s *Sample) bool {
	if n, ok := h.IDs[s.ID]; ok {
		h.IDs[s.ID] = n + 1
		return true
	}
	return h.Share > 0 && s.hashed() < h.Share
}

// HoldOut yields the samples of src but for those that are held out, which it adds to spool.
func HoldOut(src Source, h *Holdout, spool *Spool) Source {
	return func(yield func(Sample, error) bool) {
		number := int64(0)
		for s, err := range src {
			if err == nil {
				if number++; s.Number == 0 {
					s.Number = number
				}
				if h.Has(&s) {
					if err = spool.Add(s); err == nil {
						continue
					}
				}
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// hashed returns a number in [0, 1] that stands for s.
func (s *Sample) hashed() float64 {
	h := fnv.New64a()
	if s.Key != "" {
		h.Write([]byte(s.Key))
	} else {
		b := make([]byte, 0, 4*len(s.Tokens))
		for _, id := range s.Tokens {
			b = binary.LittleEndian.AppendUint32(b, uint32(id))
		}
		h.Write(b)
	}
	// FNV leaves the high bits of short inputs alike: mix them (the finalizer of SplitMix64).
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x) / math.MaxUint64
}

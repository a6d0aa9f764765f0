package compare

import (
	"context"
	"iter"
	"time"

	"github.com/brimful/brimful/packing"
)

// A Stream is what a strategy does while samples still arrive. A sample waits, in samples, for as many as arrive after it before its row
// comes out; the memory of a stream is what waits.
type Stream struct {
	Rows     int64   `json:"rows"`
	Gap      int64   `json:"gap"`
	Fill     float64 `json:"fill"`
	MeanWait float64 `json:"mean_wait"` // samples that arrive while a sample waits, on average over the samples
	MaxWait  int64   `json:"max_wait"`  // the same for the sample that waits longest
	Seconds  float64 `json:"seconds"`
}

// stream runs a strategy on a stream.
func stream(ctx context.Context, s packing.Streamer, lengths []int32, limits packing.Limits) (*Stream, error) {
	r := &Stream{}
	arrived := int64(0)
	var arrivals iter.Seq[int32] = func(yield func(int32) bool) {
		for _, l := range lengths {
			if arrived++; !yield(l) {
				return
			}
		}
	}
	start := time.Now()
	sum := int64(0)
	for bin := range s.Stream(arrivals, limits) {
		r.Rows++
		for _, i := range bin {
			wait := arrived - 1 - i
			sum += wait
			r.MaxWait = max(r.MaxWait, wait)
		}
		if r.Rows%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	r.Seconds = time.Since(start).Seconds()
	if len(lengths) > 0 {
		r.MeanWait = float64(sum) / float64(len(lengths))
	}
	return r, nil
}

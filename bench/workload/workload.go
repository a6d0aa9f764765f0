// Package workload makes the inputs of the benchmarks: named, seeded and the same on every machine. It also tells how busy that is.
package workload

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
)

// Lengths returns n lengths from 1 to limit of the distribution named: "chat" is lognormal with a median of 400 and sigma 1, "third" is
// lognormal around a third of limit with sigma .5.
func Lengths(name string, n, limit int, seed uint64) ([]int32, error) {
	r := rand.New(rand.NewPCG(seed, 0x6c656e67746873))
	var draw func() float64
	lognormal := func(median, sigma float64) func() float64 {
		return func() float64 { return median * math.Exp(sigma*r.NormFloat64()) }
	}
	switch name {
	case "chat":
		draw = lognormal(400, 1)
	case "third":
		draw = lognormal(float64(limit)/3, .5)
	default:
		return nil, fmt.Errorf("workload %q: want chat or third", name)
	}
	lengths := make([]int32, n)
	for i := range lengths {
		lengths[i] = int32(min(max(draw(), 1), float64(limit)))
	}
	return lengths, nil
}

// WriteJSONL writes a sample of each length, with ids of a vocabulary of 151,643, frequent ones small, and labels of which the first third
// is -100. repeat writes all of it that many times, with other tokens.
func WriteJSONL(w io.Writer, lengths []int32, repeat int, seed uint64) error {
	out := bufio.NewWriterSize(w, 1<<20)
	r := rand.New(rand.NewPCG(seed, 0x746f6b656e73))
	var ids, labels []byte
	sample := 0
	for range repeat {
		for _, n := range lengths {
			ids, labels = ids[:0], labels[:0]
			for i := range n {
				if i > 0 {
					ids, labels = append(ids, ','), append(labels, ',')
				}
				u := r.Float64()
				id := int64(u * u * u * 151_643)
				ids = strconv.AppendInt(ids, id, 10)
				if i < n/3 {
					labels = append(labels, "-100"...)
				} else {
					labels = strconv.AppendInt(labels, id, 10)
				}
			}
			if _, err := fmt.Fprintf(out, `{"id":"s%d","input_ids":[%s],"labels":[%s]}`+"\n", sample, ids, labels); err != nil {
				return err
			}
			sample++
		}
	}
	return out.Flush()
}

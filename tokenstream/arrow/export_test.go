package arrow

import "encoding/binary"

// WithBatchBytes makes record batches small.
func WithBatchBytes(o Options, n int) Options {
	o.batchBytes = n
	return o
}

// SharePairs makes all key-value pairs of a schema message the first one, and returns how many there are.
func SharePairs(metadata []byte) int {
	f := &flat{b: metadata}
	p, n := f.table(0).table(2).vector(2, 4)
	first := p + int(binary.LittleEndian.Uint32(metadata[p:]))
	for k := range n {
		binary.LittleEndian.PutUint32(metadata[p+4*k:], uint32(first-(p+4*k)))
	}
	return n
}

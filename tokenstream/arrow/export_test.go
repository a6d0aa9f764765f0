package arrow

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
)

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

// Places says where the parts of the metadata of a record batch are: the first elements of the vectors, behind their lengths.
type Places struct{ Entries, Nodes, Buffers, Counts, Codec int }

// PlacesOf returns the places of metadata.
func PlacesOf(metadata []byte) Places {
	f := &flat{b: metadata}
	header := f.table(0).table(2)
	p := Places{Entries: header.vtable, Codec: header.table(3).entry(0, 1)}
	p.Nodes, _ = header.vector(1, 16)
	p.Buffers, _ = header.vector(2, 16)
	p.Counts, _ = header.vector(4, 8)
	return p
}

// Row returns row i of a column that is not validated.
func Row(column arrow.Array, i int) ([]int32, error) {
	var l list
	l.reset(column, 1<<30)
	row, _, err := l.next(i)
	return row, err
}

package parquet

import "encoding/binary"

// levels encodes repetition or definition levels, of which each is 0 or 1, as the RLE runs of the RLE/bit-packing hybrid encoding
// (Parquet's Encodings.md, "RLE = 3"). Rows are long runs of one level, so that the bit-packed form is never worth its while.
type levels struct {
	encoded []byte
	level   byte
	n       uint64 // length of the run that is not encoded yet
}

func (l *levels) reset() { *l = levels{encoded: l.encoded[:0]} }

// add appends n levels.
func (l *levels) add(level byte, n int) {
	if level != l.level {
		l.end()
		l.level = level
	}
	l.n += uint64(n)
}

// end encodes the last run and returns all of them, valid until the next reset.
func (l *levels) end() []byte {
	if l.n > 0 {
		l.encoded = append(binary.AppendUvarint(l.encoded, l.n<<1), l.level)
		l.n = 0
	}
	return l.encoded
}

// Package words reads runs of little-endian integers of a fixed width.
package words

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// A Type is a type of integers.
type Type struct {
	Size   int // bytes
	Signed bool
}

// Append appends the integers of b, whose length is a multiple of the size. The first that is not an int32 is an error, a
// [*columns.ElementError] with its index in b.
func (t Type) Append(dst []int32, b []byte) ([]int32, error) {
	switch t {
	case Type{1, false}:
		for _, v := range b {
			dst = append(dst, int32(v))
		}
	case Type{1, true}:
		for _, v := range b {
			dst = append(dst, int32(int8(v)))
		}
	case Type{2, false}:
		for ; len(b) >= 2; b = b[2:] {
			dst = append(dst, int32(binary.LittleEndian.Uint16(b)))
		}
	case Type{2, true}:
		for ; len(b) >= 2; b = b[2:] {
			dst = append(dst, int32(int16(binary.LittleEndian.Uint16(b))))
		}
	case Type{4, true}:
		for ; len(b) >= 4; b = b[4:] {
			dst = append(dst, int32(binary.LittleEndian.Uint32(b)))
		}
	case Type{4, false}:
		for i := 0; len(b) >= 4; i, b = i+1, b[4:] {
			v := binary.LittleEndian.Uint32(b)
			if v > math.MaxInt32 {
				return dst, &columns.ElementError{Index: i, Found: fmt.Sprint(v)}
			}
			dst = append(dst, int32(v))
		}
	case Type{8, true}:
		for i := 0; len(b) >= 8; i, b = i+1, b[8:] {
			v := int64(binary.LittleEndian.Uint64(b))
			if int64(int32(v)) != v {
				return dst, &columns.ElementError{Index: i, Found: fmt.Sprint(v)}
			}
			dst = append(dst, int32(v))
		}
	case Type{8, false}:
		for i := 0; len(b) >= 8; i, b = i+1, b[8:] {
			v := binary.LittleEndian.Uint64(b)
			if v > math.MaxInt32 {
				return dst, &columns.ElementError{Index: i, Found: fmt.Sprint(v)}
			}
			dst = append(dst, int32(v))
		}
	default:
		return dst, fmt.Errorf("no integers of %d bytes", t.Size)
	}
	return dst, nil
}

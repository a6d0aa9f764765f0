package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The functions of this file decode the RLE/bit-packing hybrid encoding (Encodings.md, "RLE = 3"). They take no more memory than the
// values that were asked for, however long the runs claim to be.

// A run is one run of the encoding: n times one value, or n values of some bits each.
type run struct {
	n      int
	packed bool
	data   []byte // the value, or the values
}

// nextRun returns the run at the front of b, of values of the given width in bits, and what follows. A run that is longer than n values
// counts for n, or for the eights that hold so many: writers may fill up the last one.
func nextRun(b []byte, width, n int) (run, []byte, error) {
	header, b, err := uvarint(b)
	if err != nil {
		return run{}, nil, err
	}
	if header>>1 == 0 {
		return run{}, nil, fmt.Errorf("an empty run")
	}
	size := (width + 7) / 8
	r := run{packed: header&1 == 1}
	if r.packed {
		groups := int(min(header>>1, uint64(n+7)/8)) // of eight values
		r.n, size = 8*groups, groups*width
	} else {
		r.n = int(min(header>>1, uint64(n)))
	}
	if len(b) < size {
		return run{}, nil, io.ErrUnexpectedEOF
	}
	r.data = b[:size]
	return r, b[size:], nil
}

// constantLevel returns the level that all n levels in b have, if they are one run.
func constantLevel(b []byte, width, n int) (level byte, ok bool) {
	r, _, err := nextRun(b, width, n)
	if err != nil || r.packed || r.n < n {
		return 0, false
	}
	return r.data[0], true
}

// appendLevels appends the n levels in b, each of the given width in bits and none above a largest one.
func appendLevels(dst, b []byte, width, largest, n int) ([]byte, error) {
	for n > 0 {
		r, rest, err := nextRun(b, width, n)
		if err != nil {
			return dst, fmt.Errorf("%d levels are missing: %w", n, err)
		}
		b = rest
		from := len(dst)
		if !r.packed {
			if int(r.data[0]) > largest {
				return dst, fmt.Errorf("level %d: want at most %d", r.data[0], largest)
			}
			dst = appendRepeated(dst, r.data[0], r.n)
			n -= r.n
			continue
		}
		if width == 1 {
			for _, x := range r.data {
				dst = binary.LittleEndian.AppendUint64(dst, spread[x])
			}
		} else {
			bits, have := uint(0), 0
			for _, x := range r.data {
				bits |= uint(x) << have
				for have += 8; have >= width; have -= width {
					dst = append(dst, byte(bits&(1<<width-1)))
					bits >>= width
				}
			}
		}
		dst = dst[:min(len(dst), from+n)]
		for _, level := range dst[from:] {
			if int(level) > largest {
				return dst, fmt.Errorf("level %d: want at most %d", level, largest)
			}
		}
		n -= len(dst) - from
	}
	return dst, nil
}

// spread holds the bits of a byte as eight bytes.
var spread = func() (table [256]uint64) {
	for x := range table {
		for i := range 8 {
			table[x] |= uint64(x) >> i & 1 << (8 * i)
		}
	}
	return table
}()

// appendRepeated appends b n times.
func appendRepeated(dst []byte, b byte, n int) []byte {
	from := len(dst)
	if cap(dst)-from < n {
		dst = append(make([]byte, 0, max(from+n, 2*cap(dst))), dst...)
	}
	dst = dst[:from+n]
	tail := dst[from:]
	if n == 0 {
		return dst
	}
	tail[0] = b
	for done := 1; done < n; done *= 2 {
		copy(tail[done:], tail[:done])
	}
	return dst
}

// decodeIndexes returns the n dictionary indexes in b, in the memory of dst if it is large enough.
func decodeIndexes(dst []int32, b []byte, n int) ([]int32, error) {
	if n == 0 {
		return dst[:0], nil
	}
	if len(b) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	width := int(b[0])
	b = b[1:]
	if width > 32 {
		return nil, fmt.Errorf("indexes of %d bits", width)
	}
	if width == 0 {
		dst = growInts(dst, n)
		clear(dst)
		return dst, nil
	}
	dst = growInts(dst, n)
	for at := 0; at < n; {
		r, rest, err := nextRun(b, width, n-at)
		if err != nil {
			return nil, fmt.Errorf("%d indexes are missing: %w", n-at, err)
		}
		b = rest
		to := dst[at:min(n, at+r.n)]
		at += len(to)
		if r.packed {
			unpack(to, r.data, width)
			continue
		}
		var x [4]byte
		copy(x[:], r.data)
		index := int32(binary.LittleEndian.Uint32(x[:]))
		for i := range to {
			to[i] = index
		}
	}
	return dst, nil
}

// unpack sets dst to values of the given width in bits, from 1 to 32, of which b holds at least as many.
func unpack(dst []int32, b []byte, width int) {
	mask := uint64(1)<<width - 1
	i := 0
	for bit := 0; i < len(dst); bit += width {
		if bit/8+8 > len(b) {
			break
		}
		dst[i] = int32(binary.LittleEndian.Uint64(b[bit/8:]) >> (bit % 8) & mask)
		i++
	}
	// The last values are too near to the end for 8 bytes to be read.
	for ; i < len(dst); i++ {
		var x [8]byte
		bit := i * width
		copy(x[:], b[bit/8:])
		dst[i] = int32(binary.LittleEndian.Uint64(x[:]) >> (bit % 8) & mask)
	}
}

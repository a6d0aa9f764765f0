package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/format"
)

// A column's values, of a page or a dictionary, are in one of three forms: integers of 32 bits where that is how they are stored and
// all that they can be, else wide ones, or texts. A wide value of an unsigned field of 64 bits is the one with the same bits.
type values struct {
	ints  []int32
	wide  []int64
	texts [][]byte

	texting []byte // memory of the texts
	data    []byte
	indexes []int32
}

// decode sets v to the n values of the field in b, which is kept.
func (v *values) decode(f *field, encoding format.Encoding, b []byte, n int) (err error) {
	defer recovered("a page", &err)
	v.ints, v.wide, v.texts = v.ints[:0], v.wide[:0], v.texts[:0]
	switch {
	case n == 0:
		return nil
	case f.kind == boolean:
		return v.decodeBooleans(encoding, b, n)
	case f.kind == text:
		return v.decodeTexts(encoding, b, n)
	case f.physical == format.Int32:
		if encoding == format.ByteStreamSplit {
			if b, err = v.unsplit(b, n, 4); err != nil {
				return err
			}
			encoding = format.Plain
		}
		switch encoding {
		case format.Plain:
			if len(b) != 4*n {
				return fmt.Errorf("%d bytes for %d values of 4", len(b), n)
			}
			v.ints, err = new(plain.Encoding).DecodeInt32(v.ints, b)
		case format.DeltaBinaryPacked:
			if err = checkDelta(b, n, 32); err == nil {
				v.ints, err = new(delta.BinaryPackedEncoding).DecodeInt32(v.ints, b)
			}
		default:
			return fmt.Errorf("values encoded as %v", encoding)
		}
		if err == nil && len(v.ints) != n {
			return fmt.Errorf("%d values: want %d", len(v.ints), n)
		}
		if err == nil && !f.narrow() { // unsigned, with 32 bits
			v.wide = growWide(v.wide, n)
			for i, x := range v.ints {
				v.wide[i] = int64(uint32(x))
			}
			v.ints = v.ints[:0]
		}
		return err
	case f.physical == format.Int64:
		if encoding == format.ByteStreamSplit {
			if b, err = v.unsplit(b, n, 8); err != nil {
				return err
			}
			encoding = format.Plain
		}
		switch encoding {
		case format.Plain:
			if len(b) != 8*n {
				return fmt.Errorf("%d bytes for %d values of 8", len(b), n)
			}
			v.wide, err = new(plain.Encoding).DecodeInt64(v.wide, b)
		case format.DeltaBinaryPacked:
			if err = checkDelta(b, n, 64); err == nil {
				v.wide, err = new(delta.BinaryPackedEncoding).DecodeInt64(v.wide, b)
			}
		default:
			return fmt.Errorf("values encoded as %v", encoding)
		}
		if err == nil && len(v.wide) != n {
			return fmt.Errorf("%d values: want %d", len(v.wide), n)
		}
		return err
	}
	return fmt.Errorf("values of %v", f.physical)
}

// unsplit returns the PLAIN form of n values of BYTE_STREAM_SPLIT.
func (v *values) unsplit(b []byte, n, width int) ([]byte, error) {
	if len(b) != width*n {
		return nil, fmt.Errorf("%d bytes for %d values of %d", len(b), n, width)
	}
	v.data = grow(v.data, len(b))
	for k := range width {
		for i, x := range b[k*n : (k+1)*n] {
			v.data[i*width+k] = x
		}
	}
	return v.data, nil
}

// decodeBooleans decodes booleans as 0 and 1.
func (v *values) decodeBooleans(encoding format.Encoding, b []byte, n int) error {
	switch encoding {
	case format.Plain:
		if len(b) != (n+7)/8 {
			return fmt.Errorf("%d bytes for %d booleans", len(b), n)
		}
		v.ints = growInts(v.ints, n)
		for i := range v.ints {
			v.ints[i] = int32(b[i/8] >> (i % 8) & 1)
		}
		return nil
	case format.RLE:
		if len(b) < 4 || int(binary.LittleEndian.Uint32(b)) != len(b)-4 {
			return fmt.Errorf("%d bytes for %d booleans", len(b), n)
		}
		var err error
		if v.data, err = appendLevels(v.data[:0], b[4:], 1, 1, n); err != nil {
			return err
		}
		v.ints = growInts(v.ints, n)
		for i, x := range v.data {
			v.ints[i] = int32(x)
		}
		return nil
	}
	return fmt.Errorf("booleans encoded as %v", encoding)
}

// decodeTexts decodes texts. Their bytes are copied, since a dictionary outlives its page.
func (v *values) decodeTexts(encoding format.Encoding, b []byte, n int) error {
	v.texting = append(v.texting[:0], b...)
	b = v.texting
	switch encoding {
	case format.Plain:
		for range n {
			if len(b) < 4 {
				return io.ErrUnexpectedEOF
			}
			size := int64(binary.LittleEndian.Uint32(b))
			b = b[4:]
			if int64(len(b)) < size {
				return io.ErrUnexpectedEOF
			}
			v.texts = append(v.texts, b[:size:size])
			b = b[size:]
		}
		if len(b) > 0 {
			return fmt.Errorf("%d bytes behind %d texts", len(b), n)
		}
		return nil
	case format.DeltaLengthByteArray:
		rest, err := skipDelta(b, n, 32)
		if err != nil {
			return err
		}
		if v.indexes, err = new(delta.BinaryPackedEncoding).DecodeInt32(v.indexes, b[:len(b)-len(rest)]); err != nil {
			return err
		}
		if len(v.indexes) != n {
			return fmt.Errorf("%d lengths of texts: want %d", len(v.indexes), n)
		}
		for _, size := range v.indexes {
			if size < 0 || int(size) > len(rest) {
				return io.ErrUnexpectedEOF
			}
			v.texts = append(v.texts, rest[:size:size])
			rest = rest[size:]
		}
		return nil
	}
	return fmt.Errorf("texts encoded as %v", encoding)
}

// lookUp sets v to the n values of the dictionary whose indexes are in b.
func (v *values) lookUp(dictionary *values, b []byte, n int) (err error) {
	defer recovered("a page", &err)
	v.ints, v.wide, v.texts = v.ints[:0], v.wide[:0], v.texts[:0]
	if v.indexes, err = decodeIndexes(v.indexes, b, n); err != nil {
		return err
	}
	size := len(dictionary.ints) + len(dictionary.wide) + len(dictionary.texts)
	for _, i := range v.indexes {
		if uint32(i) >= uint32(size) {
			return fmt.Errorf("index %d in a dictionary of %d values", uint32(i), size)
		}
	}
	switch {
	case len(dictionary.ints) > 0:
		v.ints = growInts(v.ints, n)
		for k, i := range v.indexes {
			v.ints[k] = dictionary.ints[i]
		}
	case len(dictionary.wide) > 0:
		v.wide = growWide(v.wide, n)
		for k, i := range v.indexes {
			v.wide[k] = dictionary.wide[i]
		}
	default:
		for _, i := range v.indexes {
			v.texts = append(v.texts, dictionary.texts[i])
		}
	}
	return nil
}

// narrow turns wide values into those of 32 bits as far as that is possible, and returns how far it is.
func (v *values) narrow(f *field) int {
	v.ints = growInts(v.ints, len(v.wide))
	for i, x := range v.wide {
		if x != int64(int32(x)) || x < 0 && f.kind == unsigned {
			return i
		}
		v.ints[i] = int32(x)
	}
	return len(v.wide)
}

// text returns the value at i as it is written.
func (v *values) text(f *field, i int) string {
	switch {
	case f.kind == text:
		return string(v.texts[i])
	case len(v.wide) == 0:
		return strconv.Itoa(int(v.ints[i]))
	case f.kind == unsigned:
		return strconv.FormatUint(uint64(v.wide[i]), 10)
	}
	return strconv.FormatInt(v.wide[i], 10)
}

// checkDelta returns an error unless b holds n values of DELTA_BINARY_PACKED and nothing else.
func checkDelta(b []byte, n, bits int) error {
	rest, err := skipDelta(b, n, bits)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes behind the values", len(rest))
	}
	return err
}

// skipDelta returns what follows the n values of DELTA_BINARY_PACKED at the front of b, after checking what a decoder might believe.
// The last miniblocks, when they have no values, may or may not be there.
func skipDelta(b []byte, n, bits int) (_ []byte, err error) {
	var header [4]uint64 // block size, miniblocks in a block, values, first value
	for i := range header {
		if header[i], b, err = uvarint(b); err != nil {
			return nil, err
		}
	}
	block, minis := header[0], header[1]
	if block == 0 || block > 1<<16 || block%128 != 0 || minis == 0 || minis > block/32 || block%minis != 0 || block/minis%32 != 0 {
		return nil, fmt.Errorf("blocks of %d values in %d parts", block, minis)
	}
	if header[2] != uint64(n) {
		return nil, fmt.Errorf("%d values: want %d", header[2], n)
	}
	mini := int(block / minis)
	for left := n - 1; left > 0; {
		if _, b, err = uvarint(b); err != nil { // the least difference
			return nil, err
		}
		if uint64(len(b)) < minis {
			return nil, io.ErrUnexpectedEOF
		}
		widths := b[:minis]
		b = b[minis:]
		for _, width := range widths {
			if left <= 0 {
				break
			}
			if int(width) > bits {
				return nil, fmt.Errorf("differences of %d bits", width)
			}
			size := mini * int(width) / 8
			if len(b) < size {
				return nil, io.ErrUnexpectedEOF
			}
			b = b[size:]
			left -= mini
		}
	}
	return b, nil
}

func growInts(b []int32, n int) []int32 {
	if cap(b) < n {
		return make([]int32, n)
	}
	return b[:n]
}

func growWide(b []int64, n int) []int64 {
	if cap(b) < n {
		return make([]int64, n)
	}
	return b[:n]
}

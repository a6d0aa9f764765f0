package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// thriftDepth is how deep structs and lists may be nested. Parquet's own go five levels deep.
const thriftDepth = 32

// errThriftShort is returned for a struct that goes on behind the bytes at hand.
var errThriftShort = errors.New("cut off")

// thriftLength returns how many bytes the struct at the front of b takes in the compact protocol of Thrift. A decoder that believes
// what a list says of its length allocates for it, and one that recurses can run out of stack; after thriftLength they may, since every
// element is there and the nesting is bounded. It allocates nothing itself.
//
// See https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
func thriftLength(b []byte) (int, error) {
	rest, err := skipStruct(b, thriftDepth)
	return len(b) - len(rest), err
}

// The types of fields and list elements.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftInt8
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

func skipStruct(b []byte, depth int) ([]byte, error) {
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d levels", thriftDepth)
	}
	for {
		if len(b) == 0 {
			return nil, errThriftShort
		}
		kind := b[0] & 0xf
		long := b[0]>>4 == 0 // the field's number follows
		b = b[1:]
		if kind == thriftStop {
			return b, nil
		}
		var err error
		if long {
			if _, b, err = uvarint(b); err != nil {
				return nil, err
			}
		}
		if kind == thriftTrue || kind == thriftFalse {
			continue // the value is in the type
		}
		if b, err = skipValue(b, kind, depth); err != nil {
			return nil, err
		}
	}
}

// skipValue returns what follows the value of the given type at the front of b.
func skipValue(b []byte, kind byte, depth int) ([]byte, error) {
	switch kind {
	case thriftTrue, thriftFalse, thriftInt8:
		return skipBytes(b, 1)
	case thriftInt16, thriftInt32, thriftInt64:
		_, b, err := uvarint(b)
		return b, err
	case thriftDouble:
		return skipBytes(b, 8)
	case thriftBinary:
		n, b, err := uvarint(b)
		if err != nil {
			return nil, err
		}
		return skipBytes(b, n)
	case thriftList, thriftSet:
		if len(b) == 0 {
			return nil, errThriftShort
		}
		n, element := uint64(b[0]>>4), b[0]&0xf
		b = b[1:]
		if n == 15 {
			var err error
			if n, b, err = uvarint(b); err != nil {
				return nil, err
			}
		}
		for ; n > 0; n-- {
			var err error
			if b, err = skipElement(b, element, depth-1); err != nil {
				return nil, err
			}
		}
		return b, nil
	case thriftStruct:
		return skipStruct(b, depth-1)
	}
	return nil, fmt.Errorf("unknown type %d", kind) // maps are nowhere in the format
}

func skipElement(b []byte, kind byte, depth int) ([]byte, error) {
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d levels", thriftDepth)
	}
	if kind == thriftStop {
		return nil, errors.New("a list of nothing")
	}
	return skipValue(b, kind, depth)
}

func skipBytes(b []byte, n uint64) ([]byte, error) {
	if uint64(len(b)) < n {
		return nil, errThriftShort
	}
	return b[n:], nil
}

// uvarint returns the number at the front of b and what follows.
func uvarint(b []byte) (uint64, []byte, error) {
	u, n := binary.Uvarint(b)
	switch {
	case n > 0:
		return u, b[n:], nil
	case n == 0:
		return 0, nil, errThriftShort
	}
	return 0, nil, errors.New("a number of more than 64 bits")
}

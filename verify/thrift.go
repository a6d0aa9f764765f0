package verify

import (
	"encoding/binary"
	"errors"
)

var errThrift = errors.New("metadata that are cut off or nested too deeply")

// thriftLength returns how many bytes the struct at the front of b takes in Thrift's compact protocol. The library believes what a list
// says of its length and allocates for it; after thriftLength it may, since every element is there.
//
// See https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
func thriftLength(b []byte) (int, error) {
	t := compact{b: b}
	if !t.fields(16) {
		return 0, errThrift
	}
	return t.at, nil
}

// compact walks through a struct. Its methods return false at what can't be walked through.
type compact struct {
	b  []byte
	at int
}

func (t *compact) byte() (byte, bool) {
	if t.at >= len(t.b) {
		return 0, false
	}
	t.at++
	return t.b[t.at-1], true
}

func (t *compact) number() (uint64, bool) {
	u, n := binary.Uvarint(t.b[t.at:])
	if n <= 0 {
		return 0, false
	}
	t.at += n
	return u, true
}

func (t *compact) skip(n uint64) bool {
	if n > uint64(len(t.b)-t.at) {
		return false
	}
	t.at += int(n)
	return true
}

// fields walks through the fields of a struct, with at most depth levels below it.
func (t *compact) fields(depth int) bool {
	for depth > 0 {
		head, ok := t.byte()
		if !ok || head == 0 {
			return ok
		}
		if head>>4 == 0 {
			if _, ok := t.number(); !ok {
				return false
			}
		}
		if kind := head & 15; kind > 2 && !t.value(kind, depth) { // 1 and 2 are true and false
			return false
		}
	}
	return false
}

// value walks through a value of the type given.
func (t *compact) value(kind byte, depth int) bool {
	switch kind {
	case 1, 2, 3:
		return t.skip(1)
	case 4, 5, 6:
		_, ok := t.number()
		return ok
	case 7:
		return t.skip(8)
	case 8:
		n, ok := t.number()
		return ok && t.skip(n)
	case 9, 10:
		head, ok := t.byte()
		n := uint64(head >> 4)
		if ok && n == 15 {
			n, ok = t.number()
		}
		for ; ok && n > 0; n-- {
			ok = depth > 1 && t.value(head&15, depth-1)
		}
		return ok
	case 12:
		return t.fields(depth - 1)
	}
	return false
}

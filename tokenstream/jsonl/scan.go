package jsonl

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// scan reads the line that begins with b.text[i] and ends before end, if it has the usual shape: an object of keys without escapes,
// lists of integers without a sign but that of -100, and names in plain ASCII. It reports whether it could; if not, what
// it read so far means nothing. It looks up to padding bytes beyond end, which b.text has room for.
func (p *parser) scan(b *block, i, end int) bool {
	text := b.text
	if text[i] != '{' {
		return false
	}
	padded := text[: len(text)+padding : len(text)+padding]
	i = skipSpace(text[:end], i+1)
	if i < end && text[i] == '}' {
		return false
	}
	skipped := uint64(0) // a hash set of the keys without a role: on a chance of a second one decode has the say
	for {
		if i >= end || text[i] != '"' {
			return false
		}
		key, next, ok := plainString(text[:end], i)
		if !ok {
			return false
		}
		r := p.roles[string(key)]
		if r != roleNone && p.seen[r] {
			return false
		}
		i = skipSpace(text[:end], next)
		if i >= end || text[i] != ':' {
			return false
		}
		i = skipSpace(text[:end], i+1)
		if i >= end {
			return false
		}
		switch v := p.value(r); {
		case v != nil && text[i] == '[':
			p.seen[r] = true
			if i, ok = integers(padded, i+1, end, v, r != roleIDs); !ok {
				return false
			}
		case (r == roleID || r == roleKey) && text[i] == '"':
			p.seen[r] = true
			var value []byte
			if value, i, ok = plainString(text[:end], i); !ok {
				return false
			}
			p.setName(r, value)
		case r != roleNone:
			return false
		default:
			bit := uint64(1) << (hashKey(key) % 64)
			if skipped&bit != 0 {
				return false
			}
			skipped |= bit
			from := i
			if i, ok = endOfValue(text[:end], i); !ok || !json.Valid(text[from:i]) {
				return false
			}
			if text[from] == '[' {
				j := skipSpace(text[:i], from+1)
				if c := text[j]; c == '-' || c >= '0' && c <= '9' {
					b.unused = append(b.unused, string(key))
				}
			}
		}
		i = skipSpace(text[:end], i)
		switch {
		case i >= end:
			return false
		case text[i] == ',':
			i = skipSpace(text[:end], i+1)
		case text[i] == '}':
			return skipSpace(text[:end], i+1) == end
		default:
			return false
		}
	}
}

// hashKey returns a number that differs for most keys.
func hashKey(key []byte) uint64 {
	h := uint64(len(key))
	for _, c := range key {
		h = h*31 + uint64(c)
	}
	return h ^ h>>7
}

// skipSpace returns the first position from i on that holds no white space of JSON.
func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// plainString returns what is between the quotes of the string that begins at text[i] and the position after it, if that is ASCII
// without escapes and control characters.
func plainString(text []byte, i int) (s []byte, next int, ok bool) {
	n := bytes.IndexByte(text[i+1:], '"')
	if n < 0 {
		return nil, 0, false
	}
	s = text[i+1 : i+1+n]
	for _, c := range s {
		if c < 0x20 || c > 0x7e || c == '\\' {
			return nil, 0, false
		}
	}
	return s, i + n + 2, true
}

// endOfValue returns the position after the value that begins at text[i], if the text from there on is JSON.
func endOfValue(text []byte, i int) (int, bool) {
	depth := 0
	for i < len(text) {
		switch c := text[i]; c {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return 0, false
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return i, true // the end of a number or word, just before the object's
			}
			depth--
		case ',', ' ', '\t', '\r':
			if depth == 0 {
				return i, true
			}
		}
		i++
		if c := text[i-1]; depth == 0 && (c == '"' || c == ']' || c == '}') {
			return i, true
		}
	}
	return i, depth == 0
}

const (
	zeros   = 0x3030303030303030
	highs   = 0x8080808080808080
	above9  = 0x7676767676767676 // 0x80 - 10 in every byte
	lowFour = 0x0f0f0f0f0f0f0f0f
	ignore  = '-' | '1'<<8 | '0'<<16 | '0'<<24
)

// integers appends the integers of the list whose first element or end is at text[i], and returns the position after the list. It fails
// on anything but integers from 0 to 2147483647 and, if signed, -100. There must be padding bytes after end.
//
// Digits are told from other bytes, and turned into a number, eight at a time: see D. Lemire, "Quickly parsing eight digits" (2018).
func integers(text []byte, i, end int, dst *[]int32, signed bool) (int, bool) {
	v := *dst
	defer func() { *dst = v }()
	i = skipSpace(text[:end], i)
	if i < end && text[i] == ']' {
		return i + 1, true
	}
	for i < end {
		w := binary.LittleEndian.Uint64(text[i:])
		var x int32
		if byte(w) == '-' {
			if uint32(w) != ignore || !signed {
				return 0, false // rare: a negative number but -100
			}
			x = -100
			i += 4
		} else {
			d := w ^ zeros
			n := bits.TrailingZeros64(((d+above9)|d)&highs) >> 3
			if n == 0 || n > 1 && byte(w) == '0' {
				return 0, false
			}
			if n < 8 {
				d <<= uint(8-n) * 8
			}
			d &= lowFour
			d = d * 2561 >> 8 & 0x00ff00ff00ff00ff
			d = d * 6553601 >> 16 & 0x0000ffff0000ffff
			number := d * 42949672960001 >> 32
			i += n
			if n == 8 {
				for k := 0; text[i]-'0' <= 9; k++ {
					if k == 2 {
						return 0, false
					}
					number = number*10 + uint64(text[i]-'0')
					i++
				}
				if number > 1<<31-1 {
					return 0, false
				}
			}
			x = int32(number)
		}
		v = append(v, x)
		switch text[i] {
		case ',':
			i++
			if text[i] == ' ' {
				i++
			}
		case ']':
			return i + 1, i < end
		default:
			i = skipSpace(text[:end], i)
			if i >= end {
				return 0, false
			}
			if text[i] == ']' {
				return i + 1, true
			}
			if text[i] != ',' {
				return 0, false
			}
			i++
		}
		if c := text[i]; c == ' ' || c == '\t' || c == '\r' {
			i = skipSpace(text[:end], i)
		}
	}
	return 0, false
}

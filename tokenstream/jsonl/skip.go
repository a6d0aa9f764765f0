package jsonl

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// The functions of this file read JSON at text[i] and return the position after it. They fail on whatever is not JSON, and may fail on
// JSON that is unusual, about which encoding/json has the say.

// skipSpace returns the first position from i on that holds no white space of JSON. A line has no line feed.
func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// maxSkipDepth is how deep a value may be nested for skipValue.
const maxSkipDepth = 100

// skipValue reads a value with lists and objects up to the given depth.
func skipValue(text []byte, i, depth int) (next int, ok bool) {
	if i >= len(text) {
		return 0, false
	}
	c := text[i]
	switch c {
	case '"':
		return skipString(text, i)
	case 't':
		return i + 4, bytes.HasPrefix(text[i:], []byte("true"))
	case 'f':
		return i + 5, bytes.HasPrefix(text[i:], []byte("false"))
	case 'n':
		return i + 4, bytes.HasPrefix(text[i:], null)
	case '[', '{':
	default:
		return skipNumber(text, i)
	}
	if depth == 0 {
		return 0, false
	}
	end := c + 2 // the bracket that closes
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == end {
		return i + 1, true
	}
	for {
		if c == '{' {
			if i, ok = skipString(text, i); !ok {
				return 0, false
			}
			i = skipSpace(text, i)
			if i >= len(text) || text[i] != ':' {
				return 0, false
			}
			i = skipSpace(text, i+1)
		}
		if i, ok = skipValue(text, i, depth-1); !ok {
			return 0, false
		}
		i = skipSpace(text, i)
		switch {
		case i >= len(text):
			return 0, false
		case text[i] == end:
			return i + 1, true
		case text[i] != ',':
			return 0, false
		}
		i = skipSpace(text, i+1)
	}
}

// skipNumber reads a number.
func skipNumber(text []byte, i int) (next int, ok bool) {
	if i < len(text) && text[i] == '-' {
		i++
	}
	from := i
	if i = skipDigits(text, i); i == from || i > from+1 && text[from] == '0' {
		return 0, false
	}
	if i < len(text) && text[i] == '.' {
		from = i + 1
		if i = skipDigits(text, from); i == from {
			return 0, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		from = i
		if i = skipDigits(text, from); i == from {
			return 0, false
		}
	}
	return i, true
}

func skipDigits(text []byte, i int) int {
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	return i
}

const (
	ones       = 0x0101010101010101
	quotes     = '"' * ones
	backslashs = '\\' * ones
	spaces     = ' ' * ones
)

// skipString reads a string. Eight bytes at a time are searched for the first that is a quote, a backslash or a control character: the
// tests for a byte that is 0 or below 0x20 are those of S. Anderson, "Bit Twiddling Hacks"; they are exact up to the first such byte.
func skipString(text []byte, i int) (next int, ok bool) {
	if i >= len(text) || text[i] != '"' {
		return 0, false
	}
	i++
	for i < len(text) {
		if i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			q, s := w^quotes, w^backslashs
			hits := ((q-ones)&^q | (s-ones)&^s | (w-spaces)&^w) & highs
			if hits == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(hits) >> 3
		}
		switch c := text[i]; {
		case c == '"':
			return i + 1, true
		case c == '\\':
			if i = skipEscape(text, i); i == 0 {
				return 0, false
			}
		case c < ' ':
			return 0, false
		default:
			i++
		}
	}
	return 0, false
}

// skipEscape returns the position after the escape at text[i], or 0.
func skipEscape(text []byte, i int) int {
	if i+1 >= len(text) {
		return 0
	}
	switch text[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if i+6 > len(text) {
			return 0
		}
		for _, c := range text[i+2 : i+6] {
			if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
				return 0
			}
		}
		return i + 6
	}
	return 0
}

// stringAt reads a string and returns what it says: a part of text if it is plain ASCII, else what encoding/json makes of it.
func stringAt(text []byte, i int) (s []byte, next int, ok bool) {
	next, ok = skipString(text, i)
	if !ok {
		return nil, 0, false
	}
	s = text[i+1 : next-1]
	for _, c := range s {
		if c == '\\' || c >= 0x80 {
			var unquoted string
			err := json.Unmarshal(text[i:next], &unquoted)
			return []byte(unquoted), next, err == nil
		}
	}
	return s, next, true
}

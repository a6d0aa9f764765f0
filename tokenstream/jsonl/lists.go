package jsonl

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

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

// booleans appends the booleans of the list whose first element is at text[i], as 0 and 1, and returns the position after the list. It
// fails on anything else.
func booleans(text []byte, i int, dst *[]int32) (int, bool) {
	v := *dst
	defer func() { *dst = v }()
	for {
		i = skipSpace(text, i)
		switch {
		case bytes.HasPrefix(text[i:], []byte("true")):
			v = append(v, 1)
			i += 4
		case bytes.HasPrefix(text[i:], []byte("false")):
			v = append(v, 0)
			i += 5
		default:
			return 0, false
		}
		i = skipSpace(text, i)
		switch {
		case i >= len(text):
			return 0, false
		case text[i] == ']':
			return i + 1, true
		case text[i] != ',':
			return 0, false
		}
		i++
	}
}

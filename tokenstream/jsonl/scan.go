package jsonl

import (
	"bytes"

	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// maxKeys is how many keys a line of the usual shape has at most; they are compared with one another.
const maxKeys = 64

// scan reads the line that begins with text[i] and ends before end, if it has the usual shape: an object of few keys, with flat lists of
// integers without a sign but that of -100, or of booleans in a mask, and names. It reports whether it could; if not, what it read so
// far means nothing. It looks up to padding bytes beyond end, which text has room for.
func (p *parser) scan(text []byte, i, end int) bool {
	padded := text[: len(text)+padding : len(text)+padding]
	text = text[:end]
	if text[i] != '{' {
		return false
	}
	i = skipSpace(text, i+1)
	for {
		if i >= end || text[i] != '"' {
			return false
		}
		key, next, ok := stringAt(text, i)
		if !ok || len(p.keys) == maxKeys {
			return false
		}
		for _, k := range p.keys {
			if string(k) == string(key) {
				return false
			}
		}
		p.keys = append(p.keys, key)
		i = skipSpace(text, next)
		if i >= end || text[i] != ':' {
			return false
		}
		i = skipSpace(text, i+1)
		if i >= end {
			return false
		}
		if i, ok = p.scanValue(padded, i, end, key); !ok {
			return false
		}
		i = skipSpace(text, i)
		switch {
		case i >= end:
			return false
		case text[i] == ',':
			i = skipSpace(text, i+1)
		case text[i] == '}':
			return skipSpace(text, i+1) == end
		default:
			return false
		}
	}
}

var null = []byte("null")

// scanValue reads the value of a key, which begins at padded[i], and returns the position after it.
func (p *parser) scanValue(padded []byte, i, end int, key []byte) (next int, ok bool) {
	text := padded[:end]
	r := p.o.roles[string(key)]
	v := &p.list[r]
	switch {
	case r == columns.None:
		if next, ok = skipValue(text, i, maxSkipDepth); ok && text[i] == '[' {
			switch c := text[skipSpace(text, i+1)]; {
			case c == '-', c >= '0' && c <= '9', c == 't', c == 'f', c == 'n':
				p.unused = append(p.unused, key)
			}
		}
		return next, ok
	case bytes.HasPrefix(text[i:], null):
		return i + len(null), true
	case r.IsList() && text[i] == '[':
		p.seen[r] = true
		if next, ok = integers(padded, i+1, end, v, r != columns.IDs); !ok && r.IsFlag() {
			next, ok = booleans(text, i+1, v) // which fails at once if there was a number
		}
		return next, ok
	case r.IsText():
		p.seen[r] = true
		var name []byte
		if text[i] == '"' {
			name, next, ok = stringAt(text, i)
		} else {
			next, ok = skipNumber(text, i)
			if !ok || bytes.ContainsAny(text[i:next], ".eE") {
				return 0, false
			}
			name = text[i:next]
		}
		p.setName(r, name)
		return next, ok
	}
	return 0, false
}

package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// decode reads a line by encoding/json.
func (p *parser) decode(text []byte) error {
	if !json.Valid(text) {
		var v json.RawMessage
		err := json.Unmarshal(text, &v)
		var at *json.SyntaxError
		if errors.As(err, &at) {
			return fmt.Errorf("not JSON: %w (at byte %d of the line): want one object a line", err, at.Offset)
		}
		return fmt.Errorf("not JSON: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	first, err := d.Token()
	if err != nil {
		return err
	}
	if first != json.Delim('{') {
		return fmt.Errorf("%s: want an object with %s", describe(first), p.o.IDs)
	}
	keys := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if keys[key] {
			return columns.Wrong(key, "the key stands twice")
		}
		keys[key] = true
		if err := p.decodeValue(d, key); err != nil {
			return err
		}
	}
	return nil
}

// decodeValue reads the value of a key.
func (p *parser) decodeValue(d *json.Decoder, key string) error {
	r := p.o.roles[key]
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t == nil {
		return nil
	}
	switch {
	case r == columns.Packed:
		return columns.Wrong(key, "the line is packed already: want single samples")
	case r.IsText():
		p.seen[r] = true
		switch t := t.(type) {
		case string:
			p.setName(r, []byte(t))
			return nil
		case json.Number:
			if !strings.ContainsAny(t.String(), ".eE") {
				p.setName(r, []byte(t))
				return nil
			}
		}
		return columns.Wrong(key, "%s: want a string or an integer", describe(t))
	case r == columns.None:
		if t == json.Delim('[') && d.More() {
			first, err := d.Token()
			if err != nil {
				return err
			}
			switch first.(type) {
			case json.Number, bool, nil:
				p.unused = append(p.unused, []byte(key))
			}
			if err := skip(d, first); err != nil {
				return err
			}
		}
		return skip(d, t)
	}
	if t != json.Delim('[') {
		return columns.Wrong(key, "%s: want a list of integers", describe(t))
	}
	v := &p.list[r]
	p.seen[r] = true
	low := math.MinInt32
	if r == columns.IDs {
		low = 0
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		x, err := integer(t, low, r.IsFlag())
		if err != nil {
			if t == json.Delim('[') && len(*v) == 0 {
				return columns.Wrong(key, "a list of lists: want a flat list of integers")
			}
			return columns.Wrong(fmt.Sprintf("%s[%d]", key, len(*v)), "%w", err)
		}
		*v = append(*v, x)
	}
	_, err = d.Token()
	return err
}

// setName keeps the id or key of a sample.
func (p *parser) setName(r columns.Role, text []byte) {
	if r == columns.ID {
		p.id = append(p.id[:0], text...)
	} else {
		p.key = append(p.key[:0], text...)
	}
}

// integer returns the value of an element of a list.
func integer(t json.Token, low int, mask bool) (int32, error) {
	switch t := t.(type) {
	case json.Number:
		v, err := strconv.ParseInt(t.String(), 10, 32)
		switch {
		case err == nil && int(v) >= low:
			return int32(v), nil
		case strings.ContainsAny(t.String(), ".eE"):
			return 0, fmt.Errorf("%s: want an integer without a fraction or an exponent", shorten(t.String()))
		}
		return 0, fmt.Errorf("%s: want %d..%d", shorten(t.String()), low, math.MaxInt32)
	case bool:
		if mask && t {
			return 1, nil
		}
		if mask {
			return 0, nil
		}
	}
	return 0, fmt.Errorf("%s: want an integer", describe(t))
}

// describe says what a token is, in a few words.
func describe(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(t)
	case json.Number:
		return "the number " + shorten(t.String())
	case string:
		return "the string " + strconv.Quote(shorten(t))
	case json.Delim:
		if t == '[' {
			return "a list"
		}
		return "an object"
	}
	return fmt.Sprint(t)
}

// shorten keeps error messages short.
func shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:37], "") + "..."
	}
	return s
}

// skip reads to the end of the value that begins with t.
func skip(d *json.Decoder, t json.Token) error {
	depth := 0
	for {
		switch t {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if t, err = d.Token(); err != nil {
			return err
		}
	}
}

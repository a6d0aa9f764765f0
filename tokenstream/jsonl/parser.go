package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/brimful/brimful/tokenstream"
)

// parser parses lines. It has two ways, which agree on every line that both take: scan takes lines of the usual shape and gives up on
// anything else; decode takes every line, by encoding/json, and is the one to say what is wrong.
type parser struct {
	o     *Options
	roles map[string]role
	ids   []int32
	list  [][]int32 // values of the other keys with a list, by role
	seen  []bool    // by role
	id    []byte
	key   []byte
}

// role is what a key is for. Masks have the roles from roleMask on, one each.
type role int

const (
	roleNone role = iota
	roleIDs
	roleLabels
	roleAttention
	rolePositions
	rolePacked // only rows that are packed have it
	roleID
	roleKey
	roleMask
)

func newParser(o *Options) *parser {
	p := &parser{o: o, roles: map[string]role{
		"attention_mask": roleAttention, "position_ids": rolePositions, "id": roleID,
		"cu_seqlens": rolePacked, "seq_lengths": rolePacked, "seq_idx": rolePacked,
	}}
	for i, name := range o.Masks {
		p.roles[name] = roleMask + role(i)
	}
	p.roles[o.Labels] = roleLabels
	p.roles[o.IDs] = roleIDs
	if o.KeyField != "" && p.roles[o.KeyField] == roleNone {
		p.roles[o.KeyField] = roleKey
	}
	p.seen = make([]bool, int(roleMask)+len(o.Masks))
	p.list = make([][]int32, len(p.seen))
	return p
}

// parse parses the lines of b up to the first that is wrong.
func (p *parser) parse(b *block) {
	text := b.text
	line := int64(0)
	for start := 0; start < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		line++
		if err := p.line(b, start, end, line); err != nil {
			b.err, b.errLine = err, line
			return
		}
		start = end + 1
	}
}

// line parses b.text[start:end].
func (p *parser) line(b *block, start, end int, line int64) error {
	if end-start > p.o.MaxLineBytes {
		return fmt.Errorf("the line has %d bytes: want at most %d", end-start, p.o.MaxLineBytes)
	}
	i := skipSpace(b.text[:end], start)
	if i == end {
		return nil
	}
	unused := len(b.unused)
	p.begin()
	if p.o.noScan || !p.scan(b, i, end) {
		b.unused = b.unused[:unused]
		p.begin()
		if err := p.decode(b, b.text[i:end]); err != nil {
			return err
		}
	}
	return p.finish(b, line)
}

// begin forgets the line before.
func (p *parser) begin() {
	clear(p.seen)
	p.ids, p.id, p.key = p.ids[:0], p.id[:0], p.key[:0]
	for i := range p.list {
		p.list[i] = p.list[i][:0]
	}
}

// value returns where the integers of a role are kept, or nil if they are not.
func (p *parser) value(r role) *[]int32 {
	switch {
	case r == roleIDs:
		return &p.ids
	case r == roleLabels, r == roleAttention, r == rolePositions, r >= roleMask:
		return &p.list[r]
	}
	return nil
}

// name returns the key of a role.
func (p *parser) name(r role) string {
	switch {
	case r == roleIDs:
		return p.o.IDs
	case r == roleLabels:
		return p.o.Labels
	case r == roleAttention:
		return "attention_mask"
	case r >= roleMask:
		return p.o.Masks[r-roleMask]
	}
	return "position_ids"
}

// finish turns what was read of a line into a sample.
func (p *parser) finish(b *block, line int64) error {
	if !p.seen[roleIDs] {
		return wrong(p.o.IDs, "no such key, or null: want a list of token ids")
	}
	n := len(p.ids)
	masked := role(0)
	for r := range p.seen {
		r := role(r)
		if !p.seen[r] || r == roleIDs || p.value(r) == nil {
			continue
		}
		v := *p.value(r)
		if len(v) != n {
			return wrong(p.name(r), "%d values for %d ids: want as many", len(v), n)
		}
		switch {
		case r >= roleMask:
			masked = r
			fallthrough
		case r == roleAttention:
			for i, x := range v {
				if x != 0 && x != 1 {
					return wrong(fmt.Sprintf("%s[%d]", p.name(r), i), "%d: want 0 or 1", x)
				}
			}
		case r == rolePositions:
			for i, x := range v {
				if int(x) != i {
					return wrong(fmt.Sprintf("position_ids[%d]", i), "%d: want %d; does the line hold several samples, packed already?", x, i)
				}
			}
		}
	}
	if masked != 0 && p.seen[roleLabels] {
		return wrong(p.name(masked), "both a mask and %s: want one of them", p.o.Labels)
	}
	if p.o.KeyField != "" && !p.seen[p.roles[p.o.KeyField]] {
		return wrong(p.o.KeyField, "no such key, or null: want a string or an integer")
	}
	from, to := 0, n
	if p.seen[roleAttention] {
		var err error
		if from, to, err = run(p.list[roleAttention]); err != nil {
			return err
		}
	}
	b.tokens = append(b.tokens, p.ids[from:to]...)
	labelled := true
	switch {
	case p.seen[roleLabels]:
		b.labels = append(b.labels, p.list[roleLabels][from:to]...)
	case masked != 0:
		start := len(b.labels)
		b.labels = append(b.labels, p.ids[from:to]...)
		for r := roleMask; r < role(len(p.seen)); r++ {
			if !p.seen[r] {
				continue
			}
			for i, x := range (*p.value(r))[from:to] {
				if x == 0 {
					b.labels[start+i] = tokenstream.Ignore
				}
			}
		}
	default:
		labelled = false
	}
	b.names = append(b.names, p.id...)
	id := len(b.names)
	switch {
	case p.o.KeyField == "":
	case p.roles[p.o.KeyField] == roleID:
		b.names = append(b.names, p.id...)
	default:
		b.names = append(b.names, p.key...)
	}
	b.samples = append(b.samples, entry{line: line, tokens: len(b.tokens), labels: len(b.labels), id: id, key: len(b.names), labelled: labelled})
	return nil
}

// run returns where the ones of an attention mask begin and end.
func run(mask []int32) (from, to int, err error) {
	from, to = slices.Index(mask, 1), len(mask)
	if from < 0 {
		return 0, 0, nil
	}
	if i := slices.Index(mask[from:], 0); i >= 0 {
		to = from + i
	}
	if i := slices.Index(mask[to:], 1); i >= 0 {
		return 0, 0, wrong(fmt.Sprintf("attention_mask[%d]", to), "0 between ones: want one run of ones, with padding at the ends only")
	}
	return from, to, nil
}

// decode reads a line by encoding/json.
func (p *parser) decode(b *block, text []byte) error {
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
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
			return wrong(key, "the key stands twice")
		}
		keys[key] = true
		if err := p.decodeValue(b, d, key); err != nil {
			return err
		}
	}
	return nil
}

// decodeValue reads the value of a key.
func (p *parser) decodeValue(b *block, d *json.Decoder, key string) error {
	r := p.roles[key]
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t == nil {
		return nil
	}
	switch {
	case r == rolePacked:
		return wrong(key, "the line is packed already: want single samples")
	case r == roleID || r == roleKey:
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
		return wrong(key, "%s: want a string or an integer", describe(t))
	case r == roleNone:
		numbers := false
		if t == json.Delim('[') && d.More() {
			t, err = d.Token()
			if err != nil {
				return err
			}
			_, numbers = t.(json.Number)
			if err := skip(d, t); err != nil {
				return err
			}
			t = json.Delim('[')
		}
		if numbers {
			b.unused = append(b.unused, key)
		}
		return skip(d, t)
	}
	if t != json.Delim('[') {
		return wrong(key, "%s: want a list of integers", describe(t))
	}
	v := p.value(r)
	p.seen[r] = true
	mask, low := r == roleAttention || r >= roleMask, math.MinInt32
	if r == roleIDs {
		low = 0
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		x, err := integer(t, low, mask)
		if err != nil {
			if t == json.Delim('[') && len(*v) == 0 {
				return wrong(key, "a list of lists: want a flat list of integers")
			}
			return wrong(fmt.Sprintf("%s[%d]", key, len(*v)), "%w", err)
		}
		*v = append(*v, x)
	}
	_, err = d.Token()
	return err
}

// setName keeps the id or key of a sample.
func (p *parser) setName(r role, text []byte) {
	if r == roleID {
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

package jsonl

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

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

	keys   [][]byte        // of the line, as scan met them
	unused [][]byte        // keys of the line to be told of
	told   map[string]bool // keys that this parser has told of
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

// fixedRoles are the keys that have a role whatever the options say.
var fixedRoles = map[string]role{
	"attention_mask": roleAttention, "position_ids": rolePositions, "id": roleID,
	"cu_seqlens": rolePacked, "seq_lengths": rolePacked, "seq_idx": rolePacked,
}

func newParser(o *Options) *parser {
	p := &parser{o: o, roles: maps.Clone(fixedRoles), told: map[string]bool{}}
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
	p.begin()
	if p.o.noScan || !p.scan(b.text, i, end) {
		p.begin()
		if err := p.decode(b.text[start:end]); err != nil {
			return err
		}
	}
	for _, key := range p.unused {
		if !p.told[string(key)] && len(p.told) < maxUnused {
			p.told[string(key)] = true
			b.unused = append(b.unused, string(key))
		}
	}
	return p.finish(b, line)
}

// begin forgets the line before.
func (p *parser) begin() {
	clear(p.seen)
	p.ids, p.id, p.key, p.keys, p.unused = p.ids[:0], p.id[:0], p.key[:0], p.keys[:0], p.unused[:0]
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

// isMask reports whether the values of a role are 0 and 1.
func isMask(r role) bool { return r == roleAttention || r >= roleMask }

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

package jsonl

import (
	"bytes"
	"fmt"

	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// parser parses lines. It has two ways, which agree on every line that both take: scan takes lines of the usual shape and gives up on
// anything else; decode takes every line, by encoding/json, and is the one to say what is wrong.
type parser struct {
	o    *Options
	row  *columns.Row
	list [][]int32 // by role
	seen []bool    // by role
	id   []byte
	key  []byte

	keys   [][]byte        // of the line, as scan met them
	unused [][]byte        // keys of the line to be told of
	told   map[string]bool // keys that this parser has told of
}

func newParser(o *Options) *parser {
	p := &parser{o: o, row: columns.NewRow(&o.Fields), told: map[string]bool{}}
	p.list = make([][]int32, len(p.row.Lists))
	for r := range p.list {
		p.list[r] = []int32{} // not nil, which would be none
	}
	p.seen = make([]bool, len(p.list))
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
	p.id, p.key, p.keys, p.unused = p.id[:0], p.key[:0], p.keys[:0], p.unused[:0]
	for i := range p.list {
		p.list[i] = p.list[i][:0]
	}
}

// finish turns what was read of a line into a sample.
func (p *parser) finish(b *block, line int64) error {
	if !p.seen[columns.IDs] {
		return columns.Wrong(p.o.IDs, "no such key, or null: want a list of token ids")
	}
	for r, v := range p.list {
		p.row.Lists[r] = nil
		if p.seen[r] && columns.Role(r).IsList() {
			p.row.Lists[r] = v
		}
	}
	ids, labels, err := p.row.Sample()
	if err != nil {
		return err
	}
	if key := p.o.KeyField; key != "" && !p.seen[p.o.roles[key]] {
		return columns.Wrong(key, "no such key, or null: want a string or an integer")
	}
	b.tokens = append(b.tokens, ids...)
	b.labels = append(b.labels, labels...)
	b.names = append(b.names, p.id...)
	id := len(b.names)
	switch {
	case p.o.KeyField == "":
	case p.o.roles[p.o.KeyField] == columns.ID:
		b.names = append(b.names, p.id...)
	default:
		b.names = append(b.names, p.key...)
	}
	b.samples = append(b.samples, entry{line: line, tokens: len(b.tokens), labels: len(b.labels), id: id, key: len(b.names), labelled: labels != nil})
	return nil
}

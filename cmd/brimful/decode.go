package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoder turns ids into text as the tokenizer's own decoder does, for the three kinds that nearly all of them are of: byte-level BPE (GPT-2,
// Qwen, Llama 3 and later), SentencePiece with or without byte fallback (Llama 2, Mistral, Gemma, T5), and WordPiece (BERT).
type decoder struct {
	kind    decoderKind
	special map[int32]bool // added tokens, whose text is as it stands
	texts   map[int32]string
	bytes   map[rune]byte // of the byte-level alphabet
}

type decoderKind int

const (
	asStored decoderKind = iota // no decoder that is known: the texts of the vocabulary
	byteLevel
	metaspace
	wordPiece
)

// openDecoder reads a tokenizer.json.
func openDecoder(path string) (*decoder, error) {
	t, err := openTokenizer(path)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		AddedTokens []struct {
			ID int32 `json:"id"`
		} `json:"added_tokens"`
		Decoder json.RawMessage `json:"decoder"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := &decoder{kind: kindOfDecoder(file.Decoder), texts: t.texts, special: map[int32]bool{}}
	for _, a := range file.AddedTokens {
		d.special[a.ID] = true
	}
	if d.kind == byteLevel {
		d.bytes = byteAlphabet()
	}
	return d, nil
}

// kindOfDecoder finds the kind by the types of the decoder's steps.
func kindOfDecoder(raw json.RawMessage) decoderKind {
	var d struct {
		Type     string            `json:"type"`
		Decoders []json.RawMessage `json:"decoders"`
	}
	if json.Unmarshal(raw, &d) != nil {
		return asStored
	}
	switch d.Type {
	case "ByteLevel":
		return byteLevel
	case "Metaspace", "ByteFallback":
		return metaspace
	case "WordPiece":
		return wordPiece
	}
	for _, step := range d.Decoders {
		if k := kindOfDecoder(step); k != asStored {
			return k
		}
	}
	return asStored
}

// byteAlphabet returns the byte that each rune of byte-level vocabularies stands for: printable ones for themselves, the others, in
// order, for the runes from 256 on.
func byteAlphabet() map[rune]byte {
	m := map[rune]byte{}
	next := rune(256)
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			m[rune(b)] = byte(b)
		} else {
			m[next] = byte(b)
			next++
		}
	}
	return m
}

// decode returns the text of ids. What is no UTF-8, since a character may be cut at either end, becomes U+FFFD.
func (d *decoder) decode(ids []int64) string {
	var b bytes.Buffer
	for i, id := range ids {
		token, ok := d.texts[int32(id)]
		switch {
		case !ok || id != int64(int32(id)):
			fmt.Fprintf(&b, "<id %d?>", id)
		case d.special[int32(id)]:
			b.WriteString(token)
		case d.kind == byteLevel:
			for _, r := range token {
				if v, ok := d.bytes[r]; ok {
					b.WriteByte(v)
				} else {
					b.WriteRune(r)
				}
			}
		case d.kind == metaspace:
			if v, ok := fallbackByte(token); ok {
				b.WriteByte(v)
			} else {
				b.WriteString(strings.ReplaceAll(token, "▁", " "))
			}
		case d.kind == wordPiece:
			if rest, ok := strings.CutPrefix(token, "##"); ok {
				b.WriteString(rest)
			} else {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(token)
			}
		default:
			b.WriteString(token)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// fallbackByte returns the byte that a token such as <0x0A> stands for.
func fallbackByte(token string) (byte, bool) {
	if len(token) != 6 || !strings.HasPrefix(token, "<0x") || token[5] != '>' {
		return 0, false
	}
	v, err := strconv.ParseUint(token[3:5], 16, 8)
	return byte(v), err == nil
}

// before returns the last n characters of a text, and after the first, in quotes and with what a terminal must not get escaped.
func before(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return strconv.Quote(text)
	}
	return "..." + strconv.Quote(string(runes[len(runes)-n:]))
}

func after(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return strconv.Quote(text)
	}
	return strconv.Quote(string(runes[:n])) + "..."
}

// printable returns s with what a terminal must not get escaped.
func printable(s string) string {
	if utf8.ValidString(s) && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !strconv.IsPrint(r) }) {
		return s
	}
	return strconv.Quote(s)
}

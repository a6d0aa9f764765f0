package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/inspect"
	"github.com/brimful/brimful/tokenstream"
)

// drawn is a row of many segments, some of one token, with a pad tail.
func drawn(segments int) *inspect.Row {
	r := &inspect.Row{Bounded: true}
	for k := range segments {
		from, length := r.Length, 1+k*7%23
		s := inspect.Segment{From: from, To: from + length, Sample: int64(k), Pad: k == segments-1}
		for i := range length {
			r.Tokens = append(r.Tokens, int64(100*k+i))
			r.Positions = append(r.Positions, int64(i))
			r.Targets = append(r.Targets, tokenstream.Ignore)
		}
		if length > 4 && !s.Pad {
			s.Supervised = []inspect.Run{{From: from + 3, To: s.To}}
		}
		r.Length += length
		r.Segments = append(r.Segments, s)
	}
	return r
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// On a terminal of any width no line is wider than it, with and without colour, and colour changes nothing but colours.
func TestCanvasWidth(t *testing.T) {
	for _, width := range []int{20, 40, 80, 200} {
		for _, segments := range []int{1, 2, 9, 400} {
			row := drawn(segments)
			draw := func(colour bool) string {
				var b bytes.Buffer
				c := &canvas{b: &b, width: width, cut: true, colour: colour}
				c.row(row)
				return b.String()
			}
			plain := draw(false)
			require.NotContains(t, plain, "\x1b")
			for line := range strings.Lines(plain) {
				require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), width, line)
			}
			coloured := draw(true)
			require.Contains(t, coloured, "\x1b[")
			require.Equal(t, plain, escape.ReplaceAllString(coloured, ""))
		}
	}
}

// A row of 10 tokens, one a character: 3 of which the last is to be learnt, 4 of which the last two are, padding.
func TestBar(t *testing.T) {
	row := &inspect.Row{Length: 10, Bounded: true, Segments: []inspect.Segment{
		{From: 0, To: 3, Supervised: []inspect.Run{{From: 2, To: 3}}}, {From: 3, To: 7, Supervised: []inspect.Run{{From: 5, To: 7}}}, {From: 7, To: 10, Pad: true},
	}}
	for _, c := range []struct {
		width int
		want  string
	}{{80, " 0  --#|-##|..\n# supervised  - not  . padding  | a segment begins; 1 token a character\n"}} {
		var b bytes.Buffer
		(&canvas{b: &b, width: c.width}).bar(row)
		require.Equal(t, c.want, b.String())
	}
	long := &inspect.Row{Length: 1000, Bounded: true, Segments: []inspect.Segment{{From: 0, To: 500}, {From: 500, To: 1000, Supervised: []inspect.Run{{From: 501, To: 1000}}}}}
	var b bytes.Buffer
	(&canvas{b: &b, width: 17}).bar(long)
	require.Equal(t, "    0  -----|####\n", b.String()[:strings.Index(b.String(), "\n")+1])
}

func TestDecoder(t *testing.T) {
	dir := t.TempDir()
	open := func(content string) *decoder {
		path := filepath.Join(dir, "tokenizer.json")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		d, err := openDecoder(path)
		require.NoError(t, err)
		return d
	}
	const added = `"added_tokens":[{"id":9,"content":"<s>Ġ"}]`
	for _, c := range []struct {
		name, file, want string
		ids              []int64
	}{
		{"byte-level", `{` + added + `,"decoder":{"type":"ByteLevel"},"model":{"vocab":{"hi":0,"Ġyou":1,"Ċ":2,"ÃŁ":3,"Ã":4}}}`, "<s>Ġhi you\nß\uFFFD<id 77?>",
			[]int64{9, 0, 1, 2, 3, 4, 77}},
		{"sentencepiece", `{` + added + `,"decoder":{"type":"Sequence","decoders":[{"type":"Replace"},{"type":"ByteFallback"},{"type":"Fuse"}]},` +
			`"model":{"vocab":[["▁hi",-1],["<0x0A>",-2],["you",-3]]}}`, " hi\nyou<s>Ġ", []int64{0, 1, 2, 9}},
		{"wordpiece", `{"decoder":{"type":"WordPiece"},"model":{"vocab":{"pack":0,"##ing":1,"rows":2}}}`, "packing rows", []int64{0, 1, 2}},
		{"unknown", `{"decoder":{"type":"CTC"},"model":{"vocab":{"a":0,"Ġb":1}}}`, "aĠb<id -1?><id 4294967296?>", []int64{0, 1, -1, 1 << 32}},
		{"none", `{"model":{"vocab":{"a":0}}}`, "aa", []int64{0, 0}},
	} {
		require.Equal(t, c.want, open(c.file).decode(c.ids), c.name)
	}
	require.Equal(t, `..."b\x1b[31m"`, before("aab\x1b[31m", 6), "a terminal gets no escapes")
	require.Equal(t, `"ab\x1b"...`, after("ab\x1b[31m", 3))
	require.Equal(t, `"ab"`, after("ab", 2))
	require.Equal(t, `"a\nb"`, printable("a\nb"))
	require.Equal(t, "übrig", printable("übrig"))
}

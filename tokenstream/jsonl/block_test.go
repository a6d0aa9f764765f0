package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream/jsonl"
)

func TestLongLines(t *testing.T) {
	line := func(n int) string {
		const head, tail = `{"input_ids":[1`, `]}`
		return head + strings.Repeat(",1", (n-len(head)-len(tail))/2) + strings.Repeat(" ", (n-len(head)-len(tail))%2) + tail
	}
	var text strings.Builder
	sizes := []int{65535, 65536, 65537, 1<<20 + 1, 40 << 20, 17}
	for _, n := range sizes {
		text.WriteString(line(n) + "\n")
	}
	for _, workers := range []int{1, 2} {
		got, err := read(strings.NewReader(text.String()), jsonl.Options{Workers: workers})
		require.NoError(t, err)
		require.Len(t, got, len(sizes))
		for i, n := range sizes {
			require.Len(t, got[i].Tokens, 1+(n-17)/2)
		}
		got, err = read(strings.NewReader(text.String()), jsonl.Options{Workers: workers, MaxLineBytes: 2 << 20})
		require.ErrorContains(t, err, "row 5: the line has")
		require.Len(t, got, 4)
	}
}

func TestText(t *testing.T) {
	const a, b = `{"input_ids":[1]}`, `{"input_ids":[2]}`
	for name, text := range map[string]string{
		"no newline at the end": a + "\n" + b, "CRLF": a + "\r\n" + b + "\r\n", "blank lines": "\n \n" + a + "\n\t\n\n" + b + "\n\n",
		"byte order mark": "\xef\xbb\xbf" + a + "\n" + b,
	} {
		got, err := read(iotest.OneByteReader(strings.NewReader(text)), jsonl.Options{})
		require.NoError(t, err, name)
		require.Len(t, got, 2, name)
	}
	for _, text := range []string{"", "\n", "  \n\n"} {
		got, err := read(strings.NewReader(text), jsonl.Options{})
		require.NoError(t, err)
		require.Empty(t, got)
	}
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func zstded(text string) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll([]byte(text), nil)
}

func TestCompressed(t *testing.T) {
	first, second := "{\"input_ids\":[1,2]}\n{\"input_", "ids\":[3]}\n"
	for name, pack := range map[string]func(string) []byte{"gzip": gzipped, "zstd": zstded} {
		whole := append(pack(first), pack(second)...) // members or frames that end within a line
		got, err := read(bytes.NewReader(whole), jsonl.Options{})
		require.NoError(t, err, name)
		require.Len(t, got, 2, name)
		for cut := 5; cut < len(whole); cut++ {
			if cut == len(pack(first)) {
				continue // that is a whole text, of which the last line is cut
			}
			_, err := read(bytes.NewReader(whole[:cut]), jsonl.Options{Name: "x"})
			require.Error(t, err, "%s cut at %d", name, cut)
		}
		_, err = read(bytes.NewReader(pack(first)[:len(pack(first))-3]), jsonl.Options{Name: "x"})
		require.ErrorContains(t, err, name, "the error says what is cut")
		_, err = read(bytes.NewReader(append(whole, "garbage at the end"...)), jsonl.Options{Name: "x"})
		require.Error(t, err, "%s with garbage", name)
	}
}

// A reader's error comes after the samples before it.
func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{1, 2} {
		got, err := read(io.MultiReader(strings.NewReader("{\"input_ids\":[1]}\n{\"inp"), iotest.ErrReader(broken)), jsonl.Options{Name: "a", Workers: workers})
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "a:2: broken")
		require.Len(t, got, 1)
	}
}

// The limit of a line is exact, wherever blocks are cut and whether or not a newline follows.
func TestLineLimit(t *testing.T) {
	const line = `{"input_ids":[1,22,333]}`
	for _, block := range []int{1, 7, len(line) - 1, len(line), len(line) + 1, len(line) + 2, 1 << 20} {
		for _, end := range []string{"", "\n", "\n" + line + "\n"} {
			o := jsonl.WithBlockBytes(jsonl.Options{Workers: 1, MaxLineBytes: len(line)}, block)
			_, err := read(strings.NewReader(line+end), o)
			require.NoError(t, err, "blocks of %d, %q after the line", block, end)
			o.MaxLineBytes--
			got, err := read(strings.NewReader("\n"+line+end), o)
			require.ErrorContains(t, err, "row 2: the line has", "blocks of %d, %q after the line", block, end)
			require.Empty(t, got)
		}
	}
}

// A line without an end is given up at the limit, and not after several times the limit has been read or asked for.
func TestEndlessLine(t *testing.T) {
	const limit = 8 << 20
	for _, workers := range []int{1, 2} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := &counter{r: endless{}}
		_, err := read(r, jsonl.Options{Workers: workers, MaxLineBytes: limit})
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, fmt.Sprintf("row 1: the line has more than %d bytes", limit))
		require.Less(t, r.n.Load(), int64(limit+2<<20))
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*limit), "all growing together")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// However many workers there are, lines far above the size of a block are not in memory together.
func TestLongLinesOneByOne(t *testing.T) {
	line := `{"input_ids":[1` + strings.Repeat(",1", 100_000) + "]}\n"
	r := &counter{r: strings.NewReader(strings.Repeat(line, 30))}
	given := int64(0)
	for _, err := range jsonl.Read(r, jsonl.WithBlockBytes(jsonl.Options{Workers: 8}, 1000)) {
		require.NoError(t, err)
		require.LessOrEqual(t, r.n.Load()-given, int64(4*len(line)+512<<10), "read ahead; the reader's own buffer holds 256 KiB")
		given += int64(len(line))
	}
	require.Equal(t, int64(30*len(line)), given)
}

// A file can't ask for more memory than the limit by its first bytes, nor hang a reader that has nothing to give.
func TestHostileText(t *testing.T) {
	frame := func(log byte) []byte { // of 3 bytes, with a window of 1<<log
		return []byte{0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3, 3<<3 | 1, 0, 0, '\n', '\n', '\n'}
	}
	_, err := read(bytes.NewReader(frame(27)), jsonl.Options{Workers: 1})
	require.NoError(t, err, "what the zstd command reads by default")
	for _, log := range []byte{30, 31, 40} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(bytes.NewReader(frame(log)), jsonl.Options{Workers: 1})
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "zstd: window size exceeded")
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	}
	for _, workers := range []int{1, 2} {
		_, err := read(io.MultiReader(strings.NewReader("{\"input_ids\":[1]}\n"), nothing{}), jsonl.Options{Workers: workers})
		require.ErrorIs(t, err, io.ErrNoProgress)
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

// Bytes after the last member or frame are an error however few they are; an empty member or frame is not.
func TestAfterCompressed(t *testing.T) {
	const text = "{\"input_ids\":[1]}\n"
	for name, pack := range map[string]func(string) []byte{"gzip": gzipped, "zstd": zstded} {
		whole := pack(text)
		for n := 1; n < 12; n++ {
			for _, c := range []string{"x", "\x00", string(whole[:1])} {
				got, err := read(strings.NewReader(string(whole)+strings.Repeat(c, n)), jsonl.Options{Name: "x"})
				require.ErrorContains(t, err, "x:2: ", "%s and %d bytes %q", name, n, c)
				require.Len(t, got, 1)
			}
		}
		got, err := read(bytes.NewReader(bytes.Join([][]byte{pack(""), whole, pack(""), whole}, nil)), jsonl.Options{})
		require.NoError(t, err, name)
		require.Len(t, got, 2, name)
	}
}

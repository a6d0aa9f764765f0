package verify_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/verify"
)

// peak returns how far the heap grew while f ran, at most.
func peak(f func()) uint64 {
	old := debug.SetGCPercent(10)
	defer debug.SetGCPercent(old)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// footer returns the pages of a Parquet file and its footer.
func footer(t *testing.T, b []byte) ([]byte, *format.FileMetaData) {
	n := int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	meta := new(format.FileMetaData)
	require.NoError(t, thrift.Unmarshal(new(thrift.CompactProtocol), b[len(b)-8-n:len(b)-8], meta))
	return b[: len(b)-8-n : len(b)-8-n], meta
}

// withFooter returns a Parquet file of pages and a footer.
func withFooter(pages, meta []byte) []byte {
	b := append(append([]byte{}, pages...), meta...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(meta)))
	return append(b, "PAR1"...)
}

// Files made to take much memory or time, or to crash, are faults and take little.
func TestHostile(t *testing.T) {
	parquetOf := func(change func(pages []byte, m *format.FileMetaData) []byte) func(d *damage) []byte {
		return func(d *damage) []byte {
			pages, meta := footer(t, d.bytes())
			pages = change(pages, meta)
			b, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
			require.NoError(t, err)
			return withFooter(pages, b)
		}
	}
	column := func(m *format.FileMetaData) *format.ColumnMetaData { return &m.RowGroups[0].Columns[0].MetaData }
	for _, h := range []struct {
		name, format string
		make         func(d *damage) []byte
	}{
		{"eight bytes", "parquet", func(*damage) []byte { return []byte("PAR1PAR1") }},
		{"a footer as long as the file", "parquet", func(d *damage) []byte {
			b := d.bytes()
			binary.LittleEndian.PutUint32(b[len(b)-8:], uint32(len(b)))
			return b
		}},
		{"a footer of a huge list", "parquet", func(*damage) []byte { // field 2, a list of 1<<28 structs
			return withFooter([]byte("PAR1"), []byte{0x29, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x01, 0})
		}},
		{"a footer nested deeply", "parquet", func(*damage) []byte { return withFooter([]byte("PAR1"), bytes.Repeat([]byte{0x1c}, 1<<20)) }},
		{"more rows than there are", "parquet", parquetOf(func(p []byte, m *format.FileMetaData) []byte {
			m.RowGroups[0].NumRows += 1 << 50
			m.NumRows += 1 << 50
			return p
		})},
		{"fewer rows than there are", "parquet", parquetOf(func(p []byte, m *format.FileMetaData) []byte { m.RowGroups[0].NumRows--; m.NumRows--; return p })},
		{"other rows in the row groups", "parquet", parquetOf(func(p []byte, m *format.FileMetaData) []byte { m.NumRows--; return p })},
		{"negative rows", "parquet", parquetOf(func(p []byte, m *format.FileMetaData) []byte {
			m.RowGroups[0].NumRows, m.NumRows = -1, -1
			return p
		})},
		{"pages outside the file", "parquet", parquetOf(func(p []byte, m *format.FileMetaData) []byte { column(m).DataPageOffset = 1 << 40; return p })},
		{"pages in the footer", "parquet", parquetOf(func(p []byte, m *format.FileMetaData) []byte { column(m).TotalCompressedSize += 1 << 20; return p })},
		{"no pages", "parquet", parquetOf(func(p []byte, m *format.FileMetaData) []byte { column(m).TotalCompressedSize = 0; return p })},
		{"a page of very many values", "parquet", func(d *damage) []byte {
			return hugePage(t, d, func(h *format.DataPageHeaderV2) { h.NumValues = 1<<31 - 1 })
		}},
		{"a page of very many bytes", "parquet", func(d *damage) []byte { return hugePage(t, d, nil) }},
		{"six bytes", "arrow", func(*damage) []byte { return []byte("ARROW1") }},
		{"a long schema", "arrow", func(d *damage) []byte { b := d.bytes(); binary.LittleEndian.PutUint32(b[12:], 1<<31-1); return b }},
		{"a schema of no bytes", "arrow", func(d *damage) []byte { b := d.bytes(); binary.LittleEndian.PutUint32(b[12:], 0); return b }},
		{"a long record batch", "arrow", func(d *damage) []byte {
			b := d.bytes()
			second := 16 + int(binary.LittleEndian.Uint32(b[12:]))
			i := second + bytes.Index(b[second:], bodyLength(t, b[second:]))
			binary.LittleEndian.PutUint64(b[i:], 1<<40)
			return b
		}},
		{"a footer longer than the file", "arrow", func(d *damage) []byte {
			b := d.bytes()
			binary.LittleEndian.PutUint32(b[len(b)-10:], 1<<31-1)
			return b
		}},
		{"a schema of one field very often", "hf", func(*damage) []byte { return fieldBomb() }},
	} {
		t.Run(h.name, func(t *testing.T) {
			d := open(t, write(t, job{format: h.format, tooLong: tokenstream.Drop}))
			d.saveBytes(h.make(d))
			var r *verify.Report
			grown := peak(func() { r = check(t, d.dir, nil) })
			require.NotZero(t, r.Reasons["unreadable"]+r.Reasons["counts"]+r.Reasons["columns"], "%v", r.Faults)
			require.Less(t, grown, uint64(64<<20))
		})
	}
}

// hugePage returns the shard with a first page that claims to be huge.
func hugePage(t *testing.T, d *damage, change func(*format.DataPageHeaderV2)) []byte {
	pages, meta := footer(t, d.bytes())
	m := &meta.RowGroups[0].Columns[0].MetaData
	first := pages[m.DataPageOffset:]
	var h format.PageHeader
	r := new(thrift.CompactProtocol).NewReaderFromBytes(first)
	require.NoError(t, thrift.NewDecoder(r).Decode(&h))
	body := first[r.BytesRead():][:h.CompressedPageSize]
	if change != nil {
		change(&h.DataPageHeaderV2.V)
	} else {
		h.UncompressedPageSize = 1<<31 - 1
	}
	page, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	require.NoError(t, err)
	m.DataPageOffset, m.TotalCompressedSize = int64(len(pages)), int64(len(page)+len(body))
	pages = append(append(pages, page...), body...)
	b, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	require.NoError(t, err)
	return withFooter(pages, b)
}

// bodyLength returns how the length of the body stands in an Arrow message.
func bodyLength(t *testing.T, message []byte) []byte {
	metadata := message[8 : 8+binary.LittleEndian.Uint32(message[4:])]
	root := binary.LittleEndian.Uint32(metadata)
	vtable := root - binary.LittleEndian.Uint32(metadata[root:])
	at := root + uint32(binary.LittleEndian.Uint16(metadata[vtable+10:]))
	require.Less(t, binary.LittleEndian.Uint64(metadata[at:]), uint64(1<<20))
	return metadata[at : at+8]
}

// fieldBomb returns an Arrow stream whose schema is a field of 64 children, which are one field of 64 children, and so on.
func fieldBomb() []byte {
	u16, u32 := binary.LittleEndian.AppendUint16, binary.LittleEndian.AppendUint32
	var b []byte
	b = u32(b, 16)                                   // the root
	for _, v := range []uint16{12, 16, 4, 6, 8, 0} { // the vtable of the message at 4: version, header type, header
		b = u16(b, v)
	}
	b = u32(b, 12)                           // the message at 16: its vtable is 12 before
	b = append(b, 4, 0, 1, 0)                // version 5, schema
	b = u32(b, 16)                           // the header is at 24+16 = 40
	b = u32(b, 0)                            // filling
	for _, v := range []uint16{8, 8, 0, 4} { // the vtable of the schema at 32: fields
		b = u16(b, v)
	}
	b = u32(b, 8) // the schema at 40
	b = u32(b, 4) // its fields are at 44+4 = 48
	const children = 64
	for range 20 {
		b = u32(b, children)
		field := len(b) + 4*children + 16 // behind the vector and the field's vtable
		for range children {
			b = u32(b, uint32(field-len(b)))
		}
		for _, v := range []uint16{16, 8, 0, 0, 0, 0, 0, 4} { // name, nullable, type type, type, dictionary, children
			b = u16(b, v)
		}
		b = u32(b, 16)
		b = u32(b, 4) // the children follow
	}
	b = u32(b, 0)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	head := u32(u32(nil, 0xffffffff), uint32(len(b)))
	return append(append(head, b...), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
}

// Whatever bytes of a small data set change, verify neither panics nor finds it right. Only words of the card and of the manifest that
// nothing depends on may change unseen.
func FuzzDamage(f *testing.F) {
	var dirs []string
	for _, format := range []string{"parquet", "arrow", "hf"} {
		dirs = append(dirs, write(f, job{format: format, tooLong: tokenstream.Drop}))
	}
	for i := range uint32(24) {
		f.Add(uint8(i), i*997, byte(1<<(i%8)), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint32, flip byte, resum bool) {
		if flip == 0 {
			return
		}
		dir := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(dir, os.DirFS(dirs[int(which)%len(dirs)])))
		d := open(t, dir)
		name := []string{d.path(0), d.path(1), filepath.Join(dir, "brimful.json")}[int(which/3)%3]
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		b[int(at)%len(b)] ^= flip
		require.NoError(t, os.WriteFile(name, b, 0o644))
		switch {
		case name == filepath.Join(dir, "brimful.json"):
			_, _ = verify.Dir(context.Background(), dir, verify.Options{})
		case resum && name == d.path(0):
			d.saveBytes(b)
			r, err := verify.Dir(context.Background(), dir, verify.Options{Source: source(samples())})
			require.NoError(t, err)
			if r.OK() { // a byte changed that nobody reads, such as a statistic or a gap: the rows are those that were written
				require.Zero(t, check(t, dir, nil).Wrong)
			}
		default:
			require.NotZero(t, check(t, dir, nil).Reasons["checksum"])
		}
	})
}

// Bytes of a shard change at random and its checksum is made right: what is then not found to be wrong has the rows that were written.
func TestDamage(t *testing.T) {
	for _, format := range []string{"parquet", "arrow", "hf"} {
		d := open(t, write(t, job{format: format, tooLong: tokenstream.Drop}))
		want, b := d.rows, d.bytes()
		r := rand.New(rand.NewPCG(1, 2))
		missed := 0
		for range 300 {
			now := bytes.Clone(b)
			for range 1 + r.IntN(3) {
				switch i := r.IntN(len(now)); r.IntN(4) {
				case 0:
					now = now[:i+1]
				case 1: // a number becomes extreme, most often in what is said about the data
					if i = i % 2048; r.IntN(2) == 0 {
						i = len(now) - 1 - i
					}
					word := []uint32{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, r.Uint32()}[r.IntN(6)]
					copy(now[max(i, 0):], binary.LittleEndian.AppendUint32(nil, word))
				default:
					now[i] ^= 1 << r.IntN(8)
				}
			}
			d.saveBytes(now)
			report, err := verify.Dir(context.Background(), d.dir, verify.Options{Source: source(samples())})
			require.NoError(t, err)
			if report.OK() {
				require.Equal(t, want, open(t, d.dir).rows)
				missed++
			}
		}
		require.Less(t, missed, 100, format)
	}
}

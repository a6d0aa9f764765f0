package parquet_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream/parquet"
)

// A handPage is one page of a handmade file: a header without its sizes, and what follows.
type handPage struct {
	header format.PageHeader
	body   []byte
}

// v1 is a page of n levels: a 4-byte length and the levels, twice for lists, and the values.
func v1(n int32, encoding format.Encoding, parts ...[]byte) handPage {
	h := format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: n, Encoding: encoding, RepetitionLevelEncoding: format.RLE, DefinitionLevelEncoding: format.RLE})}
	var body []byte
	for _, levels := range parts[:len(parts)-1] {
		body = binary.LittleEndian.AppendUint32(body, uint32(len(levels)))
		body = append(body, levels...)
	}
	return handPage{h, append(body, parts[len(parts)-1]...)}
}

func v2(n, rows int32, encoding format.Encoding, repetition, definition, values []byte) handPage {
	h := format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
		NumValues: n, NumRows: rows, Encoding: encoding,
		RepetitionLevelsByteLength: int32(len(repetition)), DefinitionLevelsByteLength: int32(len(definition))})}
	return handPage{h, append(append(bytes.Clone(repetition), definition...), values...)}
}

func dictionaryPage(n int32, values []byte) handPage {
	return handPage{format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: n, Encoding: format.Plain})}, values}
}

// plain returns integers as they are stored.
func plain(values ...int32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// runs returns levels of one bit as runs: how often 0, how often 1, and so on.
func runs(lengths ...uint64) (b []byte) {
	for i, n := range lengths {
		if n > 0 {
			b = append(binary.AppendUvarint(b, n<<1), byte(i%2))
		}
	}
	return b
}

// handmade returns a file of one column, input_ids, that is a required list of required integers of 32 bits.
func handmade(t testing.TB, rows, levels int64, pages ...handPage) []byte {
	t.Helper()
	file := []byte("PAR1")
	for _, p := range pages {
		if p.header.UncompressedPageSize == 0 {
			p.header.UncompressedPageSize = int32(len(p.body))
		}
		p.header.CompressedPageSize = int32(len(p.body))
		header, err := thrift.Marshal(new(thrift.CompactProtocol), &p.header)
		require.NoError(t, err)
		file = append(append(file, header...), p.body...)
	}
	return withFooter(t, file, &format.FileMetaData{
		Version: 1, NumRows: rows,
		Schema: []format.SchemaElement{
			{Name: "schema", NumChildren: thrift.New(int32(1))},
			{Name: "input_ids", RepetitionType: thrift.New(format.Required), NumChildren: thrift.New(int32(1)), ConvertedType: thrift.New(deprecated.List)},
			{Name: "list", RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(int32(1))},
			{Name: "element", RepetitionType: thrift.New(format.Required), Type: thrift.New(format.Int32)},
		},
		RowGroups: []format.RowGroup{{NumRows: rows, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: format.Int32, NumValues: levels, DataPageOffset: 4, TotalCompressedSize: int64(len(file) - 4),
			PathInSchema: []string{"input_ids", "list", "element"}, Encoding: []format.Encoding{format.Plain},
		}}}}},
	})
}

func withFooter(t testing.TB, pages []byte, meta *format.FileMetaData) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	require.NoError(t, err)
	return rawFooter(pages, b)
}

func rawFooter(pages, footer []byte) []byte {
	file := append(bytes.Clone(pages), footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), "PAR1"...)
}

func TestPages(t *testing.T) {
	packed := []byte{3, 0b10111110} // eight levels in one group, of which four count
	uncompressed := v2(2, 1, format.Plain, runs(1, 1), runs(0, 2), plain(5, 6))
	uncompressed.header.DataPageHeaderV2.V.IsCompressed = thrift.New(false)
	for _, test := range []struct {
		name string
		file []byte
		want [][]int32
	}{
		{"version 1", handmade(t, 2, 3, v1(3, format.Plain, runs(1, 1, 1), runs(0, 3), plain(5, 6, 7))), [][]int32{{5, 6}, {7}}},
		{"version 2", handmade(t, 2, 3, v2(3, 2, format.Plain, runs(1, 1, 1), runs(0, 3), plain(5, 6, 7))), [][]int32{{5, 6}, {7}}},
		{"not compressed", handmade(t, 1, 2, uncompressed), [][]int32{{5, 6}}},
		{"a row over three pages", handmade(t, 2, 5, v1(2, format.Plain, runs(1, 1), runs(0, 2), plain(5, 6)), v1(1, format.Plain, runs(0, 1), runs(0, 1), plain(7)),
			v1(2, format.Plain, runs(0, 1, 1), runs(0, 2), plain(8, 9))), [][]int32{{5, 6, 7, 8}, {9}}},
		{"an empty list at the end of a page", handmade(t, 3, 3, v1(2, format.Plain, runs(2), runs(0, 1, 1), plain(5)), v1(1, format.Plain, runs(1), runs(1), nil)), [][]int32{{5}, {}, {}}},
		{"a page of nothing", handmade(t, 1, 1, v1(0, format.Plain, nil, nil, nil), v1(1, format.Plain, runs(1), runs(0, 1), plain(5))), [][]int32{{5}}},
		{"bit-packed levels", handmade(t, 1, 4, v1(4, format.Plain, packed, runs(0, 4), plain(1, 2, 3, 4))), [][]int32{{1, 2, 3, 4}}},
		{"runs longer than the page", handmade(t, 1, 2, v1(2, format.Plain, runs(1, 1000), runs(0, 1000), plain(1, 2))), [][]int32{{1, 2}}},
		{"no bytes for no values", codec(t, handmade(t, 1, 1, v2(1, 1, format.Plain, runs(1), runs(1), nil)), format.Zstd), [][]int32{{}}},
		{"an index page between", handmade(t, 1, 1, handPage{header: format.PageHeader{Type: format.IndexPage}, body: []byte{1}}, v1(1, format.Plain, runs(1), runs(0, 1), plain(5))), [][]int32{{5}}},
		{"dictionary", handmade(t, 1, 4, dictionaryPage(2, plain(5, 6)), v1(4, format.RLEDictionary, runs(1, 3), runs(0, 4), []byte{1, 3, 0b0110})), [][]int32{{5, 6, 6, 5}}},
		{"dictionary, one run", handmade(t, 1, 4, dictionaryPage(2, plain(5, 6)), v1(4, 2, runs(1, 3), runs(0, 4), []byte{1, 8, 1})), [][]int32{{6, 6, 6, 6}}},
		{"dictionary of one value", handmade(t, 1, 4, dictionaryPage(1, plain(5)), v1(4, format.RLEDictionary, runs(1, 3), runs(0, 4), []byte{0})), [][]int32{{5, 5, 5, 5}}},
		{"more groups than values", handmade(t, 1, 2, dictionaryPage(2, plain(5, 6)), v1(2, format.RLEDictionary, runs(1, 1), runs(0, 2), []byte{1, 9, 0b01, 0, 0, 0})), [][]int32{{6, 5}}},
		{"indexes of 24 bits", handmade(t, 1, 8, dictionaryPage(2, plain(5, 6)), v1(8, format.RLEDictionary, runs(1, 7), runs(0, 8), append([]byte{24, 3}, bytes.Repeat([]byte{1, 0, 0, 0, 0, 0}, 4)...))), [][]int32{{6, 5, 6, 5, 6, 5, 6, 5}}},
		{"levels of 2 bits", optional(t, handmade(t, 3, 4, v1(4, format.Plain, runs(1, 1, 2), []byte{3, 0b10_01_10_10, 0xff}, plain(5, 6, 7)))), [][]int32{{5, 6}, {}, {7}}},
		{"differences", handmade(t, 1, 2, v1(2, format.DeltaBinaryPacked, runs(1, 1), runs(0, 2), []byte{128, 1, 4, 2, 10, 2, 0, 0, 0, 0})), [][]int32{{5, 6}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			samples, err := read(test.file, parquet.ReadOptions{})
			require.NoError(t, err)
			got := [][]int32{}
			for _, s := range samples {
				got = append(got, append([]int32{}, s.Tokens...))
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestBadPages(t *testing.T) {
	bitPacked := v1(1, format.Plain, runs(1), runs(0, 1), plain(5))
	bitPacked.header.DataPageHeader.V.RepetitionLevelEncoding = format.BitPacked
	sum := v1(1, format.Plain, runs(1), runs(0, 1), plain(5))
	sum.header.CRC = 7
	large := v1(1, format.Plain, runs(1), runs(0, 1), plain(5))
	large.header.UncompressedPageSize = 1 << 30
	more := v1(1, format.Plain, runs(1), runs(0, 1), plain(5))
	more.header.UncompressedPageSize = int32(len(more.body)) + 1
	short := v2(2, 1, format.Plain, runs(1, 1), runs(0, 2), plain(5, 6))
	short.header.DataPageHeaderV2.V.RepetitionLevelsByteLength = 100
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"fewer rows", handmade(t, 2, 2, v1(2, format.Plain, runs(1, 1), runs(0, 2), plain(5, 6))), "a:2: input_ids: unexpected EOF"},
		{"more rows", handmade(t, 1, 2, v1(2, format.Plain, runs(2), runs(0, 2), plain(5, 6))), "a:1: input_ids: 1 values behind the last row"},
		{"fewer values than the footer says", handmade(t, 1, 3, v1(2, format.Plain, runs(1, 1), runs(0, 2), plain(5, 6))), "a:1: input_ids: unexpected EOF"},
		{"more values than the footer says", handmade(t, 1, 1, v1(2, format.Plain, runs(1, 1), runs(0, 2), plain(5, 6))), "a page of 2 values: want at most 1"},
		{"fewer values than the page says", handmade(t, 1, 2, v1(2, format.Plain, runs(1, 1), runs(0, 2), plain(5))), "4 bytes for 2 values of 4"},
		{"more values than the page says", handmade(t, 1, 2, v1(2, format.Plain, runs(1, 1), runs(0, 2), plain(5, 6, 7))), "12 bytes for 2 values of 4"},
		{"fewer levels", handmade(t, 1, 2, v1(2, format.Plain, runs(1), runs(0, 2), plain(5, 6))), "the repetition levels of a page: 1 levels are missing: cut off"},
		{"fewer definition levels", handmade(t, 1, 2, v1(2, format.Plain, runs(1, 1), runs(0, 1), plain(5, 6))), "the definition levels of a page: 1 levels are missing: cut off"},
		{"a level of 2", handmade(t, 1, 2, v1(2, format.Plain, []byte{4, 2}, runs(0, 2), plain(5, 6))), "level 2: want at most 1"},
		{"a level of 3 of 2 bits", optional(t, handmade(t, 1, 2, v1(2, format.Plain, runs(1, 1), []byte{3, 0b1110, 0}, plain(5, 6)))), "level 3: want at most 2"},
		{"an empty run", handmade(t, 1, 1, v1(1, format.Plain, []byte{0, 0}, runs(0, 1), plain(5))), "an empty run"},
		{"inside a row", handmade(t, 1, 2, v1(2, format.Plain, runs(0, 2), runs(0, 2), plain(5, 6))), "a page begins inside a row"},
		{"an element in an empty list", handmade(t, 1, 2, v1(2, format.Plain, runs(1, 1), runs(1, 1), plain(5))), "an element in a list that is null or empty"},
		{"an empty list in a row", handmade(t, 1, 2, v1(2, format.Plain, runs(1, 1), runs(0, 1)[:0:0], plain(5))), "2 levels are missing"},
		{"a hole in a row", handmade(t, 1, 3, v1(3, format.Plain, runs(1, 2), append(append(runs(0, 1), runs(1)...), runs(0, 1)...), plain(5, 6))), "an element in a list that is null or empty"},
		{"old levels", handmade(t, 1, 1, bitPacked), "the repetition levels of a page: encoded as BIT_PACKED: want RLE"},
		{"levels cut", handmade(t, 1, 1, v1(1, format.Plain, []byte{1, 2})), "the repetition levels of a page: unexpected EOF"},
		{"levels longer than the page", handmade(t, 1, 2, short), "with levels of 100 and 2"},
		{"checksum", handmade(t, 1, 1, sum), "a page has the checksum"},
		{"a large page", handmade(t, 1, 1, large), "a page of 1073741824 bytes after decompression: want at most 536870912"},
		{"sizes differ", handmade(t, 1, 1, more), "16 bytes after decompression: want 17"},
		{"no dictionary", handmade(t, 1, 1, v1(1, format.RLEDictionary, runs(1), runs(0, 1), []byte{1, 2, 0})), "a page of indexes without a dictionary"},
		{"two dictionaries", handmade(t, 1, 1, dictionaryPage(1, plain(5)), dictionaryPage(1, plain(5))), "a second dictionary"},
		{"dictionary cut", handmade(t, 1, 1, dictionaryPage(2, plain(5))), "4 bytes for 2 values of 4"},
		{"dictionary below 0", handmade(t, 1, 1, dictionaryPage(-1, nil)), "a dictionary of -1 values"},
		{"index too large", handmade(t, 1, 1, dictionaryPage(1, plain(5)), v1(1, format.RLEDictionary, runs(1), runs(0, 1), []byte{1, 2, 1})), "index 1 in a dictionary of 1 values"},
		{"index below 0", handmade(t, 1, 1, dictionaryPage(1, plain(5)), v1(1, format.RLEDictionary, runs(1), runs(0, 1), []byte{32, 2, 255, 255, 255, 255})), "index 4294967295 in a dictionary of 1 values"},
		{"indexes of 33 bits", handmade(t, 1, 1, dictionaryPage(1, plain(5)), v1(1, format.RLEDictionary, runs(1), runs(0, 1), []byte{33, 2, 0, 0, 0, 0, 0})), "indexes of 33 bits"},
		{"no indexes", handmade(t, 1, 1, dictionaryPage(1, plain(5)), v1(1, format.RLEDictionary, runs(1), runs(0, 1), nil)), "unexpected EOF"},
		{"indexes cut", handmade(t, 1, 9, dictionaryPage(1, plain(5)), v1(9, format.RLEDictionary, runs(1, 8), runs(0, 9), []byte{1, 3, 0})), "1 indexes are missing"},
		{"a page type", handmade(t, 1, 1, handPage{header: format.PageHeader{Type: 9}, body: []byte{1}}), "a page of the unknown type PageType(?)"},
		{"an encoding", handmade(t, 1, 1, v1(1, format.DeltaByteArray, runs(1), runs(0, 1), plain(5))), "values encoded as DELTA_BYTE_ARRAY"},
		{"differences of other values", handmade(t, 1, 2, v1(2, format.DeltaBinaryPacked, runs(1, 1), runs(0, 2), []byte{128, 1, 4, 3, 10, 2, 0, 0, 0, 0})), "3 values: want 2"},
		{"differences of 33 bits", handmade(t, 1, 2, v1(2, format.DeltaBinaryPacked, runs(1, 1), runs(0, 2), append([]byte{128, 1, 4, 2, 10, 2, 33, 0, 0, 0}, make([]byte, 132)...))), "differences of 33 bits"},
		{"differences cut", handmade(t, 1, 2, v1(2, format.DeltaBinaryPacked, runs(1, 1), runs(0, 2), []byte{128, 1, 4, 2, 10, 2, 8, 0, 0, 0, 1})), "unexpected EOF"},
		{"differences in parts of 0", handmade(t, 1, 2, v1(2, format.DeltaBinaryPacked, runs(1, 1), runs(0, 2), []byte{128, 1, 0, 2, 10, 2})), "blocks of 128 values in 0 parts"},
		{"differences with a tail", handmade(t, 1, 2, v1(2, format.DeltaBinaryPacked, runs(1, 1), runs(0, 2), []byte{128, 1, 4, 2, 10, 2, 0, 0, 0, 0, 7})), "1 bytes behind the values"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := read(test.file, parquet.ReadOptions{})
			require.ErrorContains(t, err, test.want)
		})
	}
}

// TestBadFooters damages what the footer of a good file says.
func TestBadFooters(t *testing.T) {
	good := encode(t, []named{{IDs: []int32{5, 6}}, {IDs: []int32{7}}}, pq.DataPageVersion(1))
	n := int(binary.LittleEndian.Uint32(good[len(good)-8:]))
	pages := good[:len(good)-8-n]
	chunk := func(m *format.FileMetaData) *format.ColumnChunk { return &m.RowGroups[0].Columns[1] }
	for _, test := range []struct {
		name   string
		change func(m *format.FileMetaData)
		want   string
	}{
		{"nothing", func(m *format.FileMetaData) {}, ""},
		{"rows", func(m *format.FileMetaData) { m.NumRows++ }, "row groups of 2 rows in a file of 3"},
		{"rows below 0", func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 }, "row group 0 has -1 rows"},
		{"more rows than there are", func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 9, 9 }, "a: id: 2 values in 9 rows"},
		{"no row groups", func(m *format.FileMetaData) { m.RowGroups = nil }, "row groups of 0 rows in a file of 2"},
		{"a column too few", func(m *format.FileMetaData) { m.RowGroups[0].Columns = m.RowGroups[0].Columns[1:] }, "row group 0 has 2 columns: want 3"},
		{"no schema", func(m *format.FileMetaData) { m.Schema = nil }, "no schema"},
		{"schema cut", func(m *format.FileMetaData) { m.Schema = m.Schema[:4] }, "the schema is cut off"},
		{"schema too long", func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 1 }, "the schema has 4 elements too many"},
		{"schema too deep", func(m *format.FileMetaData) {
			for range 20 {
				m.Schema = append(m.Schema[:1:1], append([]format.SchemaElement{{Name: "x", NumChildren: thrift.New(int32(1))}}, m.Schema[1:]...)...)
			}
		}, "the schema is nested too deeply"},
		{"neither a type nor children", func(m *format.FileMetaData) { m.Schema[1].Type.Valid = false }, `element "id" of the schema has neither a type nor children`},
		{"a list of nothing repeated", func(m *format.FileMetaData) { m.Schema[3].RepetitionType.V = format.Required }, "a: input_ids: no proper list: want a list of integers"},
		{"another type", func(m *format.FileMetaData) { chunk(m).MetaData.Type = format.Int64 }, "a: input_ids: a chunk of INT64 in a column of INT32"},
		{"in another file", func(m *format.FileMetaData) { chunk(m).FilePath = "b" }, `a: input_ids: its values are in another file, "b"`},
		{"encrypted", func(m *format.FileMetaData) { chunk(m).EncryptedColumnMetadata = []byte{1} }, "a: input_ids: the column is encrypted"},
		{"an offset before the pages", func(m *format.FileMetaData) { chunk(m).MetaData.DataPageOffset = 3 }, "at offset 3: want it between 4 and"},
		{"an offset behind the pages", func(m *format.FileMetaData) { chunk(m).MetaData.DataPageOffset = 1 << 40 }, "at offset 1099511627776: want it between 4 and"},
		{"a length beyond the pages", func(m *format.FileMetaData) { chunk(m).MetaData.TotalCompressedSize = 1 << 40 }, "a chunk of 1099511627776 bytes at offset"},
		{"a length below 0", func(m *format.FileMetaData) { chunk(m).MetaData.TotalCompressedSize = -1 }, "a chunk of -1 bytes at offset"},
		{"a length of 0", func(m *format.FileMetaData) { chunk(m).MetaData.TotalCompressedSize = 0 }, "a:1: input_ids: unexpected EOF"},
		{"a length that cuts a page", func(m *format.FileMetaData) { chunk(m).MetaData.TotalCompressedSize-- }, "a page of 28 bytes: want at most 27"},
		{"a length that cuts a header", func(m *format.FileMetaData) { chunk(m).MetaData.TotalCompressedSize = 5 }, "a page header: cut off"},
		{"values of lists", func(m *format.FileMetaData) { chunk(m).MetaData.NumValues = 1 }, "a: input_ids: 1 values in 2 rows"},
		{"values of another column", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 3 }, "a: id: 3 values in 2 rows"},
		{"a codec", func(m *format.FileMetaData) { chunk(m).MetaData.Codec = format.LZO }, "compressed by LZO: want"},
		{"another codec", func(m *format.FileMetaData) { chunk(m).MetaData.Codec = format.Zstd }, "a:1: input_ids: a page: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := footer(t, good)
			test.change(m)
			_, err := read(withFooter(t, pages, m), parquet.ReadOptions{})
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.want)
			}
		})
	}
}

// TestNoFooter reads what can not have a footer, or one that claims more than there is. None may cost memory.
func TestNoFooter(t *testing.T) {
	good := encode(t, []ids{{[]int32{5}}})
	list := append([]byte{0x15, 0x02, 0x19, 0xfc}, 0xff, 0xff, 0xff, 0xff, 0x07) // field 2, 2147483647 structs
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "a: 0 bytes: too short for a Parquet file"},
		{"magic alone", []byte("PAR1PAR1"), "a: 8 bytes: too short"},
		{"no footer", []byte("PAR1\xff\xff\xff\xffPAR1"), "a: a footer of 4294967295 bytes: want at most 0 in a file of 12"},
		{"a footer of 0 bytes", []byte("PAR1\x00\x00\x00\x00PAR1"), "a: the footer: cut off"},
		{"JSON", []byte(`{"input_ids":[1,2]}`), `a: the file begins with "{\"in": want "PAR1"`},
		{"cut", good[:len(good)-1], "want \"PAR1\"; was it cut?"},
		{"encrypted", append(bytes.Clone(good[:len(good)-4]), "PARE"...), "a: the file is encrypted"},
		{"a list of 2147483647", rawFooter([]byte("PAR1"), list), "a: the footer: cut off"},
		{"deep", rawFooter([]byte("PAR1"), bytes.Repeat([]byte{0x1c}, 1<<20)), "a: the footer: nested deeper than 32 levels"},
		{"deep lists", rawFooter([]byte("PAR1"), append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 1<<20)...)), "a: the footer: nested deeper than 32 levels"},
		{"a list of nothing", rawFooter([]byte("PAR1"), []byte{0x19, 0xf0, 0xff, 0xff, 0xff, 0xff, 0x07, 0}), "a: the footer: a list of nothing"},
		{"a long string", rawFooter([]byte("PAR1"), []byte{0x18, 0xff, 0xff, 0xff, 0xff, 0x07}), "a: the footer: cut off"},
		{"a long number", rawFooter([]byte("PAR1"), append([]byte{0x15}, bytes.Repeat([]byte{0xff}, 20)...)), "a: the footer: a number of more than 64 bits"},
		{"a map", rawFooter([]byte("PAR1"), []byte{0x1b, 0, 0}), "a: the footer: unknown type 11"},
		{"an empty struct", rawFooter([]byte("PAR1"), []byte{0}), "a: the footer: missing required field"},
		{"a double, and no more", rawFooter([]byte("PAR1"), append([]byte{0x17}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0)), "a: the footer: missing required field"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(test.file, parquet.ReadOptions{})
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, test.want)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
		})
	}
}

// optional returns a handmade file whose list may be null, so that its definition levels have 2 bits.
func optional(t testing.TB, file []byte) []byte {
	t.Helper()
	m := footer(t, file)
	m.Schema[1].RepetitionType.V = format.Optional
	n := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	return withFooter(t, file[:len(file)-8-n], m)
}

// codec returns a handmade file that claims to be compressed.
func codec(t testing.TB, file []byte, c format.CompressionCodec) []byte {
	t.Helper()
	m := footer(t, file)
	m.RowGroups[0].Columns[0].MetaData.Codec = c
	n := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	return withFooter(t, file[:len(file)-8-n], m)
}

package parquet_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"
)

func open(t testing.TB, file []byte) *pq.File {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	return f
}

// readRows reads all rows of a file with a reader that shares nothing with the writer: for each row, the values of each column.
func readRows(t testing.TB, file []byte, columns int) (all [][][]int64) {
	t.Helper()
	for _, group := range open(t, file).RowGroups() {
		rows := group.Rows()
		buffer := make([]pq.Row, 100)
		for {
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				values := make([][]int64, columns)
				for _, v := range row {
					c := v.Column()
					if values[c] == nil {
						values[c] = []int64{}
					} else if v.RepetitionLevel() != 1 {
						t.Fatalf("column %d: repetition level %d inside a row", c, v.RepetitionLevel())
					}
					switch {
					case v.IsNull():
						if v.DefinitionLevel() != 0 {
							t.Fatalf("column %d: a null of definition level %d", c, v.DefinitionLevel())
						}
					case v.Kind() == pq.Int32:
						values[c] = append(values[c], int64(v.Int32()))
					default:
						values[c] = append(values[c], v.Int64())
					}
				}
				all = append(all, values)
			}
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
		require.NoError(t, rows.Close())
	}
	return all
}

// footer decodes the footer of a file.
func footer(t testing.TB, file []byte) *format.FileMetaData {
	t.Helper()
	require.Equal(t, "PAR1", string(file[:4]))
	require.Equal(t, "PAR1", string(file[len(file)-4:]))
	n := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	meta := new(format.FileMetaData)
	require.NoError(t, thrift.Unmarshal(new(thrift.CompactProtocol), file[len(file)-8-n:len(file)-8], meta))
	return meta
}

// walk goes from page to page and requires that each begins and ends with a whole row, that its checksum is right, and that all
// counts and sizes of headers and footer are those of what is there, without a byte between or left over.
func walk(t testing.TB, file []byte) {
	t.Helper()
	meta := footer(t, file)
	at, rows := int64(4), int64(0)
	for g, group := range meta.RowGroups {
		require.Positive(t, group.NumRows, "a row group is never empty")
		require.Equal(t, int16(g), group.Ordinal)
		require.Equal(t, at, group.FileOffset)
		total, compressed := int64(0), int64(0)
		for _, chunk := range group.Columns {
			m := chunk.MetaData
			require.Equal(t, at, m.DataPageOffset)
			list := len(m.PathInSchema) == 3
			uncompressed, values, nulls, chunkRows, pages := int64(0), int64(0), int64(0), int64(0), int32(0)
			for end := at + m.TotalCompressedSize; at < end; pages++ {
				r := bytes.NewReader(file[at:end])
				header := new(format.PageHeader)
				require.NoError(t, thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r)).Decode(header))
				headerSize := end - at - int64(r.Len())
				require.Equal(t, format.DataPageV2, header.Type)
				require.True(t, header.DataPageHeaderV2.Valid)
				v2 := header.DataPageHeaderV2.V
				page := file[at+headerSize:][:header.CompressedPageSize]
				require.Equal(t, int32(crc32.ChecksumIEEE(page)), header.CRC)
				require.Equal(t, m.Encoding[0], v2.Encoding)
				require.Positive(t, v2.NumRows)
				require.LessOrEqual(t, v2.NumRows, v2.NumValues)
				if v2.NumRows > 1 {
					require.LessOrEqual(t, int(v2.NumValues-v2.NumNulls), 1<<20/4)
				}

				repetition, definition := levels(t, page[:v2.RepetitionLevelsByteLength]), levels(t, page[v2.RepetitionLevelsByteLength:][:v2.DefinitionLevelsByteLength])
				if m.Codec != format.Uncompressed {
					require.NotEmpty(t, page[v2.RepetitionLevelsByteLength+v2.DefinitionLevelsByteLength:], "not every reader takes no bytes for no values")
				}
				if list {
					require.Len(t, repetition, int(v2.NumValues))
					require.Len(t, definition, int(v2.NumValues))
					require.Zero(t, repetition[0], "a page begins with a row")
					require.Equal(t, int(v2.NumRows), bytes.Count(repetition, []byte{0}))
					require.Equal(t, int(v2.NumNulls), bytes.Count(definition, []byte{0}))
				} else {
					require.Empty(t, repetition)
					require.Empty(t, definition)
					require.Equal(t, v2.NumRows, v2.NumValues)
				}
				uncompressed += headerSize + int64(header.UncompressedPageSize)
				values += int64(v2.NumValues)
				nulls += int64(v2.NumNulls)
				chunkRows += int64(v2.NumRows)
				at += headerSize + int64(header.CompressedPageSize)
			}
			require.Equal(t, m.TotalUncompressedSize, uncompressed)
			require.Equal(t, m.NumValues, values)
			require.Equal(t, m.Statistics.NullCount, nulls)
			require.Equal(t, group.NumRows, chunkRows)
			require.Equal(t, []format.PageEncodingStats{{PageType: format.DataPageV2, Encoding: m.Encoding[0], Count: pages}}, []format.PageEncodingStats(m.EncodingStats))
			total += m.TotalUncompressedSize
			compressed += m.TotalCompressedSize
		}
		require.Equal(t, group.TotalByteSize, total)
		require.Equal(t, group.TotalCompressedSize, compressed)
		rows += group.NumRows
	}
	require.Equal(t, meta.NumRows, rows)
	if rows == 0 {
		require.Empty(t, meta.RowGroups)
	}
	require.Equal(t, int(at), len(file)-8-int(binary.LittleEndian.Uint32(file[len(file)-8:])))
}

// levels decodes levels of one bit.
func levels(t testing.TB, encoded []byte) []byte {
	t.Helper()
	if len(encoded) == 0 {
		return nil
	}
	decoded, err := (&rle.Encoding{BitWidth: 1}).DecodeLevels(nil, encoded)
	require.NoError(t, err)
	return decoded
}

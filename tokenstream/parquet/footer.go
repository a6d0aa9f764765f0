package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxFooter is the largest footer that is read. A million column chunks take less.
const maxFooter = 64 << 20

// readFooter returns the footer of a file after checking what it says of the file as a whole, and where the pages end.
func readFooter(r io.ReaderAt, size int64) (meta *format.FileMetaData, end int64, err error) {
	defer recovered("the footer", &err)
	if size < 12 {
		return nil, 0, fmt.Errorf("%d bytes: too short for a Parquet file", size)
	}
	head, tail := make([]byte, 4), make([]byte, 8)
	if err := readAt(r, head, 0); err != nil {
		return nil, 0, err
	}
	if err := readAt(r, tail, size-8); err != nil {
		return nil, 0, err
	}
	switch {
	case string(head) == "PARE" || string(tail[4:]) == "PARE":
		return nil, 0, fmt.Errorf("the file is encrypted")
	case string(head) != magic:
		return nil, 0, fmt.Errorf("the file begins with %q: want %q", head, magic)
	case string(tail[4:]) != magic:
		return nil, 0, fmt.Errorf("the file ends with %q: want %q; was it cut?", tail[4:], magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > min(size-12, maxFooter) {
		return nil, 0, fmt.Errorf("a footer of %d bytes: want at most %d in a file of %d", n, min(size-12, maxFooter), size)
	}
	end = size - 8 - n
	b := make([]byte, n)
	if err := readAt(r, b, end); err != nil {
		return nil, 0, err
	}
	length, err := thriftLength(b)
	if err != nil {
		return nil, 0, fmt.Errorf("the footer: %w", err)
	}
	meta = new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), b[:length], meta); err != nil {
		return nil, 0, fmt.Errorf("the footer: %w", err)
	}
	rows := int64(0)
	for i := range meta.RowGroups {
		n := meta.RowGroups[i].NumRows
		if n < 0 || n > math.MaxInt64-rows {
			return nil, 0, fmt.Errorf("the footer: row group %d has %d rows", i, n)
		}
		rows += n
	}
	if rows != meta.NumRows {
		return nil, 0, fmt.Errorf("the footer: row groups of %d rows in a file of %d", rows, meta.NumRows)
	}
	return meta, end, nil
}

// checkChunk returns where a column chunk begins and how long it is, after checking what the footer says of it.
func checkChunk(c *format.ColumnChunk, f *field, rows, end int64) (start, length int64, err error) {
	m := &c.MetaData
	start, length = m.DataPageOffset, m.TotalCompressedSize
	if d := m.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	switch {
	case c.FilePath != "":
		return 0, 0, fmt.Errorf("its values are in another file, %q", c.FilePath)
	case c.CryptoMetadata.Value != nil || len(c.EncryptedColumnMetadata) > 0:
		return 0, 0, fmt.Errorf("the column is encrypted")
	case m.Type != f.physical:
		return 0, 0, fmt.Errorf("a chunk of %v in a column of %v", m.Type, f.physical)
	case start < int64(len(magic)) || length < 0 || start > end || length > end-start:
		return 0, 0, fmt.Errorf("a chunk of %d bytes at offset %d: want it between %d and %d", length, start, len(magic), end)
	case m.NumValues < rows || f.rep == 0 && m.NumValues != rows:
		return 0, 0, fmt.Errorf("%d values in %d rows", m.NumValues, rows)
	}
	return start, length, nil
}

func readAt(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading %d bytes at offset %d: %w", len(b), offset, err)
}

// recovered, when deferred, turns a panic into an error. Libraries that decode damaged data may panic in an index; the data is at
// fault, and there is nothing to clean up.
func recovered(what string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s is damaged: %v", what, p)
	}
}

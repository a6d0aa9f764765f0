package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxPageHeader is the longest page header that is read. Those with statistics of long strings come near a kilobyte.
const maxPageHeader = 64 << 10

// pages reads the pages of a column chunk one after the other.
type pages struct {
	r        *bufio.Reader
	left     int64 // bytes of the chunk
	codec    format.CompressionCodec
	maxBytes int
	limit    int64 // most levels in a page
	decompressor
	stored, plain []byte // of the page at hand
}

// A page is one page, decompressed. Its slices are valid until the next one is read.
type page struct {
	dictionary             bool
	n                      int // levels
	encoding               format.Encoding
	repetition, definition []byte // encoded; nil where the column has no such levels
	values                 []byte // encoded
}

func (p *pages) reset(r io.ReaderAt, start, length int64, codec format.CompressionCodec) {
	p.r.Reset(io.NewSectionReader(r, start, length))
	p.left, p.codec = length, codec
}

// next returns the next page of values or of a dictionary, or io.EOF.
func (p *pages) next(f *field) (page, error) {
	for p.left > 0 {
		h, err := p.header()
		if err != nil {
			return page{}, fmt.Errorf("a page header: %w", err)
		}
		if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > p.left {
			return page{}, fmt.Errorf("a page of %d bytes: want at most %d", h.CompressedPageSize, p.left)
		}
		if h.UncompressedPageSize < 0 || int(h.UncompressedPageSize) > p.maxBytes {
			return page{}, fmt.Errorf("a page of %d bytes after decompression: want at most %d", h.UncompressedPageSize, p.maxBytes)
		}
		p.stored = grow(p.stored, int(h.CompressedPageSize))
		if _, err := io.ReadFull(p.r, p.stored); err != nil {
			return page{}, fmt.Errorf("a page: %w", noEOF(err))
		}
		p.left -= int64(len(p.stored))
		if sum := crc32.ChecksumIEEE(p.stored); h.CRC != 0 && uint32(h.CRC) != sum {
			return page{}, fmt.Errorf("a page has the checksum %08x: want %08x", sum, uint32(h.CRC))
		}
		switch {
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			return p.dataV2(f, h)
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			return p.dataV1(f, h)
		case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
			return p.dictionary(h)
		case h.Type != format.IndexPage:
			return page{}, fmt.Errorf("a page of the unknown type %v", h.Type)
		}
	}
	return page{}, io.EOF
}

// header reads a page header.
func (p *pages) header() (*format.PageHeader, error) {
	for size := 64; ; size *= 4 {
		b, err := p.r.Peek(int(min(int64(size), p.left)))
		if err != nil {
			return nil, noEOF(err)
		}
		n, err := thriftLength(b)
		if errors.Is(err, errThriftShort) && int64(len(b)) < p.left && size < maxPageHeader {
			continue
		}
		if err != nil {
			return nil, err
		}
		h := new(format.PageHeader)
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), b[:n], h); err != nil {
			return nil, err
		}
		p.left -= int64(n)
		_, err = p.r.Discard(n)
		return h, err
	}
}

func (p *pages) dictionary(h *format.PageHeader) (page, error) {
	d := &h.DictionaryPageHeader.V
	values, err := p.decompressed(p.stored, h.UncompressedPageSize)
	if err != nil {
		return page{}, fmt.Errorf("a dictionary page: %w", err)
	}
	if d.NumValues < 0 {
		return page{}, fmt.Errorf("a dictionary of %d values", d.NumValues)
	}
	return page{dictionary: true, n: int(d.NumValues), encoding: d.Encoding, values: values}, nil
}

func (p *pages) dataV1(f *field, h *format.PageHeader) (page, error) {
	d := &h.DataPageHeader.V
	b, err := p.decompressed(p.stored, h.UncompressedPageSize)
	if err != nil {
		return page{}, fmt.Errorf("a page: %w", err)
	}
	result := page{n: int(d.NumValues), encoding: d.Encoding}
	if f.rep > 0 {
		if result.repetition, b, err = levelsV1(b, d.RepetitionLevelEncoding); err != nil {
			return page{}, fmt.Errorf("the repetition levels of a page: %w", err)
		}
	}
	if f.def > 0 {
		if result.definition, b, err = levelsV1(b, d.DefinitionLevelEncoding); err != nil {
			return page{}, fmt.Errorf("the definition levels of a page: %w", err)
		}
	}
	result.values = b
	return result, p.count(d.NumValues)
}

// levelsV1 returns the levels at the front of b, and what follows.
func levelsV1(b []byte, encoding format.Encoding) (levels, rest []byte, err error) {
	if encoding != format.RLE {
		return nil, nil, fmt.Errorf("encoded as %v: want RLE", encoding)
	}
	if len(b) < 4 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if int64(len(b)) < n {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return b[:n], b[n:], nil
}

func (p *pages) dataV2(f *field, h *format.PageHeader) (page, error) {
	d := &h.DataPageHeaderV2.V
	rep, def := int64(d.RepetitionLevelsByteLength), int64(d.DefinitionLevelsByteLength)
	if rep < 0 || def < 0 || rep+def > int64(min(len(p.stored), int(h.UncompressedPageSize))) {
		return page{}, fmt.Errorf("a page of %d bytes with levels of %d and %d", len(p.stored), rep, def)
	}
	result := page{n: int(d.NumValues), encoding: d.Encoding}
	b := p.stored
	if f.rep > 0 {
		result.repetition = b[:rep:rep]
	}
	b = b[rep:]
	if f.def > 0 {
		result.definition = b[:def:def]
	}
	b = b[def:]
	size := h.UncompressedPageSize - int32(rep+def)
	switch {
	case d.IsCompressed.Valid && !d.IsCompressed.V:
		if len(b) != int(size) {
			return page{}, fmt.Errorf("a page of %d bytes: want %d", len(b), size)
		}
	case len(b) == 0 && size == 0: // of empty lists only
	default:
		var err error
		if b, err = p.decompressed(b, size); err != nil {
			return page{}, fmt.Errorf("a page: %w", err)
		}
	}
	result.values = b
	return result, p.count(d.NumValues)
}

// decompressed returns what b, of the page at hand, holds.
func (p *pages) decompressed(b []byte, size int32) ([]byte, error) {
	plain, err := p.decompress(p.codec, p.plain, b, int(size))
	if err == nil && p.codec != format.Uncompressed {
		p.plain = plain
	}
	return plain, err
}

// count returns an error if a page can not have n levels.
func (p *pages) count(n int32) error {
	if n < 0 || int64(n) > p.limit {
		return fmt.Errorf("a page of %d values: want at most %d", n, p.limit)
	}
	return nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

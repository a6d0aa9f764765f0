package verify

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// A Column is a column of a file.
type Column struct {
	Name     string
	Type     string // of its values, such as "int32"; "" if it holds something else than integers or lists of them
	List     bool   // it holds a list in each row
	Integers bool   // its values can be read
}

// ReadFile reads a Parquet file, an Arrow file or an Arrow stream, told by its content, with the guards that checks have against damage.
// It calls begin with the columns, in their order, and then each with the values of every row, by column: one value for a number, nil
// for a null and where the column's Integers is false. They are valid during the call. An error of begin or each ends the reading and is
// returned as it is. The format is "parquet", "arrow" or "arrow-stream".
func ReadFile(path string, begin func(format string, columns []Column) error, each func(values [][]int64) error) error {
	format, d, err := decoderOf(path)
	if err != nil {
		return err
	}
	return decode(d, path, func(have []column) error {
		var columns []Column
		for _, c := range have {
			columns = append(columns, Column{c.Name, c.Type, c.list, c.usable})
		}
		return begin(format, columns)
	}, each)
}

// decoderOf returns the format of a file and its decoder.
func decoderOf(path string) (string, decoder, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	var head [8]byte
	n, err := io.ReadFull(file, head[:])
	if err != nil && n == 0 {
		return "", nil, fmt.Errorf("want a Parquet file, an Arrow file or an Arrow stream: %w", err)
	}
	for _, f := range []struct{ magic, format, decoder string }{
		{"PAR1", "parquet", "parquet"}, {"ARROW1", "arrow", "arrow"}, {"\xff\xff\xff\xff", "arrow-stream", "hf"},
	} {
		if bytes.HasPrefix(head[:n], []byte(f.magic)) {
			return f.format, decoders[f.decoder], nil
		}
	}
	return "", nil, fmt.Errorf("it begins with %q: want a Parquet file, an Arrow file or an Arrow stream", head[:n])
}

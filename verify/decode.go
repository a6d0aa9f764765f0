package verify

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"
)

// A decoder calls begin with the columns of a file and then each with the values of every row, by column. A nil list is a null. The
// values are valid during the call.
type decoder func(path string, begin func([]column) error, each func([][]int64) error) error

// decode decodes a file by its ending. The libraries are kept from taking the process down with a file that is none.
func decode(path string, begin func([]column) error, each func([][]int64) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the decoder gave up: %v", r)
		}
	}()
	var d decoder = decodeArrow
	if len(path) > 8 && path[len(path)-8:] == ".parquet" {
		d = decodeParquet
	}
	return d(path, begin, each)
}

// decodeParquet decodes by the row reader of parquet-go, which knows nothing of pages written by hand.
func decodeParquet(path string, begin func([]column) error, each func([][]int64) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := checkFooter(file, info.Size()); err != nil {
		return err
	}
	p, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	var columns []column
	for _, f := range p.Schema().Fields() {
		leaf := f
		for !leaf.Leaf() {
			if len(leaf.Fields()) != 1 {
				return fmt.Errorf("column %s: neither a number nor a list", f.Name())
			}
			leaf = leaf.Fields()[0]
		}
		name := "int32"
		switch t := leaf.Type(); {
		case t.Kind() == parquet.Int64:
			name = "int64"
		case t.Kind() != parquet.Int32:
			name = t.String()
		case t.String() == "INT(8,true)":
			name = "int8"
		}
		columns = append(columns, column{Name: f.Name(), Type: name})
	}
	if err := begin(columns); err != nil {
		return err
	}
	values := make([][]int64, len(columns))
	buffer := make([]parquet.Row, 16)
	for _, group := range p.RowGroups() {
		rows := group.Rows()
		for {
			n, err := rows.ReadRows(buffer)
			for _, r := range buffer[:n] {
				for k := range values {
					values[k] = values[k][:0]
				}
				null := -1
				for _, v := range r {
					k := v.Column()
					switch {
					case v.IsNull() && v.RepetitionLevel() == 0 && v.DefinitionLevel() == 0: // an empty list, or a null: required columns have none
					case v.IsNull():
						null = k
					case v.Kind() == parquet.Int64:
						values[k] = append(values[k], v.Int64())
					default:
						values[k] = append(values[k], int64(v.Int32()))
					}
				}
				row := values
				if null >= 0 {
					row = slices.Clone(values)
					row[null] = nil
				} else {
					for k := range row {
						if row[k] == nil {
							row[k] = []int64{}
						}
					}
				}
				if err := each(row); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	return nil
}

// checkFooter refuses a file whose footer claims to be longer than the file, before the library allocates it.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return fmt.Errorf("%d bytes are no Parquet file", size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	n := int64(tail[0]) | int64(tail[1])<<8 | int64(tail[2])<<16 | int64(tail[3])<<24
	if string(tail[4:]) != "PAR1" || n > size-12 {
		return errors.New("no footer of a Parquet file at the end")
	}
	return nil
}

// decodeArrow decodes an Arrow stream, or a file as the stream that it holds.
func decodeArrow(path string, begin func([]column) error, each func([][]int64) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var magic [8]byte
	if _, err := io.ReadFull(file, magic[:]); err != nil {
		return err
	}
	if string(magic[:6]) != "ARROW1" {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	r, err := ipc.NewReader(file)
	if err != nil {
		return err
	}
	defer r.Release()
	var columns []column
	for _, f := range r.Schema().Fields() {
		t := f.Type
		if list, ok := t.(*arrow.ListType); ok {
			t = list.Elem()
		}
		columns = append(columns, column{Name: f.Name, Type: t.String()})
	}
	if err := begin(columns); err != nil {
		return err
	}
	values := make([][]int64, len(columns))
	for r.Next() {
		batch := r.RecordBatch()
		if err := array.ValidateRecordFull(batch); err != nil {
			return err
		}
		for i := range int(batch.NumRows()) {
			for k := range values {
				v, err := arrowValues(values[k][:0], batch.Column(k), i)
				if err != nil {
					return fmt.Errorf("column %s: %w", columns[k].Name, err)
				}
				values[k] = v
			}
			if err := each(values); err != nil {
				return err
			}
		}
	}
	return r.Err()
}

// arrowValues appends the values of row i; nil is a null.
func arrowValues(dst []int64, a arrow.Array, i int) ([]int64, error) {
	if dst == nil {
		dst = []int64{}
	}
	from, to := i, i+1
	if a.IsNull(i) {
		return nil, nil
	}
	if list, ok := a.(*array.List); ok {
		x, y := list.ValueOffsets(i)
		from, to = int(x), int(y)
		a = list.ListValues()
	}
	for k := from; k < to; k++ {
		if a.IsNull(k) {
			return nil, nil
		}
		switch a := a.(type) {
		case *array.Int32:
			dst = append(dst, int64(a.Value(k)))
		case *array.Int64:
			dst = append(dst, a.Value(k))
		case *array.Int8:
			dst = append(dst, int64(a.Value(k)))
		default:
			return nil, fmt.Errorf("type %v: want integers", a.DataType())
		}
	}
	return dst, nil
}

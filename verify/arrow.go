package verify

import (
	"cmp"
	"fmt"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// maxBatch is how many bytes the values of a record batch may take.
const maxBatch = 2 << 30

// decodeArrow decodes an Arrow IPC file as the stream that it holds, or an Arrow stream.
func decodeArrow(path string, isFile bool, begin func([]column) error, each func([][]int64) error) error {
	file, err := os.Open(path)
	if err != nil {
		return system(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return system(err)
	}
	m := &messages{file: file, size: info.Size()}
	if err := m.start(isFile); err != nil {
		return err
	}
	r, err := ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(new(allocator)))
	if err != nil {
		return cmp.Or(m.err, err)
	}
	defer r.Release()
	columns := arrowColumns(r.Schema())
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
			for k, c := range columns {
				if c.usable {
					values[k] = arrowValues(values[k][:0], batch.Column(k), i)
				}
			}
			if err := each(values); err != nil {
				return err
			}
		}
	}
	if err := cmp.Or(m.err, r.Err()); err != nil {
		return err
	}
	if !isFile {
		if m.at != m.size {
			return fmt.Errorf("%d bytes behind the end mark", m.size-m.at)
		}
		return nil
	}
	return m.footer(r.Schema())
}

// arrowColumns returns the columns of a schema.
func arrowColumns(schema *arrow.Schema) []column {
	var columns []column
	for _, f := range schema.Fields() {
		c, t := column{Name: f.Name}, f.Type
		if list, ok := t.(*arrow.ListType); ok {
			c.list, t = true, list.Elem()
		}
		switch t.ID() {
		case arrow.INT8, arrow.INT32, arrow.INT64, arrow.FLOAT32:
			c.usable = true
		}
		if c.Type = t.String(); t.ID() == arrow.STRING {
			c.Type = "string"
		}
		columns = append(columns, c)
	}
	return columns
}

// arrowValues appends the values of row i of a usable column. It returns nil for a null.
func arrowValues(dst []int64, a arrow.Array, i int) []int64 {
	if dst == nil {
		dst = []int64{}
	}
	from, to := i, i+1
	if a.IsNull(i) {
		return nil
	}
	if list, ok := a.(*array.List); ok {
		x, y := list.ValueOffsets(i)
		from, to = int(x), int(y)
		a = list.ListValues()
	}
	if a.NullN() > 0 {
		for k := from; k < to; k++ {
			if a.IsNull(k) {
				return nil
			}
		}
	}
	switch a := a.(type) {
	case *array.Int32:
		for _, v := range a.Int32Values()[from:to] {
			dst = append(dst, int64(v))
		}
	case *array.Float32:
		for _, v := range a.Float32Values()[from:to] {
			dst = append(dst, int64(int32(math.Float32bits(v))))
		}
	case *array.Int64:
		dst = append(dst, a.Int64Values()[from:to]...)
	case *array.Int8:
		for _, v := range a.Int8Values()[from:to] {
			dst = append(dst, int64(v))
		}
	}
	return dst
}

// allocator gives the Arrow library as much memory as a record batch may take. It panics when that is used up, which the library turns
// into an error.
type allocator struct{ used int }

func (a *allocator) Allocate(n int) []byte {
	if a.used += n; n < 0 || a.used > maxBatch {
		panic(fmt.Errorf("a record batch of more than %d bytes", maxBatch))
	}
	return memory.DefaultAllocator.Allocate(n)
}

func (a *allocator) Reallocate(n int, b []byte) []byte {
	grown := a.Allocate(n)
	copy(grown, b)
	a.Free(b)
	return grown
}

func (a *allocator) Free(b []byte) { a.used -= len(b) }

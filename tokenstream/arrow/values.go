package arrow

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// A list gives the rows of a column that is a list of integers, in one record batch.
type list struct {
	rows   array.ListLike
	values elements
	row    []int32
	left   int // most elements of further rows
}

// reset begins a record batch, whose rows may have at most so many elements together: list views may share them. The column has a type
// that integers accepts, and is valid.
func (l *list) reset(column arrow.Array, most int) {
	l.rows, l.left = column.(array.ListLike), most
	l.values.reset(l.rows.ListValues())
}

// withNulls returns a column which, if it is a list of nulls, has them as the Arrow library's validation wants them and its reader does
// not make them: with an absent buffer.
func withNulls(column arrow.Array) arrow.Array {
	data := column.Data()
	if children := data.Children(); len(children) == 1 && children[0].DataType().ID() == arrow.NULL {
		n := children[0].Len()
		nulls := array.NewData(arrow.Null, n, []*memory.Buffer{nil}, nil, n, 0)
		data = array.NewData(data.DataType(), data.Len(), data.Buffers(), []arrow.ArrayData{nulls}, data.NullN(), data.Offset())
		return array.MakeFromData(data)
	}
	return column
}

// next returns the elements of row i, which are valid until the following call and as long as the record batch is.
func (l *list) next(i int) (row []int32, isNull bool, err error) {
	if l.rows.IsNull(i) {
		return nil, true, nil
	}
	from, to := l.rows.ValueOffsets(i)
	if from < 0 || to < from || to > int64(l.values.array.Len()) {
		return nil, false, fmt.Errorf("elements %d to %d of %d", from, to, l.values.array.Len())
	}
	if l.left -= int(to - from); l.left < 0 {
		return nil, false, errors.New("the rows of the record batch share their elements too often")
	}
	l.row, err = l.values.take(l.row, int(from), int(to))
	return l.row, false, err
}

// elements are the values of an array of integers, booleans, nulls, or of a dictionary of integers.
type elements struct {
	array arrow.Array
	nulls bool
	ints  []int32 // the values, if that is what they are stored as

	// Of a dictionary.
	indices    *array.Dictionary
	dictionary *elements
}

func (e *elements) reset(a arrow.Array) {
	*e = elements{array: a, nulls: a.NullN() > 0}
	switch a := a.(type) {
	case *array.Int32:
		e.ints = a.Int32Values()
		if e.ints == nil {
			e.ints = []int32{}
		}
	case *array.Dictionary:
		e.indices, e.dictionary = a, new(elements)
		e.dictionary.reset(a.Dictionary())
	}
}

// take returns the values from one index to another, as they are stored or in the room of dst. They are never nil.
func (e *elements) take(dst []int32, from, to int) ([]int32, error) {
	if e.nulls {
		for i := from; i < to; i++ {
			if e.array.IsNull(i) {
				return dst, &columns.ElementError{Index: i - from, Found: "null"}
			}
		}
	}
	if e.ints != nil {
		return e.ints[from:to:to], nil
	}
	if cap(dst) < to-from || dst == nil {
		dst = make([]int32, to-from)
	}
	dst = dst[:to-from]
	bad := -1
	switch a := e.array.(type) {
	case *array.Int8:
		bad = narrow(dst, a.Int8Values()[from:to])
	case *array.Int16:
		bad = narrow(dst, a.Int16Values()[from:to])
	case *array.Int64:
		bad = narrow(dst, a.Int64Values()[from:to])
	case *array.Uint8:
		bad = narrow(dst, a.Uint8Values()[from:to])
	case *array.Uint16:
		bad = narrow(dst, a.Uint16Values()[from:to])
	case *array.Uint32:
		bad = narrow(dst, a.Uint32Values()[from:to])
	case *array.Uint64:
		bad = narrow(dst, a.Uint64Values()[from:to])
	case *array.Boolean:
		for i := range dst {
			dst[i] = 0
			if a.Value(from + i) {
				dst[i] = 1
			}
		}
	case *array.Dictionary:
		return dst, e.lookUp(dst, from)
	case *array.Null:
		if to > from {
			return dst, &columns.ElementError{Found: "null"}
		}
	}
	if bad >= 0 {
		return dst, &columns.ElementError{Index: bad, Found: e.array.ValueStr(from + bad)}
	}
	return dst, nil
}

// lookUp fills dst with what a dictionary has for the indices from one on.
func (e *elements) lookUp(dst []int32, from int) error {
	var one [1]int32
	for i := range dst {
		k := e.indices.GetValueIndex(from + i)
		v, err := e.dictionary.take(one[:], k, k+1)
		if err != nil {
			if at, ok := err.(*columns.ElementError); ok {
				at.Index = i
			}
			return err
		}
		dst[i] = v[0]
	}
	return nil
}

// narrow fills dst with the integers of src. It returns the index of the first that is not an int32, or -1.
func narrow[T int8 | int16 | int64 | uint8 | uint16 | uint32 | uint64](dst []int32, src []T) int {
	dst = dst[:len(src)]
	lost, signs := T(0), int32(0)
	for i, v := range src { // without a branch for each
		x := int32(v)
		dst[i] = x
		lost |= T(x) ^ v
		signs |= x
	}
	isSigned := T(0)-1 < 0
	if lost == 0 && (isSigned || signs >= 0) {
		return -1
	}
	return slices.IndexFunc(src, func(v T) bool { return T(int32(v)) != v || (int32(v) < 0) != (v < 0) })
}

// textOf returns the string or the integer in row i of a column that single accepts. It shares no memory with the column.
func textOf(column arrow.Array, i int) (s string, isNull bool, err error) {
	if column.IsNull(i) {
		return "", true, nil
	}
	switch a := column.(type) {
	case *array.String:
		return strings.Clone(a.Value(i)), false, nil
	case *array.LargeString:
		return strings.Clone(a.Value(i)), false, nil
	case *array.StringView:
		return strings.Clone(a.Value(i)), false, nil
	case *array.Dictionary:
		return textOf(a.Dictionary(), a.GetValueIndex(i))
	case *array.Null:
		return "", true, nil
	case *array.Int64:
		return strconv.FormatInt(a.Value(i), 10), false, nil
	}
	return strings.Clone(column.ValueStr(i)), false, nil
}

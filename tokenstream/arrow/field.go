package arrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// shapeOf returns the type of a column's elements, or nil with what the column is instead of a list of single values, in the words of
// an error.
func shapeOf(t arrow.DataType) (element arrow.DataType, shape string) {
	switch t := t.(type) {
	case *arrow.ListType:
		element = t.Elem()
	case *arrow.LargeListType:
		element = t.Elem()
	case *arrow.FixedSizeListType:
		element = t.Elem()
	case *arrow.ListViewType:
		element = t.Elem()
	case *arrow.LargeListViewType:
		element = t.Elem()
	case *arrow.StructType, *arrow.MapType:
		return nil, "a struct or a map"
	default:
		return nil, "one value a row"
	}
	switch t := plain(element).(type) {
	case *arrow.StructType, *arrow.MapType:
		return nil, "a list of structs"
	case arrow.NestedType:
		if _, ends := t.(*arrow.RunEndEncodedType); !ends {
			return nil, "a list of lists"
		}
	}
	return element, ""
}

// plain returns the type of the values of a dictionary, or t.
func plain(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return t
}

// integers returns an error unless t is a list of integers, or of booleans where those may stand for 0 and 1.
func integers(t arrow.DataType, booleans bool) error {
	element, shape := shapeOf(t)
	if element == nil {
		return fmt.Errorf("%s: want a list of integers", shape)
	}
	id := plain(element).ID()
	if arrow.IsInteger(id) || id == arrow.NULL || booleans && element.ID() == arrow.BOOL {
		return nil
	}
	return fmt.Errorf("a list of %v values: want a list of integers", element)
}

// single returns an error unless t is one string or integer a row.
func single(t arrow.DataType) error {
	if element, shape := shapeOf(t); element != nil {
		return fmt.Errorf("a list: want a string or an integer")
	} else if shape != "one value a row" {
		return fmt.Errorf("%s: want a string or an integer", shape)
	}
	switch id := plain(t).ID(); {
	case arrow.IsInteger(id), id == arrow.STRING, id == arrow.LARGE_STRING, id == arrow.STRING_VIEW, id == arrow.NULL:
		return nil
	}
	return fmt.Errorf("a %v value: want a string or an integer", t)
}

// numbers reports whether t is a list with a number for each place.
func numbers(t arrow.DataType) bool {
	element, _ := shapeOf(t)
	if element == nil {
		return false
	}
	id := plain(element).ID()
	return arrow.IsInteger(id) || arrow.IsFloating(id) || id == arrow.BOOL
}

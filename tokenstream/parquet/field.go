package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// A field is a column at the root of a schema, seen as a list of numbers or a value a row.
type field struct {
	name     string
	leaf     int // ordinal of its column chunk in a row group; the first one if it has several
	physical format.Type
	kind     kind
	bits     int    // of an integer: its values are below 1<<bits, or 1<<(bits-1) if it is signed
	shape    string // what the field is, in the words of an error: "a list", "a number", ...
	list     bool
	rep, def int // largest levels
	present  int // of a list: the definition level of an element; one below it a list is empty, and below that it is null
}

// A kind is what the leaf of a field holds.
type kind uint8

const (
	other kind = iota
	signed
	unsigned
	boolean
	float
	text
	null // all values are null
)

var kindNames = [...]string{"other", "signed", "unsigned", "boolean", "floating-point", "text", "null"}

func (k kind) String() string { return kindNames[k] }

// fieldsOf returns the fields of a schema, which is a tree, depth first.
func fieldsOf(schema []format.SchemaElement) ([]field, int, error) {
	if len(schema) == 0 {
		return nil, 0, fmt.Errorf("no schema")
	}
	t := &tree{elements: schema[1:]}
	var fields []field
	for range schema[0].NumChildren.V {
		n, err := t.next(16)
		if err != nil {
			return nil, 0, err
		}
		fields = append(fields, fieldOf(n))
	}
	if len(t.elements) > 0 {
		return nil, 0, fmt.Errorf("the schema has %d elements too many", len(t.elements))
	}
	return fields, t.leaves, nil
}

// A tree takes the nodes of a schema from the front of its elements.
type tree struct {
	elements []format.SchemaElement
	leaves   int
}

type node struct {
	*format.SchemaElement
	leaf     int // of the node, or its first one
	children []node
}

func (t *tree) next(depth int) (node, error) {
	if len(t.elements) == 0 {
		return node{}, fmt.Errorf("the schema is cut off")
	}
	if depth == 0 {
		return node{}, fmt.Errorf("the schema is nested too deeply")
	}
	n := node{SchemaElement: &t.elements[0], leaf: t.leaves}
	t.elements = t.elements[1:]
	if n.Type.Valid {
		t.leaves++
		return n, nil
	}
	if n.NumChildren.V < 1 {
		return node{}, fmt.Errorf("element %q of the schema has neither a type nor children", n.Name)
	}
	for range n.NumChildren.V {
		child, err := t.next(depth - 1)
		if err != nil {
			return node{}, err
		}
		n.children = append(n.children, child)
	}
	return n, nil
}

// fieldOf says what the node is. Lists come in three forms (LogicalTypes.md, "Lists"): a group marked as a list with a repeated group
// of one element in it, or a repeated element in it, and a repeated element without a group around it.
func fieldOf(n node) field {
	f := field{name: n.Name, leaf: n.leaf}
	f.descend(n)
	switch {
	case len(n.children) == 0:
		if f.list = f.rep > 0; f.list {
			f.setList()
		} else {
			f.shape = "one value a row"
		}
	case !isList(n) || len(n.children) != 1 || f.rep > 0:
		f.shape = "a struct or a map"
		return f
	default:
		n = n.children[0]
		f.descend(n)
		if f.rep != 1 {
			f.shape = "no proper list"
			return f
		}
		f.setList()
		if len(n.children) == 1 {
			n = n.children[0]
			f.descend(n)
		}
		switch {
		case isList(n) || f.rep > 1:
			f.shape, f.list = "a list of lists", false
			return f
		case len(n.children) > 0:
			f.shape, f.list = "a list of structs", false
			return f
		}
	}
	f.setKind(n.SchemaElement)
	return f
}

func (f *field) setList() { f.list, f.present, f.shape = true, f.def, "a list" }

// descend counts the levels that n adds.
func (f *field) descend(n node) {
	switch n.RepetitionType.V {
	case format.Optional:
		f.def++
	case format.Repeated:
		f.def++
		f.rep++
	}
}

func isList(n node) bool {
	_, ok := n.LogicalType.Value.(*format.ListType)
	return ok || n.ConvertedType.Valid && n.ConvertedType.V == deprecated.List
}

// setKind says what the leaf e holds.
func (f *field) setKind(e *format.SchemaElement) {
	f.physical = e.Type.V
	switch f.physical {
	case format.Boolean:
		f.kind = boolean
	case format.Float, format.Double:
		f.kind = float
	case format.ByteArray:
		f.kind = text
	case format.Int32:
		f.kind, f.bits = signed, 32
	case format.Int64:
		f.kind, f.bits = signed, 64
	}
	switch t := e.LogicalType.Value.(type) {
	case nil:
		if e.ConvertedType.Valid && f.kind == signed {
			f.setConverted(e.ConvertedType.V)
		}
	case *format.IntType:
		if f.kind != signed || t.BitWidth <= 0 || int(t.BitWidth) > f.bits {
			f.kind = other
			return
		}
		f.bits = int(t.BitWidth)
		if !t.IsSigned {
			f.kind = unsigned
		}
	case *format.NullType:
		f.kind = null
	case *format.StringType, *format.EnumType, *format.JsonType, *format.UUIDType:
	default:
		f.kind = other // decimals, dates, times: the stored integers are not what they stand for
	}
}

func (f *field) setConverted(t deprecated.ConvertedType) {
	switch t {
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		f.bits = min(f.bits, 8<<(t-deprecated.Int8))
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		f.kind, f.bits = unsigned, min(f.bits, 8<<(t-deprecated.Uint8))
	default:
		f.kind = other
	}
}

// integers returns an error unless the field is a list of integers, or of booleans where those may stand for 0 and 1.
func (f *field) integers(booleans bool) error {
	switch {
	case !f.list:
		return fmt.Errorf("%s: want a list of integers", f.shape)
	case f.kind == signed, f.kind == unsigned, f.kind == null, f.kind == boolean && booleans:
		return nil
	}
	return fmt.Errorf("a list of %v values: want a list of integers", f.valueName())
}

// single returns an error unless the field is one string or integer a row.
func (f *field) single() error {
	if !f.list && f.shape == "one value a row" {
		switch f.kind {
		case signed, unsigned, text, null:
			return nil
		}
		return fmt.Errorf("a %v value: want a string or an integer", f.valueName())
	}
	return fmt.Errorf("%s: want a string or an integer", f.shape)
}

func (f *field) valueName() string {
	if f.kind == other {
		return fmt.Sprint(f.physical)
	}
	return f.kind.String()
}

// numbers reports whether the field is a list with a number for each place.
func (f *field) numbers() bool {
	return f.list && (f.kind == signed || f.kind == unsigned || f.kind == float || f.kind == boolean)
}

// narrow reports whether all values of the field, as they are stored, are also values of an int32.
func (f *field) narrow() bool {
	return f.physical == format.Int32 && (f.kind == signed || f.kind == null || f.bits < 32)
}

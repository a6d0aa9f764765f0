package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/brimful/brimful/tokenstream"
)

// checkLayout returns an error when no file can have the columns of the layout.
func checkLayout(layout tokenstream.Layout) error {
	if len(layout.Columns) == 0 {
		return fmt.Errorf("layout %q has no columns", layout.Name)
	}
	seen := make(map[string]bool)
	for i, c := range layout.Columns {
		switch {
		case c.Name == "":
			return fmt.Errorf("layout %q: column %d has no name", layout.Name, i)
		case seen[c.Name]:
			return fmt.Errorf("layout %q: two columns are named %q", layout.Name, c.Name)
		}
		if err := c.Check(); err != nil {
			return fmt.Errorf("layout %q: %w", layout.Name, err)
		}
		seen[c.Name] = true
	}
	return nil
}

// schemaOf returns the schema tree of a layout, depth first, its root first.
func schemaOf(layout tokenstream.Layout) []format.SchemaElement {
	elements := []format.SchemaElement{{
		Name:        "schema",
		NumChildren: thrift.New(int32(len(layout.Columns))),
	}}
	for _, c := range layout.Columns {
		if !c.Kind.List() {
			elements = append(elements, leaf(c.Name, c.Type))
			continue
		}
		elements = append(elements,
			format.SchemaElement{
				Name:           c.Name,
				RepetitionType: thrift.New(format.Required),
				NumChildren:    thrift.New(int32(1)),
				ConvertedType:  thrift.New(deprecated.List),
				LogicalType:    format.LogicalType{Value: new(format.ListType)},
			},
			format.SchemaElement{
				Name:           "list",
				RepetitionType: thrift.New(format.Repeated),
				NumChildren:    thrift.New(int32(1)),
			},
			leaf("element", c.Type))
	}
	return elements
}

// leaf returns the schema element of required values.
func leaf(name string, t tokenstream.Type) format.SchemaElement {
	e := format.SchemaElement{
		Name:           name,
		RepetitionType: thrift.New(format.Required),
		Type:           thrift.New(physical(t)),
	}
	switch t {
	case tokenstream.Int8:
		e.ConvertedType = thrift.New(deprecated.Int8)
		e.LogicalType.Value = &format.IntType{BitWidth: 8, IsSigned: true}
	case tokenstream.String:
		e.ConvertedType = thrift.New(deprecated.UTF8)
		e.LogicalType.Value = new(format.StringType)
	}
	return e
}

// path returns the place of a column's leaf in the schema tree.
func path(c tokenstream.Column) []string {
	if c.Kind.List() {
		return []string{c.Name, "list", "element"}
	}
	return []string{c.Name}
}

// physical returns the type in which values of type t are stored.
func physical(t tokenstream.Type) format.Type {
	switch t {
	case tokenstream.Int64:
		return format.Int64
	case tokenstream.Float32:
		return format.Float
	case tokenstream.String:
		return format.ByteArray
	}
	return format.Int32
}

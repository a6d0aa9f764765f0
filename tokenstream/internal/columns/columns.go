// Package columns is what the readers of samples have in common: what a column or key is for, and how the lists of one row become the
// ids and labels of a sample.
package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/brimful/brimful/tokenstream"
)

// Role is what a column is for. Masks have the roles from Mask on, one each.
type Role int

const (
	None Role = iota
	IDs
	Labels
	Attention
	Positions
	Packed // only rows that are packed have it
	ID
	Key
	Mask
)

// IsFlag reports whether the values of a list are 0 and 1.
func (r Role) IsFlag() bool { return r == Attention || r >= Mask }

// IsText reports whether a column has one string or integer a row, and no list.
func (r Role) IsText() bool { return r == ID || r == Key }

// IsList reports whether a column has a list of integers a row.
func (r Role) IsList() bool { return r != None && r != Packed && !r.IsText() }

// fixed are the columns that have a role whatever the fields say.
var fixed = map[string]Role{
	"attention_mask": Attention, "position_ids": Positions,
	"cu_seqlens": Packed, "seq_lengths": Packed, "seq_idx": Packed,
}

// Roles fills in the defaults of f and returns what the columns are for, by name. It is an error if a column would have to be read as
// two things, of which one would be lost.
func Roles(f *tokenstream.Fields) (map[string]Role, error) {
	if f.IDs == "" {
		f.IDs = "input_ids"
	}
	if f.Labels == "" {
		f.Labels = "labels"
	}
	if f.IDField == "" {
		f.IDField = "id"
	}
	if f.Masks == nil {
		f.Masks = []string{"loss_mask", "assistant_masks", "completion_mask"}
	}
	roles := map[string]Role{}
	for name, r := range fixed {
		roles[name] = r
	}
	if roles[f.IDField] != None {
		return nil, fmt.Errorf("id field %s: want one with a string or an integer", f.IDField)
	}
	roles[f.IDField] = ID
	for i, name := range append([]string{f.IDs, f.Labels}, f.Masks...) {
		if roles[name] != None {
			return nil, fmt.Errorf("%s can't be read as two things", name)
		}
		switch i {
		case 0:
			roles[name] = IDs
		case 1:
			roles[name] = Labels
		default:
			roles[name] = Mask + Role(i-2)
		}
	}
	if f.KeyField != "" {
		switch r := roles[f.KeyField]; r {
		case None:
			roles[f.KeyField] = Key
		case ID:
		default:
			return nil, fmt.Errorf("key field %s: want one with a string or an integer", f.KeyField)
		}
	}
	return roles, nil
}

// A Row is the lists of one row.
type Row struct {
	Lists [][]int32 // by role, nil for what is not there or null

	f      *tokenstream.Fields
	labels []int32
}

// NewRow returns a row for the fields, whose defaults are filled in.
func NewRow(f *tokenstream.Fields) *Row {
	return &Row{Lists: make([][]int32, int(Mask)+len(f.Masks)), f: f}
}

// Name returns the column of a role with a list.
func (r *Row) Name(role Role) string {
	switch {
	case role == IDs:
		return r.f.IDs
	case role == Labels:
		return r.f.Labels
	case role == Attention:
		return "attention_mask"
	case role >= Mask:
		return r.f.Masks[role-Mask]
	}
	return "position_ids"
}

// none stands for an empty list, since nil is no list.
var none = []int32{}

// Set sets the list of a role to what a reader returned for it.
func (r *Row) Set(role Role, list []int32, isNull bool, err error) error {
	var e *ElementError
	switch {
	case errors.As(err, &e):
		want := fmt.Sprintf("%d..%d", math.MinInt32, math.MaxInt32)
		if role == IDs {
			want = fmt.Sprintf("0..%d", math.MaxInt32)
		}
		if e.Found == "null" {
			want = "an integer"
		}
		return WrongAt(r.Name(role), e.Index, "%s: want %s", e.Found, want)
	case err != nil:
		return &tokenstream.InputError{Field: r.Name(role), Err: err}
	case isNull:
		list = nil
	case list == nil:
		list = none
	}
	r.Lists[role] = list
	return nil
}

// SetText sets the id or the key of a sample, or both, to what a reader returned for the column of a role.
func (r *Row) SetText(s *tokenstream.Sample, role Role, text string, isNull bool, err error) error {
	name := r.f.KeyField
	if role == ID {
		name = r.f.IDField
		s.ID = text
	}
	isKey := name == r.f.KeyField
	if err == nil && isNull && isKey {
		err = errors.New("null: want a string or an integer")
	}
	if err != nil {
		return &tokenstream.InputError{Field: name, Err: err}
	}
	if isKey {
		s.Key = text
	}
	return nil
}

// An ElementError is a fault of one element of a list: a null, or an integer of more than 32 bits.
type ElementError struct {
	Index int
	Found string // "null", or the integer
}

func (e *ElementError) Error() string { return fmt.Sprintf("element %d is %s", e.Index, e.Found) }

// Sample returns the ids and the labels of the sample in the row; nil labels if it has none. They share memory with the lists, or are
// valid until the next call. An error is a [*tokenstream.InputError] without a place.
func (r *Row) Sample() (ids, labels []int32, err error) {
	ids = r.Lists[IDs]
	if ids == nil {
		return nil, nil, Wrong(r.f.IDs, "null: want a list of token ids")
	}
	if i := firstNegative(ids); i >= 0 {
		return nil, nil, WrongAt(r.f.IDs, i, "%d: want 0..%d", ids[i], math.MaxInt32)
	}
	masked := None
	for i, v := range r.Lists {
		role := Role(i)
		if v == nil || role == IDs {
			continue
		}
		if len(v) != len(ids) {
			return nil, nil, Wrong(r.Name(role), "%d values for %d ids: want as many", len(v), len(ids))
		}
		if role >= Mask {
			masked = role
		}
		switch {
		case role.IsFlag():
			for k, x := range v {
				if x != 0 && x != 1 {
					return nil, nil, WrongAt(r.Name(role), k, "%d: want 0 or 1", x)
				}
			}
		case role == Positions:
			for k, x := range v {
				if int(x) != k {
					return nil, nil, WrongAt(r.Name(role), k, "%d: want %d; does the row hold several samples, packed already?", x, k)
				}
			}
		}
	}
	if masked != None && r.Lists[Labels] != nil {
		return nil, nil, Wrong(r.Name(masked), "both a mask and %s: want one of them", r.f.Labels)
	}
	from, to := 0, len(ids)
	if v := r.Lists[Attention]; v != nil {
		if from, to, err = ones(v); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case r.Lists[Labels] != nil:
		labels = r.Lists[Labels][from:to:to]
	case masked != None:
		labels = r.masked(ids[from:to], from, to)
	}
	return ids[from:to:to], labels, nil
}

// masked returns the labels of ids, which are those of the row from one place to another, under all masks that are there.
func (r *Row) masked(ids []int32, from, to int) []int32 {
	r.labels = append(r.labels[:0], ids...)
	for _, mask := range r.Lists[Mask:] {
		if mask == nil {
			continue
		}
		for i, x := range mask[from:to] {
			if x == 0 {
				r.labels[i] = tokenstream.Ignore
			}
		}
	}
	return r.labels
}

// ones returns where the ones of an attention mask begin and end.
func ones(mask []int32) (from, to int, err error) {
	from, to = slices.Index(mask, 1), len(mask)
	if from < 0 {
		return 0, 0, nil
	}
	if i := slices.Index(mask[from:], 0); i >= 0 {
		to = from + i
	}
	if slices.Contains(mask[to:], 1) {
		return 0, 0, WrongAt("attention_mask", to, "0 between ones: want one run of ones, with padding at the ends only")
	}
	return from, to, nil
}

// firstNegative returns the index of the first value below 0, or -1.
func firstNegative(values []int32) int {
	signs := int32(0) // without a branch for each
	rest := values
	for ; len(rest) >= 8; rest = rest[8:] {
		v := rest[:8:8]
		signs |= v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]
	}
	for _, v := range rest {
		signs |= v
	}
	if signs >= 0 {
		return -1
	}
	return slices.IndexFunc(values, func(v int32) bool { return v < 0 })
}

// Wrong returns an error about a column.
func Wrong(column, format string, args ...any) error {
	return &tokenstream.InputError{Field: column, Err: fmt.Errorf(format, args...)}
}

// WrongAt returns an error about an element of a column.
func WrongAt(column string, i int, format string, args ...any) error {
	return Wrong(fmt.Sprintf("%s[%d]", column, i), format, args...)
}

package columns_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/internal/columns"
)

func TestRoles(t *testing.T) {
	var f tokenstream.Fields
	roles, err := columns.Roles(&f)
	require.NoError(t, err)
	require.Equal(t, map[string]columns.Role{
		"input_ids": columns.IDs, "labels": columns.Labels, "loss_mask": columns.Mask, "assistant_masks": columns.Mask + 1, "completion_mask": columns.Mask + 2,
		"attention_mask": columns.Attention, "position_ids": columns.Positions, "id": columns.ID,
		"cu_seqlens": columns.Packed, "seq_lengths": columns.Packed, "seq_idx": columns.Packed,
	}, roles)
	again := f
	_, err = columns.Roles(&again)
	require.NoError(t, err, "fields with their defaults filled in")
	f = tokenstream.Fields{IDs: "tokens", Labels: "targets", Masks: []string{}, KeyField: "group"}
	roles, err = columns.Roles(&f)
	require.NoError(t, err)
	require.Equal(t, columns.IDs, roles["tokens"])
	require.Equal(t, columns.Labels, roles["targets"])
	require.Equal(t, columns.Key, roles["group"])
	require.NotContains(t, roles, "loss_mask")
	f = tokenstream.Fields{KeyField: "id"}
	roles, err = columns.Roles(&f)
	require.NoError(t, err)
	require.Equal(t, columns.ID, roles["id"])
}

// What would be read as two things, and so lost as one of them, is refused.
func TestRolesRefuses(t *testing.T) {
	for want, f := range map[string]tokenstream.Fields{
		"input_ids can't be read as two things":      {Labels: "input_ids"},
		"loss_mask can't be read as two things":      {Labels: "loss_mask"},
		"m can't be read as two things":              {Masks: []string{"m", "m"}},
		"attention_mask can't be read as two things": {Masks: []string{"attention_mask"}},
		"id can't be read as two things":             {IDs: "id"},
		"key field labels: want one with":            {KeyField: "labels"},
		"key field completion_mask: want one with":   {KeyField: "completion_mask"},
		"key field position_ids: want one with":      {KeyField: "position_ids"},
		"key field seq_idx: want one with":           {KeyField: "seq_idx"},
	} {
		_, err := columns.Roles(&f)
		require.ErrorContains(t, err, want)
	}
}

func TestSample(t *testing.T) {
	const none = columns.None
	type lists map[columns.Role][]int32
	for _, c := range []struct {
		name        string
		lists       lists
		ids, labels []int32
		err         string
	}{
		{"ids alone", lists{columns.IDs: {1, 2}}, []int32{1, 2}, nil, ""},
		{"empty", lists{columns.IDs: {}, columns.Labels: {}}, []int32{}, []int32{}, ""},
		{"no ids", lists{columns.Labels: {1}}, nil, nil, "input_ids: null: want a list of token ids"},
		{"a negative id", lists{columns.IDs: {0, 1, 2, 3, 4, 5, 6, 7, 8, -9}}, nil, nil, "input_ids[9]: -9: want 0..2147483647"},
		{"labels", lists{columns.IDs: {1, 2}, columns.Labels: {-100, 2}}, []int32{1, 2}, []int32{-100, 2}, ""},
		{"fewer labels", lists{columns.IDs: {1, 2}, columns.Labels: {2}}, nil, nil, "labels: 1 values for 2 ids: want as many"},
		{"two masks", lists{columns.IDs: {1, 2, 3}, columns.Mask: {1, 0, 1}, columns.Mask + 2: {0, 1, 1}}, []int32{1, 2, 3}, []int32{-100, -100, 3}, ""},
		{"no flag", lists{columns.IDs: {1, 2}, columns.Mask + 1: {1, 2}}, nil, nil, "assistant_masks[1]: 2: want 0 or 1"},
		{"a mask and labels", lists{columns.IDs: {1}, columns.Labels: {1}, columns.Mask: {1}}, nil, nil, "loss_mask: both a mask and labels: want one of them"},
		{"padding", lists{columns.IDs: {0, 5, 6, 0}, columns.Attention: {0, 1, 1, 0}, columns.Labels: {1, 2, 3, 4}}, []int32{5, 6}, []int32{2, 3}, ""},
		{"padding and a mask", lists{columns.IDs: {0, 5, 6, 0}, columns.Attention: {0, 1, 1, 0}, columns.Mask: {1, 0, 1, 1}}, []int32{5, 6}, []int32{-100, 6}, ""},
		{"nothing but padding", lists{columns.IDs: {0, 0}, columns.Attention: {0, 0}}, []int32{}, nil, ""},
		{"a hole", lists{columns.IDs: {1, 2, 3}, columns.Attention: {1, 0, 1}}, nil, nil, "attention_mask[1]: 0 between ones: want one run of ones, with padding at the ends only"},
		{"positions", lists{columns.IDs: {7, 8}, columns.Positions: {0, 1}}, []int32{7, 8}, nil, ""},
		{"packed", lists{columns.IDs: {7, 8}, columns.Positions: {0, 0}}, nil, nil, "position_ids[1]: 0: want 1; does the row hold several samples, packed already?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f tokenstream.Fields
			_, err := columns.Roles(&f)
			require.NoError(t, err)
			r := columns.NewRow(&f)
			require.Nil(t, r.Lists[none])
			for role, v := range c.lists {
				require.NoError(t, r.Set(role, v, false, nil))
			}
			ids, labels, err := r.Sample()
			if c.err != "" {
				require.EqualError(t, err, "sample: "+c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.ids, ids)
			require.Equal(t, c.labels, labels)
		})
	}
}

// What a reader says of a list or a name becomes the list, the name, or an error with its place.
func TestSet(t *testing.T) {
	f := tokenstream.Fields{KeyField: "group"}
	_, err := columns.Roles(&f)
	require.NoError(t, err)
	r := columns.NewRow(&f)
	require.NoError(t, r.Set(columns.Labels, nil, false, nil))
	require.NotNil(t, r.Lists[columns.Labels], "an empty list is one")
	require.NoError(t, r.Set(columns.Labels, []int32{1}, true, nil))
	require.Nil(t, r.Lists[columns.Labels], "a null is none")
	require.EqualError(t, r.Set(columns.IDs, nil, false, &columns.ElementError{Index: 3, Found: "4294967296"}), "sample: input_ids[3]: 4294967296: want 0..2147483647")
	require.EqualError(t, r.Set(columns.Labels, nil, false, &columns.ElementError{Index: 3, Found: "4294967296"}), "sample: labels[3]: 4294967296: want -2147483648..2147483647")
	require.EqualError(t, r.Set(columns.Mask, nil, false, &columns.ElementError{Found: "null"}), "sample: loss_mask[0]: null: want an integer")
	require.EqualError(t, r.Set(columns.Attention, nil, false, errors.New("torn")), "sample: attention_mask: torn")
	var s tokenstream.Sample
	require.NoError(t, r.SetText(&s, columns.ID, "a", false, nil))
	require.NoError(t, r.SetText(&s, columns.Key, "b", false, nil))
	require.Equal(t, tokenstream.Sample{ID: "a", Key: "b"}, s)
	require.EqualError(t, r.SetText(&s, columns.Key, "", true, nil), "sample: group: null: want a string or an integer")
	require.EqualError(t, r.SetText(&s, columns.ID, "", false, errors.New("torn")), "sample: id: torn")
	f.KeyField = "id"
	r = columns.NewRow(&f)
	require.NoError(t, r.SetText(&s, columns.ID, "c", false, nil))
	require.Equal(t, tokenstream.Sample{ID: "c", Key: "c"}, s)
	require.EqualError(t, r.SetText(&s, columns.ID, "", true, nil), "sample: id: null: want a string or an integer")
}

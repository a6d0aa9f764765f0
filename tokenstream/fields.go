package tokenstream

// Fields says which columns of a file, or keys of a JSON line, a sample is made of. The zero value is the default.
type Fields struct {
	IDs      string   // token ids; "" is "input_ids"
	Labels   string   // unshifted labels; "" is "labels"
	Masks    []string // masks of 0 and 1; nil is "loss_mask", "assistant_masks", "completion_mask". A token is a target where all are 1
	IDField  string   // a string or an integer that becomes [Sample.ID]; "" is "id". A sample need not have it
	KeyField string   // a string or an integer that becomes [Sample.Key], which every sample then has to have; "" is none

	// Unused, if not nil, is called once with each field that is skipped although it holds a list, and so might have a value for each
	// token.
	Unused func(field string)
}

package tokenstream

// String returns the policy's name on a command line.
func (t TooLong) String() string {
	return name([]string{"error", "drop", "truncate", "truncate-left", "split"}, int(t), "TooLong")
}

// String returns the policy's name on a command line.
func (p Policy) String() string {
	return name([]string{"default", "error", "drop", "keep"}, int(p), "Policy")
}

// String returns the rule's name on a command line.
func (r LabelRule) String() string {
	return name([]string{"own", "shifted", "free", "all"}, int(r), "LabelRule")
}

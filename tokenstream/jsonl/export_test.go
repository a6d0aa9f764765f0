package jsonl

// WithBlockBytes makes blocks small.
func WithBlockBytes(o Options, n int) Options {
	o.blockBytes = n
	return o
}

// WithoutScan makes every line go the way of encoding/json.
func WithoutScan(o Options) Options {
	o.noScan = true
	return o
}

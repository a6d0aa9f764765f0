package arrow

// WithBatchBytes makes record batches small.
func WithBatchBytes(o Options, n int) Options {
	o.batchBytes = n
	return o
}

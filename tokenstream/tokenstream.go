// Package tokenstream turns a sequence of tokenized samples into a sequence of packed rows.
package tokenstream

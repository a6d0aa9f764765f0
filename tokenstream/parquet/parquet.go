// Package parquet writes packed rows to Parquet files and reads tokenized samples from them.
//
// A file of [NewWriter] holds the columns of a layout and nothing else. A list column is the standard three-level list, a required
// list of required elements, so that every reader takes it for a list of non-null integers and no token id can be lost to a null:
//
//	required group input_ids (LIST) { repeated group list { required int32 element; } }
//
// Int8 columns are INT32 with the logical type INT(8, true). There is no "huggingface" and no "ARROW:schema" metadata: all versions
// of all readers infer the same plain types without.
//
// Columns that count up (position_ids, seq_idx, cu_seqlens) are DELTA_BINARY_PACKED, a thirtieth of their plain size before
// compression, the others PLAIN. The oldest readers tried that take it are pyarrow 11, DuckDB 0.8.1 and Polars 1.6; Polars before that
// refuses it, and for such readers there is [Options].Plain. The data pages are of version 2 and hold whole rows, at least one and
// about 1 MiB of values, each with its CRC-32.
//
// [Read] reads files of tokenized samples, one a row, as they come from pyarrow, Polars, DuckDB, datasets and others: a column of
// token ids that is a list in any of the forms which the format has for it, of signed or unsigned integers of any width, and the same
// companions, rules and errors as package jsonl has, column for key. A value is what is stored or an error: nothing is converted that
// does not fit, no null becomes a number. What damaged or hostile files can take is bounded by their real size and by a page, and a
// page with a checksum is held to it.
package parquet

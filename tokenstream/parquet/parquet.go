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
// compression, the others PLAIN. Of the readers tried, pyarrow 11, DuckDB 0.8.1 and Polars 1.6 and all later ones read it, and Polars
// before 1.6 refuses it: for such readers there is [Options].Plain. The data pages are of version 2 and hold whole rows, at least one
// and about 1 MiB of values, each with its CRC-32.
package parquet

// Package arrow writes packed rows as Arrow IPC files and streams, and the companions of a Hugging Face save_to_disk folder, and reads
// tokenized samples from IPC files and streams.
//
// A column of [NewWriter] that is a list has the type list<item: int32>, never large_list, which datasets refuses to concatenate, and
// no fixed-size list, whatever the rows. Values are never null; the fields are nullable all the same, as pyarrow makes them, so that
// schemas compare equal. There is no "huggingface" metadata: all versions of datasets infer the same plain types without.
//
// The forms and who reads them (tried: pyarrow 17 and 26, datasets 3.6 and 5.2, Polars 2.1, arrow/go/v17), with and without compression:
//
//	[File]    pyarrow.ipc.open_file, pyarrow.feather, pandas.read_feather, load_dataset("arrow"), polars.read_ipc and scan_ipc
//	[Stream]  pyarrow.ipc.open_stream, load_dataset("arrow"), load_from_disk, Dataset.from_file, polars.read_ipc_stream
//
// [Read] takes both forms, told by their content, as they come from pyarrow, Polars, datasets and others: a column of token ids that is
// a list, large list, fixed-size list or list view of integers of any width, also dictionary-encoded, and the same companions, rules and
// errors as package jsonl has, column for key. A value is what is stored or an error: nothing is converted that does not fit, no null
// becomes a number, and data without their end are taken for cut off. Damaged and hostile data give an error, and take no more memory
// than their real size and [ReadOptions].MaxBatchBytes allow. The footer of a file is not trusted, but it has to agree with the file.
//
// No type of the Arrow library is in a signature of this package.
package arrow

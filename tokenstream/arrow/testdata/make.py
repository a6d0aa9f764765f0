"""Writes the Arrow files of this folder: the samples of samples.jsonl as pyarrow, pandas, Polars and datasets store them.

Run in this folder with these packages installed; the files are committed, so that the Go tests need none of them.
"""

import json
import random
import shutil

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute

random.seed(1)
samples = []
for i in range(30):
    n = random.choice([1, 1, 2, 3, 8, 9, 20, 60])
    ids = [random.choice([0, 1, 7, 198, 60000, random.randrange(65536)]) for _ in range(n)]
    labels = [-100 if random.random() < 0.4 else x for x in ids]
    samples.append({"id": f"s-{i}", "input_ids": ids, "labels": labels})
with open("samples.jsonl", "w") as f:
    for s in samples:
        f.write(json.dumps(s, separators=(",", ":")) + "\n")


def table(ids=pa.list_(pa.int32()), labels=None, id=pa.string(), rows=samples):
    return pa.Table.from_pylist(rows, pa.schema([("id", id), ("input_ids", ids), ("labels", labels or ids)]))


def write(name, t, rows=11, **options):
    """Both forms, with record batches of 11 rows, so that there are three."""
    options = pa.ipc.IpcWriteOptions(**options)
    for form, new in [("file", pa.ipc.new_file), ("stream", pa.ipc.new_stream)]:
        with new(f"pyarrow-{name}-{form}.arrow", t.schema, options=options) as w:
            w.write_table(t, max_chunksize=rows)


int32 = pa.list_(pa.int32())
write("default", table())
write("one-batch", table(), rows=100)
write("lz4", table(), compression="lz4")
write("zstd", table(), compression="zstd")
write("version-4", table(), metadata_version=pa.ipc.MetadataVersion.V4)
write("legacy", table(), use_legacy_format=True, metadata_version=pa.ipc.MetadataVersion.V4)
write("int64", table(pa.list_(pa.int64())))
for t in [pa.uint16(), pa.uint32(), pa.uint64()]:
    write(str(t), table(pa.list_(t), int32))
write("large-list", table(pa.large_list(pa.int32()), id=pa.large_string()))
write("list-view", table(pa.list_view(pa.int32()), id=pa.string_view()))
write("large-list-view", table(pa.large_list_view(pa.int64())))
write("dictionary", table(pa.list_(pa.dictionary(pa.int16(), pa.uint32())), int32, id=pa.dictionary(pa.int8(), pa.string())), unify_dictionaries=True)


def dictionaries(name, deltas):
    """A stream each of whose record batches has a dictionary of its own, or one that goes on from that of the batch before."""
    values, batches = [], []
    for k in range(0, 30, 11):
        rows = table(int32).slice(k, 11).combine_chunks().to_batches()[0]
        ids = rows["input_ids"]
        flat = ids.flatten().to_pylist()
        values = (values if deltas else []) + sorted(set(flat) - set(values if deltas else []))
        codes = pa.DictionaryArray.from_arrays(pa.array([values.index(v) for v in flat], pa.int32()), pa.array(values, pa.int64()))
        lists = pa.ListArray.from_arrays(pa.array([0, *pa.compute.cumulative_sum(ids.value_lengths()).to_pylist()], pa.int32()), codes)
        batches.append(pa.record_batch([rows["id"], lists, rows["labels"]], ["id", "input_ids", "labels"]))
    with pa.ipc.new_stream(f"pyarrow-{name}-stream.arrow", batches[0].schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)) as w:
        for batch in batches:
            w.write_batch(batch)
        print(name, w.stats)


dictionaries("dictionary-deltas", True)
dictionaries("dictionary-replaced", False)
write("required", table(pa.list_(pa.field("element", pa.int32(), nullable=False)), int32))
nulls = table().append_column("loss_mask", pa.nulls(30)).append_column("attention_mask", pa.nulls(30, pa.list_(pa.null())))
write("nulls", nulls)
strange = {
    "a": pa.array([{"x": [[1, 2], None]}] * 30),
    "b": pa.array([[("k", 1.5)]] * 30, pa.map_(pa.string(), pa.float64())),
    "c": pa.UnionArray.from_sparse(pa.array([0, 1, 0] * 10, pa.int8()), [pa.array(range(30)), pa.array(["x"] * 30)]),
    "d": pa.RunEndEncodedArray.from_arrays([10, 30], ["p", "q"]),
    "e": pa.array([b"12"] * 30, pa.binary(2)),
    "f": pa.array([None, True] * 15),
    "g": pa.array(["a string that is too long to be inline"] * 30, pa.string_view()),
}
other = table()
for name, column in strange.items():
    other = other.add_column(0, name, column)
write("strange-columns", other.replace_schema_metadata({"huggingface": '{"info": {"features": {"input_ids": {"_type": "Future"}}}}'}))

eight = [s for s in samples if len(s["input_ids"]) == 8]
write("fixed-size", table(pa.list_(pa.int32(), 8), rows=eight), rows=2)

frame = pl.from_arrow(table())
frame.write_ipc("polars-file.arrow")
frame.write_ipc("polars-zstd-file.arrow", compression="zstd", record_batch_size=11)
frame.write_ipc("polars-oldest-file.arrow", compat_level=pl.CompatLevel.oldest())
frame.write_ipc_stream("polars-stream.arrow")
pd.DataFrame(samples).to_feather("pandas-file.arrow")
pd.DataFrame(samples).astype({"id": "category"}).to_feather("pandas-category-file.arrow")

for name in ["hf", "hf-dict"]:
    shutil.rmtree(name, ignore_errors=True)
data = datasets.Dataset.from_list(samples)
data.save_to_disk("hf", num_shards=3)
datasets.DatasetDict({"train": data.select(range(20)), "validation": data.select(range(20, 30))}).save_to_disk("hf-dict")

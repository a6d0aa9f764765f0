"""Writes the Parquet files of this folder: the samples of samples.jsonl as pyarrow, Polars, DuckDB, pandas and datasets store them.

Run in this folder with these packages installed; the files are committed, so that the Go tests need none of them.
"""

import json
import random

import datasets
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

random.seed(1)
samples = []
for i in range(60):
    n = random.choice([1, 1, 2, 3, 8, 9, 40, 200])
    ids = [random.choice([0, 1, 7, 198, 60000, random.randrange(65536)]) for _ in range(n)]
    labels = [-100 if random.random() < 0.4 else x for x in ids]
    samples.append({"id": f"s-{i}", "input_ids": ids, "labels": labels})
with open("samples.jsonl", "w") as f:
    for s in samples:
        f.write(json.dumps(s, separators=(",", ":")) + "\n")


def table(ids=pa.list_(pa.int32()), labels=None, nullable=True):
    fields = [("id", pa.string()), ("input_ids", ids), ("labels", labels or ids)]
    schema = pa.schema([pa.field(n, t, nullable=nullable) for n, t in fields])
    return pa.Table.from_pylist(samples, schema)


int32 = pa.list_(pa.int32())
required = pa.list_(pa.field("element", pa.int32(), nullable=False))
unsigned = {"ids": pa.list_(pa.uint16()), "labels": int32}


def pyarrow(name, t, **options):
    pq.write_table(t, f"pyarrow-{name}.parquet", **options)


pyarrow("default", table())
pyarrow("v2", table(), data_page_version="2.0", compression="zstd")
for codec in ["none", "gzip", "brotli", "lz4", "zstd", "snappy"]:
    pyarrow(codec, table(), compression=codec)
small = {"data_page_size": 64, "write_batch_size": 7, "row_group_size": 23}
pyarrow("small-pages", table(), **small)
pyarrow("small-pages-v2", table(), data_page_version="2.0", **small)
pyarrow("small-pages-plain", table(), use_dictionary=False, compression="none", **small)
pyarrow("small-dictionary", table(), dictionary_pagesize_limit=256, **small)
pyarrow("large-list", table(pa.large_list(pa.int32())))
pyarrow("int64", table(pa.list_(pa.int64())))
pyarrow("int64-plain", table(pa.list_(pa.int64())), use_dictionary=False)
pyarrow("uint16", table(**unsigned))
pyarrow("uint32", table(pa.list_(pa.uint32()), int32))
pyarrow("uint64", table(pa.list_(pa.uint64()), int32))
pyarrow("required", table(required, nullable=False))
pyarrow("old-names", table(), use_compliant_nested_type=False)
for encoding in ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]:
    for name, t in [("int32", int32), ("int64", pa.list_(pa.int64()))]:
        columns = {"input_ids.list.element": encoding, "labels.list.element": encoding, "id": "DELTA_LENGTH_BYTE_ARRAY"}
        pyarrow(f"{encoding.lower()}-{name}", table(t), use_dictionary=False, column_encoding=columns)
pyarrow("version-1", table(), version="1.0")
pyarrow("checksums", table(), write_page_checksum=True)

eight = pa.list_(pa.int32(), 8)
fixed = [s for s in samples if len(s["input_ids"]) == 8]
schema = pa.schema([("id", pa.string()), ("input_ids", eight), ("labels", eight)])
pq.write_table(pa.Table.from_pylist(fixed, schema), "fixed-size.parquet")

nulls = table().append_column("loss_mask", pa.nulls(60)).append_column("attention_mask", pa.nulls(60, pa.list_(pa.null())))
pyarrow("nulls", nulls)

frame = pl.from_arrow(table())
frame.write_parquet("polars.parquet")
frame.write_parquet("polars-pages.parquet", data_page_size=64, row_group_size=23)
duckdb.sql("COPY (SELECT * FROM read_json('samples.jsonl', columns={id: 'VARCHAR', input_ids: 'INTEGER[]', labels: 'INTEGER[]'})) TO 'duckdb.parquet'")
duckdb.sql("COPY (SELECT * FROM 'duckdb.parquet') TO 'duckdb-v2.parquet' (PARQUET_VERSION v2, COMPRESSION zstd)")
duckdb.sql("COPY (SELECT id, input_ids::UINTEGER[] AS input_ids, labels::BIGINT[] AS labels FROM 'duckdb.parquet') TO 'duckdb-wide.parquet' (COMPRESSION lz4_raw)")
pd.DataFrame(samples).to_parquet("pandas.parquet")
datasets.Dataset.from_list(samples).to_parquet("datasets.parquet")

"""The same samples give the same rows, byte for byte, whatever wrote them and in whatever format."""

import gzip
import json

import datasets
import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from conftest import EXAMPLE

CAPACITY = 2048


@pytest.fixture(scope="module")
def samples():
    """The samples of the example as columns of ids and labels, unshifted."""
    lines = [json.loads(line) for line in gzip.open(EXAMPLE)]
    ids = [line["input_ids"] for line in lines]
    labels = [[t if m else -100 for t, m in zip(line["input_ids"], line["completion_mask"])] if "completion_mask" in line else line["labels"] for line in lines]
    return {"input_ids": ids, "labels": labels}


@pytest.fixture(scope="module")
def table(samples):
    return pa.table({k: pa.array(v, pa.list_(pa.int32())) for k, v in samples.items()})


def jsonl(samples, path):
    with open(path, "w") as f:
        for ids, labels in zip(samples["input_ids"], samples["labels"]):
            f.write(json.dumps({"input_ids": ids, "labels": labels}) + "\n")


def arrow_file(table, path, **options):
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as w:
        w.write_table(table, max_chunksize=100)


def arrow_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as w:
        w.write_table(table, max_chunksize=100)


def cast(table, of):
    return pa.table({name: table[name].cast(of) for name in table.column_names})


WAYS = {
    "jsonl": ("x.jsonl", lambda s, t, p: jsonl(s, p)),
    "parquet, pyarrow": ("x.parquet", lambda s, t, p: pq.write_table(t, p)),
    "parquet, pyarrow, small groups and pages": ("x.parquet", lambda s, t, p: pq.write_table(t, p, row_group_size=37, data_page_size=999, compression="zstd")),
    "parquet, pyarrow, pages of version 2": ("x.parquet", lambda s, t, p: pq.write_table(t, p, data_page_version="2.0", compression="gzip")),
    "parquet, pyarrow, delta": ("x.parquet", lambda s, t, p: pq.write_table(t, p, use_dictionary=False, column_encoding="DELTA_BINARY_PACKED")),
    "parquet, pyarrow, int64": ("x.parquet", lambda s, t, p: pq.write_table(cast(t, pa.list_(pa.int64())), p)),
    "parquet, pyarrow, large list": ("x.parquet", lambda s, t, p: pq.write_table(cast(t, pa.large_list(pa.int32())), p)),
    "parquet, Polars": ("x.parquet", lambda s, t, p: pl.from_arrow(t).write_parquet(p)),
    "parquet, DuckDB": ("x.parquet", lambda s, t, p: duckdb.sql(f"COPY t TO '{p}' (FORMAT parquet)")),
    "parquet, datasets": ("x.parquet", lambda s, t, p: datasets.Dataset.from_dict(s).to_parquet(p)),
    "parquet, pandas": ("x.parquet", lambda s, t, p: t.to_pandas().to_parquet(p)),
    "arrow file, pyarrow": ("x.arrow", lambda s, t, p: arrow_file(t, p)),
    "arrow file, pyarrow, zstd": ("x.arrow", lambda s, t, p: arrow_file(t, p, compression="zstd")),
    "arrow file, Polars": ("x.arrow", lambda s, t, p: pl.from_arrow(t).write_ipc(p)),
    "arrow file, feather": ("x.arrow", lambda s, t, p: pa.feather.write_feather(t, str(p))),
    "arrow stream, pyarrow": ("x.arrows", lambda s, t, p: arrow_stream(t, p)),
    "arrow stream, pyarrow, list views": ("x.arrows", lambda s, t, p: arrow_stream(pa.table({k: pa.array(v, pa.list_view(pa.int32())) for k, v in s.items()}), p)),
    "arrow stream, a slice": ("x.arrows", lambda s, t, p: arrow_stream(pa.concat_tables([t.slice(0, 3), t, t.slice(5)]).slice(3, t.num_rows), p)),
    "save_to_disk": ("folder", lambda s, t, p: datasets.Dataset.from_dict(s).save_to_disk(p)),
    "save_to_disk, several shards": ("folder", lambda s, t, p: datasets.Dataset.from_dict(s).save_to_disk(p, num_shards=3)),
    "save_to_disk, a DatasetDict": ("folder", lambda s, t, p: datasets.DatasetDict({"train": datasets.Dataset.from_dict(s)}).save_to_disk(p)),
}


def read(folder):
    """The shards' bytes, and the manifest but for what names the input."""
    manifest = json.loads((folder / "brimful.json").read_text())
    del manifest["inputs"], manifest["job"]["inputs"]
    for split in manifest["splits"]:
        for use in [*split["stats"]["ledger"]["files"], *(split["stats"]["ledger"]["removed"] or [])]:
            use["file"] = ""
        files = split["stats"]["ledger"]["files"]
        merged = {side: {k: sum(f[side][k] for f in files) for k in files[0][side]} for side in ("in", "out")}
        split["stats"]["ledger"]["files"] = merged
    return {p.name: p.read_bytes() for p in sorted((folder / "data").iterdir())}, manifest


@pytest.fixture(scope="module")
def want(brimful, samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("want")
    jsonl(samples, folder / "x.jsonl")
    brimful("pack", folder / "x.jsonl", "--out", folder / "out", "--capacity", CAPACITY)
    return read(folder / "out")


@pytest.mark.parametrize("way", WAYS)
def test_same_rows(brimful, samples, table, want, tmp_path, way):
    name, write = WAYS[way]
    t = table  # by this name DuckDB finds it
    duckdb.register("t", t)
    write(samples, t, tmp_path / name)
    brimful("pack", tmp_path / name, "--out", tmp_path / "out", "--capacity", CAPACITY)
    assert read(tmp_path / "out") == want
    brimful("verify", tmp_path / "out", "--source", tmp_path / name)


def test_stdin(brimful, table, want, tmp_path):
    arrow_stream(table, tmp_path / "x")
    brimful("pack", "-", "--out", tmp_path / "out", "--capacity", CAPACITY, stdin=(tmp_path / "x").read_bytes())
    assert read(tmp_path / "out") == want


def test_split(brimful, samples, want, tmp_path):
    train = datasets.Dataset.from_dict(samples)
    datasets.DatasetDict({"train": train, "test": train.select(range(3))}).save_to_disk(tmp_path / "x")
    brimful("pack", tmp_path / "x", "--split", "train", "--out", tmp_path / "out", "--capacity", CAPACITY)
    assert read(tmp_path / "out") == want


def megatron(path, documents, dtype, code):
    """Writes NAME.bin and NAME.idx as Megatron's IndexedDatasetBuilder does."""
    lengths = np.array([len(d) for d in documents], np.int32)
    np.concatenate([np.array(d, dtype) for d in documents]).tofile(path.with_suffix(".bin"))
    starts = np.concatenate([[0], np.cumsum(lengths[:-1], dtype=np.int64) * np.dtype(dtype).itemsize]).astype(np.int64)
    with open(path.with_suffix(".idx"), "wb") as f:
        f.write(b"MMIDIDX\x00\x00" + np.uint64(1).tobytes() + np.uint8(code).tobytes())
        f.write(np.uint64(len(documents)).tobytes() + np.uint64(len(documents) + 1).tobytes())
        f.write(lengths.tobytes() + starts.tobytes() + np.arange(len(documents) + 1, dtype=np.int64).tobytes())


@pytest.mark.parametrize("way", ["megatron, int32", "megatron, int64", "npy, uint32", "npy, int64", "npy, labels"])
def test_ids_alone(brimful, samples, want, tmp_path, way):
    """Formats without labels give the rows of ids alone; NumPy's with labels those of the example."""
    ids = samples["input_ids"]
    path = tmp_path / "x.idx"
    if way.startswith("megatron"):
        megatron(path, ids, np.dtype(way.split()[1]), 4 if "32" in way else 5)
    else:
        path = tmp_path / "x.npy"
        np.save(path, np.concatenate(ids).astype("uint32" if "uint32" in way else "int64"))
        np.save(tmp_path / "x.offsets.npy", np.concatenate([[0], np.cumsum([len(s) for s in ids])]).astype(np.int64))
        if "labels" in way:
            np.save(tmp_path / "x.labels.npy", np.concatenate(samples["labels"]).astype(np.int32))
    if "labels" not in way:
        jsonl({"input_ids": ids, "labels": ids}, tmp_path / "want.jsonl")
        brimful("pack", tmp_path / "want.jsonl", "--out", tmp_path / "want", "--capacity", CAPACITY)
    brimful("pack", path, "--out", tmp_path / "out", "--capacity", CAPACITY)
    shards, manifest = read(tmp_path / "out")
    expected, said = want if "labels" in way else read(tmp_path / "want")
    assert shards == expected
    if "labels" not in way:
        assert manifest["splits"][0]["stats"].pop("unlabelled") == len(ids)
        said["splits"][0]["stats"].pop("unlabelled")
    assert manifest == said
    brimful("verify", tmp_path / "out", "--source", path)

"""Every reader that users have opens every format, with the expected types and the same values."""

import shutil
import subprocess

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import reference
from conftest import EXAMPLE

CAPACITY = 2048
COLUMNS = reference.COLUMNS
SCALARS = {"max_seqlen", "pad_length"}


@pytest.fixture(scope="module")
def rows(pack, example):
    """The rows of the Parquet folder, as pyarrow reads them: proved right here, and equal to what every other reader gives."""
    found = pq.read_table(pack(EXAMPLE, capacity=CAPACITY) / "data").to_pylist()
    reference.check(found, example, CAPACITY)
    return found


def plain(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def same(found, rows):
    found = [{name: plain(row[name]) for name in row} for row in found]
    assert [list(row) for row in found[:1]] == [COLUMNS]
    assert len(found) == len(rows)
    for i, (a, b) in enumerate(zip(found, rows)):
        assert a == b, f"row {i}: {[name for name in COLUMNS if a[name] != b[name]]} differ"


def arrow_types(schema):
    """Checks the types of a pyarrow schema: list<int32>, list<int64> for sample_index, int32 for the numbers."""
    assert schema.names == COLUMNS
    for name in COLUMNS:
        item = pa.int64() if name == "sample_index" else pa.int32()
        found = schema.field(name).type
        if name in SCALARS:
            assert found == item, name
        else:
            assert pa.types.is_list(found) and found.value_type == item, f"{name}: {found}"
    assert b"huggingface" not in (schema.metadata or {}), "readers of another version of datasets would stop at this"


def hf_types(features):
    assert list(features) == COLUMNS
    for name in COLUMNS:
        item = datasets.Value("int64" if name == "sample_index" else "int32")
        assert features[name] == (item if name in SCALARS else datasets.List(item)), name


def no_nulls(table):
    for name in COLUMNS:
        column = table[name].combine_chunks()
        assert column.null_count == 0, name
        assert name in SCALARS or column.flatten().null_count == 0, f"{name}: null elements"


@pytest.fixture(scope="module")
def parquet(pack):
    return pack(EXAMPLE, capacity=CAPACITY)


class TestParquet:
    def test_pyarrow(self, parquet, rows):
        table = pq.read_table(parquet / "data")
        arrow_types(table.schema)
        no_nulls(table)
        same(table.to_pylist(), rows)

    def test_pyarrow_dataset(self, parquet, rows):
        data = pa.dataset.dataset(parquet / "data")
        arrow_types(data.schema)
        same(data.to_table().to_pylist(), rows)

    def test_load_dataset(self, parquet, rows):
        data = datasets.load_dataset(str(parquet), split="train")
        hf_types(data.features)
        same(data, rows)

    def test_load_dataset_streaming(self, parquet, rows):
        same(datasets.load_dataset(str(parquet), split="train", streaming=True), rows)

    def test_pandas(self, parquet, rows):
        frame = pd.read_parquet(parquet / "data")
        assert {name: frame[name].dtype for name in SCALARS} == {name: np.int32 for name in SCALARS}
        assert {name: frame[name][0].dtype for name in COLUMNS if name not in SCALARS} == {
            name: np.int64 if name == "sample_index" else np.int32 for name in COLUMNS if name not in SCALARS
        }
        same(frame.to_dict("records"), rows)

    @pytest.mark.parametrize("read", [pl.read_parquet, lambda folder: pl.scan_parquet(folder).collect()], ids=["read", "scan"])
    def test_polars(self, parquet, rows, read):
        frame = read(parquet / "data")
        assert dict(frame.schema) == {
            name: pl.Int32 if name in SCALARS else pl.List(pl.Int64 if name == "sample_index" else pl.Int32) for name in COLUMNS
        }
        same(frame.to_dicts(), rows)

    def test_duckdb(self, parquet, rows):
        found = duckdb.sql(f"SELECT * FROM read_parquet('{parquet}/data/*.parquet')")
        assert dict(zip(found.columns, map(str, found.types))) == {
            name: "INTEGER" if name in SCALARS else "BIGINT[]" if name == "sample_index" else "INTEGER[]" for name in COLUMNS
        }
        same([dict(zip(found.columns, row)) for row in found.fetchall()], rows)

    def test_duckdb_looks_into_lists(self, parquet, example):
        tokens, supervised = duckdb.sql(
            f"""SELECT sum(len(input_ids) - pad_length), sum(len(list_filter(labels, lambda x: x <> -100)))
            FROM read_parquet('{parquet}/data/*.parquet')"""
        ).fetchall()[0]
        assert tokens == sum(len(s["input_ids"]) for s in example)
        assert supervised == sum(v != reference.IGNORE for s in example for v in s["labels"][1:])


def test_many_shards_read_like_one(pack, rows):
    out = pack(EXAMPLE, "--shard-rows", 5, capacity=CAPACITY)
    shards = sorted((out / "data").iterdir())
    assert len(shards) == 11
    assert [shard.name for shard in shards] == [f"shard-{i:05d}.parquet" for i in range(11)]
    assert not [p.name for p in (out / "data").iterdir() if p not in shards], "nothing but shards"
    same(datasets.load_dataset(str(out), split="train"), rows)
    same(pq.read_table(out / "data").to_pylist(), rows)
    same(pl.read_parquet(out / "data").to_dicts(), rows)
    same(pd.read_parquet(out / "data").to_dict("records"), rows)


def test_repacked_rows_are_not_read_from_the_cache(brimful, tmp_path):
    """The cache of datasets knows a folder with a card by the folder's name and the card's configs alone. Two folders of one name, or
    one folder packed again, must not give each other's rows."""
    for parent, capacity in [("a", 2048), ("b", 1024), ("a", 640)]:
        out = tmp_path / parent / "packed"
        shutil.rmtree(out, ignore_errors=True)
        brimful("pack", EXAMPLE, "--out", out, "--capacity", capacity)
        assert len(datasets.load_dataset(str(out), split="train")[0]["input_ids"]) == capacity


@pytest.mark.parametrize("format", ["parquet", "hf"])
def test_holdout_is_two_splits(pack, example, format):
    """load_dataset and load_from_disk know them by name, and every sample is in one of them, under its number in the source."""
    out = pack(EXAMPLE, "--holdout", "10%", "--format", format, capacity=CAPACITY)
    data = datasets.load_from_disk(str(out)) if format == "hf" else datasets.load_dataset(str(out))
    assert list(data) == ["train", "validation"]
    for split in data.values():
        hf_types(split.features)
    held = sum(len(row["sample_index"]) for row in data["validation"])
    assert 20 <= held <= 100
    reference.check([row for split in data.values() for row in split], example, CAPACITY)


class TestArrowFile:
    @pytest.fixture
    def folder(self, pack):
        return pack(EXAMPLE, "--format", "arrow", capacity=CAPACITY)

    @pytest.fixture
    def shard(self, folder):
        (shard,) = (folder / "data").iterdir()
        return shard

    def test_pyarrow(self, shard, rows):
        with pa.memory_map(str(shard)) as source:
            table = pa.ipc.open_file(source).read_all()
            arrow_types(table.schema)
            no_nulls(table)
            table.validate(full=True)
            same(table.to_pylist(), rows)

    def test_pyarrow_dataset(self, folder, rows):
        same(pa.dataset.dataset(folder / "data", format="ipc").to_table().to_pylist(), rows)

    def test_load_dataset(self, folder, rows):
        data = datasets.load_dataset(str(folder), split="train")
        hf_types(data.features)
        same(data, rows)

    def test_pandas(self, shard, rows):
        same(pd.read_feather(shard).to_dict("records"), rows)

    def test_polars(self, shard, rows):
        same(pl.read_ipc(shard).to_dicts(), rows)
        same(pl.scan_ipc(shard).collect().to_dicts(), rows)

    def test_is_no_stream(self, shard):
        with pytest.raises(pa.ArrowInvalid):
            pa.ipc.open_stream(shard)


class TestArrowStream:
    """A stream is one file, without a folder around it."""

    @pytest.fixture
    def shard(self, pack):
        return pack(EXAMPLE, "--format", "arrow-stream", capacity=CAPACITY)

    def test_pyarrow(self, shard, rows):
        table = pa.ipc.open_stream(shard).read_all()
        arrow_types(table.schema)
        same(table.to_pylist(), rows)

    def test_load_dataset(self, shard, rows):
        same(datasets.load_dataset("arrow", data_files=str(shard), split="train"), rows)

    def test_dataset_from_file(self, shard, rows):
        same(datasets.Dataset.from_file(str(shard)), rows)

    def test_polars(self, shard, rows):
        same(pl.read_ipc_stream(shard).to_dicts(), rows)

    def test_is_no_file(self, shard):
        with pytest.raises(pa.ArrowInvalid):
            pa.ipc.open_file(shard)


class TestLoadFromDisk:
    @pytest.mark.parametrize("flags", [(), ("--shard-rows", 5)], ids=["one shard", "11 shards"])
    def test_rows(self, pack, rows, flags):
        data = datasets.load_from_disk(str(pack(EXAMPLE, "--format", "hf", *flags, capacity=CAPACITY)))
        assert isinstance(data, datasets.Dataset)
        hf_types(data.features)
        same(data, rows)

    def test_is_a_dataset_like_any_other(self, pack, rows):
        data = datasets.load_from_disk(str(pack(EXAMPLE, "--format", "hf", capacity=CAPACITY)))
        backwards = data.select(range(len(rows) - 1, -1, -1))
        assert backwards[0]["input_ids"] == rows[-1]["input_ids"]
        again = datasets.concatenate_datasets([data, datasets.Dataset.from_list(rows, features=data.features)])
        assert len(again) == 2 * len(rows)
        assert data.with_format("torch")[0]["input_ids"].shape == (CAPACITY,)


class TestPipe:
    def test_pyarrow_reads_the_pipe(self, brimful, rows):
        """The samples on standard input, the rows on standard output."""
        stream = brimful("pack", "-", "--format", "arrow-stream", "--out", "-", "--capacity", CAPACITY, stdin=EXAMPLE.read_bytes())
        table = pa.ipc.open_stream(stream).read_all()
        arrow_types(table.schema)
        same(table.to_pylist(), rows)

    def test_a_reader_that_leaves_early_ends_it(self, binary):
        """A trainer that has enough closes its end; the command must then end by itself, and soon."""
        args = [binary, "pack", str(EXAMPLE), "--format", "arrow-stream", "--out", "-", "--capacity", str(CAPACITY)]
        with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(1)
            process.stdout.close()
            process.wait(timeout=30)

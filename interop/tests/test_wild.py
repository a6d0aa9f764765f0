"""Inputs as people have them, and what other tools made of them without a word: each with its right value, or its error."""

import json
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

HUGE = 9007199254740993  # 2^53 + 1, which no float64 is


def lines(*samples):
    return "".join(s + "\n" if isinstance(s, str) else json.dumps(s) + "\n" for s in samples).encode()


def run(binary, tmp_path, text, *flags, capacity=8):
    (tmp_path / "a.jsonl").write_bytes(text)
    return subprocess.run([binary, "pack", "a.jsonl", "--out", "out", "--capacity", str(capacity), "--pad=false", *flags], cwd=tmp_path, capture_output=True, text=True)


def rows(tmp_path):
    return pq.read_table(tmp_path / "out" / "data").to_pylist()


ACCEPTED = {
    # A mask is not lost, and each token of another list has a warning.
    "masks become labels": (lines({"input_ids": [1, 2, 3], "assistant_masks": [0, 0, 1]}, {"input_ids": [4, 5], "assistant_masks": [0, 1]}), [], [1, 2, 3, 4, 5], [-100, -100, 3, -100, 5]),
    # Padding is what the attention_mask says, at either end, whatever the id; id 0 inside is a token.
    "padding on the left": (lines({"input_ids": [0, 0, 7, 8], "attention_mask": [0, 0, 1, 1], "labels": [-100, -100, 7, 8]}), [], [7, 8], [-100, 8]),
    "padding on the right": (lines({"input_ids": [7, 8, 0, 0], "attention_mask": [1, 1, 0, 0], "labels": [7, 8, -100, -100]}), ["--pad-id", "0"], [7, 8], [-100, 8]),
    "id 0 inside": (lines({"input_ids": [7, 0, 8], "attention_mask": [1, 1, 1], "labels": [7, 0, 8]}), [], [7, 0, 8], [-100, 0, 8]),
    "ids above 65535": (lines({"input_ids": [65535, 65536, 119546]}), [], [65535, 65536, 119546], [-100, 65536, 119546]),
    "the last id of the vocabulary": (lines({"input_ids": [1, 9]}), ["--vocab-size", "10"], [1, 9], [-100, 9]),
    "no bound": (lines({"input_ids": [1, 10]}), [], [1, 10], [-100, 10]),
    "null labels are none": (lines({"labels": None, "input_ids": [1, 2]}), [], [1, 2], [-100, 2]),
    "a large id of the sample": (lines({"id": HUGE, "input_ids": [1, 2]}), [], [1, 2], [-100, 2]),
}

REFUSED = {
    "a hole in the mask": (lines({"input_ids": [1, 2, 3], "attention_mask": [1, 0, 1]}), [], "a.jsonl:1: attention_mask[1]: 0 between ones"),
    "a negative id": (lines({"input_ids": [5, -1, 7]}), [], "a.jsonl:1: input_ids[1]: -1: want 0..2147483647"),
    "-100 as an id": (lines({"input_ids": [1, 2]}, {"input_ids": [-100, 5]}), [], "a.jsonl:2: input_ids[0]: -100: want 0..2147483647"),
    "label -1": (lines({"input_ids": [5, 7], "labels": [-1, 7]}), [], "a.jsonl:1: labels[0]: label -1: want -100 or 0..2147483647"),
    "one above the vocabulary": (lines({"input_ids": [1, 10]}), ["--vocab-size", "10"], "a.jsonl:1: input_ids[1]: id 10: want 0..9"),
    "a null element": (lines({"input_ids": [1, None, 3], "labels": [1, 2, 3]}), [], "a.jsonl:1: input_ids[1]: null: want an integer"),
    "null ids": (lines({"input_ids": None}), [], "a.jsonl:1: input_ids: no such key, or null"),
    "a list of lists": (lines({"input_ids": [[1, 2, 3]]}), [], "a.jsonl:1: input_ids: a list of lists: want a flat list of integers"),
    "lists of one": (lines({"input_ids": [[1], [2]]}), [], "a list of lists"),
    "a number": (lines({"input_ids": 5}), [], "a.jsonl:1: input_ids: the number 5: want a list of integers"),
    "floats": (lines('{"input_ids":[1.0,2.0]}'), [], "a.jsonl:1: input_ids[0]: 1.0: want an integer without a fraction or an exponent"),
    "a fraction": (lines('{"input_ids":[1.5]}'), [], "input_ids[0]: 1.5: want an integer"),
    "an exponent": (lines('{"input_ids":[1e3]}'), [], "input_ids[0]: 1e3: want an integer"),
    "a string": (lines('{"input_ids":["1"]}'), [], 'a.jsonl:1: input_ids[0]: '),
    "a boolean": (lines('{"input_ids":[true]}'), [], "a.jsonl:1: input_ids[0]: "),
    "2^53 + 1": (lines('{"input_ids":[%d]}' % HUGE), [], f"a.jsonl:1: input_ids[0]: {HUGE}: want 0..2147483647"),
    "fewer labels": (lines({"input_ids": [1, 2, 3], "labels": [1, 2]}), [], "a.jsonl:1: labels: 2 values for 3 ids: want as many"),
    "more labels": (lines({"input_ids": [1, 2], "labels": [1, 2, 3]}), [], "a.jsonl:1: labels: 3 values for 2 ids: want as many"),
    "a shorter attention_mask": (lines({"input_ids": [1, 2], "attention_mask": [1]}), [], "a.jsonl:1: attention_mask: 1 values for 2 ids: want as many"),
    "labels and a mask": (lines({"input_ids": [1, 2], "labels": [1, 2], "loss_mask": [0, 1]}), [], "both a mask and labels"),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(binary, tmp_path, case):
    text, flags, ids, labels = ACCEPTED[case]
    done = run(binary, tmp_path, text, "--strategy", "next-fit", *flags)
    assert done.returncode == 0, done.stderr
    assert [(r["input_ids"], r["labels"]) for r in rows(tmp_path)] == [(ids, labels)]


@pytest.mark.parametrize("case", REFUSED)
def test_refused(binary, tmp_path, case):
    text, flags, want = REFUSED[case]
    done = run(binary, tmp_path, text, *flags)
    assert done.returncode == 1
    assert want in done.stderr
    assert not (tmp_path / "out").exists()


def test_padded_samples_are_packed_without_their_padding(binary, tmp_path):
    text = lines(*({"input_ids": [1] * n + [0] * (10 - n), "attention_mask": [1] * n + [0] * (10 - n)} for n in (5, 7)))
    done = run(binary, tmp_path, text, capacity=12)
    assert done.returncode == 0, done.stderr
    (row,) = rows(tmp_path)
    assert sorted(row["seq_lengths"]) == [5, 7]
    assert row["input_ids"] == [1] * 12


def test_a_list_that_is_not_carried_is_named(binary, tmp_path):
    done = run(binary, tmp_path, lines({"input_ids": [1, 2], "weights": [1, 1]}))
    assert "column weights holds a list and is not carried into the rows" in done.stderr


def test_kinds_of_lists_in_one_run(binary, tmp_path):
    """Large lists, lists of int64 and JSON lines become the one type that rows have."""
    pq.write_table(pa.table({"input_ids": pa.array([[1, 2]], pa.large_list(pa.int32()))}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"input_ids": pa.array([[3, 4]], pa.list_(pa.int64()))}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"input_ids": pa.array([[5, 6]], pa.list_(pa.uint16(), 2))}), tmp_path / "c.parquet")
    (tmp_path / "d.jsonl").write_bytes(lines({"input_ids": [7, 8]}))
    subprocess.run([binary, "pack", "a.parquet", "b.parquet", "c.parquet", "d.jsonl", "--out", "out", "--capacity", "8", "--strategy", "next-fit", "--shuffle=false"], cwd=tmp_path, check=True)
    table = pq.read_table(tmp_path / "out" / "data")
    assert table.schema.field("input_ids").type == pa.list_(pa.field("element", pa.int32(), nullable=False))
    assert table["input_ids"].to_pylist() == [[1, 2, 3, 4, 5, 6, 7, 8]]


def test_features_of_another_version_are_not_looked_at(binary, tmp_path):
    table = pa.table({"input_ids": pa.array([[1, 2]], pa.list_(pa.int32()))}).replace_schema_metadata({"huggingface": '{"info":{"features":{"input_ids":{"_type":"Future"}}}}'})
    pq.write_table(table, tmp_path / "a.parquet")
    subprocess.run([binary, "pack", "a.parquet", "--out", "out", "--capacity", "8"], cwd=tmp_path, check=True)
    assert b"huggingface" not in (pq.read_schema(tmp_path / "out" / "data" / "shard-00000.parquet").metadata or {})


@pytest.mark.parametrize("column, want", [
    (pa.array([[1, None, 3]], pa.list_(pa.int32())), "a.parquet:1: input_ids[1]: null: want an integer"),
    (pa.array([[1], None], pa.list_(pa.int32())), "a.parquet:2: input_ids: null: want a list of token ids"),
    (pa.array([[[1, 2]]], pa.list_(pa.list_(pa.int64()))), "a.parquet: input_ids: a list of lists"),
    (pa.array([[1.0, 2.0]], pa.list_(pa.float64())), "a.parquet: input_ids: a list of"),
    (pa.array([5], pa.int64()), "a.parquet: input_ids: one value a row: want a list of integers"),
    (pa.array([[1, 1 << 31]], pa.list_(pa.uint32())), "a.parquet:1: input_ids[1]: 2147483648: want 0..2147483647"),
    (pa.array([[1, -5]], pa.list_(pa.int16())), "a.parquet:1: input_ids[1]: -5: want 0..2147483647"),
])
def test_parquet_refused(binary, tmp_path, column, want):
    pq.write_table(pa.table({"input_ids": column}), tmp_path / "a.parquet")
    done = subprocess.run([binary, "pack", "a.parquet", "--out", "out", "--capacity", "8"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert want in done.stderr


def test_cut_parquet(binary, tmp_path):
    pq.write_table(pa.table({"input_ids": pa.array([[1, 2]] * 1000, pa.list_(pa.int32()))}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    for n in (len(whole) - 1, len(whole) // 2, 100):
        (tmp_path / "a.parquet").write_bytes(whole[:n])
        done = subprocess.run([binary, "pack", "a.parquet", "--out", "out", "--capacity", "8"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1 and "a.parquet: " in done.stderr
        assert not (tmp_path / "out").exists()

"""The figures of `brimful compare` against what is counted here from the files that `brimful pack` writes."""

import json

import pyarrow.dataset
import pytest

from conftest import EXAMPLE

STRATEGIES = ["bfd", "ffd", "best-fit", "first-fit", "next-fit", "rolling", "oldest-first", "optimal"]
PADDED = ["pad-to-capacity", "pad-to-longest", "pad-sorted"]


@pytest.fixture(scope="module")
def compared(brimful):
    """The objects of one comparison, by strategy and capacity. 512 is below the longest sample."""
    out = brimful("compare", EXAMPLE, "--capacity", "512,640,2048", "--strategy", "all," + ",".join(PADDED), "--json")
    found = {(r["strategy"], r["capacity"]): r for r in json.loads(out)}
    assert set(found) == {(s, c) for s in STRATEGIES + PADDED for c in (512, 640, 2048)}
    return found


def padded(lengths, batch):
    """The row lengths when each batch of samples is padded to its longest."""
    rows = []
    for i in range(0, len(lengths), batch):
        some = lengths[i : i + batch]
        rows += [max(some)] * len(some)
    return rows


@pytest.mark.parametrize("capacity", [512, 640, 2048])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_files(pack, example, compared, strategy, capacity):
    """Rows, tokens, fill, padding, samples per row and attention, from the columns of the shards alone."""
    folder = pack(EXAMPLE, "--strategy", strategy, "--shuffle=false", "--too-long", "drop", capacity=capacity)
    rows = pyarrow.dataset.dataset(folder / "data").to_table(columns=["input_ids", "cu_seqlens", "pad_length", "sample_index"]).to_pylist()
    said = compared[strategy, capacity]
    slots = sum(len(r["input_ids"]) for r in rows)
    padding = sum(r["pad_length"] for r in rows)
    assert said["rows"] == len(rows)
    assert said["slots"] == slots == len(rows) * capacity
    assert said["tokens"] == slots - padding
    assert said["padding"] == pytest.approx(padding / slots, abs=1e-12)
    assert said["fill"] == pytest.approx(1 - padding / slots, abs=1e-12)
    samples = [len(r["sample_index"]) for r in rows]
    assert said["samples"] == sum(samples)
    assert said["samples_per_row"] == pytest.approx(sum(samples) / len(rows))
    assert said["most_in_row"] == max(samples)
    assert said["rows_by_samples"] == [samples.count(n) for n in range(max(samples) + 1)]

    over = [len(s["input_ids"]) for s in example if len(s["input_ids"]) > capacity]
    assert (said["over_long"], said["over_long_tokens"]) == (len(over), sum(over))
    assert said["gap"] == said["rows"] - said["lower_bound"] >= 0
    assert said["lower_bound"] >= -(-said["tokens"] // capacity)

    squares = sum((b - a) ** 2 for r in rows for a, b in zip(r["cu_seqlens"], r["cu_seqlens"][1:]))
    lengths = [len(s["input_ids"]) for s in example if len(s["input_ids"]) <= capacity]
    assert said["attention"] == pytest.approx(squares / sum(n * n for n in padded(lengths, 8)))


@pytest.mark.parametrize("capacity", [512, 640, 2048])
def test_padding(example, compared, capacity):
    lengths = [len(s["input_ids"]) for s in example if len(s["input_ids"]) <= capacity]
    ways = {
        "pad-to-capacity": [capacity] * len(lengths),
        "pad-to-longest": padded(lengths, 8),
        "pad-sorted": padded(sorted(lengths), 8),
    }
    base = sum(n * n for n in ways["pad-to-longest"])
    for name, rows in ways.items():
        said = compared[name, capacity]
        assert (said["rows"], said["slots"], said["tokens"]) == (len(rows), sum(rows), sum(lengths))
        assert said["fill"] == pytest.approx(sum(lengths) / sum(rows))
        assert said["attention"] == pytest.approx(sum(n * n for n in rows) / base)


def test_lengths_alone(brimful, example, compared, tmp_path):
    """A list of lengths gives the same as the samples, and a histogram the same rows of the strategies that do not look at the order."""

    def figures(results, strategies):
        kept = [dict(r) for r in results if r["strategy"] in strategies]
        for r in kept:
            for key in ("seconds", "samples_per_second"):
                del r[key]
            r.pop("stream", None)
        return kept

    lengths = [len(s["input_ids"]) for s in example]
    (tmp_path / "lengths").write_text("".join(f"{n}\n" for n in lengths))
    said = json.loads(brimful("compare", "--lengths", tmp_path / "lengths", "--capacity", "512,640,2048", "--json"))
    assert figures(said, STRATEGIES) == figures(compared.values(), STRATEGIES)

    (tmp_path / "histogram").write_text(",".join(str(lengths.count(n)) for n in range(1, max(lengths) + 1)))
    said = json.loads(brimful("compare", "--histogram", tmp_path / "histogram", "--capacity", "512,640,2048", "--json"))
    for r in said:
        if r["strategy"] in ("bfd", "ffd", "optimal"):
            assert r["rows"] == compared[r["strategy"], r["capacity"]]["rows"]
            assert r["samples"] == compared[r["strategy"], r["capacity"]]["samples"]

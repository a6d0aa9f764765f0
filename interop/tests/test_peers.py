"""The rows against those of other packers of the same kind."""

from collections import Counter

import datasets
import pytest
import seqpacker
from trl import pack_dataset

import reference
from conftest import EXAMPLE


def fills(rows):
    """How often each number of real tokens fills a row. Best fit decreasing determines it, whichever of equally full rows a sample
    goes into."""
    return Counter(sum(lengths) for lengths in rows)


def real_lengths(row):
    return row["seq_lengths"][: len(row["sample_index"])]


def masked(ids, labels):
    return tuple(ids), (reference.IGNORE, *labels[1:])


@pytest.mark.parametrize("capacity", [557, 640, 1024, 2048])
def test_trl(pack, example, capacity):
    """pack_dataset("bfd") with the whole data set in one batch: as many rows, equally full, and the same segments."""
    source = datasets.Dataset.from_list([{"input_ids": s["input_ids"], "labels": s["labels"]} for s in example])
    theirs = list(pack_dataset(source, capacity, "bfd", map_kwargs={"batch_size": len(source)}))
    ours = list(datasets.load_dataset(str(pack(EXAMPLE, capacity=capacity)), split="train"))
    assert len(ours) == len(theirs)
    assert fills(map(real_lengths, ours)) == fills(row["seq_lengths"] for row in theirs)

    found = Counter()
    for row in theirs:
        ends = [sum(row["seq_lengths"][: k + 1]) for k in range(len(row["seq_lengths"]))]
        for a, b in zip([0] + ends, ends):
            found[masked(row["input_ids"][a:b], row["labels"][a:b])] += 1
    assert Counter(segment[1:] for row in ours for segment in reference.segments(row)) == found


@pytest.mark.parametrize("capacity", [557, 640, 1024, 2048])
def test_reference_and_seqpacker(pack, example, capacity):
    lengths = [len(s["input_ids"]) for s in example]
    ours = list(datasets.load_dataset(str(pack(EXAMPLE, capacity=capacity)), split="train"))
    assert fills(map(real_lengths, ours)) == fills([lengths[i] for i in b] for b in reference.best_fit_decreasing(lengths, capacity))
    assert len(ours) == len(seqpacker.Packer(capacity, "bfd").pack(lengths).bins)

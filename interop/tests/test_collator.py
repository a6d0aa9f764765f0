"""brimful_collator: what it returns, column by column, and what it refuses."""

import numpy as np
import pytest
import torch
from brimful_collator import brimful_collator
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

import reference

SAMPLES = [
    {"input_ids": [5, 6, 7], "labels": [-100, 6, 7]},
    {"input_ids": [8], "labels": [8]},
    {"input_ids": [9, 10], "labels": [-100, 10]},
    {"input_ids": [11, 12, 13, 14, 15, 16], "labels": [-100, -100, 13, 14, 15, 16]},
]
A = reference.make_row(SAMPLES, [0, 1, 2], 8)  # segments of 3, 1, 2 and a pad of 2
B = reference.make_row(SAMPLES, [3], 6)


def test_one_row():
    batch = brimful_collator([A])
    assert {k: v.tolist() if torch.is_tensor(v) else v for k, v in batch.items()} == {
        "input_ids": [[5, 6, 7, 8, 9, 10, 0, 0]],
        "labels": [[-100, 6, 7, -100, -100, 10, -100, -100]],
        "position_ids": [[0, 1, 2, 0, 0, 1, 0, 1]],
        "seq_idx": [[0, 0, 0, 1, 2, 2, 3, 3]],
        "cu_seq_lens_q": [0, 3, 4, 6, 8],
        "cu_seq_lens_k": [0, 3, 4, 6, 8],
        "max_length_q": 3,
        "max_length_k": 3,
    }
    assert {k: v.dtype for k, v in batch.items() if torch.is_tensor(v)} == {
        "input_ids": torch.int64,
        "labels": torch.int64,
        "position_ids": torch.int64,
        "seq_idx": torch.int32,
        "cu_seq_lens_q": torch.int32,
        "cu_seq_lens_k": torch.int32,
    }
    assert type(batch["max_length_q"]) is type(batch["max_length_k"]) is int


def test_rows_are_laid_end_to_end():
    batch = brimful_collator([A, B, A])
    assert batch["input_ids"].tolist() == [A["input_ids"] + B["input_ids"] + A["input_ids"]]
    assert batch["labels"].tolist() == [A["labels"] + B["labels"] + A["labels"]]
    assert batch["position_ids"].tolist() == [A["position_ids"] + B["position_ids"] + A["position_ids"]]
    assert batch["cu_seq_lens_q"].tolist() == [0, 3, 4, 6, 8, 14, 17, 18, 20, 22]
    assert batch["seq_idx"].tolist() == [[0, 0, 0, 1, 2, 2, 3, 3] + [4] * 6 + [5, 5, 5, 6, 7, 7, 8, 8]]
    assert batch["max_length_q"] == 6


@pytest.mark.parametrize("of", [np.array, torch.tensor], ids=["numpy", "torch"])
def test_formatted_rows(of):
    rows = [{name: of(value) for name, value in row.items()} for row in (A, B)]
    found, expected = brimful_collator(rows), brimful_collator([A, B])
    assert all(torch.equal(v, expected[k]) if torch.is_tensor(v) else v == expected[k] for k, v in found.items())


def test_equals_the_collator_of_trl(small_rows):
    rows = list(small_rows.select(range(4)))
    found, expected = brimful_collator(rows), DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)(rows)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert torch.equal(found[name], value) and found[name].dtype == value.dtype if torch.is_tensor(value) else found[name] == value, name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(attention_mask=[1] * 8), "attention_mask"),
        (dict(cu_seqlens=None), "remove_unused_columns=False"),
        (dict(cu_seqlens=[0, 3, 4, 6]), "end at the row's length"),
        (dict(labels=A["labels"][:-1]), "end at the row's length"),
        (dict(labels=[5] + A["labels"][1:]), "first label"),
    ],
)
@pytest.mark.parametrize("at", [0, 1])
def test_refusals(change, message, at):
    rows = [B, B]
    rows[at] = {name: value for name, value in {**A, **change}.items() if value is not None}
    with pytest.raises(ValueError, match=message):
        brimful_collator(rows)

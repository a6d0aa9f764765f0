"""Every packed row, read as each trainer reads it, against its samples alone."""

import pytest
from brimful_collator import brimful_collator
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

import parity
import reference
from conftest import CAPACITY

COLLATORS = {
    "default": parity.default_batch,
    "block mask from cu_seqlens": parity.block_mask_batch,
    "trl": DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True),
    "brimful": brimful_collator,
}


def groups(rows, size):
    return [list(rows.select(range(i, min(i + size, len(rows))))) for i in range(0, len(rows), size)]


def check(model, rows, samples, collate, size):
    assert len(rows) >= 2 * size
    for group in groups(rows, size):
        found = parity.difference(model, group, samples, collate(group))
        assert found.agrees(), f"rows of samples {[row['sample_index'] for row in group]}: {found}"


def test_rows_are_what_the_reference_expects(small, small_rows):
    rows = list(small_rows)
    reference.check(rows, small.samples, CAPACITY)
    assert any(len(row["sample_index"]) > 3 for row in rows) and any(row["pad_length"] > 1 for row in rows), "too easy"


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("collator", COLLATORS)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_full_attention(small, small_rows, kind, attention, collator, size):
    check(parity.tiny(kind, small.vocab, attention), small_rows, small.samples, COLLATORS[collator], size)


@pytest.mark.parametrize("collator", ["default", "brimful"])
@pytest.mark.parametrize("kind", ["mistral", "gemma3"])
def test_sliding_window(small, small_rows, kind, collator):
    check(parity.tiny(kind, small.vocab), small_rows, small.samples, COLLATORS[collator], 4)

"""Every packed row, read as each trainer reads it, against its samples alone."""

import pytest
import torch
from brimful_collator import brimful_collator
from transformers import AutoConfig, AutoModelForCausalLM
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


def check(model, rows, samples, collate, size, note):
    assert len(rows) >= 2 * size
    for group in groups(rows, size):
        found = parity.difference(model, group, samples, collate(group))
        note(found)
        assert found.agrees(), f"rows of samples {[row['sample_index'] for row in group]}: {found}"


def test_rows_are_what_the_reference_expects(small, small_rows):
    rows = list(small_rows)
    reference.check(rows, small.samples, CAPACITY)
    assert any(len(row["sample_index"]) > 3 for row in rows) and any(row["pad_length"] > 1 for row in rows), "too easy"


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("collator", COLLATORS)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_full_attention(small, small_rows, table, kind, attention, collator, size):
    note = lambda found: table.add(f"{collator} collator" if " " not in collator else collator, "parquet", size, attention, kind, found)
    check(parity.tiny(kind, small.vocab, attention), small_rows, small.samples, COLLATORS[collator], size, note)


@pytest.mark.parametrize("collator", ["default", "brimful"])
@pytest.mark.parametrize("kind", ["mistral", "gemma3"])
def test_sliding_window(small, small_rows, table, kind, collator):
    note = lambda found: table.add(f"{collator} collator", "parquet", 4, "sdpa", kind, found)
    check(parity.tiny(kind, small.vocab), small_rows, small.samples, COLLATORS[collator], 4, note)


def test_flex_attention(small, small_rows, table):
    """On a CPU flex attention has no backward pass, so that there are no gradients to compare."""
    model, rows = parity.tiny("llama", small.vocab, "flex_attention"), list(small_rows.select(range(2)))
    worst = 0.0
    with torch.no_grad():
        packed = model(**parity.default_batch(rows), use_cache=False).logits
        model.set_attn_implementation("eager")
        for row, logits in zip(rows, packed):
            for k, at in zip(row["sample_index"], row["cu_seqlens"]):
                alone = model(input_ids=torch.tensor([small.samples[k]["input_ids"]]), use_cache=False).logits[0]
                worst = max(worst, (logits[at : at + len(alone)] - alone).abs().max().item())
    table.note("default collator", "parquet", 2, "flex", "llama", f"{worst:.0e}; no backward pass on a CPU")
    assert worst <= parity.TOLERANCE


# Models with a recurrence or a convolution beside attention, as small as they come.
HYBRIDS = {
    "qwen3_next": dict(layer_types=["linear_attention", "full_attention"], linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8,
                       linear_value_head_dim=8, head_dim=8, num_experts=0, mlp_only_layers=[0, 1], decoder_sparse_step=1),
    "qwen3_5_text": dict(layer_types=["linear_attention", "full_attention"], linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8,
                         linear_value_head_dim=8, head_dim=8),
    "bamba": dict(attn_layer_indices=[1], mamba_n_heads=4, mamba_d_head=16, mamba_d_state=16, mamba_n_groups=1),
}


@pytest.mark.parametrize("kind", HYBRIDS)
def test_hybrids(small, small_rows, table, kind):
    """What position_ids alone do to hybrids: logits of one sample depend on the one before, and the loss does not show it. With the
    boundaries of our collator they are kept apart by kernels for a GPU; without the kernels the model refuses, aloud."""
    config = AutoConfig.for_model(kind, vocab_size=small.vocab, **parity._SIZE, **HYBRIDS[kind])
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config)
    row = next(row for row in small_rows if len(row["sample_index"]) > 2)
    leak = parity.difference(model, [row], small.samples, parity.default_batch([row]))
    assert leak.logits > 1e-3 and leak.loss < 0.01, leak
    table.note("default collator", "parquet", 1, "sdpa", kind, f"leaks: logits {leak.logits:.0e}, loss {leak.loss:.0e}; use the brimful or TRL's collator")
    for name in ["brimful", "trl"]:
        with pytest.raises(ValueError, match="packed sequences") as refused:
            parity.difference(model, [row], small.samples, COLLATORS[name]([row]))
        table.note(f"{name} collator", "parquet", 1, "sdpa", kind, "on a CPU ValueError: " + str(refused.value).split(".")[0].replace("\n", " ")[:90])

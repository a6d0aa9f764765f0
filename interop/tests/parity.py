"""The proof that packing changed nothing: a packed batch against its samples run one by one.

A model in float32 on the CPU sees a batch of packed rows, as some collator made it, and then every sample of these rows alone, as it
stands in the source: no position_ids, no mask, labels as they were. Logits, summed loss and gradients must agree.
"""

import dataclasses

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM
from transformers import MistralConfig, MistralForCausalLM, Qwen3Config, Qwen3ForCausalLM, default_data_collator

TOLERANCE = 1e-5
MODEL_COLUMNS = ["input_ids", "labels", "position_ids"]  # those that remove_unused_columns leaves of the layout hf

_SIZE = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, initializer_range=0.1)
MODELS = {
    "llama": (LlamaForCausalLM, LlamaConfig, {}),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config, dict(head_dim=8)),
    "mistral": (MistralForCausalLM, MistralConfig, dict(sliding_window=64)),
    "gemma3": (Gemma3ForCausalLM, Gemma3TextConfig, dict(head_dim=8, sliding_window=64, layer_types=["sliding_attention", "full_attention"])),
}


def tiny(kind, vocab, attention="sdpa"):
    """A tiny randomly initialised model; the same arguments give the same weights."""
    model, config, extra = MODELS[kind]
    torch.manual_seed(0)
    made = model(config(vocab_size=vocab, max_position_embeddings=4096, **_SIZE, **extra))
    made.set_attn_implementation(attention)
    return made


def default_batch(rows):
    """What the Trainer gives its model with default_data_collator: rows stacked to [B, C], columns unknown to the model dropped."""
    return default_data_collator([{k: v for k, v in row.items() if k in MODEL_COLUMNS or k == "attention_mask"} for row in rows])


def block_mask_batch(rows):
    """Boundaries from cu_seqlens and from nothing else: an explicit mask [B, 1, C, C] of blocks below the diagonal."""
    batch = default_batch(rows)
    for b, row in enumerate(rows):
        lengths = torch.tensor(row["cu_seqlens"]).diff()
        batch["position_ids"][b] = torch.cat([torch.arange(n) for n in lengths])
    block = torch.stack([torch.arange(len(r["cu_seqlens"]) - 1).repeat_interleave(torch.tensor(r["cu_seqlens"]).diff()) for r in rows])
    allowed = (block[:, :, None] == block[:, None, :]).tril()[:, None]
    batch["attention_mask"] = torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)
    return batch


@dataclasses.dataclass
class Difference:
    """Largest differences between a packed batch and its samples alone."""

    logits: float  # absolute, over all tokens of all samples
    loss: float  # of the summed loss, relative
    gradient: float  # over all weights, relative to the largest

    def agrees(self):
        return max(self.logits, self.loss, self.gradient) <= TOLERANCE  # also False for NaN


def _run(model, **batch):
    """Logits [tokens, vocabulary] and summed loss, as the Trainer has the model compute it; adds to the gradients."""
    out = model(**batch, num_items_in_batch=torch.tensor(1))
    out.loss.backward()
    return out.logits.detach().flatten(0, 1), out.loss.item()


def _gradient(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def difference(model, rows, samples, batch, starts=None, **arguments):
    """Compares batch, made of rows, to those of the samples that the rows name. Where a sample stands in its row follows from the
    lengths of the samples, so that a row with wrong boundaries is not believed, or is said by starts, row by row. Arguments go to the model beside the batch."""
    arguments = arguments or {"use_cache": False}
    model.zero_grad()
    packed, packed_loss = _run(model, **batch, **arguments)
    packed_gradient = _gradient(model)

    model.zero_grad()
    worst, loss = 0.0, 0.0
    for b, row in enumerate(rows):
        at = b * len(row["input_ids"])
        for i, k in enumerate(row["sample_index"]):
            at = at if starts is None else b * len(row["input_ids"]) + starts[b][i]
            ids, labels = torch.tensor([samples[k]["input_ids"]]), torch.tensor([samples[k]["labels"]])
            logits, one = _run(model, input_ids=ids, labels=labels, use_cache=False)
            found = packed[at : at + len(logits)]
            worst = max(worst, (found - logits).abs().max().item() if len(found) == len(logits) else float("inf"))
            loss += one
            at += len(logits)
    gradient = _gradient(model)
    scale = gradient.abs().max().item()
    return Difference(worst, abs(packed_loss - loss) / abs(loss), (packed_gradient - gradient).abs().max().item() / scale)

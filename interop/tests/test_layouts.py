"""Every layout, read as its trainer reads it, gives a model what its samples give it one by one."""

import json

import datasets
import loaders
import numpy as np
import pytest
import torch
from brimful_collator import brimful_collator
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

import parity
from conftest import CAPACITY

INDEX = ["--column", "sample_index=sample_index"]  # so that the test knows which samples a row holds
READERS = {
    "hf": loaders.hf,
    "megatron-bridge": loaders.megatron_bridge,
    "automodel": loaders.automodel,
    "torchtitan": loaders.torchtitan,
    "prime-rl": loaders.prime_rl,
    "maxtext": loaders.maxtext,
    "llama-factory": loaders.llama_factory,
    "torchtune": loaders.torchtune,
}


def load(folder, format):
    if format == "hf":
        return list(datasets.load_from_disk(folder))
    return list(datasets.load_dataset("parquet" if format == "parquet" else "arrow", data_files=f"{folder}/data/*", split="train"))


def run(model, row):
    """Logits [tokens, vocabulary] of a row as read, and the summed loss; adds to the gradients."""
    ids, targets = torch.tensor(row["input_ids"])[None], torch.tensor(row["targets"])
    segments = torch.tensor(row["segments"])
    allowed = (segments[:, None] == segments[None, :]).tril()[None, None]
    mask = torch.zeros(allowed.shape).masked_fill(~allowed, torch.finfo(torch.float32).min)
    logits = model(input_ids=ids, position_ids=torch.tensor(row["positions"])[None], attention_mask=mask, use_cache=False).logits[0]
    loss = torch.nn.functional.cross_entropy(logits, targets, ignore_index=loaders.IGNORE, reduction="sum")
    loss.backward()
    return logits.detach(), loss.item()


def difference(model, row, samples):
    model.zero_grad()
    packed, packed_loss = run(model, row)
    packed_gradient = parity._gradient(model)
    model.zero_grad()
    starts = np.flatnonzero(np.diff(row["segments"], prepend=-1))
    worst, loss = 0.0, 0.0
    for at, sample in zip(starts, samples):
        ids, labels = sample["input_ids"], sample["labels"]
        alone = dict(input_ids=np.array(ids), targets=np.array(labels[1:] + [loaders.IGNORE]), positions=np.arange(len(ids)), segments=np.zeros(len(ids)))
        logits, one = run(model, alone)
        loss += one
        n = len(ids) - 1  # in Megatron-Bridge the last token is no input
        assert row["input_ids"][at : at + n].tolist() == ids[:n]
        worst = max(worst, (packed[at : at + n] - logits[:n]).abs().max().item())
    gradient = parity._gradient(model)
    scale = max(gradient.abs().max().item(), 1e-9)
    return parity.Difference(worst, abs(packed_loss - loss) / max(abs(loss), 1e-9), (packed_gradient - gradient).abs().max().item() / scale)


@pytest.fixture(scope="module")
def usable(small, tmp_path_factory):
    """The small data without samples of one token, which Megatron-Bridge can't have, in a file."""
    samples = [s for s in small.samples if len(s["input_ids"]) > 1]
    path = tmp_path_factory.mktemp("usable") / "usable.jsonl"
    path.write_text("".join(json.dumps(s) + "\n" for s in samples))
    return path, samples


@pytest.mark.parametrize("align", [1, 16])
@pytest.mark.parametrize("layout", READERS)
def test_every_layout(small, usable, pack, table, layout, align):
    path, samples = usable
    index = [] if layout == "hf" else INDEX
    rows, *others = (
        load(pack(path, "--layout", layout, "--format", format, "--align", str(align), *index, capacity=CAPACITY + 1), format)
        for format in ["parquet", "arrow", "hf"]
    )
    assert all(other == rows for other in others), "the formats hold the same"
    model = parity.tiny("llama", small.vocab, "eager")
    assert sorted(k for row in rows for k in row["sample_index"]) == sorted(k for k, s in enumerate(samples) if any(v != -100 for v in s["labels"][1:]))
    for row in rows:
        found = difference(model, READERS[layout](row), [samples[k] for k in row["sample_index"]])
        table.add(f"{layout}, aligned" if align > 1 else layout, "parquet, arrow, hf", 1, "eager", "llama", found)
        assert found.agrees(), f"samples {row['sample_index']}: {found}"


def with_eos(samples, eos):
    return [{**s, "input_ids": [*s["input_ids"], eos], "labels": [*s["labels"], eos]} for s in samples]


@pytest.fixture(scope="module")
def ended(small, tmp_path_factory):
    samples = with_eos(small.samples, small.vocab)
    path = tmp_path_factory.mktemp("ended") / "ended.jsonl"
    path.write_text("".join(json.dumps(s) + "\n" for s in samples))
    return path, samples


def find(row, samples):
    """The samples of a row, by their ids."""
    by = {tuple(s["input_ids"]): s for s in samples}
    starts = [*np.flatnonzero(np.diff(row["segments"], prepend=-1)), len(row["input_ids"])]
    return [by[k] for a, b in zip(starts, starts[1:]) if (k := tuple(row["input_ids"][a:b].tolist())) in by]


@pytest.mark.parametrize("format", ["olmo", "xtuner"])
def test_sinks(small, ended, brimful, table, tmp_path, format):
    path, samples = ended
    flags = ["--eos", small.vocab, "--vocab-size", 60000] if format == "olmo" else []
    brimful("pack", path, "--out", tmp_path / "out", "--capacity", CAPACITY, "--format", format, *flags)
    rows = list(loaders.olmo(tmp_path / "out", CAPACITY, small.vocab, np.uint16) if format == "olmo" else loaders.xtuner(tmp_path / "out"))
    model = parity.tiny("llama", small.vocab + 1, "eager")
    seen = 0
    for row in rows:
        inside = find(row, samples)
        seen += len(inside)
        found = difference(model, row, inside)
        table.add(format, format, 1, "eager", "llama", found)
        assert found.agrees(), found
    assert seen == len(samples)


def test_weights_keep_the_mean_over_samples(small, pack):
    """sum of weight x loss / samples = mean of the samples' mean losses, and so do the gradients, while the mean over tokens differs."""
    folder = pack(small.path, "--column", "weights=sample_weights", "--align", "8", capacity=CAPACITY)
    rows = load(folder, "parquet")
    model = parity.tiny("llama", small.vocab, "eager")
    model.zero_grad()
    packed = tokens = count = 0.0
    for row in rows:
        read, weights = loaders.hf(row), torch.tensor(row["weights"])
        segments = torch.tensor(read["segments"])
        mask = torch.zeros(1, 1, CAPACITY, CAPACITY).masked_fill(~(segments[:, None] == segments).tril(), torch.finfo(torch.float32).min)
        logits = model(input_ids=torch.tensor(read["input_ids"])[None], position_ids=torch.tensor(read["positions"])[None], attention_mask=mask, use_cache=False).logits[0]
        losses = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(row["labels"])[1:], ignore_index=-100, reduction="none")
        loss = (losses * weights[1:]).sum()
        loss.backward()
        packed, tokens, count = packed + loss.item(), tokens + losses.sum().item(), count + (torch.tensor(row["labels"]) != -100).sum().item()
    gradient = parity._gradient(model)
    kept = [s for s in small.samples if any(v != -100 for v in s["labels"][1:])]
    model.zero_grad()
    means = 0.0
    for s in kept:
        loss = model(input_ids=torch.tensor([s["input_ids"]]), labels=torch.tensor([s["labels"]]), use_cache=False).loss
        loss.backward()
        means += loss.item()
    alone = parity._gradient(model)
    assert abs(packed - means) / means < parity.TOLERANCE
    assert (gradient - alone).abs().max() / alone.abs().max() < parity.TOLERANCE
    assert abs(tokens / count - means / len(kept)) > 0.001, "the data is too easy"


def test_aligned_rows_in_collators(small, pack, table):
    """TRL's and our collator take aligned rows with fixed counts as they take others."""
    folder = pack(small.path, "--no-target", "keep", "--align", "16", "--max-samples", "12", "--fixed-counts")
    rows = load(folder, "parquet")
    assert {len(r["cu_seqlens"]) for r in rows} == {len(r["cu_seqlens_padded"]) for r in rows} == {14}
    model = parity.tiny("llama", small.vocab)
    collators = {"default": parity.default_batch, "brimful": brimful_collator, "trl": DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)}
    for name, collate in collators.items():
        for row in rows:
            found = parity.difference(model, [row], small.samples, collate([row]), starts=[row["cu_seqlens_padded"]])
            table.add(f"{name} collator, aligned", "parquet", 1, "sdpa", "llama", found)
            assert found.agrees(), (name, found)

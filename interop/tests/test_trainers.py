"""The Trainer of transformers and TRL's SFTTrainer take the files as they are, and their models see the samples and nothing else."""

import copy
from collections import Counter

import pytest
import torch
from brimful_collator import brimful_collator
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import DataCollatorForLanguageModeling, DataCollatorForSeq2Seq, DataCollatorWithFlattening, PreTrainedTokenizerFast
from transformers import Trainer, TrainerCallback, TrainingArguments, default_data_collator
from trl import SFTConfig, SFTTrainer

import parity
import reference
from conftest import CAPACITY

ARGUMENTS = dict(save_strategy="no", logging_steps=1, report_to="none", use_cpu=True, disable_tqdm=True)


def tokenizer():
    words = Tokenizer(WordLevel({"<pad>": 0, "<eos>": 1}, unk_token="<pad>"))
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")


def hf_default(model, rows, output, **arguments):
    args = TrainingArguments(output_dir=output, **{**ARGUMENTS, **arguments})
    return Trainer(model=model, args=args, train_dataset=rows, data_collator=default_data_collator, processing_class=tokenizer())


def hf_brimful(model, rows, output, **arguments):
    args = TrainingArguments(output_dir=output, remove_unused_columns=False, **{**ARGUMENTS, **arguments})
    return Trainer(model=model, args=args, train_dataset=rows, data_collator=brimful_collator, processing_class=tokenizer())


def trl(model, rows, output, **arguments):
    packed = dict(packing=True, packing_strategy="bfd", dataset_kwargs={"skip_prepare_dataset": True}, bf16=False, max_length=CAPACITY)
    args = SFTConfig(output_dir=output, **packed, **{**ARGUMENTS, **arguments})
    return SFTTrainer(model=model, args=args, train_dataset=rows, processing_class=tokenizer())


TRAINERS = [hf_default, hf_brimful, trl]


class Seen:
    """What a model was given, and the hidden states [tokens, width] below its head, call by call."""

    def __init__(self, model):
        self.batches, self.hidden = [], []
        model.register_forward_pre_hook(lambda _, args, kwargs: self.batches.append(kwargs), with_kwargs=True)
        model.base_model.register_forward_hook(lambda _, args, out: self.hidden.append(out.last_hidden_state.detach().flatten(0, 1)))

    def segments(self):
        """How often each run of ids and labels was seen between two boundaries, whatever its row; the pads too."""
        found = Counter()
        for batch in self.batches:
            for ids, labels, positions in zip(*(batch[k].tolist() for k in ("input_ids", "labels", "position_ids"))):
                starts = [i for i, p in enumerate(positions) if p == 0] + [len(ids)]
                for a, b in zip(starts, starts[1:]):
                    assert positions[a:b] == list(range(b - a))
                    found[tuple(ids[a:b]), tuple(labels[a:b])] += 1
        return found


def with_pads(rows):
    found = Counter(segment[1:] for row in rows for segment in reference.segments(row))
    for row in rows:
        if n := row["pad_length"]:
            found[tuple(row["input_ids"][-n:]), tuple(row["labels"][-n:])] += 1
    return found


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("make", TRAINERS)
def test_an_epoch_is_every_sample_once(small, small_rows, tmp_path, make, batch):
    model = parity.tiny("llama", small.vocab)
    seen = Seen(model)
    trainer = make(model, small_rows, tmp_path, num_train_epochs=1, per_device_train_batch_size=batch)
    trainer.train()
    found = seen.segments()
    assert found == with_pads(list(small_rows))
    pads = Counter((tuple(r["input_ids"][-n:]), tuple(r["labels"][-n:])) for r in small_rows if (n := r["pad_length"]))
    assert found - pads == Counter((ids, labels) for _, ids, labels in reference.expected_segments(small.samples))
    assert trainer.state.global_step == -(-len(small_rows) // batch)
    assert all("attention_mask" not in b for b in seen.batches)
    for b in seen.batches if make is not hf_default else []:
        ends = [i for i, p in enumerate(b["position_ids"][0].tolist()) if p == 0] + [b["input_ids"].numel()]
        assert b["cu_seq_lens_q"].tolist() == b["cu_seq_lens_k"].tolist() == ends
        assert b["seq_idx"][0].tolist() == [k for k in range(len(ends) - 1) for _ in range(ends[k + 1] - ends[k])]


@pytest.mark.parametrize("make", TRAINERS)
def test_no_leak_inside_the_trainer(small, small_rows, tmp_path, make):
    """The last hidden states of every step, with the learning rate at 0, are those of the samples alone: the Trainer turns use_cache
    off. (The logits themselves TRL never makes: its loss is fused with the head.)"""
    model = parity.tiny("llama", small.vocab)
    alone = copy.deepcopy(model)
    assert model.config.use_cache
    seen = Seen(model)
    make(model, small_rows, tmp_path, num_train_epochs=1, per_device_train_batch_size=2, learning_rate=0.0).train()
    compared = 0
    for batch, hidden in zip(seen.batches, seen.hidden, strict=True):
        ids, positions = batch["input_ids"].flatten(), batch["position_ids"].flatten()
        starts = [i for i, p in enumerate(positions.tolist()) if p == 0] + [len(ids)]
        for a, b in zip(starts, starts[1:]):
            with torch.no_grad():
                expected = alone.base_model(input_ids=ids[None, a:b], use_cache=False).last_hidden_state[0]
            assert (hidden[a:b] - expected).abs().max() <= parity.TOLERANCE
            compared += 1
    assert compared >= len(small.samples)


def test_a_bare_loop_leaks_through_the_cache(small, small_rows):
    """Why it must: with use_cache, the default of a model outside the Trainer, transformers does not look for boundaries."""
    model = parity.tiny("llama", small.vocab)
    rows = list(small_rows.select(range(4)))
    batch = parity.default_batch(rows)
    assert parity.difference(model, rows, small.samples, batch, use_cache=False).agrees()
    leak = parity.difference(model, rows, small.samples, batch, use_cache=None)
    assert leak.logits > 0.1 and leak.gradient > 0.01, leak
    assert leak.loss < 0.01, "and no loss curve would show it"


class Stop(TrainerCallback):
    """Ends a run at a step, as if it had been killed there."""

    def __init__(self, at):
        self.at = at

    def on_step_end(self, args, state, control, **kwargs):
        control.should_training_stop = state.global_step >= self.at


@pytest.mark.parametrize("make", TRAINERS)
def test_resumed_run_equals_the_whole_run(small, small_rows, tmp_path, make):
    """3 steps, a checkpoint, and 3 more give the batches and the weights of 6 steps."""
    arguments = dict(max_steps=6, save_strategy="steps", save_steps=3, per_device_train_batch_size=1, learning_rate=1e-2)

    def run(output, stop=None, resume=None):
        model = parity.tiny("llama", small.vocab)
        seen = Seen(model)
        trainer = make(model, small_rows, output, **arguments)
        if stop:
            trainer.add_callback(Stop(stop))
        trainer.train(resume_from_checkpoint=resume)
        return seen, {name: p.detach().clone() for name, p in model.named_parameters()}

    whole, weights = run(tmp_path / "whole")
    first, _ = run(tmp_path / "parts", stop=3)
    second, resumed = run(tmp_path / "parts", resume=str(tmp_path / "parts" / "checkpoint-3"))
    assert (len(whole.batches), len(first.batches), len(second.batches)) == (6, 3, 3)
    for a, b in zip(whole.batches, first.batches + second.batches, strict=True):
        assert torch.equal(a["input_ids"], b["input_ids"])
    assert len({tuple(b["input_ids"].flatten().tolist()) for b in whole.batches}) == 6
    assert any(not torch.equal(weights[n], p) for n, p in parity.tiny("llama", small.vocab).named_parameters()), "nothing was learnt"
    for name, weight in weights.items():
        torch.testing.assert_close(resumed[name], weight, rtol=0, atol=1e-6)


def collated(rows, collator, output, **arguments):
    """The first batch as a Trainer with this collator makes it, in the order of the rows."""
    batches = dict(per_device_train_batch_size=4, train_sampling_strategy="sequential")
    args = TrainingArguments(output_dir=output, **batches, **ARGUMENTS, **arguments)
    model = parity.tiny("llama", 8)
    trainer = Trainer(model=model, args=args, train_dataset=rows, data_collator=collator, processing_class=tokenizer())
    return dict(next(iter(trainer.get_train_dataloader())))


@pytest.mark.parametrize(
    "collator",
    [
        pytest.param(None, id="none, beside a tokenizer"),
        pytest.param(DataCollatorForSeq2Seq(tokenizer()), id="DataCollatorForSeq2Seq"),
        pytest.param(DataCollatorForLanguageModeling(tokenizer(), mlm=False), id="DataCollatorForLanguageModeling"),
        pytest.param(DataCollatorWithFlattening(), id="DataCollatorWithFlattening"),
    ],
)
def test_collators_that_are_wrong_for_packed_rows(small, small_rows, collator, tmp_path):
    """What README and the dataset card warn of. If one of these begins to agree, the warning can go."""
    rows = small_rows.select(range(4))
    batch = collated(rows, collator, tmp_path)
    assert not parity.difference(parity.tiny("llama", small.vocab), list(rows), small.samples, batch).agrees()


@pytest.mark.parametrize("collator", [default_data_collator, brimful_collator])
def test_collators_that_are_right(small, small_rows, collator, tmp_path):
    rows = small_rows.select(range(4))
    batch = collated(rows, collator, tmp_path, remove_unused_columns=collator is default_data_collator)
    assert parity.difference(parity.tiny("llama", small.vocab), list(rows), small.samples, batch).agrees()


def test_our_collator_says_what_is_missing(small_rows, tmp_path):
    with pytest.raises(ValueError, match="remove_unused_columns=False"):
        collated(small_rows, brimful_collator, tmp_path)


def test_trl_without_skip_prepare_dataset_loses_the_boundaries(small, small_rows, tmp_path):
    """Why the recipe has it: the rows are packed again, silently."""
    args = SFTConfig(output_dir=tmp_path, packing=True, packing_strategy="bfd", max_length=CAPACITY, bf16=False, **ARGUMENTS)
    model = parity.tiny("llama", small.vocab)
    seen = Seen(model)
    SFTTrainer(model=model, args=args, train_dataset=small_rows, processing_class=tokenizer()).train()
    assert seen.segments() != with_pads(list(small_rows))

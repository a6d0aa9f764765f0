"""Trains on rows while they are being packed, with no file in between:

    brimful pack - --format arrow-stream --out - --capacity 2048 < samples.jsonl | python examples/stream.py
"""

import argparse
import sys

import pyarrow as pa
from brimful_collator import brimful_collator
from torch.utils.data import IterableDataset
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Rows(IterableDataset):
    """The rows of an Arrow stream on standard input; they can be read once."""

    def __iter__(self):
        for batch in pa.ipc.open_stream(sys.stdin.buffer):
            yield from batch.to_pylist()


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--model", help="name or path of a model; without it a tiny Llama with random weights")
parser.add_argument("--vocabulary", type=int, default=151936, help="size of the tiny Llama's vocabulary")
parser.add_argument("--steps", type=int, default=3, help="a stream has no length, so the steps must be given")
parser.add_argument("--output", default="trained", help="folder for checkpoints")
args = parser.parse_args()

if args.model:
    model = AutoModelForCausalLM.from_pretrained(args.model)
else:
    size = dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=args.vocabulary, **size))

# dispatch_batches=False: each process collates its own batches. The default for streams would have one process collate and cut the
# batch into equal slices, boundaries and all.
Trainer(
    model=model,
    args=TrainingArguments(
        output_dir=args.output,
        per_device_train_batch_size=1,
        max_steps=args.steps,
        remove_unused_columns=False,
        accelerator_config={"dispatch_batches": False},
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=Rows(),
    data_collator=brimful_collator,
).train()

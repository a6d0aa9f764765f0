"""Trains with the Trainer of transformers on a folder of packed rows:

    brimful pack examples/data/gsm8k-512.jsonl.gz --out packed --capacity 2048
    python examples/train_hf.py packed
"""

import argparse
from pathlib import Path

from brimful_collator import brimful_collator
from datasets import load_dataset, load_from_disk
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", help="what brimful pack wrote, with --format parquet, arrow or hf")
parser.add_argument("--model", help="name or path of a model; without it a tiny Llama with random weights")
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--batch", type=int, default=1, help="rows in a batch")
parser.add_argument("--output", default="trained", help="folder for checkpoints")
args = parser.parse_args()

rows = load_from_disk(args.folder) if Path(args.folder, "state.json").exists() else load_dataset(args.folder, split="train")

if args.model:
    model = AutoModelForCausalLM.from_pretrained(args.model)
else:
    vocabulary = 1 + max(max(ids) for ids in rows["input_ids"])
    size = dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, **size))

# The collator is named, or the Trainer would take one that adds an attention_mask. It reads cu_seqlens, which the Trainer would drop,
# since no model has an argument of that name. For models with full attention only, default_data_collator does as well; it needs no
# remove_unused_columns=False, but with FlashAttention a batch of 1.
Trainer(
    model=model,
    args=TrainingArguments(
        output_dir=args.output,
        per_device_train_batch_size=args.batch,
        max_steps=args.steps,
        remove_unused_columns=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=rows,
    data_collator=brimful_collator,
).train()

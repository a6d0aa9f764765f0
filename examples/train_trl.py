"""Trains with TRL's SFTTrainer on a folder of packed rows:

    brimful pack examples/data/gsm8k-512.jsonl.gz --out packed --capacity 2048
    python examples/train_trl.py packed
"""

import argparse
from pathlib import Path

import torch
from datasets import load_dataset, load_from_disk
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", help="what brimful pack wrote, with --format parquet, arrow or hf")
parser.add_argument("--model", help="name or path of a model; without it a tiny Llama with random weights")
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--batch", type=int, default=1, help="rows in a batch")
parser.add_argument("--output", default="trained", help="folder for checkpoints")
args = parser.parse_args()

rows = load_from_disk(args.folder) if Path(args.folder, "state.json").exists() else load_dataset(args.folder, split="train")

if args.model:
    model, tokenizer = args.model, None  # the trainer loads both
else:
    vocabulary = 1 + max(max(ids) for ids in rows["input_ids"])
    size = dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, **size))
    words = Tokenizer(WordLevel({"<pad>": 0, "<eos>": 1}, unk_token="<pad>"))  # the trainer asks for one; the rows need none
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")

# packing=True makes the trainer keep seq_lengths, from which it rebuilds the boundaries; skip_prepare_dataset keeps it from packing the
# rows again, which would lose them.
SFTTrainer(
    model=model,
    processing_class=tokenizer,
    args=SFTConfig(
        output_dir=args.output,
        packing=True,
        packing_strategy="bfd",
        dataset_kwargs={"skip_prepare_dataset": True},
        bf16=torch.cuda.is_available(),
        use_cpu=not torch.cuda.is_available(),
        per_device_train_batch_size=args.batch,
        max_steps=args.steps,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=rows,
).train()

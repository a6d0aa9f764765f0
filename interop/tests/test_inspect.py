"""What `brimful inspect` shows of a row, against the row as pyarrow reads it and the text as the tokenizers library decodes it."""

import json
import re

import pyarrow.dataset
import pytest
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from conftest import EXAMPLE

TEXTS = ["Rows filled to the brim\nand größer als 🙂 eins", "pack the rows once", "naïve tokens over here, aquí", "日本語 and words"]


def byte_level():
    t = tokenizers.Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return t


def byte_fallback():
    vocab = {"<unk>": 0, **{f"<0x{b:02X}>": b + 1 for b in range(256)}}
    for c in "▁abcdefghijklmnopqrstuvwxyzR":
        vocab[c] = len(vocab)
    t = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return t


def unigram():
    t = tokenizers.Tokenizer(models.Unigram())
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.train_from_iterator(TEXTS, trainers.UnigramTrainer(vocab_size=120, show_progress=False))
    return t


def word_piece():
    t = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.decoder = decoders.WordPiece(cleanup=False)
    t.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=120, special_tokens=["[UNK]"], show_progress=False))
    return t


@pytest.mark.parametrize("make", [byte_level, byte_fallback, unigram, word_piece])
def test_decode(brimful, tmp_path, make):
    """The text on both sides of each boundary is the end and the beginning of what the tokenizers library decodes."""
    tokenizer = make()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    samples = [tokenizer.encode(text).ids for text in TEXTS]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"input_ids": ids, "labels": ids}) + "\n" for ids in samples))
    total = sum(map(len, samples))
    brimful("pack", tmp_path / "in.jsonl", "--out", tmp_path / "out", "--capacity", total, "--strategy", "next-fit", "--shuffle=false")
    shown = brimful("inspect", tmp_path / "out", "--row", "0", "--decode", tmp_path / "tokenizer.json").decode()
    lines = re.findall(r'^(\d+)  (\.\.\.)?(".*") \| (".*?")(\.\.\.)?$', shown, re.M)
    at = 0
    assert len(lines) == len(samples) - 1
    for (offset, _, left, right, _), a, b in zip(lines, samples, samples[1:]):
        at += len(a)
        assert int(offset) == at
        # The library drops the space before the first word, and this shows it.
        assert json.loads(left).lstrip(" ") == tokenizer.decode(a[-64:])[-32:].lstrip(" ")
        assert tokenizer.decode(b[:64]).startswith(json.loads(right).lstrip(" "))


def test_row(brimful, pack):
    """Segments, samples, positions and supervised tokens of a row."""
    folder = pack(EXAMPLE, capacity=2048)
    for number in (0, 7, 52):
        row = pyarrow.dataset.dataset(folder / "data").to_table().slice(number, 1).to_pylist()[0]
        shown = brimful("inspect", folder, "--row", str(number)).decode()
        found = re.findall(r"^ *(\d+|pad tail) +(\d+ +)?(\d+) +(\d+) +(\d+)\.\.(\d+)  (\d+)", shown, re.M)
        assert len(found) == len(row["seq_lengths"])
        for k, (name, sample, start, length, first, last, supervised) in enumerate(found):
            a, b = row["cu_seqlens"][k : k + 2]
            assert (int(start), int(length), int(first), int(last)) == (a, b - a, row["position_ids"][a], row["position_ids"][b - 1])
            assert int(supervised) == sum(v != -100 for v in row["labels"][a:b])
            if name == "pad tail":
                assert (k, b - a) == (len(row["sample_index"]), row["pad_length"])
            else:
                assert (int(name), int(sample)) == (k, row["sample_index"][k])

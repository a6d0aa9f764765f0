"""Rows broken on purpose: each must fail the parity check that the sound rows pass, or, where parity cannot see it, a law."""

import copy
import hashlib
import json
import shutil
import subprocess

import datasets
import pyarrow as pa
import pyarrow.parquet
import pytest
from brimful_collator import brimful_collator
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

import parity
import reference
from conftest import CAPACITY


def one_sequence(row):
    row["position_ids"] = list(range(CAPACITY))


def leaked_position(row):  # the second sample goes on counting where the first one ended
    start, end = row["cu_seqlens"][1:3]
    row["position_ids"][start:end] = range(start, end)


def attention_mask(row):
    row["attention_mask"] = [1] * CAPACITY


def padding_mask(row):
    row["attention_mask"] = [1] * (CAPACITY - row["pad_length"]) + [0] * row["pad_length"]


def numbered_mask(row):
    lengths = row["seq_lengths"]
    row["attention_mask"] = [k + 1 for k, n in enumerate(lengths) for _ in range(n)]


def first_label(row):
    start = row["cu_seqlens"][1]
    row["labels"][start] = row["input_ids"][start]


def shifted_labels(row):
    row["labels"] = row["labels"][1:] + [reference.IGNORE]


def prompts_unmasked(row):
    starts = row["cu_seqlens"][:-1]
    end = CAPACITY - row["pad_length"]
    row["labels"][:end] = [reference.IGNORE if i in starts else t for i, t in enumerate(row["input_ids"][:end])]


def lost_label(row):
    i = next(i for i, v in enumerate(row["labels"]) if v != reference.IGNORE)
    row["labels"][i] = reference.IGNORE


def swapped_tokens(row):
    ids = row["input_ids"]
    i = next(i for i in range(1, CAPACITY) if ids[i] != ids[i - 1])
    ids[i - 1], ids[i] = ids[i], ids[i - 1]


def boundary_moved(row):  # in cu_seqlens and seq_lengths alike; position_ids stay right
    row["cu_seqlens"][1] += 1
    row["seq_lengths"][0] += 1
    row["seq_lengths"][1] -= 1


def boundary_lost(row):
    del row["cu_seqlens"][1]
    row["seq_lengths"][:2] = [sum(row["seq_lengths"][:2])]


def pad_zeros(row):
    if row["pad_length"]:
        row["position_ids"][-row["pad_length"] :] = [0] * row["pad_length"]


def constant_offset(row):
    start, end = row["cu_seqlens"][1:3]
    row["position_ids"][start:end] = range(100, 100 + end - start)


def label_on_pad(row):
    if row["pad_length"]:
        row["labels"][-1] = row["input_ids"][-1]


trl = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)
COLLATORS = {"default": parity.default_batch, "block mask": parity.block_mask_batch, "trl": trl, "brimful": brimful_collator}

# What is broken, the readers whose parity check must fail, the law that must fail.
FAULTS = [
    (one_sequence, ["default"], "position_ids"),
    (leaked_position, ["default"], "position_ids"),
    (attention_mask, ["default"], "columns"),
    (padding_mask, ["default"], "columns"),
    (numbered_mask, ["default"], "columns"),
    (first_label, ["default", "block mask"], "first label"),
    (shifted_labels, ["default", "block mask", "trl", "brimful"], "labels"),
    (prompts_unmasked, ["default", "block mask", "trl", "brimful"], "whole"),
    (lost_label, ["default", "block mask", "trl", "brimful"], "whole"),
    (swapped_tokens, ["default", "block mask", "trl", "brimful"], "labels|whole"),
    (boundary_moved, ["block mask", "trl", "brimful"], "max_seqlen|position_ids"),
    (boundary_lost, ["block mask", "trl", "brimful"], "max_seqlen|position_ids"),
    (label_on_pad, ["default", "block mask", "trl", "brimful"], "labels|pad tokens"),
    (pad_zeros, [], "position_ids"),
    (constant_offset, [], "position_ids"),
]


@pytest.fixture(scope="module")
def model(small):
    return parity.tiny("llama", small.vocab)


@pytest.fixture(scope="module")
def sound(small_rows):
    """Four packed rows that have everything to break: at least two samples in each, and pad tails."""
    rows = sorted((r for r in small_rows if len(r["sample_index"]) > 1), key=lambda r: -r["pad_length"])[:4]
    assert len(rows) == 4 and rows[0]["pad_length"] > 1
    return rows


@pytest.fixture
def broken(sound, tmp_path):
    """Writes the sound rows, spoilt, into a Parquet file, and reads it as a user would."""

    def run(spoil):
        rows = copy.deepcopy(sound)
        for row in rows:
            spoil(row)
        pa.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "shard-00000.parquet")
        return list(datasets.load_dataset(str(tmp_path), split="train"))

    return run


@pytest.mark.parametrize("collator", COLLATORS)
def test_the_sound_rows_agree(model, small, broken, collator):
    rows = broken(lambda row: None)
    assert parity.difference(model, rows, small.samples, COLLATORS[collator](rows)).agrees()


CASES = [pytest.param(spoil, c, id=f"{spoil.__name__}-{c}") for spoil, collators, _ in FAULTS for c in collators]


@pytest.mark.parametrize(("spoil", "collator"), CASES)
def test_parity_fails(model, small, broken, spoil, collator):
    rows = broken(spoil)
    found = parity.difference(model, rows, small.samples, COLLATORS[collator](rows))
    assert not found.agrees(), found


@pytest.mark.parametrize(("spoil", "law"), [(f, law) for f, _, law in FAULTS], ids=[f.__name__ for f, _, _ in FAULTS])
def test_a_law_fails(small, broken, spoil, law):
    rows = broken(spoil)
    with pytest.raises(reference.LawBroken, match=f"({law}):"):
        for row in rows:
            reference.check_row(row, CAPACITY)
        packed = {k for row in rows for k in row["sample_index"]}  # the rows are some of the file's
        whole = {s for s in reference.expected_segments(small.samples) if s[0] in packed}
        reference.law("whole", {s for row in rows for s in reference.segments(row)} == whole, "samples changed")


@pytest.mark.parametrize("spoil", [f for f, _, _ in FAULTS], ids=[f.__name__ for f, _, _ in FAULTS])
def test_verify_finds_it(binary, small, pack, tmp_path, spoil):
    """In a whole data set whose manifest has the checksum of the broken file, so that only the rows tell."""
    folder = tmp_path / "broken"
    shutil.copytree(pack(small.path, "--no-target", "keep"), folder)
    (shard,) = (folder / "data").iterdir()
    table = pa.parquet.read_table(shard)
    rows = table.to_pylist()
    for row in rows:
        if len(row["sample_index"]) > 1:
            spoil(row)
    schema = table.schema
    if more := set(rows[0]) - set(schema.names):
        schema = schema.append(pa.field(more.pop(), pa.list_(pa.int32())))
        rows = [{**row, "attention_mask": row.get("attention_mask", [1] * CAPACITY)} for row in rows]
    pa.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), shard)
    manifest = json.loads((folder / "brimful.json").read_text())
    entry = manifest["splits"][0]["shards"][0]
    entry["size"], entry["sha256"] = shard.stat().st_size, hashlib.sha256(shard.read_bytes()).hexdigest()
    (folder / "brimful.json").write_text(json.dumps(manifest))
    done = subprocess.run([binary, "verify", folder, "--source", small.path, "--json"], capture_output=True)
    assert done.returncode == 3, done.stderr
    reasons = set(json.loads(done.stdout)["reasons"])
    assert reasons - {"content", "checksum", "counts"}, reasons


@pytest.mark.parametrize("spoil", [pad_zeros, constant_offset])
def test_what_parity_cannot_see(model, small, broken, spoil):
    """No sample reads the pad, and rotary positions only matter by their differences: these two are for the laws to find."""
    rows = broken(spoil)
    assert parity.difference(model, rows, small.samples, parity.default_batch(rows)).agrees()


@pytest.mark.parametrize("spoil", [attention_mask, first_label])
def test_the_collator_refuses(broken, spoil):
    with pytest.raises(ValueError, match="attention_mask|first label"):
        brimful_collator(broken(spoil))


def test_lost_and_repeated_samples_break_the_partition(small, small_rows):
    rows = list(small_rows)
    reference.check_partition(rows, small.samples)
    with pytest.raises(reference.LawBroken, match="whole: samples"):
        reference.check_partition(rows[:-1], small.samples)
    with pytest.raises(reference.LawBroken, match="once:"):
        reference.check_partition(rows + rows[:1], small.samples)


def broken_laws():
    """For the laws that no fault above breaks: a change of a sound row, and the law's name."""
    yield "row length", lambda r: [r[k].pop() for k in ("input_ids", "labels", "position_ids")]
    yield "labels length", lambda r: r["labels"].pop()
    yield "cu_seqlens start", lambda r: r["cu_seqlens"].pop(0)
    yield "cu_seqlens increase", lambda r: r["cu_seqlens"].insert(1, 0)
    yield "cu_seqlens end", lambda r: r["cu_seqlens"].pop()
    yield "seq_lengths", lambda r: r["seq_lengths"].pop()
    yield "max_seqlen", lambda r: r.update(max_seqlen=r["max_seqlen"] + 1)
    yield "pad tail", lambda r: r.update(pad_length=r["pad_length"] - 1)
    yield "sample_index length", lambda r: r["sample_index"].append(0)
    yield "pad tokens", lambda r: r["input_ids"].__setitem__(-1, 3)


@pytest.mark.parametrize(("law", "spoil"), list(broken_laws()))
def test_each_law_can_fail(sound, law, spoil):
    row = copy.deepcopy(sound[0])
    reference.check_row(row, CAPACITY)
    spoil(row)
    with pytest.raises(reference.LawBroken, match=f"^{law}:"):
        reference.check_row(row, CAPACITY)

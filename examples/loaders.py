"""Rows packed with --layout, or --format olmo and xtuner, as each trainer's own code reads them.

Every function returns what the model is given and what it is to learn, token by token: input_ids; targets, the id to be predicted from
there on, or -100; positions; segments, numbered from 0, across which attention must not look. They need numpy and nothing else. Written
from what the trainers do with these columns; the trainers themselves are not called.
"""

import glob
import json
from pathlib import Path

import numpy as np

IGNORE = -100


def _rows(input_ids, targets, positions, segments):
    return {k: np.asarray(v, dtype=np.int64) for k, v in locals().items()}


def _segments(lengths):
    return np.repeat(np.arange(len(lengths)), lengths)


def _shift(labels, lengths):
    """Unshifted labels become targets: moved by one inside each segment."""
    targets = np.full(len(labels), IGNORE)
    at = 0
    for n in lengths:
        targets[at : at + n - 1] = labels[at + 1 : at + n]
        at += n
    return targets


def hf(row):
    lengths = np.diff(row["cu_seqlens_padded"] if "cu_seqlens_padded" in row else row["cu_seqlens"])
    return _rows(row["input_ids"], _shift(row["labels"], lengths), row["position_ids"], _segments(lengths))


def megatron_bridge(row):
    """A segment's last token is a target only, and the mask stands where the input does. Padding inside a segment is masked."""
    ids, mask, starts = row["input_ids"], row["loss_mask"], list(row["seq_start_id"])
    parts = []
    for number, (start, end) in enumerate(zip(starts, starts[1:] + [len(ids)])):
        n = end - 1 - start
        targets = [t if m else IGNORE for t, m in zip(ids[start + 1 : end], mask[start : end - 1])]
        parts.append((ids[start : end - 1], targets, range(n), [number] * n))
    return _rows(*(np.concatenate([list(p[k]) for p in parts]) for k in range(4)))


def automodel(row):
    lengths = row["seq_lens_padded"] if "seq_lens_padded" in row else row["seq_lens"]
    return _rows(row["input_ids"], row["labels"], row["position_ids"], _segments(lengths))


def torchtitan(row):
    positions = np.asarray(row["positions"])
    return _rows(row["input_ids"], row["labels"], positions, np.cumsum(positions == 0) - 1)


def prime_rl(row):
    targets = np.where(row["loss_mask"], row["target_ids"], IGNORE)
    return _rows(row["input_ids"], targets, row["position_ids"], _segments(row["seq_lens"]))


def maxtext(row):
    """Segments count from 1; a target in segment 0 is none, and tokens of segment 0 are padding."""
    targets = np.where(np.asarray(row["targets_segmentation"]) > 0, row["targets"], IGNORE)
    return _rows(row["inputs"], targets, row["inputs_position"], row["inputs_segmentation"])


def llama_factory(row):
    """With neat_packing, attention_mask numbers the segments from 1."""
    mask = np.asarray(row["attention_mask"])
    lengths = np.diff(np.flatnonzero(np.diff(mask, prepend=-1, append=-1)))
    return _rows(row["input_ids"], _shift(row["labels"], lengths), row["position_ids"], mask)


def torchtune(row):
    lengths = row["seq_lens"]
    return _rows(row["tokens"], _shift(row["labels"], lengths), row["input_pos"], _segments(lengths))


def olmo(folder, sequence_length, eos, dtype):
    """Yields the instances of OLMo-core: arrays cut at the sequence length, samples found by the id that ends them."""
    for path in sorted(glob.glob(f"{folder}/token_ids_part_*.npy")):
        ids = np.memmap(path, dtype=dtype, mode="r").reshape(-1, sequence_length)
        masks = np.memmap(path.replace("token_ids", "labels_mask"), dtype=bool, mode="r").reshape(-1, sequence_length)
        for row, mask in zip(ids.astype(np.int64), masks):
            ends = [*(np.flatnonzero(row == eos) + 1), sequence_length]
            lengths = np.diff([0, *sorted(set(ends))])
            positions = np.concatenate([np.arange(n) for n in lengths])
            yield _rows(row, _shift(np.where(mask, row, IGNORE), lengths), positions, _segments(lengths))


def xtuner(folder):
    """Yields rows of the plan, their samples read from the JSON lines that it names."""
    folder = Path(folder)
    boundaries, plan = np.load(folder / "boundaries.npy"), np.load(folder / "samples.npy")
    files = [[json.loads(line) for line in open(path)] for path in json.loads((folder / "paths.json").read_text())]
    for from_, to in zip(boundaries, boundaries[1:]):
        ids, labels, lengths = [], [], []
        for path, sample, _, _, start, end in plan[from_:to]:
            found = files[path][sample]
            ids += found["input_ids"][start:end]
            labels += found["labels"][start:end]
            lengths.append(end - start)
        yield _rows(ids, _shift(np.array(labels), lengths), np.concatenate([np.arange(n) for n in lengths]), _segments(lengths))

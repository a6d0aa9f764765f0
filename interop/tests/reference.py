"""An independent packer and judge, in plain Python: the oracle of the tests.

It shares no code with the project's Go packages and favours the obvious form over the fast one. A sample is a dict with the keys id,
input_ids and labels. A row is a dict with one key a column of the layout hf: lists of ints, and two ints (max_seqlen, pad_length).
"""

import gzip
import json

IGNORE = -100
COLUMNS = ["input_ids", "labels", "position_ids", "cu_seqlens", "seq_lengths", "max_seqlen", "pad_length", "sample_index"]


class LawBroken(AssertionError):
    """A row or a set of rows breaks a law of the layout; the text begins with the law's name."""


def law(name, holds, detail=""):
    if not holds:
        raise LawBroken(f"{name}: {detail}")


def read_jsonl(path):
    """The samples of a JSONL file, gzip or plain, in order."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def best_fit_decreasing(lengths, capacity):
    """Bins of sample numbers: longest sample first, each into the fullest open bin that still takes it. Quadratic."""
    bins, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        fits = [b for b in range(len(bins)) if room[b] >= lengths[i]]
        if fits:
            b = min(fits, key=lambda b: room[b])
        else:
            b = len(bins)
            bins.append([])
            room.append(capacity)
        bins[b].append(i)
        room[b] -= lengths[i]
    return bins


def make_row(samples, members, capacity, pad_id=0):
    """The row that holds samples[i] for i in members, padded to the capacity."""
    lengths = [len(samples[i]["input_ids"]) for i in members]
    pad = capacity - sum(lengths)
    segments = lengths + [pad] * (pad > 0)
    row = {name: [] for name in COLUMNS}
    for i in members:
        row["input_ids"] += samples[i]["input_ids"]
        row["labels"] += [IGNORE] + samples[i]["labels"][1:]
    row["input_ids"] += [pad_id] * pad
    row["labels"] += [IGNORE] * pad
    row["position_ids"] = [p for n in segments for p in range(n)]
    row["cu_seqlens"] = [sum(segments[:k]) for k in range(len(segments) + 1)]
    row["seq_lengths"] = segments
    row["max_seqlen"] = max(segments)
    row["pad_length"] = pad
    row["sample_index"] = list(members)
    return row


def pack(samples, capacity, pad_id=0):
    """All samples in rows, best fit decreasing."""
    bins = best_fit_decreasing([len(s["input_ids"]) for s in samples], capacity)
    return [make_row(samples, members, capacity, pad_id) for members in bins]


def check_row(row, capacity=None, pad_id=0):
    """Raises LawBroken unless the row obeys every law of the layout hf. With a capacity the row must be padded to it."""
    law("columns", list(row) == COLUMNS, list(row))
    ids, labels, cu, n = row["input_ids"], row["labels"], row["cu_seqlens"], len(row["input_ids"])
    law("row length", n > 0 and (capacity is None or n == capacity), f"{n} tokens, capacity {capacity}")
    law("labels length", len(labels) == n, f"{len(labels)} labels, {n} tokens")
    law("cu_seqlens start", cu[0] == 0, cu)
    law("cu_seqlens increase", all(a < b for a, b in zip(cu, cu[1:])), cu)
    law("cu_seqlens end", cu[-1] == n, f"{cu[-1]}, row of {n}")
    lengths = [b - a for a, b in zip(cu, cu[1:])]
    law("seq_lengths", row["seq_lengths"] == lengths, f"{row['seq_lengths']}, cu_seqlens {cu}")
    law("max_seqlen", row["max_seqlen"] == max(lengths), f"{row['max_seqlen']}, lengths {lengths}")
    law("position_ids", row["position_ids"] == [p for k in lengths for p in range(k)], f"segments {lengths}")
    law("boundary count", row["position_ids"].count(0) == len(lengths), f"{row['position_ids'].count(0)} zeros, {len(lengths)} segments")
    law("first label", all(labels[start] == IGNORE for start in cu[:-1]), f"segments begin at {cu[:-1]}")
    law("labels", all(v in (IGNORE, t) for v, t in zip(labels, ids)), "a label is -100 or the token's own id")
    pad = row["pad_length"]
    law("pad tail", pad == 0 or pad == lengths[-1], f"pad_length {pad}, last segment {lengths[-1]}")
    law("pad tokens", all(t == pad_id for t in ids[n - pad :]) and all(v == IGNORE for v in labels[n - pad :]), "pad id, label -100")
    law("sample_index length", len(row["sample_index"]) == len(lengths) - (pad > 0), f"{len(row['sample_index'])} of {len(lengths)} segments")


def segments(row):
    """The row's samples as (sample_index, ids, labels), the pad tail left out."""
    cu = row["cu_seqlens"]
    return [
        (k, tuple(row["input_ids"][a:b]), tuple(row["labels"][a:b]))
        for k, a, b in zip(row["sample_index"], cu, cu[1:])
    ]


def expected_segments(samples):
    """What segments must give over all rows: each sample under its number, its first label masked."""
    return {
        (k, tuple(s["input_ids"]), (IGNORE, *s["labels"][1:]))
        for k, s in enumerate(samples)
    }


def check_partition(rows, samples):
    """Raises LawBroken unless every sample is in exactly one segment of exactly one row, whole and unchanged."""
    found = [segment for row in rows for segment in segments(row)]
    law("once", len(found) == len({k for k, _, _ in found}), "a sample is in two segments")
    wrong = set(found) ^ expected_segments(samples)
    law("whole", not wrong, f"samples {sorted({k for k, _, _ in wrong})} are missing or changed")


def check(rows, samples, capacity, pad_id=0):
    """All laws, on all rows."""
    for i, row in enumerate(rows):
        try:
            check_row(row, capacity, pad_id)
        except LawBroken as broken:
            raise LawBroken(f"row {i}: {broken}") from None
    check_partition(rows, samples)

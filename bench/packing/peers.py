"""Times seqpacker and TRL's packing loop on a file of int32 lengths and prints one JSON object: bins and least seconds of each.

    python peers.py LENGTHS CAPACITY REPEATS TRL

TRL is 1 to run its loop too, once. The loop is that of trl.data_utils._pack_bfd between sorting and gathering, on numpy lengths.
"""

import json
import sys
import time
from collections import defaultdict, deque

import numpy as np
from seqpacker import Packer


def seqpacker(lengths, capacity, repeats):
    packer = Packer(capacity=capacity, strategy="obfd")
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        samples, splits = packer.pack_flat(lengths)
        best = min(best, time.perf_counter() - start)
    assert len(samples) == len(lengths)
    return {"bins": len(splits) + 1, "seconds": best}  # splits are the boundaries between bins


def trl(lengths, capacity):
    from trl.data_utils import _SegmentTree

    order = np.argsort(-lengths, kind="stable")
    start = time.perf_counter()
    tree = _SegmentTree(capacity)
    tree.add(capacity)
    space_to_bin = defaultdict(deque)
    bins = []
    for length, idx in zip(lengths[order], order, strict=True):
        space = tree.search(length)
        if space < capacity:
            bin = space_to_bin[space].popleft()
        else:
            bin = {"ids": [], "length": 0}
            bins.append(bin)
        bin["ids"].append(idx)
        bin["length"] += length
        if space < capacity and not space_to_bin[space]:
            tree.remove(space)
        space = space - length
        space_to_bin[space].append(bin)
        if space > 0:
            tree.add(space)
    return {"bins": len(bins), "seconds": time.perf_counter() - start}


def main():
    file, capacity, repeats, with_trl = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "1"
    lengths = np.fromfile(file, dtype="<i4").astype(np.int64)  # what pack_flat takes fastest
    result = {"seqpacker": seqpacker(lengths, capacity, repeats)}
    if with_trl:
        result["trl"] = trl(lengths, capacity)
    print(json.dumps(result))


main()

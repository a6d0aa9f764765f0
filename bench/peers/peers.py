"""The part of bench/peers in Python: runs one peer and prints one JSON value.

    python bench/peers/peers.py versions
    python bench/peers/peers.py seqpacker|trl LENGTHS CAPACITY        LENGTHS is a file of int32
    python bench/peers/peers.py grain LENGTHS CAPACITY first-fit|best-fit BINS
    python bench/peers/peers.py polars|duckdb SOURCE OUT
    python bench/peers/peers.py trl-file SOURCE OUT CAPACITY
    python bench/peers/peers.py measure COMMAND...                    wall and CPU seconds, peak MB, and what it printed
"""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time


def versions():
    names = ("numpy", "seqpacker", "trl", "datasets", "polars", "duckdb", "grain")
    return [f"Python {platform.python_version()}", *(f"{name} {importlib.metadata.version(name)}" for name in names)]


def read(file):
    import numpy as np

    return np.fromfile(file, dtype="<i4")


def seqpacker(file, capacity):
    import numpy as np
    from seqpacker import Packer

    lengths = read(file).astype(np.int64)  # what pack_flat takes fastest
    packer = Packer(capacity=int(capacity), strategy="obfd")
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        samples, splits = packer.pack_flat(lengths)
        best = min(best, time.perf_counter() - start)
    assert len(samples) == len(lengths)
    return {"bins": len(splits) + 1, "seconds": best}  # splits are the boundaries between bins


def trl(file, capacity):
    """The loop of trl.data_utils._pack_bfd between sorting and gathering, on numpy lengths."""
    from collections import defaultdict, deque

    import numpy as np
    from trl.data_utils import _SegmentTree

    lengths, capacity = read(file).astype(np.int64), int(capacity)
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


def grain(file, capacity, kind, bins):
    """Rows through that many open bins. Its rows are padded, so tokens are counted by their segment."""
    import grain
    import numpy as np
    from grain.experimental import BestFitPackIterDataset, FirstFitPackIterDataset

    rng = np.random.default_rng(1)
    samples = [{"input_ids": rng.integers(0, 100_000, n, dtype=np.int32)} for n in read(file)]
    pack = {"first-fit": FirstFitPackIterDataset, "best-fit": BestFitPackIterDataset}[kind]
    source = grain.MapDataset.source(samples).to_iter_dataset()
    start = time.perf_counter()
    rows = tokens = 0
    for row in pack(source, length_struct={"input_ids": int(capacity)}, num_packing_bins=int(bins), shuffle_bins=False):
        rows += 1
        tokens += int((row["input_ids_segment_ids"] > 0).sum())
    seconds = time.perf_counter() - start
    assert tokens == sum(len(s["input_ids"]) for s in samples)
    return {"bins": rows, "seconds": seconds}


def polars(source, out):
    import polars as pl

    pl.scan_ndjson(source, infer_schema_length=10).sink_parquet(out + ".parquet", compression="zstd", compression_level=1)


def duckdb(source, out):
    import duckdb

    duckdb.sql(
        f"COPY (FROM read_json('{source}', format='newline_delimited')) TO '{out}.parquet' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"
    )


def trl_file(source, out, capacity):
    from datasets import load_dataset
    from trl import pack_dataset

    samples = load_dataset("json", data_files=source, split="train").select_columns(["input_ids", "labels"])
    rows = pack_dataset(samples, int(capacity), "bfd", map_kwargs={"batch_size": len(samples)})
    rows.to_parquet(out + ".parquet")
    return {"rows": len(rows)}


def measure(*command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        said = process.stdout.read().decode()
        _, status, used = os.wait4(process.pid, 0)
    except BaseException:  # an interrupt
        process.kill()
        raise
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{command}: exit status {os.waitstatus_to_exitcode(status)}")
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024 / 1e6, "said": said}


if __name__ == "__main__":
    ways = {
        "versions": versions, "seqpacker": seqpacker, "trl": trl, "grain": grain,
        "polars": polars, "duckdb": duckdb, "trl-file": trl_file,
        "measure": measure,
    }  # fmt: skip
    print(json.dumps(ways[sys.argv[1]](*sys.argv[2:])))

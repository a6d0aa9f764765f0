"""Times brimful from JSON lines to packed Parquet beside TRL's way to the same, and beside Polars and DuckDB which only rewrite the file.

    go build -o bin/brimful ./cmd/brimful
    go run ./bench/workload/jsonl > in.jsonl
    .venv/bin/python bench/pipeline/peers.py bin/brimful in.jsonl [ROUNDS [trl]]

Every way is a process of its own, in turn, ROUNDS times (3); TRL, which takes long, once and only if asked for. Printed are the median of
the wall times, the processor time and the peak memory, and how many times brimful's wall time that is.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

CAPACITY = 8192
WAYS = {
    "Polars, rewrite": "import polars as pl; pl.scan_ndjson({src!r}, infer_schema_length=10).sink_parquet({out!r}, compression='zstd', compression_level=1)",
    "DuckDB, rewrite": "import duckdb; duckdb.sql(\"COPY (FROM read_json({src!r}, format='newline_delimited')) TO {out!r} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)\")",
    "TRL, pack": (
        "import os, tempfile; os.environ['HF_HOME'] = tempfile.mkdtemp(); from datasets import load_dataset; from trl import pack_dataset; "
        "d = load_dataset('json', data_files={src!r}, split='train').select_columns(['input_ids', 'labels']); "
        f"pack_dataset(d, seq_length={CAPACITY}, strategy='bfd', map_kwargs=dict(batch_size=len(d))).to_parquet({{out!r}})"
    ),
}


def run(command):
    """Runs a command and returns its wall time, processor time and peak memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command}: exit status {status}")
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def main():
    brimful, src = sys.argv[1], sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    took = {}
    for i in range(rounds):
        for name in ["brimful, pack", *WAYS]:
            if name.startswith("TRL") and (i > 0 or "trl" not in sys.argv):
                continue
            folder = tempfile.mkdtemp(prefix="brimful-peers-")
            out = os.path.join(folder, "out")
            if name in WAYS:
                command = [sys.executable, "-c", WAYS[name].format(src=src, out=out + ".parquet")]
            else:
                command = [brimful, "pack", src, "--out", out, "--capacity", str(CAPACITY), "--quiet"]
            took.setdefault(name, []).append(run(command))
            shutil.rmtree(folder)
    base = statistics.median(t[0] for t in took["brimful, pack"])
    print("| what | wall s | CPU s | peak MB | brimful's wall times |")
    print("|---|---|---|---|---|")
    for name, t in took.items():
        wall, cpu, peak = (statistics.median(x) for x in zip(*t))
        print(f"| {name} | {wall:.1f} | {cpu:.1f} | {peak:.0f} | {wall / base:.1f} |")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()

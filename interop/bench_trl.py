"""Times the whole run of TRL's packer against brimful's, on one JSONL file, turn by turn:

    go build -o bin/brimful ./cmd/brimful
    .venv/bin/python interop/bench_trl.py bin/brimful examples/data/gsm8k-512.jsonl.gz --capacity 2048

A run is a fresh process, from its start to the finished Parquet files. For TRL that is load_dataset, pack_dataset("bfd") with the whole
data set in one batch, and to_parquet, with an empty cache; its own clock also tells what is left without the imports. Both have
their files in memory already, and each wall time is the best of the rounds. Peak memory is the kernel's count for the process.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRL = """
import time
start = time.perf_counter()
from datasets import load_dataset
from trl import pack_dataset
imported, cpu = time.perf_counter(), time.process_time()
import json, sys
source, out, capacity = sys.argv[1], sys.argv[2], int(sys.argv[3])
samples = load_dataset("json", data_files=source, split="train").select_columns(["input_ids", "labels"])
rows = pack_dataset(samples, capacity, "bfd", map_kwargs={"batch_size": len(samples)})
rows.to_parquet(out)
print(json.dumps({"rows": len(rows), "wall": time.perf_counter() - imported, "cpu": time.process_time() - cpu}))
"""


def run(command, **env):
    """Runs a command to its end; returns its standard output, wall seconds, CPU seconds and peak MB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ | env)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{' '.join(map(str, command))}: status {status}")
    return out, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brimful", type=Path, help="the command")
    parser.add_argument("source", help="a JSONL file with input_ids and labels")
    parser.add_argument("--capacity", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()

    measured = {"TRL": [], "TRL without imports": [], "brimful": []}
    rows = {}
    for _ in range(args.rounds):
        scratch = Path(tempfile.mkdtemp(prefix="brimful-bench-"))
        try:
            out, *all_of_it = run(
                [sys.executable, "-c", TRL, args.source, scratch / "trl.parquet", str(args.capacity)],
                HF_HOME=str(scratch / "cache"), HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="",
            )
            told = json.loads(out.splitlines()[-1])
            rows["TRL"] = told["rows"]
            measured["TRL"].append(all_of_it)
            measured["TRL without imports"].append([told["wall"], told["cpu"], None])
            pack = [args.brimful.resolve(), "pack", args.source, "--out", scratch / "out", "--capacity", str(args.capacity), "--quiet"]
            measured["brimful"].append(run(pack)[1:])
            manifest = json.loads((scratch / "out" / "brimful.json").read_text())
            rows["brimful"] = sum(split["rows"] for split in manifest["splits"])
        finally:
            shutil.rmtree(scratch)

    best = {name: min(runs) for name, runs in measured.items()}
    print(f"{args.source}, capacity {args.capacity}, {args.rounds} rounds: {rows['TRL']} rows by TRL, {rows['brimful']} by brimful\n")
    print("| | wall s | CPU s | peak MB | wall, brimful = 1 | CPU, brimful = 1 |\n|---|---|---|---|---|---|")
    base = best["brimful"]
    for name, (wall, cpu, peak) in best.items():
        print(f"| {name} | {wall:.3f} | {cpu:.2f} | {'' if peak is None else round(peak)} | {wall / base[0]:.1f} | {cpu / base[1]:.1f} |")


if __name__ == "__main__":
    main()

"""Packs on a Ray cluster what is still missing of a plan, and makes the data set at the end:

  brimful plan shards/ --out packed --capacity 8192 --units 2000
  python ray_units.py packed.plan --cpus 4

Every node has the command, and sees the inputs, the plan and the output under the same paths. No token goes through Ray's object store.

Ray starts a unit again when its node is lost, and here when its command fails too. Whatever went wrong, the same command again runs
what has no receipt. If units are missing in the end, finish says which, and the exit status is not 0.
"""

import argparse
import os
import subprocess
import sys

import ray


def run_unit(plan, unit, cpus):
    command = ["brimful", "run-unit", "--plan", plan, "--unit", str(unit), "--workers", str(cpus)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode == 2:
        raise ValueError(done.stderr)  # the command is wrong, which another try would not change
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")


def numbers(ranges):
    """2,3,7-9 as a list."""
    ends = [[int(n) for n in part.split("-")] for part in ranges.split(",") if part]
    return [n for first, *last in ends for n in range(first, (last or [first])[0] + 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=os.path.abspath)
    parser.add_argument("--cpus", type=int, default=1, help="of a unit")
    parser.add_argument("--retries", type=int, default=3, help="of a unit; each lost node is one, too")
    args = parser.parse_args()

    missing = subprocess.run(["brimful", "missing", "--plan", args.plan], check=True, stdout=subprocess.PIPE, text=True).stdout
    ray.init()  # RAY_ADDRESS says where; without it, on this machine
    task = ray.remote(num_cpus=args.cpus, max_retries=args.retries, retry_exceptions=[RuntimeError])(run_unit)
    waiting = {task.remote(args.plan, unit, args.cpus): unit for unit in numbers(missing)}
    while waiting:
        done, _ = ray.wait(list(waiting))
        for ref in done:
            unit = waiting.pop(ref)
            try:
                ray.get(ref)
            except ray.exceptions.RayError as e:
                print(f"unit {unit}: {getattr(e, 'cause', e)}", file=sys.stderr)
    sys.exit(subprocess.run(["brimful", "finish", "--plan", args.plan]).returncode)


if __name__ == "__main__":
    main()

"""Builds the command once, and packs on this machine what the clusters are to pack.

BRIMFUL in the environment names a command that is built already and shall be tested instead.
"""

import os
import subprocess
from pathlib import Path

import pytest

import machine

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "data" / "gsm8k-512.jsonl.gz"
UNITS = 23
PER_TASK = 2  # so that the last task has one
COPIES = 240


@pytest.fixture(scope="session")
def bin(tmp_path_factory):
    """A directory with the command."""
    path = tmp_path_factory.mktemp("bin")
    if "BRIMFUL" in os.environ:
        (path / "brimful").symlink_to(Path(os.environ["BRIMFUL"]).resolve())
    else:
        subprocess.run(["go", "build", "-o", path / "brimful", "./cmd/brimful"], cwd=ROOT, check=True)
    return path


class Job:
    """A plan, and the files that come out of it here."""

    def __init__(self, brimful, directory):
        self.brimful, self.directory = brimful, directory
        self.samples = directory / "samples.jsonl"
        machine.write_samples(EXAMPLE, self.samples, COPIES)
        self.flags = ["--capacity", "2048", "--holdout", "5%", "--units", str(UNITS)]
        self.run("pack", self.samples, "--out", directory / "here", *self.flags)
        self.want = machine.tree(directory / "here")

    def run(self, *args):
        done = subprocess.run([self.brimful, *map(str, args)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def plan(self, name):
        """A new plan and its directory."""
        plan, out = self.directory / f"{name}.plan", self.directory / name
        self.run("plan", self.samples, "--out", out, "--plan", plan, *self.flags)
        return plan, out

    def missing(self, plan):
        return self.run("missing", "--plan", plan).strip()


@pytest.fixture(scope="session")
def job(bin, tmp_path_factory):
    return Job(bin / "brimful", tmp_path_factory.mktemp("job"))

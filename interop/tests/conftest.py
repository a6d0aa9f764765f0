"""Builds the command once, and packs the example data with it into the folders that the tests read.

BRIMFUL in the environment names a command that is built already and shall be tested instead.
"""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Before anything of Hugging Face is imported: no network, and no cache that outlives the run.
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="brimful-hf-")
atexit.register(shutil.rmtree, os.environ["HF_HOME"], ignore_errors=True)
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1", TOKENIZERS_PARALLELISM="false", CUDA_VISIBLE_DEVICES="")

import datasets
import pytest
import torch

import reference

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "data" / "gsm8k-512.jsonl.gz"
CAPACITY = 640  # of the rows that models see: above the longest sample, 557
sys.path.insert(0, str(ROOT / "examples"))
torch.set_num_threads(1)  # the models are tiny, and threads that wait for each other are slow on a machine that is busy


class Table:
    """The largest differences that were seen between packed rows and their samples alone, by how the rows were read."""

    def __init__(self):
        self.lines = {}

    def add(self, trainer, format, batch, attention, model, found):
        key = (trainer, format, str(batch), attention, model)
        old = self.lines.get(key, (0.0, 0.0, 0.0))
        self.lines[key] = tuple(map(max, old, (found.logits, found.loss, found.gradient)))

    def note(self, trainer, format, batch, attention, model, text):
        self.lines[trainer, format, str(batch), attention, model] = text

    def text(self):
        lines = ["| read as | format | batch | attention | model | logits | loss | gradients |", "|---|---|---|---|---|---|---|---|"]
        for key, found in self.lines.items():
            cells = [f"{v:.0e}" for v in found] if isinstance(found, tuple) else [found, "", ""]
            lines.append("| " + " | ".join([*key, *cells]) + " |")
        return "\n".join(lines) + "\n"


_table = Table()


@pytest.fixture(scope="session")
def table():
    return _table


def pytest_sessionfinish():
    if path := os.environ.get("BRIMFUL_TABLE"):
        Path(path).write_text(_table.text())


@pytest.fixture(scope="session")
def binary(tmp_path_factory):
    """The path of the command."""
    if "BRIMFUL" in os.environ:
        return os.environ["BRIMFUL"]
    path = tmp_path_factory.mktemp("bin") / "brimful"
    subprocess.run(["go", "build", "-o", path, "./cmd/brimful"], cwd=ROOT, check=True)
    return path


@pytest.fixture(scope="session")
def brimful(binary):
    """Runs the command and returns its standard output, in bytes. A failure shows what it said."""

    def run(*args, stdin=None):
        done = subprocess.run([binary, *map(str, args)], input=stdin, capture_output=True)
        assert done.returncode == 0, f"brimful {' '.join(map(str, args))}: exit {done.returncode}\n{done.stderr.decode()}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def pack(brimful, tmp_path_factory):
    """Packs a file into a new folder and returns the folder. The same arguments give the same folder."""
    done = {}

    def run(source, *flags, capacity=CAPACITY):
        key = (source, flags, capacity)
        if key not in done:
            out = tmp_path_factory.mktemp("packed") / "out"
            brimful("pack", source, "--out", out, "--capacity", capacity, *flags)
            done[key] = out
        return done[key]

    return run


@pytest.fixture(scope="session")
def example():
    """The samples of the example data."""
    return reference.read_jsonl(EXAMPLE)


class Small:
    """Thirty of the example's samples and some awkward ones, with ids numbered anew so that models of a small vocabulary take them."""

    def __init__(self, path, samples):
        self.path = path
        self.samples = samples
        self.vocab = 1 + max(t for s in samples for t in s["input_ids"])

    def write(self):
        self.path.write_text("".join(json.dumps(s) + "\n" for s in self.samples))


@pytest.fixture(scope="session")
def small(example, tmp_path_factory):
    samples, number = [], {}
    for s in example[:30]:
        ids = [number.setdefault(t, len(number)) for t in s["input_ids"]]
        labels = [v if v == reference.IGNORE else t for t, v in zip(ids, s["labels"])]
        samples.append({"id": s["id"], "input_ids": ids, "labels": labels})
    awkward = [
        ("one token", [12], [12]),
        ("another one token", [13], [-100]),
        ("two tokens, both labelled", [5, 6], [5, 6]),
        ("every token labelled", list(range(100, 130)), list(range(100, 130))),
        ("token 0 throughout", [0, 7, 0, 0, 8, 0], [0, 7, 0, 0, 8, 0]),
        ("only the last token labelled", [9, 10, 11], [-100, -100, 11]),
    ]
    samples += [{"id": name, "input_ids": ids, "labels": labels} for name, ids, labels in awkward]
    data = Small(tmp_path_factory.mktemp("small") / "small.jsonl", samples)
    data.write()
    return data


@pytest.fixture(scope="session")
def small_rows(small, pack):
    """The packed small data as load_dataset gives it. Samples of one token, with nothing to learn, are kept: they are the hard ones."""
    return datasets.load_dataset(str(pack(small.path, "--no-target", "keep")), split="train")

"""examples/cluster/ray_units.py on a real cluster of this machine: a head and two nodes, one of which is killed in mid-unit."""

import collections
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import machine
from conftest import ROOT, UNITS

NODES = ["r1", "r2"]

# The command that the nodes have. It fails as long as there is a file that counts how often.
BRIMFUL = """#!/bin/sh
if [ "$1" = run-unit ] && [ -e "{tries}" ]; then
    echo "$5" >>"{tries}"
    case $5 in
    0) echo no memory >&2; exit 1 ;;
    1) echo no such flag >&2; exit 2 ;;
    2) [ "$(grep -cx 2 "{tries}")" -gt 1 ] || exit 1 ;;
    esac
fi
exec "{brimful}" "$@"
"""

pytestmark = pytest.mark.skipif(bool(machine.why_not()), reason=machine.why_not() or "")


class Cluster:
    def __init__(self, directory, bin):
        self.directory = directory
        self.nodes = {}
        self.tries = directory / "tries"
        command = directory / "bin" / "brimful"
        command.parent.mkdir()
        command.write_text(BRIMFUL.format(tries=self.tries, brimful=bin / "brimful"))
        command.chmod(0o755)
        # The checks of health find a lost node in two seconds instead of half a minute.
        self.env = {
            **os.environ,
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "RAY_TMPDIR": str(directory),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_health_check_initial_delay_ms": "1000",
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_failure_threshold": "4",
        }

    def start(self, name, *args):
        """Starts a node and waits for it: two that start at once can time out."""
        flags = ["node-manager-port", "object-manager-port", "dashboard-agent-grpc-port", "dashboard-agent-listen-port"]
        flags += ["metrics-export-port", "runtime-env-agent-port"]
        ports = [f"--{flag}={port}" for flag, port in zip(flags, machine.free_ports(len(flags)))]
        command = [Path(sys.executable).with_name("ray"), "start", "--block", "--object-store-memory=80000000", *ports, *args]
        log = self.directory / f"{name}.log"
        log.unlink(missing_ok=True)
        self.nodes[name] = machine.Machine(name, command, log, self.env)
        machine.wait_for(name, 120, lambda: "Ray runtime started" in log.read_text() or self.nodes[name].process.poll() is not None)
        assert self.nodes[name].process.poll() is None, log.read_text()

    def start_head(self):
        (port,) = machine.free_ports(1)
        self.start("head", "--head", f"--port={port}", "--num-cpus=0", "--include-dashboard=false", f"--temp-dir={self.directory}/t")
        self.env["RAY_ADDRESS"] = f"127.0.0.1:{port}"

    def start_node(self, name):
        self.start(name, f"--address={self.env['RAY_ADDRESS']}", "--num-cpus=1")

    def drive(self, plan):
        """Starts the driver."""
        command = [sys.executable, ROOT / "examples" / "cluster" / "ray_units.py", plan]
        return subprocess.Popen([*map(str, command)], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture(scope="module")
def cluster(bin):
    # The path of a socket has at most 107 bytes, which pytest's own directories would leave too few of.
    directory = Path(tempfile.mkdtemp(prefix="ray-"))
    c = Cluster(directory, bin)
    try:
        start = time.monotonic()
        c.start_head()
        for name in NODES:
            c.start_node(name)
        print(f"ray: up in {time.monotonic() - start:.1f} s")
        yield c
    finally:
        for node in c.nodes.values():
            node.kill()
        shutil.rmtree(directory)


def test_a_machine_is_killed(cluster, job):
    plan, out = job.plan("ray")
    start = time.monotonic()
    with machine.Starts(out) as starts:
        driver = cluster.drive(plan)
        machine.wait_for("a unit on r2", 60, lambda: starts.of("r2") or driver.poll() is not None)
        assert driver.poll() is None, driver.stdout.read()
        cluster.nodes["r2"].kill()
        killed, _ = machine.parts(starts.of("r2")[-1])
        assert not machine.receipt(out, killed).exists(), "r2 was killed between two units"
        said, _ = driver.communicate(timeout=120)
    print(f"ray: {UNITS} units, {len(starts.seen)} starts, {time.monotonic() - start:.1f} s")
    assert driver.returncode == 0, said
    assert machine.tree(out) == job.want
    assert len(starts.seen) > UNITS
    assert {node for unit, node in map(machine.parts, starts.seen) if unit == killed} == {"r1", "r2"}


def test_failed_commands(cluster, job):
    """A unit that always fails is started four times, one of wrong usage once. The same command again runs those, and only those."""
    plan, out = job.plan("ray-failing")
    cluster.tries.touch()
    driver = cluster.drive(plan)
    said, _ = driver.communicate(timeout=120)
    count = collections.Counter(map(int, cluster.tries.read_text().split()))
    assert count == {0: 4, 1: 1, 2: 2, **dict.fromkeys(range(3, UNITS), 1)}, said
    assert driver.returncode == 1
    assert "unit 0: exit status 1: no memory" in said
    assert "unit 1: no such flag" in said
    assert f"2 of {UNITS} units are not done: 0, 1" in said
    assert not (out / "brimful.json").exists()
    cluster.tries.unlink()
    with machine.Starts(out) as starts:
        driver = cluster.drive(plan)
        said, _ = driver.communicate(timeout=120)
    assert driver.returncode == 0, said
    assert {unit for unit, _ in map(machine.parts, starts.seen)} == {0, 1}
    assert machine.tree(out) == job.want

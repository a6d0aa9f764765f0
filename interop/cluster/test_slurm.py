"""examples/cluster/submit.sh on a real cluster of this machine: a controller and three nodes, one of which is killed in mid-task."""

import collections
import os
import shutil
import socket
import subprocess
import time

import pytest

import machine
from conftest import PER_TASK, ROOT, UNITS

NODES = ["n1", "n2", "n3"]
DAEMONS = ["slurmctld", "slurmd", "munged"]
TASKS = -(-UNITS // PER_TASK)

lacking = [d for d in DAEMONS if not shutil.which(d)]
pytestmark = [
    pytest.mark.skipif(bool(lacking), reason=f"no {', '.join(lacking)}: apt-get install slurm-wlm munge"),
    pytest.mark.skipif(bool(machine.why_not()), reason=machine.why_not() or ""),
]

# Without accounting, cgroups and task binding, which the machine may not have. The default of cred_expire would add two minutes to the
# time after which a lost task starts again.
CONF = """
ClusterName=brimful
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge/socket,cred_expire=5
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool-%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd-%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
SlurmdTimeout=5
KillWait=2
ReturnToService=2
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
PartitionName=all Nodes=ALL Default=YES State=UP
"""
NODE = "NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=1\n"


class Cluster:
    def __init__(self, directory, bin):
        self.directory = directory
        self.env = {**os.environ, "SLURM_CONF": str(directory / "slurm.conf"), "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
        self.nodes = {}
        controller, *ports = machine.free_ports(1 + len(NODES))
        conf = CONF.format(host=socket.gethostname().split(".")[0], port=controller, dir=directory)
        conf += "".join(NODE.format(name=n, port=p) for n, p in zip(NODES, ports))
        (directory / "slurm.conf").write_text(conf)
        for part in ["munge", "state"]:
            (directory / part).mkdir(mode=0o711)
        key = directory / "munge" / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))

    def munge(self):
        d = self.directory / "munge"
        files = [f"--{kind}={d / kind}" for kind in ["socket", "pid-file", "log-file", "seed-file"]]
        return machine.ending(["munged", "--foreground", "--force", f"--key-file={d / 'key'}", *files], d / "out")

    def controller(self):
        return machine.ending(["slurmctld", "-D", "-i"], self.directory / "slurmctld.log", self.env)

    def start(self, name):
        (self.directory / f"spool-{name}").mkdir(exist_ok=True)
        self.nodes[name] = machine.Machine(name, ["slurmd", "-D", "-N", name], self.directory / f"{name}.log", self.env)

    def run(self, *command):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=self.env)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def states(self):
        """The state of each node."""
        said = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %T"], capture_output=True, text=True, env=self.env).stdout
        return dict(line.split() for line in said.splitlines())

    def submit(self, plan):
        """Submits a plan and returns the numbers of the array, if there is one, and of finish."""
        output = self.directory / f"{plan.stem}-%A_%a.out"
        return self.run(ROOT / "examples" / "cluster" / "submit.sh", plan, PER_TASK, f"--output={output}").split()

    def said(self, plan):
        """What the jobs of a plan have printed."""
        return "".join(f"{f.name}: {f.read_text()}" for f in sorted(self.directory.glob(f"{plan.stem}-*.out")))

    def wait(self, seconds=120):
        """Waits until no job is left."""
        end = time.monotonic() + seconds
        while jobs := self.run("squeue", "-h", "-r", "-o", "%F_%K %j %T %r %N"):
            assert time.monotonic() < end, f"jobs after {seconds} s, on nodes {self.states()}:\n{jobs}"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def cluster(bin, tmp_path_factory):
    directory = tmp_path_factory.mktemp("slurm")
    c = Cluster(directory, bin)
    with c.munge():
        machine.wait_for("munge", 20, (c.directory / "munge" / "socket").exists)
        with c.controller():
            try:
                start = time.monotonic()
                for name in NODES:
                    c.start(name)
                try:
                    machine.wait_for("the nodes", 60, lambda: list(c.states().values()) == ["idle"] * len(NODES))
                except AssertionError:  # of this machine, not of brimful
                    logs = [(directory / "slurmctld.log"), *directory.glob("n*.log")]
                    pytest.skip("Slurm does not start here: " + " | ".join(log.read_text()[-300:] for log in logs if log.exists()))
                print(f"slurm: up in {time.monotonic() - start:.1f} s")
                yield c
            finally:
                for node in c.nodes.values():
                    node.kill()


def test_a_machine_is_killed(cluster, job):
    plan, out = job.plan("killed")
    start = time.monotonic()
    with machine.Starts(out) as starts:
        cluster.submit(plan)
        machine.wait_for("a unit on n2", 60, lambda: starts.of("n2"))
        cluster.nodes["n2"].kill()
        killed, _ = machine.parts(starts.of("n2")[-1])
        assert not machine.receipt(out, killed).exists(), "n2 was killed between two units"
        cluster.wait()
    print(f"slurm: {UNITS} units, {len(starts.seen)} starts, {time.monotonic() - start:.1f} s")
    assert job.missing(plan) == "", cluster.said(plan)
    assert machine.tree(out) == job.want
    assert len(starts.seen) > UNITS
    assert {node for unit, node in map(machine.parts, starts.seen) if unit == killed} > {"n2"}
    cluster.start("n2")


def test_lost_tasks(cluster, job):
    """A cancelled job leaves units without a receipt, and finish says so. The same command again runs those, and only those."""
    plan, out = job.plan("cancelled")
    array, _ = cluster.submit(plan)
    machine.wait_for("a receipt", 60, lambda: list(out.glob(".brimful/units/*.json")))
    cluster.run("scancel", array)
    cluster.wait()
    missing = job.missing(plan)
    assert missing
    assert f"units are not done: {missing.split(',')[0]}" in cluster.said(plan)
    assert not (out / "brimful.json").exists()
    with machine.Starts(out) as starts:
        array, _ = cluster.submit(plan)
        cluster.wait()
    assert job.missing(plan) == "", cluster.said(plan)
    assert machine.tree(out) == job.want
    assert len(cluster.submit(plan)) == 1, "finish alone, for nothing is missing"
    cluster.wait()
    assert machine.tree(out) == job.want


FAILING = """#!/bin/sh
for task; do :; done # the last argument
if [ "$1" = run-unit ]; then
    echo "$task" >>"{tries}"
    case $task in
    0) exit 1 ;;
    1) exit 2 ;;
    2) [ "$(grep -cx 2 "{tries}")" -gt 1 ] || exit 1 ;;
    esac
fi
exec "{brimful}" "$@"
"""


def test_failed_commands(cluster, job, bin, tmp_path, monkeypatch):
    """A task that always fails is started four times, one of wrong usage once. Finish waits for all of them."""
    plan, out = job.plan("failing")
    tries = tmp_path / "tries"
    failing = tmp_path / "brimful"
    failing.write_text(FAILING.format(tries=tries, brimful=bin / "brimful"))
    failing.chmod(0o755)
    monkeypatch.setitem(cluster.env, "PATH", f"{tmp_path}{os.pathsep}{cluster.env['PATH']}")
    cluster.submit(plan)
    cluster.wait()
    count = collections.Counter(map(int, tries.read_text().split()))
    assert count == {0: 4, 1: 1, 2: 2, **dict.fromkeys(range(3, TASKS), 1)}
    assert job.missing(plan) == "0-3"
    assert f"4 of {UNITS} units are not done: 0-3" in cluster.said(plan)

"""Machines that can be killed, and what units leave on the file system that all of them share."""

import contextlib
import gzip
import hashlib
import os
import re
import shutil
import socket
import subprocess
import threading
import time


def why_not():
    """Why no machine can be started here, or nothing."""
    if shutil.which("unshare") is None:
        return "no unshare, which makes namespaces (util-linux, on Linux)"
    tried = subprocess.run(["unshare", "--pid", "--uts", "--fork", "--mount-proc", "true"], capture_output=True, text=True)
    return tried.stderr.strip() and f"namespaces take root: {tried.stderr.strip()}"


class Machine:
    """A command in a PID namespace and under a host name of its own. A kill ends all that runs there, as when a machine loses power.

    To kill a daemon alone would test little: what it started would go on. The shell stays, as process 1, to reap what nobody waits for:
    without it Slurm would wait for the zombies of a cancelled job.
    """

    def __init__(self, name, command, log, env):
        self.name = name
        namespace = ["unshare", "--pid", "--uts", "--fork", "--kill-child=KILL", "--mount-proc"]
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                [*namespace, "sh", "-c", 'hostname "$0" && "$@"; exit', name, *map(str, command)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, start_new_session=True,
            )  # fmt: skip

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def ending(command, log, env=None):
    """A command that runs beside the test and is ended with it."""
    with open(log, "ab") as out:
        process = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def wait_for(what, seconds, condition):
    """What condition returns, as soon as it is something."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.01)
    return value


def tree(directory):
    """The sha256 of every file below a directory."""
    return {str(p.relative_to(directory)): hashlib.sha256(p.read_bytes()).hexdigest() for p in directory.rglob("*") if p.is_file()}


def write_samples(example, path, copies):
    """The example data so many times, which is work for some seconds."""
    text = gzip.decompress(example.read_bytes())
    with path.open("wb") as file:
        for _ in range(copies):
            file.write(text)


class Starts:
    """All starts of units in a data set that is being made: each has a directory of its own as long as it runs, or was killed."""

    def __init__(self, out):
        self.attempts = out / ".brimful" / "attempts"
        self.seen = set()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.ended.wait(0.005):
            self.seen.update(self.running())

    def running(self):
        """The names of what runs, and of what was killed."""
        with contextlib.suppress(FileNotFoundError):
            return os.listdir(self.attempts)
        return []

    def of(self, machine):
        """What runs on a machine."""
        return [name for name in self.running() if parts(name)[1] == machine]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def parts(attempt):
    """The unit and the machine of a start."""
    unit, machine = re.fullmatch(r"unit-(\d+)-(.+)-\d+-\d+", attempt).groups()
    return int(unit), machine


def receipt(out, unit):
    """The file that says that a unit is done."""
    return out / ".brimful" / "units" / f"unit-{unit:05d}.json"

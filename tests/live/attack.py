"""Clients of the control socket that mean no good, all at once, and what they cost: memory, answers, packets."""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import random
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from live_gnb import LiveGnb
from processes import Processes

CLIENTS = 100
PAUSE = 0.02  # between two requests of one client, so that not the attackers' own use of the cores is measured
# 0.3 MB of answer, with an identity that it repeats. (What happens when answers that nobody reads reach their bound is
# tested with a smaller one in control/server_test.cpp.)
LIST = json.dumps({"id": 60_000 * "x", "method": "bearer.list", "params": {"limit": 1000}}).encode() + b"\n"


def target(folder: Path, processes: Processes) -> LiveGnb:
    """A gNB with twice the bearers, so that the answers of `never_reads` do not fit what the kernel keeps."""
    addresses = {"ue_ipv4": "10.45.0.2", "ue_ipv6": "fd00:45::2"}
    bearers = {"count": 512, "upf": "10.100.0.2", "ul_teid": 0x1001, **addresses}
    return LiveGnb(folder, processes, max_bearers=65536, bearers=[bearers])


@dataclass
class Cost:
    seconds: float
    packets_per_second: float
    packets_per_cpu_second: float  # of the worker's own processor time: what others take of its core does not count
    core_share: float  # that the worker got of its core
    dropped: int
    resident_bytes: int  # most seen
    slowest_ping: float
    pings: int
    attacks: dict[str, int]  # what was done, by behaviour, where the server answered as it should


def resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def worker_cpu_seconds(pid: int) -> float:
    """Of the busiest thread, which is the worker under load."""
    ticks = [task.read_text().rpartition(")")[2].split()[11:13] for task in Path(f"/proc/{pid}/task").glob("*/stat")]
    return max(int(user) + int(system) for user, system in ticks) / os.sysconf("SC_CLK_TCK")


def garbage(client: socket.socket, dice: random.Random):
    client.sendall(dice.randbytes(4000).replace(b"\n", b" ") + b"\n")
    time.sleep(PAUSE)
    return b'"error"' in client.recv(65536)


def oversize(client: socket.socket, dice: random.Random):
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it need not take all of it
        client.sendall(b"[" * (1 << 17))
    time.sleep(PAUSE)
    return b"line too long" in client.recv(65536)  # and it closes: the next attempt connects anew


def half_a_line(client: socket.socket, dice: random.Random):
    client.sendall(b'{"id":1,' if dice.random() < 0.05 else b" ")
    time.sleep(PAUSE)
    return True


def never_reads(client: socket.socket, dice: random.Random):
    client.sendall(LIST)  # blocks, in the end, until the server gives the connection up
    time.sleep(PAUSE)
    return True


BEHAVIOURS = (garbage, oversize, half_a_line, never_reads)
NAMES = [behaviour.__name__ for behaviour in BEHAVIOURS]


def misbehave(path: Path, behaviour, end: float, seed: int, done):
    """Counts in `done` what it did; whatever the server does to its connection, it goes on with a new one."""
    dice = random.Random(seed)
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.settimeout(0.5)
            client.connect(str(path))
            while time.monotonic() < end:
                try:
                    if behaviour(client, dice):
                        with done.get_lock():
                            done[NAMES.index(behaviour.__name__)] += 1
                except TimeoutError:
                    if behaviour is not never_reads:
                        raise
        time.sleep(PAUSE)


def attack(path: Path, attackers: int, end: float, done):
    """All of them, in a process of their own, so that they do not hold up who watches."""
    pairs = zip(range(attackers), itertools.cycle(BEHAVIOURS), strict=False)
    threads = [
        threading.Thread(target=misbehave, args=(path, what, end, seed, done), daemon=True) for seed, what in pairs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0, end - time.monotonic()) + 3)


def worker_first(pid: int):
    """The worker before all other programs on its core: what else runs on this machine is not what is measured."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        if "worker" in (task / "comm").read_text():
            with contextlib.suppress(PermissionError):
                os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(1))


@contextlib.contextmanager
def away_from_the_worker():
    """This process and its threads on other cores than the worker's core 0, where there are others."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before - {0} or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def watch(gnb: LiveGnb, seconds: float, attackers: int) -> Cost:
    """Lets the gNB run for a time, with so many attackers, and looks at it all the while as a well-behaved client."""
    with away_from_the_worker():
        return _watch(gnb, seconds, attackers)


def _watch(gnb: LiveGnb, seconds: float, attackers: int) -> Cost:
    pid = gnb.instance.process.child.pid
    worker_first(pid)
    end = time.monotonic() + seconds
    fork = multiprocessing.get_context("fork")
    done = fork.Array("Q", len(NAMES))
    clients = fork.Process(target=attack, args=(gnb.socket, attackers, end, done), daemon=True)
    before, begin, used = gnb.stats()["totals"], time.monotonic(), worker_cpu_seconds(pid)
    clients.start()
    most = slowest = 0.0
    pings = 0
    while time.monotonic() < end:
        asked = time.monotonic()
        assert gnb.instance.control.call("ping")["process"] == pid
        slowest, pings = max(slowest, time.monotonic() - asked), pings + 1
        most = max(most, resident(pid))
        time.sleep(0.02)
    after, passed, used = gnb.stats()["totals"], time.monotonic() - begin, worker_cpu_seconds(pid) - used
    sent = after["transmitted"] - before["transmitted"]
    clients.join(10)
    assert clients.exitcode == 0, f"the attackers ended with {clients.exitcode}"
    return Cost(
        passed,
        sent / passed,
        sent / used,
        used / passed,
        after["dropped"] - before["dropped"],
        int(most),
        slowest,
        pings,
        dict(zip(NAMES, done, strict=True)),
    )

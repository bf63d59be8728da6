"""CPU that a million SYNs cost, wherever it is spent, and what of it only carries frames (the guard in mode bypass)."""

from __future__ import annotations

import os
import random
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from _guard_table import xdp_fails
from _tools import ROOT, say
from bed import Bed
from figures import median, spread
from flood import Flood
from guarded import Guard
from meter import TICK_NS, first_of_all
from middles import Bridge, Synproxy, XdpSynproxy
from report import Report

PAUSE_US = 10  # hping3 sends about 30,000 a second then, and no wire is full
SECONDS, REPEATS = 3.0, 5
NOWHERE = "02:00:00:00:00:99"  # no host's: the server's interface drops what is to it before IP sees it


@dataclass(frozen=True)
class Spent:
    """Of all who may do something about a SYN, in seconds, and how many SYNs there were."""

    cpu_s: float
    guard_s: float  # of that, the guard's process
    syns: int
    handled: int

    @property
    def per_million(self) -> float:
        return 1e6 * self.cpu_s / max(1, self.syns)

    @property
    def guard_per_million(self) -> float:
        return 1e6 * self.guard_s / max(1, self.syns)


def on_cpu_s(pid: int) -> float:
    """Of all threads of a process."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def kernel_s() -> float:
    """Of the threads in which softirqs run when they get too many, and of interrupts on idle cores."""
    total = 0.0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().startswith("ksoftirqd"):
                total += int((process / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue
    ticks = [int(word) for word in Path("/proc/stat").read_text().split(maxsplit=11)[1:9]]
    return total + (ticks[5] + ticks[6]) * TICK_NS / 1e9


def spend(bed: Bed, guard: Guard | None) -> Spent:
    pids = [guard.pid] if guard else []
    before_syns, before_handled = bed.received(bed.guard, "out0"), handled(guard)
    flood = Flood(bed, seconds=SECONDS + 2, pause_us=PAUSE_US)
    time.sleep(0.3)
    sender = child_of(flood)
    first_of_all(sender)
    begin = {pid: on_cpu_s(pid) for pid in [*pids, sender]}
    kernel, syns = kernel_s(), bed.received(bed.guard, "out0")
    time.sleep(SECONDS)
    end = {pid: on_cpu_s(pid) for pid in [*pids, sender]}
    spent, count = kernel_s() - kernel, bed.received(bed.guard, "out0") - syns
    flood.stop()
    time.sleep(0.2)
    sent, taken = bed.received(bed.guard, "out0") - before_syns, handled(guard) - before_handled
    of_guard = sum(end[pid] - begin[pid] for pid in pids)
    share = taken / sent if guard and sent else 1.0
    return Spent(spent + of_guard + end[sender] - begin[sender], of_guard, count, round(count * min(1.0, share)))


def handled(guard: Guard | None) -> int:
    return sum(worker["received"] for worker in guard.workers()) if guard else 0


def child_of(flood: Flood) -> int:
    """hping3 itself: `timeout` started it."""
    pid = flood.process.child.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else pid


ALL_WAYS = (
    "dead_end",
    "bridge_kernel_cookies",
    "synproxy",
    "xdp_synproxy",
    "guard_bypass",
    "guard_auth",
    "guard_proxy",
)


def once(way: str) -> Spent:
    with ExitStack() as stack:
        bed = stack.enter_context(Bed(ROOT / "out" / "accept-guard", "cost", server_cookies=way.startswith("bridge")))
        guard = None
        if way.startswith("guard"):
            guard = stack.enter_context(Guard(bed, way.removeprefix("guard_"), "always", policy="budget"))
            if way == "guard_bypass":
                bed.neighbors(of_server=NOWHERE)
            first_of_all(guard.pid)
        elif way.startswith("bridge"):
            stack.enter_context(Bridge(bed))
        elif way == "synproxy":
            stack.enter_context(Synproxy(bed))
        elif way == "xdp_synproxy":
            stack.enter_context(XdpSynproxy(bed))
        return spend(bed, guard)


def items(report: Report) -> None:
    ways = [way for way in ALL_WAYS if way != "xdp_synproxy" or not xdp_fails()]
    say(f"guard: CPU of a million SYNs, {REPEATS} repeats of {len(ways)} ways")
    first_of_all(os.getpid())
    order, found = random.Random(1), {way: [] for way in ways}
    for _ in range(REPEATS):
        for way in order.sample(ways, len(ways)):
            found[way].append(once(way))
    dead = [one.per_million for one in found["dead_end"]]
    why = "CPU of hping3 (softirqs in it too), the guard, ksoftirqd and interrupts, less that into a dead end "
    why += f"({spread(dead, ' s')}); policy budget"
    for way in ways[1:]:
        added = [one.per_million - alone for one, alone in zip(found[way], dead, strict=True)]
        own = [one.guard_per_million for one in found[way]]
        lost = sum(one.syns - one.handled for one in found[way])
        text = f"{spread(added, ' s')} of CPU"
        if way.startswith("guard"):
            text += f", of it the guard's process {spread(own, ' s')}, {lost} SYNs not taken"
        report.judge(f"guard_cpu_per_million_syns_{way}", text, "measured", True, why)
    carried = median([one.guard_per_million for one in found["guard_bypass"]])
    for way in ("guard_auth", "guard_proxy"):
        own = median([one.guard_per_million for one in found[way]])
        text = f"{carried:.3g} of {own:.3g} s are bypass's: {100 * carried / own:.0f}%"
        report.judge(f"guard_cpu_io_share_{way}", text, "measured", True, "receiving and sending by AF_PACKET sockets")

"""What a thread and a core spent, and how much of its time a core loses to others: /proc and a spinning probe.

The kernels that we run on charge an interrupt to the thread that it interrupts (no CONFIG_IRQ_TIME_ACCOUNTING), so a
thread's time in schedstat holds its softirqs; those that hit the core while it was idle are in CoreTicks.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
GAP_NS = 5_000  # a gap between two looks at the clock that Python alone does not make


def thread_of(pid: int, name: str) -> int:
    """The thread of a process that has this name; 0: none."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            if (task / "comm").read_text().strip() == name:
                return int(task.name)
        except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
            continue
    return 0


@dataclass(frozen=True)
class Spent:
    """Totals in ns; the difference of two is what the time between cost."""

    at: int  # of the monotonic clock
    thread: int  # on a CPU, softirq included
    waiting: int  # ready to run, but another had the core
    process: int  # all its threads on a CPU
    idle_irq: int  # interrupts and softirqs of the core, by the tick
    stolen: int  # of all cores, by the hypervisor, by the tick

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(mine - theirs for mine, theirs in zip(self._all(), other._all(), strict=True)))

    def _all(self) -> tuple[int, ...]:
        return (self.at, self.thread, self.waiting, self.process, self.idle_irq, self.stolen)

    def share(self, ns: int) -> float:
        """Percent of the time between."""
        return 100 * ns / self.at


def _schedstat(path: Path) -> tuple[int, int]:
    on_cpu, waiting, _ = path.read_text().split()
    return int(on_cpu), int(waiting)


def spent(pid: int, tid: int, core: int) -> Spent:
    tasks = [_schedstat(task / "schedstat") for task in Path(f"/proc/{pid}/task").iterdir()]
    on_cpu, waiting = _schedstat(Path(f"/proc/{pid}/task/{tid}/schedstat"))
    rows = [line.split() for line in Path("/proc/stat").read_text().splitlines() if line.startswith("cpu")]
    ours = next(row for row in rows if row[0] == f"cpu{core}")
    return Spent(
        at=time.monotonic_ns(),
        thread=on_cpu,
        waiting=waiting,
        process=sum(task[0] for task in tasks),
        idle_irq=(int(ours[6]) + int(ours[7])) * TICK_NS,
        stolen=int(rows[0][8]) * TICK_NS,
    )


def lost_time(cores: tuple[int, ...], seconds: float) -> dict[int, float]:
    """Percent of the time that a program which only looks at the clock loses on each core, all measured at once."""
    probes = {
        core: subprocess.Popen(
            [sys.executable, __file__, str(core), str(seconds)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for core in cores
    }
    return {core: float(probe.communicate(timeout=90)[0]) for core, probe in probes.items()}


def first_of_all(pid: int) -> None:
    """The weight of the process among others, as far as we may: a compiler beside it must not decide a figure."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-20")
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, int(task.name), -20)


def _spin(core: int, seconds: float) -> float:
    os.sched_setaffinity(0, {core})
    first_of_all(os.getpid())
    clock = time.perf_counter_ns
    begin = last = clock()
    end = begin + int(seconds * 1e9)
    lost = 0
    while last < end:
        now = clock()
        if now - last > GAP_NS:
            lost += now - last
        last = now
    return 100 * lost / (last - begin)


if __name__ == "__main__":
    print(_spin(int(sys.argv[1]), float(sys.argv[2])))

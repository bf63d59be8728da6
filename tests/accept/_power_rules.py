"""The rules that every policy keeps, by the unit tests, and what a simulated core says of the same rates (no watts)."""

from __future__ import annotations

import json
import os
import re
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from _tools import ROOT, last_line, run, say
from figures import rate_name
from meter import TICK_NS, lost_time
from pair import DEVICE_CORE, POLICIES, TRAFFIC_CORE
from report import Report
from turns import MAX_LOST, PROBE_SECONDS

BUILD = ROOT / "build" / "release"
RATES = (1_000, 10_000, 100_000, 1_000_000)
SIMULATED_SECONDS = 10
SPEED_RATE, SPEED_SECONDS, SPEED_TRIES = 1_000, 100, 3
SPEED = 1000  # times faster than real time

CYCLES = 100_000  # 3 s on the ring and 5 s on vhost, on a busy machine 4 s and 7 s
LONGEST_WAIT_US = 10_000  # a sleep that nothing ends lasts a second
MAX_OTHERS = 2.0  # percent of all cores that other programs may use meanwhile
SLEEPS = {
    "ring": "WorkerSleep.no_packet_is_lost_in_sleep_wake_cycles_at_any_moment",
    "vhost": "VhostSleep.a_packet_ends_the_sleep_of_a_worker_on_vhost",
}
# Item, program, tests, what must hold.
ITEMS = (
    ("power_algorithm_1_lines", "power_test", "Paper.line*", "every line of Algorithm 1"),
    ("power_algorithm_1_completions", "power_test", "Paper.*completion*", "what it leaves undefined"),
    ("power_properties", "power_test", "*Property.*", "no sleep with work, past a timer or a budget; no oscillation"),
    ("power_policies", "power_test", "*", "every test passes"),
    ("power_simulated_core", "power_replay_test", "*", "every test passes"),
)


@dataclass(frozen=True)
class Ran:
    """What a test program said."""

    status: int
    output: str
    seconds: float
    longest_us: int | None  # that a packet waited, where the test recorded it


def tests(report: Report, item: str, program: str, chosen: str, target: str, **environment: str) -> Ran | None:
    """None when the program is not built, and the item skipped."""
    path = BUILD / program
    if not path.exists():
        report.skip(item, target, f"{path.relative_to(ROOT)} is not built")
        return None
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [path, f"--gtest_filter={chosen}", f"--gtest_output=json:{results}"]
        ran = Ran(*run(command, 300, **environment), longest_wait(results))
    passed = re.search(r"\[  PASSED  \] (\d+) test", ran.output)
    count = int(passed.group(1)) if passed else 0
    met = ran.status == 0 and count > 0
    report.judge(item, f"{count} tests", target, met, f"{ran.seconds:.1f} s" if met else last_line(ran.output))
    return ran


def longest_wait(results: Path) -> int | None:
    if not results.exists():
        return None
    cases = [case for suite in json.loads(results.read_text())["testsuites"] for case in suite["testsuite"]]
    return max((int(case["longest_us"]) for case in cases if "longest_us" in case), default=None)


class Quiet:
    """What the machine did beside a program that runs between entry and exit, and just before and after it."""

    def __enter__(self) -> Quiet:
        self.lost = self._probe()
        self.before = self._look()
        return self

    def __exit__(self, *_) -> None:
        at, others, stolen = (now - then for now, then in zip(self._look(), self.before, strict=True))
        self.lost = max(self.lost, self._probe())
        self.others = 100 * others / at / (os.cpu_count() or 1)
        self.stolen_ms = stolen / 1e6

    @property
    def quiet(self) -> bool:
        return self.lost <= MAX_LOST and self.others <= MAX_OTHERS and self.stolen_ms == 0

    def __str__(self) -> str:
        return (
            f"a probe lost {self.lost:.3g}% of a core, others used {max(0.0, self.others):.2g}% of all, "
            f"{self.stolen_ms:.0f} ms stolen"
        )

    @staticmethod
    def _probe() -> float:
        return max(lost_time((TRAFFIC_CORE, DEVICE_CORE), PROBE_SECONDS).values())

    @staticmethod
    def _look() -> tuple[float, float, float]:
        """Time, what others than our children have used of all cores, and what was stolen, in ns."""
        ticks = [int(word) for word in Path("/proc/stat").read_text().split(maxsplit=11)[1:11]]
        user, nice, system, _idle, _iowait, irq, softirq, stolen = ticks[:8]
        ours = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = (user + nice + system + irq + softirq) * TICK_NS - (ours.ru_utime + ours.ru_stime) * 1e9
        return time.monotonic_ns(), used, stolen * TICK_NS


def sleeps(report: Report, where: str, test: str) -> None:
    """None lost; and none waited, which a machine that is not quiet does not show."""
    with Quiet() as machine:
        target = "no packet lost, none waits for the sleep's own end"
        name = f"power_{CYCLES}_sleep_wake_cycles_{where}"
        ran = tests(report, name, "engine_test", test, target, SPLITPLANE_SLEEP_CYCLES=str(CYCLES))
    name, target = f"power_longest_wait_{where}", f"<={LONGEST_WAIT_US}us"
    if ran is None or ran.longest_us is None:
        report.skip(name, target, f"{test} recorded none")
        return
    met, text = ran.longest_us <= LONGEST_WAIT_US, f"{ran.longest_us}us"
    why = f"of {CYCLES} packets; {machine}"
    if met or machine.quiet:
        report.judge(name, text, target, met, why)
    else:
        report.skip(name, target, f"measured {text}, but the machine was not quiet: {why}")


def replay(rate: int, seconds: int, *options: str) -> list[dict] | str:
    """Each policy's results; or what it said instead."""
    command = [BUILD / "splitplane", "power", "replay", "--arrivals", "poisson", "--rate", str(rate)]
    status, output, _ = run([*command, "--duration", str(seconds), "--policy", "all", "--json", *options], 120)
    return json.loads(output)["policies"] if status == 0 else last_line(output)


def simulated(report: Report, rate: int) -> None:
    name = f"power_simulated_{rate_name(rate)}"
    found = replay(rate, SIMULATED_SECONDS)
    if isinstance(found, str):
        report.judge(name, "none", "every policy", False, found)
        return
    cells = [
        f"{one['policy']} active {one['active']:.1%} added p50 {one['added_us']['p50']:.3g} p99 "
        f"{one['added_us']['p99']:.3g} max {one['added_us']['max']:.3g} us lost {one['lost']}"
        for one in found
    ]
    complete = [one["policy"] for one in found] == list(POLICIES)
    why = "simulated core with stated costs, Poisson; no measurement"
    report.judge(name, "; ".join(cells), "every policy", complete, why)


def items(report: Report) -> None:
    say(f"power: the rules of the policies, and {CYCLES} sleeps twice")
    for item in ITEMS:
        tests(report, *item)
    for where, test in SLEEPS.items():
        sleeps(report, where, test)
    say("power: simulated core")
    for rate in RATES:
        simulated(report, rate)
    speed(report)


def speed(report: Report) -> None:
    """Of the slowest policy, in the best of some tries: the machine only ever makes it worse."""
    name, best, who = "power_simulation_speed", 0.0, ""
    for _ in range(SPEED_TRIES):
        found = replay(SPEED_RATE, SPEED_SECONDS)
        if isinstance(found, str):
            report.judge(name, "none", f">={SPEED}x", False, found)
            return
        faster, policy = min((one["simulated_s"] / one["real_s"], one["policy"]) for one in found)
        if faster > best:
            best, who = faster, policy
    why = f"{who}, the slowest policy, at {rate_name(SPEED_RATE)} packets/s, best of {SPEED_TRIES}"
    report.at_least(name, best, SPEED, "x", why)

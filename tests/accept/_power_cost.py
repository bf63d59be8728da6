"""What each policy costs and adds: thread CPU, sleeps, wake-ups, latency and loss, idle and at four rates.

All policies take turns on one running device, in an order drawn anew for each repeat; a policy is compared with `busy`
and `paper` of the same repeat. The machine's own jitter stands beside each figure.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable
from dataclasses import asdict, dataclass

from _tools import ROOT, say
from figures import median, rate_name, spread
from meter import lost_time
from pair import DEVICE_CORE, POLICIES, TRAFFIC_CORE, Measured, Pair, Sent
from report import Report

RATES = (1_000, 10_000, 100_000, 1_000_000)
JUDGED = (10_000, 100_000)  # budget against paper
REPEATS, QUIET_WANTED = 5, 3
SECONDS, IDLE_SECONDS, PROBE_SECONDS = 1.0, 1.5, 0.1
# A repeat counts as quiet up to here: percent of a core that a spinning probe loses just before, percent of the time
# that the device's thread waited for its core, us that the generator was behind its own schedule at p99.
MAX_LOST, MAX_WAITING, MAX_LATENESS = 4.0, 1.0, 50.0
ADDED_P99_US = 100
COUNTED = ("sleeps", "wakeups", "pauses")


@dataclass(frozen=True)
class Row:
    """One policy at one rate in one repeat."""

    measured: Measured
    sent: Sent | None  # None: idle

    @property
    def quiet(self) -> bool:
        waiting = self.measured.spent.share(self.measured.spent.waiting)
        return waiting <= MAX_WAITING and (self.sent is None or self.sent.lateness_p99 <= MAX_LATENESS)


@dataclass(frozen=True)
class Repeat:
    """All policies once, and the percent of each core that was lost to others just before."""

    lost: dict[int, float]
    rows: dict[str, Row]

    @property
    def quiet(self) -> bool:
        return max(self.lost.values()) <= MAX_LOST and all(row.quiet for row in self.rows.values())


def probe(pair: Pair) -> dict[int, float]:
    """The device is stopped meanwhile, whatever its policy: else a polling one would be found on its core."""
    os.kill(pair.pid, signal.SIGSTOP)
    try:
        return lost_time((TRAFFIC_CORE, DEVICE_CORE), PROBE_SECONDS)
    finally:
        os.kill(pair.pid, signal.SIGCONT)


def repeats(pair: Pair, seed: int, run: Callable[[int], Row]) -> list[Repeat]:
    """`run(repeat)` measures the policy that is in use."""
    order = random.Random(seed)
    done = []
    for number in range(REPEATS):
        lost, rows = probe(pair), {}
        for policy in order.sample(POLICIES, len(POLICIES)):
            pair.use(policy)
            rows[policy] = run(number)
        done.append(Repeat(lost, rows))
    return done


class Judged:
    """The repeats that count, and what is to be doubted about them."""

    def __init__(self, report: Report, all_of_them: list[Repeat]):
        quiet = [repeat for repeat in all_of_them if repeat.quiet]
        self.report = report
        self.used = quiet if len(quiet) >= QUIET_WANTED else all_of_them
        self.doubt = "" if len(quiet) >= QUIET_WANTED else f"only {len(quiet)} of {len(all_of_them)} repeats were quiet"

    def of(self, policy: str, figure: Callable[[Row], float]) -> list[float]:
        return [figure(repeat.rows[policy]) for repeat in self.used]

    def pairs(self, figure: Callable[[dict[str, Row]], float]) -> list[float]:
        """Of policies in the same repeat."""
        return [figure(repeat.rows) for repeat in self.used]

    def judge(self, name: str, values: list[float], target: str, met: Callable[[float], bool], unit: str) -> None:
        """By the median. Short on a machine that was not quiet is no verdict."""
        good, text = met(median(values)), spread(values, unit)
        if not good and self.doubt:
            self.report.skip(name, target, f"measured {text}, but {self.doubt}")
        else:
            self.report.judge(name, text, target, good, self.doubt or f"median of {len(values)} repeats")

    def machine(self) -> str:
        """How much the machine disturbed."""
        lost = [max(repeat.lost.values()) for repeat in self.used]
        rows = [row for repeat in self.used for row in repeat.rows.values()]
        waiting = [row.measured.spent.share(row.measured.spent.waiting) for row in rows]
        stolen = sum(row.measured.spent.stolen for row in rows) / 1e6
        late = [row.sent.lateness_p99 for row in rows if row.sent]
        tester = f", generator behind by p99 {spread(late, ' us')}" if late else ""
        return f"a probe lost {spread(lost, '%')} of a core, the thread waited {spread(waiting, '%')}{tester}, " + (
            f"{stolen:.0f} ms stolen{'; ' + self.doubt if self.doubt else ''}"
        )

    def rows(self, name: str) -> None:
        """One line a policy: all its figures."""
        for policy in POLICIES:
            cells = [f"cpu {spread(self.of(policy, lambda r: r.measured.cpu), '%')}"]
            for counter in COUNTED:
                per_second = median(self.of(policy, lambda r, c=counter: r.measured.per_second(c)))
                cells.append(f"{counter} {per_second:.0f}/s")
            if all(repeat.rows[policy].sent for repeat in self.used):
                cells += self.latency(policy)
            self.report.judge(f"{name}_{policy}", ", ".join(cells), "measured", True, self.machine())

    def latency(self, policy: str) -> list[str]:
        added = {
            name: [
                getattr(rows[policy].sent, name) - rows["busy"].sent.p50 for rows in (each.rows for each in self.used)
            ]
            for name in ("p50", "p99", "p99_9")
        }
        lost, offered = (sum(self.of(policy, lambda r, f=field: getattr(r.sent, f))) for field in ("lost", "offered"))
        return [f"added {name} {median(values):.1f} us" for name, values in added.items()] + [
            f"lost {lost:.0f} of {offered:.0f}"
        ]


def idle(report: Report, pair: Pair) -> list[Repeat]:
    say(f"power: idle, {REPEATS} repeats of {len(POLICIES)} policies")
    done = repeats(pair, 0, lambda _: Row(pair.idle(IDLE_SECONDS), None))
    judged = Judged(report, done)
    judged.rows("power_idle")
    cpu = {policy: judged.of(policy, lambda row: row.measured.cpu) for policy in POLICIES}
    judged.judge("power_idle_cpu_budget", cpu["budget"], "<1%", lambda x: x < 1, "%")
    judged.judge("power_idle_cpu_busy", cpu["busy"], ">=95%", lambda x: x >= 95, "%")
    whole = judged.of("budget", lambda row: row.measured.process_cpu)
    report.judge("power_idle_cpu_budget_whole_process", spread(whole, "%"), "measured", True, "all threads")
    return done


def loaded(report: Report, pair: Pair, rate: int) -> list[Repeat]:
    name = rate_name(rate)
    say(f"power: {name} packets a second, {REPEATS} repeats of {len(POLICIES)} policies")

    def run(repeat: int) -> Row:
        sent, measured = pair.traffic(rate, SECONDS, seed=repeat + 1)
        return Row(measured, sent)

    done = repeats(pair, rate, run)
    judged = Judged(report, done)
    judged.rows(f"power_{name}")
    reached = min(judged.of("busy", lambda row: row.sent.rate / rate))
    if reached < 0.95:
        report.skip(f"power_{name}_reached", f"{rate}_packets/s", f"this machine's generator sent {reached:.0%} of it")
    if rate not in JUDGED:
        return done
    half = judged.pairs(lambda rows: rows["budget"].measured.cpu / rows["paper"].measured.cpu)
    judged.judge(f"power_{name}_cpu_of_paper", half, "<=0.5", lambda x: x <= 0.5, "")
    tail = judged.pairs(lambda rows: rows["budget"].sent.p99 - rows["busy"].sent.p99)
    judged.judge(f"power_{name}_p99_above_busy", tail, f"<={ADDED_P99_US}us", lambda x: x <= ADDED_P99_US, "us")
    loss = judged.pairs(lambda rows: float(rows["budget"].sent.lost - rows["busy"].sent.lost))
    judged.judge(f"power_{name}_loss_above_busy", loss, "<=0", lambda x: x <= 0, "")
    return done


def items(report: Report) -> None:
    out = ROOT / "out" / "accept-power"
    with Pair(out, "cost") as pair:
        found = {"idle": idle(report, pair)}
        for rate in RATES:
            found[rate_name(rate)] = loaded(report, pair, rate)
    rows = {name: [asdict(repeat) for repeat in done] for name, done in found.items()}
    (out / "cost.json").write_text(json.dumps(rows, indent=1) + "\n")

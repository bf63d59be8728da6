"""Policies that take turns on one running device: each repeat measures all of them, in an order drawn anew, and a
policy is compared with the others of the same repeat. What the machine lost to others stands beside."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from figures import spread
from meter import lost_time
from pair import DEVICE_CORE, TRAFFIC_CORE, Measured, Pair, Sent

QUIET_WANTED, PROBE_SECONDS = 3, 0.1
# A repeat is quiet up to here: percent of a core that a spinning probe loses just before, percent of the time that the
# device's thread waited for its core, us that the generator was behind its own schedule at p99.
MAX_LOST, MAX_WAITING, MAX_LATENESS = 4.0, 1.0, 50.0


@dataclass(frozen=True)
class Row:
    """One policy in one repeat; None: not sent, or not looked at."""

    sent: Sent | None = None
    measured: Measured | None = None

    @property
    def quiet(self) -> bool:
        if self.measured is None:
            return True
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


class Turns:
    """The repeats, those of them that count, and what is to be doubted about them."""

    def __init__(self, pair: Pair, policies: Sequence[str], repeats: int, seed: int, run: Callable[[int], Row]):
        """`run(repeat)` measures the policy that is in use."""
        order = random.Random(seed)
        self.policies = policies
        self.all: list[Repeat] = []
        for number in range(repeats):
            lost, rows = probe(pair), {}
            for policy in order.sample(policies, len(policies)):
                pair.use(policy)
                rows[policy] = run(number)
            self.all.append(Repeat(lost, rows))
        quiet = [repeat for repeat in self.all if repeat.quiet]
        self.used = quiet if len(quiet) >= QUIET_WANTED else self.all
        self.doubt = "" if len(quiet) >= QUIET_WANTED else f"only {len(quiet)} of {repeats} repeats were quiet"

    def of(self, policy: str, figure: Callable[[Row], float]) -> list[float]:
        return [figure(repeat.rows[policy]) for repeat in self.used]

    def pairs(self, figure: Callable[[dict[str, Row]], float]) -> list[float]:
        """Of policies in the same repeat."""
        return [figure(repeat.rows) for repeat in self.used]

    def quiet_for(self, *policies: str) -> tuple[list[Repeat], bool]:
        """The repeats in which nothing disturbed these policies, whatever happened to the others; or, if those are too
        few, all of them, and False."""
        quiet = [each for each in self.all if all(each.rows[policy].quiet for policy in policies)]
        return (quiet, True) if len(quiet) >= QUIET_WANTED else (self.all, False)

    def total(self, policy: str, field: str) -> int:
        """Of what was sent."""
        return sum(getattr(repeat.rows[policy].sent, field) for repeat in self.used)

    def machine(self) -> str:
        """How much the machine disturbed."""
        said = [f"a probe lost {spread([max(repeat.lost.values()) for repeat in self.used], '%')} of a core"]
        rows = [row for repeat in self.used for row in repeat.rows.values()]
        looked = [row.measured.spent for row in rows if row.measured]
        if looked:
            said.append(f"the thread waited {spread([each.share(each.waiting) for each in looked], '%')}")
            said.append(f"{sum(each.stolen for each in looked) / 1e6:.0f} ms stolen")
        late = [row.sent.lateness_p99 for row in rows if row.sent]
        if late:
            said.append(f"generator behind by p99 {spread(late, ' us')}")
        return ", ".join([*said, *([self.doubt] if self.doubt else [])])

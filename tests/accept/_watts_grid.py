"""`budget` beside every other policy on the simulated core: rate x burst x latency budget x tpause x P-states.

A cell keeps its bound if 99 of 100 packets wait no longer than the budget: `added` of the replay, which is all from
arrival until processed but the packet's own work. Energy is modelled and without the first seconds (steady.py).
Everything is written to out/accept-watts.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from _tools import ROOT, say
from figures import rate_name
from report import Report
from steady import Steady, arrivals, steady

FOLDER = ROOT / "out" / "accept-watts"
WORKERS = os.cpu_count() or 1
RATES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 3_000_000)
BURSTS = (1, 4, 16, 32)
BOUNDS_US = (10, 20, 80, 200)
TPAUSE = (False, True)
P_STATES = (1, 13)
SLOWEST = 0.2105  # 800 MHz of 3.8 GHz, as in paper PWR
DEARER = 1.05  # than the best other one
EVENTS = 300  # bursts that a cell sees, if they come in the time below
LEAST_S, MOST_S = 5.0, 5000.0  # simulated; the most is 156 bursts of 32 at a packet a second
METRONOME_US = (5, 10, 40, 100)  # its target is a mean: half of each bound. All of them compete for every bound
# Below the lateness of a sleep it pauses instead, and the simulation has to do each pause.
PAUSES_US, MOST_PAUSING_S = 10, 60.0
PLAIN = ("busy", "yield", "paper", "paper_printed", "l3fwd")
AT_ONCE = "interrupt"  # Algorithm 1 with an interrupt after the second empty poll, the least that it takes
AT_ONCE_SETTINGS = ("--set", "paper.short_idle_polls=1", "--set", "paper.long_idle_polls=2")
NAMED = 20  # cells in a line


@dataclass(frozen=True)
class Place:
    """A load and a machine."""

    rate: int
    burst: int
    tpause: bool
    p_states: int

    @property
    def options(self) -> list[str]:
        words = [*arrivals(self.rate, self.burst), "--p-states", str(self.p_states), "--slowest", str(SLOWEST)]
        return [*words, "--tpause"] if self.tpause else words

    @property
    def seconds(self) -> float:
        return min(MOST_S, max(LEAST_S, EVENTS * self.burst / self.rate))

    def __str__(self) -> str:
        pause = "tpause" if self.tpause else "no tpause"
        return f"{rate_name(self.rate)}/s burst {self.burst} {pause} {self.p_states} P"


@dataclass(frozen=True)
class Ran:
    """A policy at a place. Its name has its setting where that differs: metronome@40."""

    name: str
    watts: float
    p99: float
    lost: int

    def keeps(self, bound_us: float) -> bool:
        return self.p99 <= bound_us and self.lost == 0


@dataclass(frozen=True)
class Cell:
    place: Place
    bound_us: int
    budget: Ran
    others: tuple[Ran, ...]  # `busy` among them

    @property
    def busy(self) -> Ran:
        return next(each for each in self.others if each.name == "busy")

    @property
    def best(self) -> Ran | None:
        """The cheapest other one that keeps the bound and loses nothing."""
        good = [each for each in self.others if each.keeps(self.bound_us)]
        return min(good, key=lambda each: each.watts, default=None)

    @property
    def late(self) -> bool:
        return self.busy.keeps(self.bound_us) and self.budget.p99 > self.bound_us

    @property
    def loses(self) -> bool:
        return self.budget.lost > self.busy.lost

    @property
    def ratio(self) -> float:
        """Energy of `budget` beside the best other one; 0 if none keeps the bound."""
        return self.budget.watts / self.best.watts if self.best else 0.0

    @property
    def dear(self) -> bool:
        return self.ratio > DEARER


def late(cells: Iterable[Cell]) -> list[Cell]:
    """Worst first."""
    return sorted((cell for cell in cells if cell.late), key=lambda cell: -cell.budget.p99 / cell.bound_us)


def dear(cells: Iterable[Cell]) -> list[Cell]:
    """Worst first."""
    return sorted((cell for cell in cells if cell.dear), key=lambda cell: -cell.ratio)


def named(cells: Sequence[Cell], kind: str) -> str:
    """The worst of them, for a reason."""
    words = []
    for cell in cells[:NAMED]:
        what = f"p99 {cell.budget.p99:.1f}us" if kind == "late" else f"x{cell.ratio:.2f} of {cell.best.name}"
        words.append(f"{cell.place} {cell.bound_us}us: {what}")
    more = len(cells) - len(words)
    return "; ".join(words) + (f"; {more} more in grid.csv" if more > 0 else "")


@dataclass(frozen=True)
class Job:
    """One call of the replay: policies at a place with their settings; `name` for what differs from the policy's."""

    place: Place
    policies: tuple[str, ...]
    settings: tuple[str, ...] = ()
    name: str = ""
    seconds: float = 0  # the place's own

    def run(self) -> list[tuple[str, Steady]]:
        options = [*self.place.options, *self.settings]
        found = steady(options, self.policies, self.seconds or self.place.seconds)
        return [(self.name or each.policy, each) for each in found]


def jobs_of(place: Place) -> list[Job]:
    pausing = min(place.seconds, MOST_PAUSING_S)
    vacations = [
        Job(
            place,
            ("metronome",),
            ("--set", f"metronome.latency_us={us}"),
            f"metronome@{us}",
            pausing if us <= PAUSES_US else 0,
        )
        for us in METRONOME_US
    ]
    budgets = [Job(place, ("budget",), ("--set", f"budget.latency_us={us}"), f"budget@{us}") for us in BOUNDS_US]
    return [Job(place, PLAIN), Job(place, ("paper",), AT_ONCE_SETTINGS, AT_ONCE), *vacations, *budgets]


def cells_of(place: Place, found: dict[str, Steady]) -> list[Cell]:
    ran = {name: Ran(name, each.watts, each.p99, each.lost) for name, each in found.items()}
    others = tuple(each for name, each in ran.items() if not name.startswith("budget@"))
    return [Cell(place, us, ran[f"budget@{us}"], others) for us in BOUNDS_US]


def places(rate: int) -> list[Place]:
    return [Place(rate, burst, pause, states) for burst in BURSTS for pause in TPAUSE for states in P_STATES]


def run_all() -> dict[Place, dict[str, Steady]]:
    found: dict[Place, dict[str, Steady]] = {}
    with ThreadPoolExecutor(WORKERS) as pool:
        for rate in RATES:
            jobs = [job for place in places(rate) for job in jobs_of(place)]
            say(f"watts: the grid at {rate_name(rate)} packets/s, {len(jobs)} replays")
            for job, results in zip(jobs, pool.map(Job.run, jobs), strict=True):
                found.setdefault(job.place, {}).update(results)
    return found


def write(folder: Path, found: dict[Place, dict[str, Steady]], cells: Sequence[Cell]) -> None:
    """grid.csv: a row a cell. runs.csv: a row a replay."""
    folder.mkdir(parents=True, exist_ok=True)
    head = ("rate", "burst", "tpause", "p_states")
    with (folder / "grid.csv").open("w", newline="") as file:
        table = csv.writer(file)
        own = ("bound_us", "budget_watts", "budget_p99_us", "budget_lost", "busy_p99_us")
        table.writerow([*head, *own, "best", "best_watts", "best_p99_us", "ratio", "late", "dear", "loses"])
        for cell in cells:
            place, best = cell.place, cell.best
            of_best = (best.name, f"{best.watts:.5g}", best.p99) if best else ("none", "", "")
            budget = (f"{cell.budget.watts:.5g}", cell.budget.p99, cell.budget.lost)
            verdicts = (int(cell.late), int(cell.dear), int(cell.loses))
            row = (cell.bound_us, *budget, cell.busy.p99, *of_best, f"{cell.ratio:.4g}", *verdicts)
            table.writerow([place.rate, place.burst, int(place.tpause), place.p_states, *row])
    with (folder / "runs.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*head, "policy", "seconds", "watts", "active", "p99_us", "max_us", "arrived", "lost"])
        for place, runs in found.items():
            for name, run in runs.items():
                numbers = (f"{run.seconds:g}", f"{run.watts:.5g}", f"{run.active:.5g}")
                row = (name, *numbers, run.p99, run.most, run.arrived, run.lost)
                table.writerow([place.rate, place.burst, int(place.tpause), place.p_states, *row])


def judge(report: Report, cells: Sequence[Cell]) -> None:
    judged = [cell for cell in cells if cell.busy.keeps(cell.bound_us)]
    behind, above = late(cells), dear(cells)
    losing = [cell for cell in cells if cell.loses]
    why = "modelled: a simulated core with assumed costs, 100 ns a packet"
    text = f"{len(behind)} of {len(judged)} cells"
    reason = f"{why}; {named(behind, 'late')}" if behind else why
    report.judge("watts_grid_late", text, "0 where busy keeps the bound", not behind, reason)
    held = [cell for cell in cells if cell.best]
    text = f"{len(above)} of {len(held)} cells"
    reason = f"{why}, prices of the cost table; {named(above, 'dear')}" if above else why
    target = f"0 above {DEARER} of the best other policy that keeps the bound"
    report.judge("watts_grid_dear", text, target, not above, reason)
    text = f"{len(losing)} of {len(cells)} cells"
    named_losing = "; ".join(f"{cell.place} {cell.bound_us}us: {cell.budget.lost}" for cell in losing[:NAMED])
    report.judge("watts_grid_lost", text, "0 more than busy", not losing, f"{why}; {named_losing}" if losing else why)
    cheaper = [cell for cell in held if cell.ratio < 1 / DEARER]
    text = f"{len(cheaper)} of {len(held)} cells"
    report.judge("watts_grid_cheaper", text, f"a row: below 1/{DEARER} of the best other policy", True, why)


def items(report: Report) -> None:
    found = run_all()
    cells = [cell for place, runs in found.items() for cell in cells_of(place, runs)]
    write(FOLDER, found, cells)
    judge(report, cells)

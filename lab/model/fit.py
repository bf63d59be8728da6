"""Fits the card's three costs to Fig. 7. It is given FitPoints, which have no point of another figure but Table I."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lab.model.card import FEATURES, Card, Costs, Machine
from lab.papers import Point

START = (1000.0, 100.0, 1000.0)  # cycles; the result does not depend on it (tests/lab)
FIRST_STEP, LAST_STEP = 0.25, 1e-7  # relative


@dataclass(frozen=True)
class FitPoints:
    """All that a fit may see."""

    throughput: dict[str, float]  # Mpps by feature set: Fig. 7
    memory: dict[str, dict[int, float]]  # percent by memory and entries: Table I

    @classmethod
    def of(cls, points: Iterable[Point]) -> FitPoints:
        throughput: dict[str, float] = {}
        memory: dict[str, dict[int, float]] = {}
        for point in points:
            if point.figure == "p4-fig7":
                throughput[point.x] = point.value
            elif point.figure == "p4-tab1":
                memory.setdefault(point.x, {})[point.at["entries"]] = point.value
            elif point.use == "fit":
                raise ValueError(f"{point.figure} {point.x} is marked for the fit; allowed: p4-fig7, p4-tab1")
        return cls(throughput, memory)


def loss(machine: Machine, costs: Costs, throughput: dict[str, float]) -> float:
    """Sum of the squared relative errors."""
    card = Card(machine, costs)
    return sum((card.mpps(FEATURES[name]) / mpps - 1) ** 2 for name, mpps in throughput.items())


def fit_costs(machine: Machine, throughput: dict[str, float], start: tuple[float, float, float] = START) -> Costs:
    """Least squares by a pattern search: one cost at a time, each change halved when none helps."""
    found, step = list(start), FIRST_STEP
    best = loss(machine, Costs(*found), throughput)
    while step > LAST_STEP:
        helped = False
        for index in range(len(found)):
            for factor in (1 + step, 1 / (1 + step)):
                trial = [value * factor if i == index else value for i, value in enumerate(found)]
                if (error := loss(machine, Costs(*trial), throughput)) < best:
                    found, best, helped = trial, error, True
        if not helped:
            step /= 2
    return Costs(*found)


def leave_one_out(machine: Machine, throughput: dict[str, float]) -> dict[str, float]:
    """Each point as predicted by a fit to the others, Mpps."""
    predicted = {}
    for name in throughput:
        others = {other: mpps for other, mpps in throughput.items() if other != name}
        predicted[name] = Card(machine, fit_costs(machine, others)).mpps(FEATURES[name])
    return predicted


@dataclass(frozen=True)
class Line:
    """Percent of a memory as a line over the table's entries."""

    percent: float  # without entries
    percent_per_entry: float

    def at(self, entries: float) -> float:
        return self.percent + self.percent_per_entry * entries


def fit_line(percent_by_entries: dict[int, float]) -> Line:
    count = len(percent_by_entries)
    mean_x = sum(percent_by_entries) / count
    mean_y = sum(percent_by_entries.values()) / count
    across = sum((x - mean_x) * (y - mean_y) for x, y in percent_by_entries.items())
    slope = across / sum((x - mean_x) ** 2 for x in percent_by_entries)
    return Line(mean_y - slope * mean_x, slope)


def leave_one_out_line(percent_by_entries: dict[int, float]) -> dict[int, float]:
    return {
        entries: fit_line({x: y for x, y in percent_by_entries.items() if x != entries}).at(entries)
        for entries in percent_by_entries
    }

"""The whole of card, host and buffering service, and each of the papers' points beside what the model says of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lab.model.card import FEATURES, THROUGH_HOST, TO_HOST, Card, Machine
from lab.model.fit import FitPoints, fit_costs, leave_one_out, leave_one_out_line
from lab.model.host import Host, OwnCosts, own_costs
from lab.model.memory import TableMemory
from lab.papers import Point


@dataclass(frozen=True)
class Model:
    """Every rate in Mpps, and every one is modelled."""

    card: Card
    host: Host
    memory: TableMemory

    def through_host(self, step: str, cores: int) -> float:
        """All packets go by the host: as many as the card brings there and back, or as the cores serve."""
        work = TO_HOST if step == "drop" else THROUGH_HOST
        return min(self.card.mpps(work), self.host.gnb_mpps(step, cores))

    def split(self, offload: float, cores: int, step: str = "mat") -> float:
        """A share of the packets goes by the host, the rest stays on the card.

        The mean by time of both ends: exact where the card's engines are the bound of both, because they serve one
        kind of packet after the other. Where the cores are the bound, it keeps what the paper saw: no split is better
        than the better end.
        """
        return 1 / ((1 - offload) / self.card.mpps(FEATURES[step]) + offload / self.through_host(step, cores))

    def resource_bound(self, offload: float, cores: int, step: str = "mat") -> float:
        """What engines, line and cores would allow for a split, if each were used to its end at once."""
        costs, machine = self.card.costs, self.card.machine
        engines = (1 - offload) * costs.cycles(FEATURES[step]) + offload * costs.cycles(THROUGH_HOST)
        bounds = [machine.line_mpps, machine.cycles_per_us / engines]
        if offload > 0:
            bounds.append(self.host.gnb_mpps(step, cores) / offload)
        return min(bounds)

    def baas_behind_card(self, cores: int) -> float:
        return min(self.card.mpps(FEATURES["clone"]), self.host.baas_mpps(cores))

    def baas_behind_gnb(self, gnb_cores: int, baas_cores: int) -> float:
        return min(self.through_host("clone", gnb_cores), self.host.baas_mpps(baas_cores))

    def nics(self, count: int) -> float:
        """Full offload with cores enough: the cards' injection is the bound."""
        return count * self.card.mpps(THROUGH_HOST)

    def offload_gain_percent(self) -> float:
        return 100 * (self.card.mpps(THROUGH_HOST) / self.card.mpps(FEATURES["mat"]) - 1)


def make_model(points: Iterable[Point], own: OwnCosts | None = None, machine: Machine | None = None) -> Model:
    points, machine = list(points), machine or Machine()
    seen = FitPoints.of(points)
    anchor = anchor_of(points)
    host = Host.anchored(own or own_costs(), anchor.x, anchor.at["cores"], anchor.value)
    return Model(Card(machine, fit_costs(machine, seen.throughput)), host, TableMemory.of(seen))


def anchor_of(points: Iterable[Point]) -> Point:
    (anchor,) = [point for point in points if point.use == "anchor"]
    return anchor


@dataclass(frozen=True)
class Row:
    """One point of a paper beside the model."""

    point: Point
    kind: str  # fitted, leave-one-out, anchor or hold-out
    predicted: float

    @property
    def error_percent(self) -> float | None:
        """None where the paper states a bound and no value."""
        return None if "bound" in self.point.at else 100 * (self.predicted / self.point.value - 1)

    @property
    def holds(self) -> bool | None:
        """Of a bound only."""
        return 0.5 < self.predicted / self.point.value <= 1 + 1e-9 if self.point.at.get("bound") == "most-of" else None


def predict(model: Model, point: Point) -> float:
    at = point.at
    match point.figure:
        case "p4-fig7":
            return model.card.mpps(FEATURES[point.x])
        case "p4-tab1":
            line = model.memory.cache if point.x == "emu_cache" else model.memory.memory
            return line.at(at["entries"])
        case "p4-fig8":
            return model.through_host(point.x, at["cores"])
        case "p4-fig9":
            return model.split(at["offload"], at["cores"], point.x)
        case "p4-fig10":
            return math.ceil(at["mpps"] / model.host.baas_mpps(1))
        case "p4-fig11":
            return model.baas_behind_gnb(at["gnb_cores"], at["baas_cores"])
        case "pwr-fig2":
            return model.nics(at["nics"]) if point.x == "throughput" else model.offload_gain_percent()
    raise LookupError(f"the model says nothing of {point.figure}")


def rows(model: Model, points: Iterable[Point]) -> list[Row]:
    points = list(points)
    seen = FitPoints.of(points)
    left_out = leave_one_out(model.card.machine, seen.throughput)
    left_out_lines = {memory: leave_one_out_line(values) for memory, values in seen.memory.items()}
    found = []
    for point in points:
        kind = {"fit": "fitted"}.get(point.use, point.use)
        found.append(Row(point, kind, predict(model, point)))
        if point.figure == "p4-fig7":
            found.append(Row(point, "leave-one-out", left_out[point.x]))
        elif point.figure == "p4-tab1":
            found.append(Row(point, "leave-one-out", left_out_lines[point.x][point.at["entries"]]))
    return found

"""Reads papers.yaml, the one place for the papers' points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("papers.yaml")
USES = ("fit", "anchor", "hold-out")
STATED = ("text", "table", "plot")
COMMON = {"x", "value", "unit", "stated", "use"}


@dataclass(frozen=True)
class Point:
    figure: str
    x: str
    value: float
    unit: str
    stated: str  # text, table or plot
    use: str  # fit, anchor or hold-out
    at: Mapping[str, Any]  # what else the point depends on: cores, offload, entries

    @property
    def label(self) -> str:
        """x and the rest of the point's place, for tables."""
        words = [f"{name} {value}" for name, value in self.at.items() if name not in ("step", "bound")]
        return ", ".join([self.x, *words])


def read(tree: Mapping[str, list[Mapping[str, Any]]]) -> list[Point]:
    """Points of a tree as in papers.yaml. Raises ValueError for a point that does not say what it is."""
    points = []
    for figure, rows in tree.items():
        for row in rows:
            if missing := COMMON - row.keys():
                raise ValueError(f"{figure}: a point has no {', '.join(sorted(missing))}")
            if row["use"] not in USES or row["stated"] not in STATED:
                raise ValueError(f"{figure} {row['x']}: allowed: use {', '.join(USES)}; stated {', '.join(STATED)}")
            at = {name: value for name, value in row.items() if name not in COMMON}
            value = float(row["value"])
            points.append(Point(figure, row["x"], value, row["unit"], row["stated"], row["use"], at))
    return points


def load() -> list[Point]:
    return read(yaml.safe_load(FILE.read_text()))


def of(points: Iterable[Point], figure: str) -> list[Point]:
    return [point for point in points if point.figure == figure]


def find(points: Iterable[Point], figure: str, **where: Any) -> Point:
    """The one point of a figure with these members, x among them. Raises LookupError if there is none or another."""
    found = [
        point
        for point in of(points, figure)
        if all((point.x if name == "x" else point.at.get(name)) == value for name, value in where.items())
    ]
    if len(found) != 1:
        raise LookupError(f"{figure} {where}: {len(found)} points; one is needed")
    return found[0]

"""Rows of `splitplane gpu bench` as groups of repeats: which of them count, their medians, and what pairs of them say.

A row counts if nothing is wrong with its packets, if at least 99.5 % of what was due was sent where a rate was offered
("valid" in the row), and if the NIC's thread, which polls and only yields, had a core ("had_cores"). Repeats are
interleaved: rows of one repeat were made one shortly after the other, so they are compared in pairs. A direction holds
if enough pairs agree that chance alone would do it in at most 5 % of cases (sign test, one-sided: 5 of 5 pairs do).
It does not hold if as many say the opposite. Everything else cannot be told.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

LEAST_PAIRS = 5
CHANCE = 0.05
HOLDS, DOES_NOT, CANNOT_TELL = "direction holds", "does not", "cannot tell"


@dataclass(frozen=True)
class Group:
    """All repeats of one run. What is asked of it is the median of the rows that count; of all rows where none does."""

    rows: tuple[dict, ...]

    @property
    def first(self) -> dict:
        return self.rows[0]

    @property
    def valid(self) -> tuple[dict, ...]:
        return tuple(row for row in self.rows if row["valid"] and row["had_cores"])

    def values(self, value: Callable[[dict], float]) -> list[float]:
        return [value(row) for row in (self.valid or self.rows)]

    def median(self, value: Callable[[dict], float]) -> float:
        return statistics.median(self.values(value))

    @property
    def kept(self) -> float | None:
        """The least part of what was due that was sent; nothing where no rate was offered."""
        parts = [row["sent_of_due"] for row in self.rows if row["sent_of_due"] is not None]
        return min(parts) if parts else None

    @property
    def mark(self) -> str:
        """How many of the repeats count, and why the others do not."""
        good = len(self.valid)
        why = []
        if any(not row["sound"] for row in self.rows):
            why.append("packets wrong")
        if any(row["sound"] and not row["valid"] for row in self.rows):
            why.append("rate not kept")
        if any(row["valid"] and not row["had_cores"] for row in self.rows):
            why.append("no core of its own")
        return f"{good} of {len(self.rows)}" + (f": {', '.join(why)}" if why else "")


def groups(rows: Iterable[dict]) -> list[Group]:
    """By everything that was asked for, in the order of the first repeat."""
    found: dict[tuple, list[dict]] = {}
    names = (
        "mode", "function", "rings", "size", "offered_mpps", "window", "ring_size", "slots", "doorbell_every",
        "restore_order", "drop_en",
    )  # fmt: skip
    for row in rows:
        if "error" not in row:
            found.setdefault(tuple(row.get(name) for name in names), []).append(row)
    return [Group(tuple(sorted(same, key=lambda row: row["repeat"]))) for same in found.values()]


def matrix_of_log(text: str) -> dict:
    """The run whose rows these are, as far as it went: FILE.rows of the bench. A line that was cut off is no row."""
    first, *lines = text.splitlines()
    run = json.loads(first) | {"matrix": {}, "interrupted": True}
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        run["matrix"].setdefault(row["section"], []).append(row)
    return run


@dataclass(frozen=True)
class Comparison:
    """What pairs of rows that count, one of each group and both of one repeat, say of "this is above that"."""

    above: int
    below: int

    @property
    def pairs(self) -> int:
        return self.above + self.below

    @property
    def verdict(self) -> str:
        if self.pairs < LEAST_PAIRS:
            return CANNOT_TELL
        if chance(self.above, self.pairs) <= CHANCE:
            return HOLDS
        return DOES_NOT if chance(self.below, self.pairs) <= CHANCE else CANNOT_TELL

    def text(self) -> str:
        return f"{self.verdict} ({self.above} of {self.pairs} pairs)"


def chance(agreeing: int, pairs: int) -> float:
    """The probability that at least `agreeing` of `pairs` fair coins show the same given side."""
    return sum(math.comb(pairs, n) for n in range(agreeing, pairs + 1)) / 2**pairs


def compare(this: Group, that: Group, value: Callable[[dict], float], least: float = 0.0) -> Comparison:
    """Is `value` of this above that's, by more than the part `least`? Pairs that differ by less count for neither."""
    others = {row["repeat"]: value(row) for row in that.valid}
    above = below = 0
    for row in this.valid:
        other = others.get(row["repeat"])
        if other is None:
            continue
        mine = value(row)
        above += mine > other * (1 + least)
        below += mine < other * (1 - least)
    return Comparison(above, below)

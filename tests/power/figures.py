"""Medians, spreads and bootstrap intervals of repeats, and how they are printed."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence

RESAMPLES = 2000


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float], unit: str = "") -> str:
    """Median, least and most."""
    return f"{median(values):.3g} ({min(values):.3g}..{max(values):.3g}){unit}"


def interval(
    values: Sequence[float],
    of: Callable[[Sequence[float]], float] = statistics.fmean,
    confidence: float = 0.95,
    seed: int = 1,
) -> tuple[float, float]:
    """Of the mean, by resampling whole repeats: packets of one repeat are lost together, so they are no sample."""
    chance = random.Random(seed)
    found = sorted(of(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    cut = round((1 - confidence) / 2 * RESAMPLES)
    return found[cut], found[-1 - cut]


def with_interval(values: Sequence[float], unit: str, of: Callable[[Sequence[float]], float] = statistics.fmean) -> str:
    low, high = interval(values, of)
    return f"{of(values):.3g}{unit} [{low:.3g}, {high:.3g}]"


def rate_name(rate: int) -> str:
    """1000: 1k."""
    for limit, letter in ((1_000_000, "M"), (1000, "k")):
        if rate >= limit:
            return f"{rate / limit:g}{letter}"
    return str(rate)

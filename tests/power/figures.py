"""Medians, spreads and bootstrap intervals of repeats, and how they are printed."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

RESAMPLES = 2000


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float], unit: str = "") -> str:
    """Median, least and most."""
    return f"{median(values):.3g} ({min(values):.3g}..{max(values):.3g}){unit}"


def interval(values: Sequence[float], confidence: float = 0.95, seed: int = 1) -> tuple[float, float]:
    """Of the mean, by resampling whole repeats: packets of one repeat are lost together, so they are no sample."""
    chance = random.Random(seed)
    means = sorted(statistics.fmean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    cut = round((1 - confidence) / 2 * RESAMPLES)
    return means[cut], means[-1 - cut]


def mean_with_interval(values: Sequence[float], unit: str) -> str:
    low, high = interval(values)
    return f"{statistics.fmean(values):.3g}{unit} [{low:.3g}, {high:.3g}]"


def rate_name(rate: int) -> str:
    """1000: 1k."""
    for limit, letter in ((1_000_000, "M"), (1000, "k")):
        if rate >= limit:
            return f"{rate / limit:g}{letter}"
    return str(rate)

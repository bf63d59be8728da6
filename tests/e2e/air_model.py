"""Which frames the air loses, computed apart from src/phy: SplitMix64 and the two states of Gilbert and Elliott."""

from __future__ import annotations

from collections.abc import Iterator

WORD = (1 << 64) - 1


def split_mix(seed: int) -> Iterator[int]:
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & WORD
        mixed = ((seed ^ seed >> 30) * 0xBF58476D1CE4E5B9) & WORD
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & WORD
        yield mixed ^ mixed >> 31


def losses(seed: int, direction: int, percent: float, length: float) -> Iterator[bool]:
    """For each frame of a direction (0 downlink, 1 uplink) whether it is lost."""
    directions = split_mix(seed)
    link_seed = [next(directions) for _ in range(2)][direction]
    share = percent / 100
    end = min(1 - share, 1 / length)
    begin = end * share / (1 - share)
    lost = False
    for number in split_mix(next(split_mix(link_seed))):
        lost = ((number >> 11) + 1) * 2**-53 <= (1 - end if lost else begin)
        yield lost

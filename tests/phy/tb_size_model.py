"""Sizes of transport blocks by TS 38.214 5.1.3.2, step by step in exact fractions: a judge of phy/slots/tb_size.h."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import ceil, floor

# Table 5.1.3.2-1 by its steps: from, to, step. Sizes in bits.
STEPS = [(24, 192, 8), (208, 384, 16), (408, 528, 24), (552, 576, 24), (608, 768, 32), (808, 928, 40)]
REST = """
984 1032 1064 1128 1160 1192 1224 1256 1288 1320 1352 1416 1480 1544 1608 1672 1736 1800 1864 1928 2024 2088 2152 2216
2280 2408 2472 2536 2600 2664 2728 2792 2856 2976 3104 3240 3368 3496 3624 3752 3824
"""
SMALL = [size for low, high, step in STEPS for size in range(low, high + 1, step)] + [int(n) for n in REST.split()]


# Tables 5.1.3.1-1 to -3, by modulation: bits a symbol, then R x 1024 of each MCS. Typed apart from phy/slots/mcs.h.
MCS_TEXT = {
    1: """
        2: 120 157 193 251 308 379 449 526 602 679
        4: 340 378 434 490 553 616 658
        6: 438 466 517 567 616 666 719 772 822 873 910 948
    """,
    2: """
        2: 120 193 308 449 602
        4: 378 434 490 553 616 658
        6: 466 517 567 616 666 719 772 822 873
        8: 682.5 711 754 797 841 885 916.5 948
    """,
    3: """
        2: 30 40 50 64 78 99 120 157 193 251 308 379 449 526 602
        4: 340 378 434 490 553 616
        6: 438 466 517 567 616 666 719 772
    """,
}


def mcs_rows(text: str) -> list[tuple[int, Fraction]]:
    rows = []
    for line in text.strip().splitlines():
        bits, rates = line.split(":")
        rows += [(int(bits), Fraction(rate) / 1024) for rate in rates.split()]
    return rows


MCS_TABLES = {table: mcs_rows(text) for table, text in MCS_TEXT.items()}


def floor_log2(value: Fraction) -> int:
    """Of 1 or more; -1 for less than that, which no size asks for."""
    return floor(value).bit_length() - 1


def information(res_per_prb: int, prbs: int, rate: Fraction, bits: int, layers: int) -> Fraction:
    """N_info. `rate` is R, not R x 1024."""
    return min(156, res_per_prb) * prbs * rate * bits * layers


def is_tie(info: Fraction) -> bool:
    """True if N_info - 24 is in the middle between two steps, where "round" must say which way."""
    if info <= 3824:
        return False
    step = 2 ** (floor_log2(info - 24) - 5)
    return ((info - 24) / step) % 1 == Fraction(1, 2)


def tb_bits(res_per_prb: int, prbs: int, rate: Fraction, bits: int, layers: int) -> int:
    info = information(res_per_prb, prbs, rate, bits, layers)
    if info <= 3824:
        step = 2 ** max(3, floor_log2(info) - 6)
        return SMALL[bisect_left(SMALL, max(24, step * floor(info / step)))]
    step = 2 ** (floor_log2(info - 24) - 5)
    quantised = max(3840, step * floor((info - 24) / step + Fraction(1, 2)))  # ties upwards
    blocks = 1
    if rate <= Fraction(1, 4):
        blocks = ceil(Fraction(quantised + 24, 3816))
    elif quantised > 8424:
        blocks = ceil(Fraction(quantised + 24, 8424))
    return 8 * blocks * ceil(Fraction(quantised + 24, 8 * blocks)) - 24

"""Guessing cookies: with 16 bits compared against theory, and the full width by calculation."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

LINE_RATE = 14.88e6  # guesses a second: all that 10 GbE carries
WIDTHS = {"rst": 31, "syn": 28}  # bits that are compared; the test below fails if they are not these


def items(report: Report) -> None:
    judge(
        report,
        Mended(
            "guard_guess_16_bits",
            shows="2^23 guesses of each kind succeed as often as theory says, within four standard deviations",
            gtest="CookieJar.guesses_succeed_as_often_as_theory_says",
        ),
    )
    for kind, bits in WIDTHS.items():
        seconds = 2**bits / LINE_RATE
        text = f"one guess in 2^{bits}: one in {seconds:.0f} s at 14.88 M guesses a second"
        why = "calculated; a hit lets one address pass for the time of a proof, within its limits; it opens no other"
        report.judge(f"guard_guess_full_width_{kind}", text, "by calculation", True, why)

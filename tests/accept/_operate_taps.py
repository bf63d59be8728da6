"""Taps and explain: what tshark reads in the taps of a run, a full disk, the cost of a tap, explain in a terminal."""

from __future__ import annotations

import json

from _tools import PYTHON, last_line, run, say
from report import Report

TESTS = {
    "taps_three_views_in_tshark": (
        "tests/e2e/test_taps.py::test_the_three_views_hold_every_packet_that_passed",
        "TEID, QFI, SNs, inner IP of every packet right, counts equal to the bearers'",
    ),
    "taps_full_disk": (
        "tests/e2e/test_taps.py::test_a_full_disk_stops_the_tap_and_not_the_traffic",
        "tap stopped with its reason, SHA-256 equal, no ping lost, counters add up",
    ),
    "taps_give_memory_back": ("tests/e2e/test_taps.py::test_taps_give_their_memory_back", "20 on and off"),
    "explain_in_a_real_terminal": (
        "tests/explain/test_explain.py::test_in_a_real_terminal_no_line_wraps",
        "tmux at 80x24 and 140x50 shows what is printed",
    ),
    "explain_document": (
        "tests/explain/test_explain.py::test_the_document_shows_what_it_prints",
        "every block of docs/guide/explain.md is what it prints",
    ),
    "explain_all": ("tests/explain", "decisions, drops, punts, bad input, no privilege"),
}


def items(report: Report) -> None:
    for name, (test, target) in TESTS.items():
        say(name)
        status, output, _ = run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", test], 200)
        skipped = "skipped" in last_line(output)
        if status == 0 and skipped and "passed" not in last_line(output):
            report.skip(name, target, last_line(output))
        else:
            report.judge(name, last_line(output), target, status == 0 and not skipped, last_line(output))
    cost(report)


def cost(report: Report) -> None:
    say("cycles of a tap, off and on")
    status, output, _ = run(["build/release/bench/tap_bench"], 120)
    if status != 0:
        report.judge("taps_cost", f"exit_{status}", "a figure", False, last_line(output))
        return
    cycles = json.loads(last_line_whole(output))
    added = "cycles a packet more than port ends without tap code, two of them, l2fwd on net_null, median of 200"
    report.at_most("tap_off_added_cycles", cycles["off_added"], 1.0, reason=added)
    report.at_most("tap_on_added_cycles", cycles["on_added"], 300, reason=f"{added}; both copied")
    report.judge(
        "tap_on_lost_copies", cycles["lost_copies"], "0", cycles["lost_copies"] == 0, "copies without a buffer"
    )


def last_line_whole(output: str) -> str:
    return output.strip().splitlines()[-1]

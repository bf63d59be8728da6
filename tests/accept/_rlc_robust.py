"""Delivery exactly once over a bad air, bad STATUS PDUs and a million mutated PDUs: the unit tests with more rounds."""

from __future__ import annotations

import re

from _tools import ROOT, last_line, run, say
from report import Report

SOURCES = ROOT / "src" / "ran" / "rlc"
MILLION = 1_000_000
SANITIZERS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1"}

# Item, tests, what must hold.
ITEMS = (
    ("rlc_bad_status", "*BadStatus*", "ignored, counted, state unchanged"),
    (
        "rlc_bad_pdus",
        "AmReceive.*outside*:AmReceive.*contradict*:AmReceive.*form*:UmReceive.*contradict*:ReceivedWindow.*",
        "ignored, counted, state unchanged",
    ),
    ("rlc_memory_used_up", "*without_memory*:*without_intervals*:AmWindow.*:*leak*", "nothing lost, nothing leaks"),
    ("rlc_windows_wrap", "*round*:*pass_two_to_the_32*", "every test passes"),
)


def tests(report: Report, item: str, preset: str, chosen: str, target: str, **environment: str) -> None:
    program = ROOT / "build" / preset / "ran_rlc_test"
    if not program.exists():
        report.skip(item, target, f"{program.relative_to(ROOT)} is not built")
        return
    # `make accept` builds release only: an old program of another preset would speak of other sources.
    if program.stat().st_mtime < max(path.stat().st_mtime for path in SOURCES.iterdir()):
        report.skip(item, target, f"{program.relative_to(ROOT)} is older than the sources")
        return
    status, output, seconds = run([program, f"--gtest_filter={chosen}"], 1800, **environment)
    passed = re.search(r"\[  PASSED  \] (\d+) test", output)
    count = int(passed.group(1)) if passed else 0
    met = status == 0 and count > 0
    report.judge(item, f"{count} tests", target, met, f"{preset}, {seconds:.0f} s" if met else last_line(output))


def items(report: Report) -> None:
    say("RLC: bad PDUs, mutations, delivery over a bad air")
    for item, chosen, target in ITEMS:
        tests(report, item, "release", chosen, target)
    million = {"SPLITPLANE_MUTATIONS": str(MILLION)}
    tests(report, "rlc_million_mutations", "release", "RlcMutation.*", "survived", **million)
    tests(report, "rlc_million_mutations_asan", "asan", "RlcMutation.*", "survived", **million, **SANITIZERS)
    rounds = {"SPLITPLANE_RLC_ROUNDS": "150", "SPLITPLANE_SEED": "10000"}
    tests(report, "rlc_exactly_once", "release", "*Property.*", "each SDU exactly once", **rounds)

"""Ten million mutated packets in the states of a connection, with ASan and UBSan: no crash, no reply to garbage,
and counters that add up. `make test` has 200 K in each state."""

from __future__ import annotations

import re

from _tools import ROOT, last_line, run, say
from report import Report

MUTATIONS, FEW = 10_000_000, 1_000
PROGRAM, SELECTION = "guard_test", "*utat*"
SECONDS = 3600


def items(report: Report) -> None:
    target = f"{MUTATIONS} mutations, ASan and UBSan clean"
    say(f"guard: {MUTATIONS} mutations with ASan and UBSan")
    status, output, _ = run(["setup/build.sh", "asan", PROGRAM], 3600)
    program = next(iter((ROOT / "build" / "asan").rglob(PROGRAM)), None)
    if status != 0 or program is None:
        report.judge("guard_mutations", f"exit_{status}", target, False, last_line(output))
        return

    def mutated(count: int) -> tuple[int, str, float]:
        return run([program, f"--gtest_filter={SELECTION}"], SECONDS, SPLITPLANE_MUTATIONS=str(count))

    _, _, short = mutated(FEW)
    status, output, seconds = mutated(MUTATIONS)
    ran = re.search(r"\[  PASSED  \] ([1-9]\d*) test", output)
    if status == 0 and ran and seconds < 10 * short:
        why = f"{FEW} took {short:.1f} s and {MUTATIONS} {seconds:.1f} s: the tests do not heed the number"
        report.judge("guard_mutations", f"{ran.group(1)} tests", target, False, why)
        return
    text = f"exit_{status}, {ran.group(1) if ran else 0} tests, {seconds:.0f} s"
    report.judge("guard_mutations", text, target, status == 0 and ran is not None, last_line(output))

"""What others say of our RLC: an independent implementation in Python, and tshark."""

from __future__ import annotations

from _tools import PYTHON, last_line, run, say
from report import Report

STEPS = "100000"


def items(report: Report) -> None:
    say(f"RLC: {STEPS} steps against the second implementation")
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/oracle/test_rlc_against_model.py"]
    status, output, seconds = run(command, 1800, SPLITPLANE_RLC_STEPS=STEPS)
    met = status == 0 and "skipped" not in last_line(output)
    report.judge(
        "rlc_second_implementation", last_line(output), f"{STEPS} steps agree", met, "" if met else f"{seconds:.0f} s"
    )

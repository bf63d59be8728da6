"""The fuzz targets: each one for ten seconds, or as long as SPLITPLANE_FUZZ_SECONDS says."""

from __future__ import annotations

import os

from _tools import PYTHON, last_line, run, say
from report import Report


def items(report: Report) -> None:
    seconds = os.environ.get("SPLITPLANE_FUZZ_SECONDS", "10")
    say("d10_fuzz")
    status, output, took = run([PYTHON, "fuzz/run.py", "--seconds", seconds], 24 * 3600)
    report.judge(
        "d10_fuzz",
        f"exit code {status}, {took:.0f} s",
        "no finding",
        status == 0,
        last_line(output) if status else "was: none",
    )

"""An older program and this one in turn: SPLITPLANE_BEFORE names the older, such as TREE/build/release/splitplane. If
its tree has CUDA programs, stores at system scope are counted in the PTX of both.
"""

from __future__ import annotations

import os
from pathlib import Path

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

PTX = Path("gpu", "ptx", "host_bypass.sm_90.ptx")  # in build/


def rows_of(table: str) -> dict[str, list[str]]:
    """Lines of a table by their first cell: before, after, and what after is."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in cells[2:]}


def worse(rows: dict[str, list[str]]) -> list[str]:
    """More latency or doorbells, less rate, where the repeats of both do not overlap."""
    return [title for title, row in rows.items() if row[-1] == ("less" if title.startswith("Mpps") else "more")]


def items(report: Report) -> None:
    name, target = "before_and_after", "latency of a lone packet, doorbells, rates by rings and size: none worse"
    before, after = os.environ.get("SPLITPLANE_BEFORE", ""), ROOT / "build" / "release" / "splitplane"
    script = ROOT / "bench" / "gpu_before_after.py"
    if not before:
        report.skip(name, target, "SPLITPLANE_BEFORE names no older program to compare with")
        return
    if missing := [path for path in (Path(before), after, script) if not path.exists()]:
        report.skip(name, target, f"{missing[0]} is not here")
        return
    say("an older program and this one in turn, about a minute")
    command = [PYTHON, script, before, after, "--repeats", "5", "--seconds", "0.2"]
    if all((program.parent.parent / PTX).exists() for program in (Path(before), after)):
        command += ["--ptx", *(program.parent.parent / PTX for program in (Path(before), after))]
    code, output, _ = run(command, 300)
    (ROOT / "out").mkdir(exist_ok=True)
    (ROOT / "out" / "gpu-before-after.md").write_text(output)
    rows = rows_of(output)
    if code != 0 or not rows:
        report.judge(name, f"exit {code}", target, False, last_line(output))
        return
    found = worse(rows)
    words = "; ".join(f"{title}: {row[0].split()[0]} to {row[1].split()[0]}, {row[-1]}" for title, row in rows.items())
    report.judge(name, words, target, not found, f"worse: {'; '.join(found)}" if found else "")

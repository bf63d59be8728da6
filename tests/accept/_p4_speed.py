"""What the programs cost, compiled ahead of time and interpreted, beside the host and the paper's card."""

from __future__ import annotations

import json

from _tools import ROOT, run, say
from report import Report

from lab import papers

BENCH = ROOT / "build" / "release" / "bench" / "nic_bench"
PASSES = 15
STEPS = ("l2fwd", "decap", "headers", "mat", "clone_drop", "clone")
PAPER_MPPS = {point.x: point.value for point in papers.of(papers.load(), "p4-fig7")}


def mpps(ns: float) -> float:
    return 1e3 / ns


def items(report: Report) -> None:
    say(f"p4: the cost of each program, {PASSES} passes a row")
    status, output, _ = run([BENCH, "--json", "--passes", str(PASSES)], 600)
    found = next((line for line in output.splitlines() if line.startswith("{")), "")
    if status != 0 or not found:
        report.judge("p4_bench", f"exit code {status}", "0", False, output[-160:] or "no output")
        return
    rows = json.loads(found)
    compiled, interpreted, plain = rows["card"], rows["card_interpreted"], rows["card_without_prefetch"]
    why = f"65,536 bearers, one core, CPU time; jitter {rows['jitter_percent']:.1f} %"
    report.at_least("p4_mat_compiled", mpps(compiled["mat"]), 4, "Mpps", why)
    report.at_least("p4_mat_compiled_against_interpreted", interpreted["mat"] / compiled["mat"], 3, "x", why)
    for step in ("mat", "clone"):
        gain = f"{plain[step]:.1f}ns without, {compiled[step]:.1f}ns with"
        report.judge(f"p4_prefetch_alone_{step}", gain, "a row", compiled[step] < plain[step], why)
    wrong = {row: count for row, count in rows["card_unexpected"].items() if count}
    report.judge("p4_bench_frames_where_they_belong", wrong or "all", "all", not wrong, str(wrong) if wrong else why)
    for step in STEPS:
        # The relative step from l2fwd, ours and the paper's. Their card has 480 threads and ours is a core.
        ours, paper = compiled["l2fwd"] / compiled[step], PAPER_MPPS[step] / PAPER_MPPS["l2fwd"]
        host = mpps(rows["host"][step])
        text = (
            f"compiled {mpps(compiled[step]):.2f} Mpps, interpreted {mpps(interpreted[step]):.2f}, host {host:.2f}; "
            f"of l2fwd {100 * ours:.0f} %, the paper's {100 * paper:.0f} %"
        )
        report.judge(f"p4_step_{step}", text, "a row", compiled[step] < interpreted[step], why)

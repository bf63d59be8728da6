"""Spill: the card's share of the packets under a load that drifts, beside the best possible and the set-up-time rule.

bench/placement_bench.cpp runs the decision core period by period on a trace of its own, and computes all three.
"""

from __future__ import annotations

import json

from _tools import ROOT, run, say
from report import Report

BENCH = ROOT / "build" / "release" / "bench" / "placement_bench"
BEARERS, ENTRIES = 200_000, 65_536
MOST_MOVES = 1950  # a second: below the 1 % of the bearers that may move
MOST_MS = 10.0


def items(report: Report) -> None:
    say(f"placement: spill of {BEARERS:,} bearers to a card of {ENTRIES:,} entries")
    command = [BENCH, "--bearers", BEARERS, "--entries", ENTRIES, "--moves", MOST_MOVES]
    status, output, _ = run(command, 600)
    found = output[output.find("{\n") : output.rfind("}") + 1]
    if status != 0 or not found:
        report.judge("placement_bench", f"exit code {status}", "0", False, output[-160:] or "no output")
        return
    rows = json.loads(found)["rows"]
    for row in rows:
        share(report, row)
    slowest = max(rows, key=lambda row: row["decision_ms"])
    report.at_most(
        "placement_decision_ms", slowest["decision_ms"], MOST_MS, " ms", "median, thread CPU time, worst row"
    )


def share(report: Report, row: dict) -> None:
    name = f"placement_spill_{row['drift']}_{row['drift_percent']:g}_zipf_{row['exponent']:g}"
    of = row["best"]
    why = (
        f"of {row['best']:.3f} possible, {row['bounded']:.3f} with as many moves and true rates; "
        f"worst period {row['worst_of_best']:.2f}; "
        f"set-up rule {row['set_up']:.3f}, which is {row['set_up_of_best']:.2f} of the best; "
        f"from there it took {row['near_after_s']:.0f} s to come within 10 %"
    )
    report.judge(
        name,
        f"{row['spill']:.3f} of the packets on the card, {row['spill'] / of:.3f} of the best",
        ">=0.9 of the best",
        row["spill"] >= 0.9 * of,
        why,
    )
    report.judge(
        f"{name}_moved",
        f"{row['moved_percent_most']:.2f} % in the worst second, at most {row['most_on_card']} on the card",
        f"<1 % of the bearers, never above {ENTRIES}",
        row["moved_percent_most"] < 1 and row["most_on_card"] <= ENTRIES,
        f"mean {row['moved_percent_a_second']:.2f} %",
    )

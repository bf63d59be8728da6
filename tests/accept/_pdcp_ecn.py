"""ECN marks: what they do to the queue of an air of a limited rate, and to the throughput."""

from __future__ import annotations

import json

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

RATES = "build/ecn_rates.json"
TARGET = "p99 queueing at most a quarter of that without, at 95 % of the throughput"


def items(report: Report) -> None:
    say("TCP over a rate-limited air, with and without marks, 20 s each")
    status, output, _ = run([PYTHON, "tests/e2e/ecn_rates.py", RATES], 400)
    if status != 0:
        report.judge("ecn_cubic", f"exit_{status}", TARGET, False, last_line(output))
        return
    found = json.loads((ROOT / RATES).read_text())
    for name, base in (
        ("cubic_marked", "cubic"),
        ("cubic_secured_marked", "cubic"),
        ("dctcp_marked", "dctcp"),
        ("scalable_step", "cubic"),
        ("scalable_ramp", "cubic"),
        ("longer_path_marked", "longer_path"),
    ):
        if name not in found:
            report.skip(f"ecn_{name}", TARGET, f"this kernel has no {base}")
            continue
        judge(report, name, found[name], found[base])


def judge(report: Report, name: str, marked: dict, without: dict) -> None:
    delay, rate = marked["p99_ms"] / without["p99_ms"], marked["mbit"] / without["mbit"]
    met = delay <= 0.25 and rate >= 0.95 and marked["marked"] > 0 and marked["ecn"]
    report.judge(
        f"ecn_{name}",
        f"p99 {marked['p99_ms']:.1f} of {without['p99_ms']:.0f} ms, "
        f"{marked['mbit']:.2f} of {without['mbit']:.2f} Mbit/s",
        TARGET,
        met,
        f"{delay:.1%} of the delay, {rate:.1%} of the throughput, {marked['marked']} marks",
    )

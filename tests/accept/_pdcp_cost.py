"""What PDCP costs on one core: medians of bench/pdcp_bench, beside intel-ipsec-mb alone in the same run."""

from __future__ import annotations

import json

from _tools import ROOT, last_line, load_bench, run, say
from report import Report

BENCH = ROOT / "build" / "release" / "bench" / "pdcp_bench"
REPEATS, TRIES = 61, 5
TX_NS = {"nea2": 150, "nia2+nea2": 300}  # at 1500 octets
RX_OVER_TX_NS = 20
WITHIN = 1.3  # of the library with keys in the cache, the harder comparison
LANES = ("nia1+nea1", "nia3+nea3")


def measure() -> tuple[dict, str]:
    """The first quiet run, or the last one and the reason why it should not be believed."""
    bench = load_bench()
    found: dict = {}
    for _ in range(TRIES):
        load = bench.other_load()
        status, output, _ = run([BENCH, "--repeats", str(REPEATS)], 300)
        if status != 0:
            return {}, last_line(output)
        found = json.loads(output[output.index("{") :])
        if load <= bench.MAX_OTHER_LOAD and found["jitter_percent"] <= bench.MAX_JITTER_PERCENT:
            return found, ""
    return found, f"none of {TRIES} runs on a quiet machine"


def items(report: Report) -> None:
    say("cost of PDCP")
    found, doubt = measure()
    if not found:
        report.judge("pdcp_cost", "none", "pdcp_bench runs", False, doubt)
        return
    rows = {(row["algorithms"], row["bytes"]): row for row in found["rows"]}
    for pair, limit in TX_NS.items():
        report.at_most(f"tx_{pair}_1500", rows[pair, 1500]["tx"], limit, "ns", doubt)
    slowest = max(rows, key=lambda key: rows[key]["rx"] - rows[key]["tx"])
    difference = rows[slowest]["rx"] - rows[slowest]["tx"]
    report.at_most("rx_over_tx", difference, RX_OVER_TX_NS, "ns", doubt or f"{slowest[0]}, {slowest[1]} octets")
    for pair in LANES:
        for size in sorted(size for algorithms, size in rows if algorithms == pair):
            report.at_most(f"tx_{pair}_{size}_per_library", rows[pair, size]["tx_per_library_hot"], WITHIN, "", doubt)
    report.judge(
        "entity_octets", found["entity_bytes"], "counted", True, "of one bearer, both directions, without stored SDUs"
    )

"""What RLC costs on one core and how much memory a bearer holds: medians of bench/rlc_bench over quiet repeats."""

from __future__ import annotations

import statistics

from _tools import ROOT, quiet_results, say
from report import Report

BENCH = ROOT / "build" / "release" / "bench" / "rlc_bench"

# Row of the bench, and the nanoseconds that it may take for each SDU, PDU or STATUS.
TARGETS = {
    "am_send_pull": 60,
    "am_receive": 60,
    "am_receive_hole": 120,
    "am_ack_1024": 5000,
    "am_release": 15,
}
# STATUS PDUs and the rest are priced; the limits only say that each is bounded by what it names.
PRICES = {
    "status_build.holes1.sn18": 1_000,
    "status_build.holes100.sn18": 20_000,
    "status_process.nacks1.sn18": 1_000,
    "status_process.nacks100.sn18": 20_000,
    "status_process.nacks2000.sn18": 400_000,
    "status_process.window_by_ranges.sn18": 10_000_000,
    "status_process.window_by_ranges_again.sn18": 200_000,
    "release_over_empty_window.sn18": 20_000,
    "um_send_pull.sn12": 60,
    "um_receive.sn12": 60,
}


def items(report: Report) -> None:
    say("cost of RLC")
    results, doubt = quiet_results(BENCH, 120)
    if not results:
        report.judge("rlc_cost", "none", "rlc_bench runs", False, doubt)
        return

    def median(row: str) -> float:
        return statistics.median(result[row]["ns"] for result in results)

    for row, limit in TARGETS.items():
        for width in ("sn18", "sn12"):
            cold = f"{median(f'{row}.{width}.cold'):.3g} ns when the level-2 cache was swept; "
            report.at_most(f"rlc_{row}_{width}", median(f"{row}.{width}"), limit, "ns", cold + doubt)
    for row, limit in PRICES.items():
        report.at_most(f"rlc_{row}", median(row), limit, "ns", doubt)
    lost = max(result["mbufs_lost"] for result in results)
    report.judge("rlc_bench_mbufs_lost", lost, "0", lost == 0, "buffers did not return" if lost else "")
    octets = results[-1]["octets"]
    report.at_most("rlc_idle_bearer_octets", max(octets["idle.sn18"], octets["idle.sn12"]), 1024)
    for state in ("busy_1024_unacked", "busy_hole_and_1000_above", "busy_1000_waiting"):
        report.at_most(f"rlc_{state}_octets", octets[f"{state}.sn18"], 32768)

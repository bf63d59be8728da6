"""How much passes at each ratio of bearers on the card, when more is offered than passes: between the extremes?

Beside paper P4, Figs. 8 and 9. The software card and the host share two cores here, so only directions compare.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from _tools import ROOT, say
from report import Report

sys.path[:0] = [str(ROOT / "tests" / name) for name in ("e2e", "demo", "config")]

OFFERED = 1_500_000  # packets a second
RATIOS = (0, 25, 50, 75, 100)
SECONDS, REPEATS = 1.0, 5
SLACK = 0.10  # of the extremes: what repeats differ by on a shared machine


def items(report: Report) -> None:
    from loaded_card import LoadedCard
    from processes import Processes, wait_until

    say("placement: what passes at each ratio")
    folder = ROOT / "out" / "accept" / "placement-throughput"
    folder.mkdir(parents=True, exist_ok=True)
    children = Processes(folder)
    found: dict[int, list[float]] = {ratio: [] for ratio in RATIOS}
    try:
        with tempfile.TemporaryDirectory() as socket:
            bed = LoadedCard(folder, children, Path(socket) / "m", bearers=64, captures=False)
            bed.gnb.control.call("place.set", period_ms=100, load_ms=1000, min_stay_ms=0, most_moves_per_second=2000)
            bed.start_generator(OFFERED)
            time.sleep(1)
            for _ in range(REPEATS):
                for ratio in RATIOS:
                    bed.gnb.control.call("place.set", mode="ratio", ratio=ratio)
                    bed.moves_seen = None
                    wait_until("the bearers to have moved", bed.settled, timeout=30)
                    begin, before = time.monotonic(), on_air(bed)
                    time.sleep(SECONDS)
                    found[ratio].append((on_air(bed) - before) / (time.monotonic() - begin) / 1e6)
            bed.stop_generator()
    finally:
        children.stop_all()
    median = {ratio: statistics.median(rates) for ratio, rates in found.items()}
    least, most = min(median[0], median[100]), max(median[0], median[100])
    for ratio, rate in median.items():
        report.judge(
            f"placement_throughput_at_{ratio}",
            f"{rate:.3f} Mpps ({min(found[ratio]):.3f} to {max(found[ratio]):.3f})",
            f"{least:.3f} to {most:.3f} Mpps, which pass at 0 and 100 %",
            least * (1 - SLACK) <= rate <= most * (1 + SLACK),
            f"median of {REPEATS}, {OFFERED / 1e6:g} Mpps offered, card and host on two shared cores",
        )
    direction = "rises" if median[100] > median[0] else "falls"
    report.judge(
        "placement_throughput_direction",
        f"{direction} with the share on the card",
        "rises (paper P4, Fig. 9)",
        median[100] > median[0],
        "the card here is software on one core; host bearers cost a way through the card and back on top",
    )


def on_air(bed) -> int:
    return next(port["transmitted"] for port in bed.card.control.stats()["ports"] if port["name"] == "air")

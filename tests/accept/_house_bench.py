"""The benches of an older build and of this one in turn, row by row: no row slower by more than 2 %.

SPLITPLANE_BEFORE_BENCH names a folder with the older pipeline_bench, nic_bench and rlc_bench. A single pair differs by
10 % and more on a small machine, so many pairs are run, each time in the other order. A row is slower if even the lower
end of the 95 % interval of its median is above the limit. The report names rows whose median alone is above it.
"""

from __future__ import annotations

import json
import math
import os
import statistics
from collections.abc import Callable
from pathlib import Path

from _tools import ROOT, last_line, load_bench, run, say
from report import Report

NEW = ROOT / "build" / "release" / "bench"
REPEATS, TRIES = 25, 40
WORSE = 1.02


def numbers(tree: object, path: str = "") -> dict[str, float]:
    """Every number below a row that is a price: cycles or nanoseconds."""
    if isinstance(tree, dict):
        return {
            k: v for key, value in tree.items() for k, v in numbers(value, f"{path}.{key}" if path else key).items()
        }
    return {path: float(tree)} if isinstance(tree, int | float) and not isinstance(tree, bool) else {}


def pipeline_rows(output: dict) -> dict[str, float]:
    return {key: value for key, value in numbers(output["cycles"]).items() if value > 0}


def nic_rows(output: dict) -> dict[str, float]:
    cores = {f"cores.{name}": 1 / row["busy_mpps"] for name, row in output["cores"].items()}
    return numbers({"card": output["card"], "host": output["host"]}) | cores


def rlc_rows(output: dict) -> dict[str, float]:
    return {key: row["ns"] for key, row in output.items() if isinstance(row, dict) and "ns" in row}


BENCHES: dict[str, tuple[list[str], Callable[[dict], dict[str, float]]]] = {
    "pipeline_bench": ([], pipeline_rows),
    "nic_bench": (["--json"], nic_rows),
    "rlc_bench": ([], rlc_rows),
}


def one(program: Path, arguments: list[str], bench) -> tuple[dict, bool, str]:
    load = bench.other_load()
    code, output, _ = run([program, *arguments], 180)
    if code != 0:
        return {}, False, last_line(output)
    found = json.loads(output[output.index("{") :])
    return found, load <= bench.MAX_OTHER_LOAD and found.get("jitter_percent", 0) <= bench.MAX_JITTER_PERCENT, ""


def compare(report: Report, name: str, old: Path, bench) -> None:
    arguments, rows = BENCHES[name]
    ratios: dict[str, list[float]] = {}
    quiet = 0
    for turn in range(TRIES):
        order = [old, NEW / name] if turn % 2 == 0 else [NEW / name, old]
        found = {program: one(program, arguments, bench) for program in order}
        (before, calm_before, wrong), (after, calm_after, also) = found[old], found[NEW / name]
        if wrong or also:
            report.judge(f"{name}_before_and_after", "none", "both run", False, wrong or also)
            return
        if not (calm_before and calm_after):
            continue
        quiet += 1
        now, then = rows(after), rows(before)
        for row in sorted(then.keys() & now.keys()):
            ratios.setdefault(row, []).append(now[row] / then[row])
        if quiet == REPEATS:
            break
    target = "no row slower by more than 2 %"
    if quiet < REPEATS:
        report.skip(f"{name}_before_and_after", target, f"only {quiet} of {TRIES} pairs on a quiet machine")
        return
    medians = {row: interval(found) for row, found in ratios.items()}
    worst = max(medians, key=lambda row: medians[row][0])
    slow = {row for row, (low, _, _) in medians.items() if low > WORSE}
    perhaps = {row for row, (low, median, _) in medians.items() if low <= WORSE < median}
    report.judge(
        f"{name}_before_and_after",
        f"{len(medians)} rows, slowest {worst} {percent(medians[worst][0])} to {percent(medians[worst][2])} %",
        target,
        not slow,
        "; ".join(
            f"{word} {row} {percent(median)} % ({percent(low)} to {percent(high)})"
            for word, rows_so in (("slower:", slow), ("cannot tell:", perhaps))
            for row in sorted(rows_so)
            for low, median, high in [medians[row]]
        )[:600],
    )


def interval(found: list[float]) -> tuple[float, float, float]:
    """The lower end, the median and the upper end of the median's 95 % interval, by order statistics."""
    found = sorted(found)
    half = 0.98 * math.sqrt(len(found))
    low, high = (found[max(0, min(len(found) - 1, int(len(found) / 2 + side)))] for side in (-half, half))
    return low, statistics.median(found), high


def percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f}"


def items(report: Report) -> None:
    folder = os.environ.get("SPLITPLANE_BEFORE_BENCH", "")
    bench = load_bench()
    for name in BENCHES:
        old = Path(folder) / name
        if not folder or not old.exists():
            report.skip(
                f"{name}_before_and_after", "<=2 %", "SPLITPLANE_BEFORE_BENCH names no folder with an older one"
            )
            continue
        say(f"{name}, an older one and this one in turn, {REPEATS} quiet pairs")
        compare(report, name, old, bench)

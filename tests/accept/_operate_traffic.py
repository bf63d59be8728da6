"""Generator and checking sink: exact against a synthetic device, fast enough, judged by others; for `operate`."""

from __future__ import annotations

import json
import resource
import tempfile
from dataclasses import dataclass
from pathlib import Path

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

SPLITPLANE = ROOT / "build" / "release" / "splitplane"
TRIES = 3  # the machine may take the core away for longer than the error that is allowed


QUIET_SHARE = 0.96  # of a core that the polling pair must have had for its real-time figures to be its own


@dataclass(frozen=True)
class Try:
    """One run of the self-test, and how much of a core it got: it polls all the time it runs."""

    found: dict
    share: float
    stolen_ticks: int


def stolen() -> int:
    """Ticks that the host took from this machine so far."""
    return int((Path("/proc/stat").read_text().splitlines()[0].split() + ["0"] * 8)[8])


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def self_test(seconds: float) -> Try | str:
    """Or the last thing it said, when there are no results."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "self.json"
        ticks, cpu = stolen(), cpu_seconds()
        _, output, took = run([SPLITPLANE, "gen", "--self-test", "--duration", seconds, "--json", results], 60)
        if not results.exists():
            return last_line(output)
        return Try(json.loads(results.read_text()), (cpu_seconds() - cpu) / took, stolen() - ticks)


def exactness(report: Report, found: dict) -> None:
    device, sink = found["exact"]["device"], found["exact"]["sink"]
    for name, done, seen in (
        ("loss", device["lost"], sink["lost"]),
        ("duplication", device["duplicated"], sink["duplicates"]),
        ("reordering", device["reordered"], sink["reordered"]),
    ):
        met = seen == done > 0
        report.judge(f"sink_{name}_count", f"{seen}_of_{done}", "exact", met, "" if met else "the counts differ")
    worst = found["exact"]["latency_error"]
    report.at_most("sink_percentiles_error", worst, 1, "_of_1%_or_1us")


def real_time(report: Report, tries: list[Try]) -> None:
    """The best of some tries: what disturbs a real-time figure is the machine, and only ever makes it worse. A figure
    that is short is not judged when no try had a core to itself."""
    shares = ", ".join(f"{each.share:.0%} of a core, {each.stolen_ticks} ticks stolen" for each in tries)
    quiet = any(each.share >= QUIET_SHARE for each in tries)

    def judge(name: str, measured: float, unit: str, limit: float, at_least: bool = False) -> None:
        sign = ">=" if at_least else "<="
        met = measured >= limit if at_least else measured <= limit
        if not met and not quiet:
            report.skip(name, f"{sign}{limit}{unit}", f"measured {measured:.4g}{unit} on a busy machine: {shares}")
        else:
            report.judge(name, f"{measured:.4g}{unit}", f"{sign}{limit}{unit}", met, shares)

    found = [each.found for each in tries]
    judge("gen_rate_error", min(abs(one["rate"]["error_percent"]) for one in found), "%", 0.5)
    judge("device_capacity_error", min(abs(one["capacity"]["error_percent"]) for one in found), "%", 0.5)
    judge("pair_loss_at_a_fifth_of_its_ceiling", min(one["rate"]["lost"] for one in found), "", 0)
    judge("pair_ceiling_per_core", max(one["ceiling"]["pair_mpps"] for one in found), "Mpps", 2, at_least=True)
    judge("pair_latency_floor_p50", min(one["rate"]["latency_ns"]["p50"] for one in found) / 1e3, "us", 10)


def judged_by_others(report: Report) -> None:
    say("generated packets of every kind, tshark, scapy and hdrhistogram as judges")
    for name, selection in {
        "gen_packets_judged_by_tshark_and_scapy": "frames_are_right",
        "hlog_read_by_hdrhistogram": "latency_log",
        "gen_and_sink_in_two_processes": "two_processes",
    }.items():
        command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_traffic_pair.py", "-k"]
        status, output, _ = run([*command, selection], 200)
        good = status == 0 and "skipped" not in last_line(output)
        report.judge(name, last_line(output), "every test passes", good, "" if good else last_line(output))


def items(report: Report) -> None:
    say("the self-test of generator and sink")
    tries = []
    for _ in range(TRIES):
        done = self_test(2)
        if isinstance(done, str):
            report.judge("gen_self_test", "none", "results", False, done)
            return
        tries.append(done)
    exactness(report, tries[0].found)
    real_time(report, tries)
    judged_by_others(report)

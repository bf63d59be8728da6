"""The ring driver on CPU threads: rings by size, functions, overload, and its speed in lock-step and on threads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from _tools import ROOT, last_line, run, say
from report import Report

BUILD = ROOT / "build" / "release"
OUT = ROOT / "out"
PACKETS = 10_000_000
RINGS, SIZES = (1, 2, 4, 8), (64, 128, 256, 512, 1024, 1500)
FUNCTIONS = ("echo", "macswap", "gnb-headers", "pdcp-nea2")


def words(values: tuple) -> str:
    return ",".join(str(value) for value in values)


def bench(name: str, *options: str, timeout: float = 600) -> list[dict]:
    """The rows of a bench on CPU threads; a run that was not sound is a row too, with what is wrong with it."""
    OUT.mkdir(exist_ok=True)
    file: Path = OUT / f"accept-gpu-{name}.json"
    file.unlink(missing_ok=True)
    _, output, _ = run([BUILD / "splitplane", "gpu", "bench", "--cpu", "--json", file, *options], timeout)
    if not file.exists():
        raise RuntimeError(f"gpu bench wrote nothing: {last_line(output)}")
    return json.loads(file.read_text())["rows"]


def total(rows: list[dict], key: str) -> int:
    return sum(row[key] for row in rows)


def faults(rows: list[dict]) -> str:
    keys = ("lost", "corrupt", "duplicated", "reordered_in_flow", "missing", "driver_faults")
    return " ".join(f"{key}={total(rows, key)}" for key in keys)


@dataclass(frozen=True)
class Lossless:
    """A bench of so many runs, all of which must be sound and lose nothing of so many packets."""

    item: str
    file: str
    target: str
    runs: int
    packets: int
    options: tuple[str, ...]


def judge(report: Report, wanted: Lossless) -> None:
    rows = bench(wanted.file, *wanted.options)
    received = total(rows, "received")
    good = all(row["sound"] and row["lost"] == 0 for row in rows)
    good = good and len(rows) == wanted.runs and received >= wanted.packets
    measured = f"{len(rows)} runs, {received} packets, {faults(rows)}"
    report.judge(wanted.item, measured, wanted.target, good, "" if good else f"see out/accept-gpu-{wanted.file}.json")


def rings_by_size(report: Report) -> None:
    say("10 M packets over 1, 2, 4, 8 rings and six sizes, all engines on one thread")
    runs = len(RINGS) * len(SIZES)
    options = ("--rings", words(RINGS), "--size", words(SIZES), "--packets", str(-(-PACKETS // runs)))
    target = "10 M, 0 lost, every octet and each flow's order right"
    judge(report, Lossless("one_thread_rings_by_size", "rings", target, runs, PACKETS, options))


def threads_by_ring(report: Report) -> None:
    say("a thread for each engine")
    runs = 2 * len(RINGS)
    options = ("--rings", words(RINGS), "--size", "64,1500", "--packets", "200000", "--threads")
    target = "0 lost, every octet and each flow's order right"
    judge(report, Lossless("two_threads_for_each_ring", "threads", target, runs, runs * 200_000, options))


def functions(report: Report) -> None:
    say("each function")
    runs = 3 * len(FUNCTIONS)
    options = ("--rings", "4", "--size", "128,512,1500", "--packets", "200000", "--function", words(FUNCTIONS))
    target = "0 lost, each frame as its function should make it"
    judge(report, Lossless("cpu_threads_functions", "functions", target, runs, runs * 200_000, options))


def overload(report: Report) -> None:
    say("overload: 64 octets as fast as the wire has them, of which the generator sends what it can")
    small = ("--ring-size", "64", "--slots", "128")
    rows = bench("overload", "--rings", "1,8", "--size", "64", "--rate", "14.88", *small, "--duration", "1")
    lost, at_nic = total(rows, "lost"), total(rows, "lost_at_nic")
    good = all(row["sound"] for row in rows) and lost > 0 and total(rows, "dropped") == 0 and at_nic >= lost
    report.judge(
        "overload_loses_only_at_the_nic",
        f"{lost} of {total(rows, 'sent')} lost, {at_nic} counted by the NIC with the warm-up, "
        f"dropped by the driver {total(rows, 'dropped')}, not accounted for {total(rows, 'missing')}",
        "lost at the NIC only, counted",
        good,
        "" if good else "see out/accept-gpu-overload.json",
    )


def speed(report: Report) -> None:
    say("lock-step and threads")
    code, output, _ = run([BUILD / "bench" / "gpu_bench", "--json"], 600)
    if code not in (0, 1) or not output.lstrip().startswith("{"):
        raise RuntimeError(f"gpu_bench: {last_line(output)}")
    found = json.loads(output)
    one = next(row for row in found["lock_step"] if (row["name"], row["rings"], row["bytes"]) == ("echo", 1, 64))
    report.at_least("lock_step_mpps_64_octets", one["mpps"], 10, "_Mpps")
    threads = ", ".join(f"{row['rings']}r {row['mpps']:.2f}" for row in found["threads"])
    report.judge(
        "threads_mpps_64_octets",
        f"{threads} Mpps, core round trip {found['round_trip_ns']:.0f} ns",
        "printed, nothing lost",
        code == 0,
        "" if code == 0 else "a row lost, changed or leaked something: gpu_bench --json",
    )


ITEMS = (
    "one_thread_rings_by_size", "two_threads_for_each_ring", "cpu_threads_functions", "overload_loses_only_at_the_nic",
    "lock_step_mpps_64_octets", "threads_mpps_64_octets",
)  # fmt: skip


def items(report: Report) -> None:
    if not (BUILD / "splitplane").exists():
        for name in ITEMS:
            report.skip(name, "on CPU threads", "build/release/splitplane is not here")
        return
    rings_by_size(report)
    threads_by_ring(report)
    functions(report)
    overload(report)
    if not (BUILD / "bench" / "gpu_bench").exists():
        for name in ITEMS[-2:]:
            report.skip(name, "on CPU threads", "build/release/bench/gpu_bench is not here")
        return
    speed(report)

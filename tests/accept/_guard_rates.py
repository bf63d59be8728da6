"""Rates over memory ports: 64 K distinct buffers, one core, each kind of packet in each mode; and what tables take."""

from __future__ import annotations

from _tools import ROOT, quiet_results, say
from figures import median, spread
from report import Report

BENCH = ROOT / "build" / "release" / "bench" / "guard_bench"
SECONDS = 400
LINE_RATE = 14.88  # M packets of 64 octets a second: 10 GbE, and the load of paper INT
KNOWN_RATE = 10.0
ANSWERS = ("auth.syn", "proxy.syn")
KNOWN = ("auth.known_ack", "auth.known_syn", "proxy.client_ack", "proxy.server_ack")


def items(report: Report) -> None:
    target = f">={LINE_RATE} M/s"
    if not BENCH.exists():
        report.skip("guard_rate", target, f"{BENCH.name} is not built")
        return
    say("guard: cycles per packet over memory ports, quiet repeats")
    results, doubt = quiet_results(BENCH, SECONDS)
    if not results:
        report.judge("guard_rate", "none", target, False, doubt)
        return
    for name in results[0]["cycles"]:
        rate = [one["million_per_second"][name] for one in results]
        cycles = [one["cycles"][name] for one in results]
        what = name.partition(".")[2]
        kind, _, count = what.rpartition(".") if what.rpartition(".")[2].isdigit() else (what, "", "")
        text = f"{spread(rate, ' M/s')}, {spread(cycles, ' cycles')}"
        wanted = 0.0
        if what in ANSWERS:
            wanted = LINE_RATE
        elif kind in KNOWN and count:
            wanted = KNOWN_RATE
        judge(report, f"guard_rate_{name}", text, median(rate), wanted, doubt, len(results))
    memory = results[0]["memory"]
    for what in ("sources", "flows"):
        text = f"{memory[f'bytes_per_million_{what}'] / (1 << 20):.1f} MiB a million"
        places = memory[f"{what[:-1]}_entries"]
        held = f"{memory[f'{what}_held']} held at once in {places} places"
        report.judge(f"guard_memory_{what}", text, "measured", True, held)


def judge(report: Report, name: str, text: str, rate: float, wanted: float, doubt: str, repeats: int) -> None:
    """Short on a machine that was not quiet is no verdict."""
    why = f"median of {repeats} repeats" + (f"; {doubt}" if doubt else "")
    if wanted == 0.0:
        report.judge(name, text, "measured", True, why)
    elif rate < wanted and doubt:
        report.skip(name, f">={wanted:g} M/s", f"measured {text}, but {doubt}")
    else:
        report.judge(name, text, f">={wanted:g} M/s", rate >= wanted, why)

"""What the downlink of full mode costs from GTP-U to transport blocks, and whether blocks are on time."""

from __future__ import annotations

import json
import math

from _tools import ROOT, last_line, load_bench, quiet_results, run, say
from report import Report

BENCH = ROOT / "build" / "release" / "bench" / "full_bench"
MOST_NS = 400  # a packet, NEA2, 1500 octets; the best open peer needs 2,550
PARTS = ("dl_parse", "dl_bearer", "dl_pdcp", "dl_rlc", "build", "acknowledge")
SLOT_NS = {"0.5ms": 500_000, "0.125ms": 125_000}
SECONDS = 20


def loads(row: dict) -> str:
    return f"{row['ues']}_UEs_of_{row['sdus_in_a_grant']}{'_scheduled' if row.get('scheduled') else ''}"


def whole_downlink(report: Report) -> None:
    say("a packet from GTP-U to its transport block")
    results, doubt = quiet_results(BENCH, 300)
    if not results:
        report.judge("full_downlink", "none", "full_bench runs", False, doubt)
        return
    for kind in ("nea2", "nia2+nea2"):
        rows = {loads(row): row for row in results[0]["rows"] if row["security"] == kind}
        worst = max(rows, key=lambda name: rows[name]["all"])
        best = min(rows, key=lambda name: rows[name]["all"])
        parts = " + ".join(f"{part} {rows[worst][part]:.0f}" for part in PARTS)
        note = f"worst {worst}: {parts}; best {best}: {rows[best]['all']:.0f} ns"
        name = f"full_downlink_{kind.replace('+', '_')}"
        if kind == "nea2":
            report.at_most(name, rows[worst]["all"], MOST_NS, "ns", f"{doubt}; {note}" if doubt else note)
        else:
            report.judge(name, f"{rows[worst]['all']:.0f}ns", "printed", True, note)


def on_time(report: Report) -> None:
    say("slots with work beside slots without, in real time, and the load that a slot holds")
    bench = load_bench()
    load = bench.other_load()
    status, output, _ = run([BENCH, "--seconds", str(SECONDS)], 300)
    if status != 0:
        report.judge("full_slots_with_work", "none", "full_bench --seconds runs", False, last_line(output))
        return
    figures = json.loads(output[output.index("{") :])
    doubt = "" if load <= bench.MAX_OTHER_LOAD else f"others kept {load:.1f} cores busy; "
    for name, row in figures["real_slots"].items():
        missed = row["empty_missed"] * row["slots"] / row["empty_slots"]
        # Both counts are of stalls that come by chance: a difference within three standard deviations says nothing.
        chance = 3 * math.sqrt(missed + row["late"])
        beyond = max(0.0, row["late"] - missed)
        build = row["build_ns"]
        note = (
            f"{doubt}late {row['late']} of {row['slots']} slots with {row['sdus_a_slot']} SDUs "
            f"({row['gbit_s']:.1f} Gbit/s), "
            f"the empty loop missed {row['empty_missed']} of {row['empty_slots']}; {chance:.0f} of them by chance; "
            f"build p99.99 {build['p99.99'] / 1000:.1f} us, max {build['max'] / 1000:.1f} us"
        )
        measured = 0 if beyond <= chance else round(beyond)
        report.at_most(f"full_late_blocks_{name}", measured, 0, "", note)
        report.at_most(f"full_build_{name}_p99.99", build["p99.99"], SLOT_NS[name], "ns", note)
    for row in figures["stepped_slots"]:
        spent = row["slot_ns"]
        held = [name for name, ns in SLOT_NS.items() if spent["max"] <= ns]
        name = f"full_load_{row['ues']}_UEs_{row['sdus_a_slot']}_SDUs"
        gbit = {slot: row["sdus_a_slot"] * 1500 * 8 / ns for slot, ns in SLOT_NS.items()}
        note = (
            f"a slot takes {spent['p50'] / 1000:.1f} us, p99.99 {spent['p99.99'] / 1000:.1f}, worst "
            f"{spent['max'] / 1000:.1f} (of these blocks {row['build_ns']['max'] / 1000:.1f}); "
            f"{gbit['0.5ms']:.2f} Gbit/s at 0.5 ms, {gbit['0.125ms']:.2f} at 0.125 ms"
        )
        report.judge(name, f"held_at_{'_and_'.join(held) or 'none'}", "held_at_0.5ms", "0.5ms" in held, note)


def items(report: Report) -> None:
    whole_downlink(report)
    on_time(report)

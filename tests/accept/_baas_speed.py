"""What the service costs beside one rte_hash entry for each packet, and the paper's figures 10 and 11 beside ours."""

from __future__ import annotations

import json
import math

from _tools import ROOT, run, say
from report import Report

from lab import papers

BENCH = ROOT / "build" / "release" / "bench" / "baas_bench"
PASSES = 9
POINTS = papers.load()
FIG10 = papers.find(POINTS, "p4-fig10", x="cores")  # fed by the card over VFs
FIG11_WITH_TWO = papers.find(POINTS, "p4-fig11", baas_cores=2)  # behind the gNB; with 4 most of it
FIG11_GNB_CORES = FIG11_WITH_TWO.at["gnb_cores"]
FIG11_MPPS = papers.find(POINTS, "p4-fig8", x="clone", cores=FIG11_GNB_CORES).value  # the gNB alone


def row_of(rows: list[dict], key: str, value: object) -> dict:
    return next(row for row in rows if row[key] == value)


def items(report: Report) -> None:
    say(f"baas: the cost of a copy, 65,536 bearers, {PASSES} passes a row")
    status, output, _ = run([BENCH, "--passes", str(PASSES)], 300)
    found = output[output.find("{") : output.rfind("}") + 1]
    if status != 0 or not found:
        report.judge("baas_bench", f"exit code {status}", "0", False, output[-160:] or "no output")
        return
    rows = json.loads(found)
    jitter = rows["jitter_percent"]
    why = f"65,536 bearers, one core, thread CPU time; jitter {jitter:.1f} %"
    best = row_of(rows["service"], "sdus_per_status", 32)
    short = f"; {10 - best['mpps']:.2f} Mpps below it: each copy is of another bearer, whose lines are cold"
    report.judge(
        "baas_mpps_per_core",
        f"{best['mpps']:.2f} Mpps ({best['ns_min']:.0f} to {best['ns_max']:.0f} ns)",
        ">=10 Mpps, insert and free by ACK; the paper: most of 12.75 on four cores",
        best["mpps"] >= 10,
        why + (short if best["mpps"] < 10 else ""),
    )
    for row in rows["service"]:
        per_status = row["sdus_per_status"]
        hashed = row_of(rows["rte_hash"], "sdus_per_status", per_status)
        report.judge(
            f"baas_{per_status}_sdus_a_status",
            f"{row['ns']:.0f} ns, rte_hash {hashed['ns']:.0f} ns: {hashed['ratio']:.2f} times as long",
            "a row",
            row["all_released"] and hashed["all_released"],
            f"{row['held']} SDUs held; {why}; the hash has no window, no timer, no poll",
        )
    memory = rows["memory"]
    report.judge(
        "baas_octets_beyond_the_packet",
        f"{memory['sum_64_sdus_per_bearer']:.1f} with 64 SDUs a bearer, {memory['sum_1_sdu_per_bearer']:.0f} with one",
        "a row",
        True,
        f"ledger {memory['ledger_slot']}, the rest is the window's page; "
        + ", ".join(f"rte_hash {row['per_sdu_held']:.0f} with {row['sdus_per_status']}" for row in memory["rte_hash"]),
    )
    gnb = {row["windows"]: row for row in rows["gnb"]}
    for name, row in gnb.items():
        report.judge(
            f"baas_gnb_{name}",
            f"{row['mpps']:.2f} Mpps, {row['cycles']:.0f} cycles a packet of the worker",
            "a row, with the round trip: a STATUS for every 8 SDUs",
            row["all_released"],
            why,
        )
    figures(report, row_of(rows["service"], "sdus_per_status", 8)["mpps"], gnb["service_second_core"]["mpps"])


def figures(report: Report, service: float, worker: float) -> None:
    """Modelled: several cores as so many times one core, of which we have two."""
    offered = FIG10.at["mpps"]
    cores = math.ceil(offered / service)
    report.judge(
        "baas_p4_fig10",
        f"ours {cores} cores for {offered} Mpps at {service:.2f} Mpps a core; the paper {FIG10.value:.0f}",
        "direction: one core is not enough",
        cores > 1,
        f"holds {'yes' if cores > 1 else 'no: one core of ours is enough'}; modelled from one core, "
        "without the receiving of the VF's driver",
    )
    for own in (1, 2, 4):
        ours = min(FIG11_GNB_CORES * worker, own * service)
        share = ours / (FIG11_GNB_CORES * worker)
        holds = own == 1 or (share < 0.9) == (own == 2)
        paper = {2: f"{FIG11_WITH_TWO.value / FIG11_MPPS:.2f}", 4: "most of it"}.get(own, "not said")
        report.judge(
            f"baas_p4_fig11_{own}_cores",
            f"ours {ours:.1f} of {FIG11_GNB_CORES * worker:.1f} Mpps: {share:.2f}; the paper's share {paper}",
            "direction: two cores of BaaS hold eight of the gNB back, four give most of it",
            holds,
            "holds "
            + ("cannot tell" if own == 1 else "yes" if holds else "no")
            + "; modelled: so many times one core each",
        )

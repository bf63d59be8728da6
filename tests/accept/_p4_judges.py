"""The programs against the host, against each other, and what they promise of VFs, VLANs, leases and order."""

from __future__ import annotations

import json
import re
import time

from _judged_by_tests import Mended, judge
from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

PACKETS = "200000"
TARGETS = ROOT / "docs" / "results" / "p4-targets.txt"
RESOURCES = ROOT / "docs" / "results" / "p4-tofino.txt"
MOST_OCTETS = 64  # of one bearer


def compilers(report: Report) -> None:
    """One line a target: its compiler takes the program, or is not here."""
    say("p4: compilers of the targets")
    for test, name in (
        ("test_specs.py", "p4_committed_programs"),
        ("test_targets.py", "p4_targets_compile"),
        ("test_vectors.py", "p4_vectors_are_of_these_sources"),
    ):
        path = ROOT / "tests" / "p4" / test
        target = "none fails; a compiler that is not on PATH is skipped and named"
        if not path.exists():
            report.judge(name, "none", target, False, f"{path.relative_to(ROOT)} is missing")
            continue
        status, output, _ = run([PYTHON, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", path], 900)
        skips = {line.split(": ", 1)[-1] for line in output.splitlines() if line.startswith("SKIPPED")}
        counts = last_line(output)
        if status == 0 and skips and "passed" not in counts:
            report.skip(name, target, "; ".join(sorted(skips)))
        else:
            report.judge(name, counts, target, status == 0, "; ".join(sorted(skips))[:300] or counts)


def coverage(report: Report) -> None:
    """Statements that p4testgen's vectors reach, as it said itself."""
    for file in sorted((ROOT / "tests" / "p4" / "vectors").glob("*.json")):
        said = json.loads(file.read_text())
        covered, all_of_it = said["covered"], said["statements"]
        why = "" if covered == all_of_it else f"{all_of_it - covered} statements are not reached"
        report.judge(f"p4_statements_{file.stem}", covered, str(all_of_it), covered == all_of_it, why)


def memory(report: Report) -> None:
    """What `p4/memory.py` prints."""
    _, output, _ = run([PYTHON, ROOT / "p4" / "memory.py"], 60)
    octets = int(re.search(r"= (\d+) octets", output)[1])
    report.judge("p4_octets_of_a_bearer", octets, f"at most {MOST_OCTETS}", octets <= MOST_OCTETS, "-")


def targets(report: Report) -> None:
    """What the committed report says of each target's compiler."""
    rows = TARGETS.read_text().splitlines()[2:] if TARGETS.exists() else []
    target = "each wrapper compiles"
    if not rows:
        report.judge("p4_wrappers", "no report", target, False, "make p4 with the compilers on PATH makes it")
    else:
        bad = [row for row in rows if not row.endswith("  compiles")]
        report.judge(
            "p4_wrappers", f"{len(rows) - len(bad)} of {len(rows)}", target, not bad, "; ".join(bad)[:300] or "-"
        )
    tofino(report)


def tofino(report: Report) -> None:
    """What p4c-barefoot says that each program takes of a Tofino."""
    target = "each of four programs fits: stages, SRAM, TCAM, PHV in docs/results/p4-tofino.txt"
    text = RESOURCES.read_text() if RESOURCES.exists() else ""
    programs = re.findall(r"^(gnb-\S+): (.*)$", text, re.MULTILINE)
    fitting = [f"{name} {said}" for name, said in programs if re.match(r"\d+ of \d+ stages", said)]
    why = "; ".join(f"{name}: {said}" for name, said in programs if f"{name} {said}" not in fitting)[:300]
    report.judge(
        "p4_tofino_resources",
        "; ".join(fitting) or "none",
        target,
        len(fitting) == 4,
        why or ("-" if fitting else "no report: make p4 with p4c-barefoot on PATH makes it"),
    )


def items(report: Report) -> None:
    compilers(report)
    coverage(report)
    memory(report)
    targets(report)
    seed = str(time.time_ns() % 1_000_000_000)
    long = {"SPLITPLANE_PACKETS": PACKETS, "SPLITPLANE_SEED": seed}
    host = f"card and host = host alone, octet for octet, {PACKETS} random packets, seed {seed}"
    for item in (
        Mended("p4_compiled_is_the_host", shows=f"{host}; compiled", gtest="CardAndHost.*", environment=long),
        Mended(
            "p4_interpreted_is_the_host",
            shows=f"{host}; interpreted",
            gtest="CardAndHost.*",
            environment=long | {"SPLITPLANE_EXECUTION": "interpreted"},
        ),
        Mended(
            "p4_compiled_is_the_interpreter",
            shows=f"each program, {PACKETS} random packets and changes of tables between them: 0 differences",
            gtest="*EveryProgram*",
            environment=long,
        ),
        Mended(
            "p4_seeded_changes_are_found",
            shows="one bit changed in either side, a constant changed in a copy of a program",
            gtest="*one_bit_that_differs*:CardPrograms.a_constant_changed*",
        ),
        Mended("p4_vectors", shows="p4testgen's vectors through both ways to run a program", gtest="*Vectors*"),
        Mended(
            "p4_vfs_by_turns",
            shows="program p4wire: the share of each of 1 to 64 VFs within 1 %",
            gtest="*round_robin_is_even_within_a_percent*",
        ),
        Mended(
            "p4_vfd_in_gnb",
            shows="each of 1 to 64 VFs has its share of the host's frames within 1 %; by hash a tunnel has one VF",
            gtest="*what_gnb_gives_to_the_host_in_turn*:*by_hash_a_tunnel_keeps*",
            pytest=["tests/e2e/test_card_spread.py"],
        ),
        Mended(
            "p4_flows_ipv6_marks_octets",
            shows="(TEID, QFI) as key, N3 over IPv6, DSCP by QFI, octets of each bearer",
            gtest="CardFlows.*:CardOverIpv6.*:CardMarks.*:CardOctets.*",
            pytest=["tests/e2e/test_card_sessions.py"],
        ),
        Mended(
            "p4_five_cards",
            shows="five cards, two workers and more: every packet accounted, SNs contiguous",
            pytest=["tests/e2e/test_five_cards.py"],
        ),
        Mended(
            "p4_clones_over_vfs",
            shows="by bearer over the queues of the copies' port",
            gtest="CardPlacement.copies_of_a_bearer*:CardPrograms.clones_of_bearers_go_to_their_vfs",
        ),
        Mended(
            "p4_vlan",
            shows="tagged both ways, real TCP by card and host; other tags go to the host, which drops them by name",
            gtest="CardPrograms.a_bearers_packets_are_in_the_vlan_of_n3_both_ways",
            pytest=["tests/e2e/test_n3_vlan.py", "tests/e2e/test_vlan_tcp.py"],
        ),
        Mended(
            "p4_bursts_after_silence",
            shows="20,000 packets at 200 kpps to a 12-bit bearer after 3 s of silence: none lost for want of a lease",
            pytest=["tests/e2e/test_card_leases.py"],
        ),
        Mended(
            "p4_order",
            shows="packets of a bearer keep their order, among those that the card cannot read, too",
            gtest="CardPrograms.packets_follow*:CardPrograms.a_bearers_packets_stay_in_order*:"
            "CardAndHost.bursts_keep*:*OneAsMany.a_bearers_packets_stay_in_order_on_threads*",
        ),
    ):
        judge(report, item)

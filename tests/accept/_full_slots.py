"""Slots, sizes of transport blocks, schedulers, HARQ, mac-nr: what others say of them, and what they cost."""

from __future__ import annotations

import json

from _judged_by_tests import Mended, judge
from _tools import ROOT, last_line, load_bench, run, say
from report import Report

BENCH = ROOT / "build" / "release" / "bench" / "slot_bench"
SIZES = "tests/phy/test_foreign_l1.py::test_its_sizes_equal_ours_but_for_ties_that_it_rounds_to_even"
CHAIN = [
    "tests/phy/test_foreign_l1.py::test_real_blocks_come_back_equal",
    "tests/phy/test_foreign_l1.py::test_each_redundancy_version_at_a_low_rate_comes_back",
    "tests/phy/test_foreign_l1.py::test_a_block_that_the_air_changed_is_not_taken_for_right",
]
NEORADIUM = "its licence allows fundamental research only and is accepted by installing it; py3gpp judges instead"
PROMISES = [
    Mended(
        "full_tb_sizes_second_implementation",
        shows="sizes in exact fractions, three MCS tables, four layers",
        pytest=["tests/phy/test_tb_sizes.py"],
    ),
    Mended(
        "full_mac_nr_framing_by_tshark",
        shows="tshark reads what our writer was told",
        pytest=["tests/oracle/test_tshark.py::test_the_framing_of_mac_pdus"],
    ),
    Mended(
        "full_slots_and_deadlines",
        shows="wrap of SFN, no drift, missed slots, early, on time, late",
        gtest="Slot.*:SlotClock.*:RealSlots.*:SteppedSlots.*:Deadlines.*",
    ),
    Mended(
        "full_harq",
        shows="a block lives unchanged until its ACK; late, doubled and strange feedback is counted",
        gtest="HarqSenderTest.*:HarqUplinkTest.*:HarqCell.*:HarqReceiver.*:Harq.*",
    ),
    Mended(
        "full_schedulers_are_fair",
        shows="legal grants, retransmissions first, no UE starves",
        gtest="CellTest/*:EveryScheduler/*:RoundRobin.*:ProportionalFair.*:UplinkDemand.*",
    ),
]
# A cell with 1,000 UEs may take a twentieth of a slot of 0.5 ms to schedule.
MOST_UES, MOST_SLOT_NS = "1000", 25_000
SLOT_NS = {"0.5ms": 500_000, "0.125ms": 125_000}


def foreign_l1(report: Report) -> None:
    say("transport blocks through a layer 1 that is not ours")
    status, output, _ = run([ROOT / "setup" / "l1.sh"], 600)
    if status != 0:
        report.judge("full_foreign_l1", "not installed", "py3gpp installed", False, last_line(output))
        return
    environment = {"SPLITPLANE_L1_STEP": "1", "SPLITPLANE_L1_BLOCKS": "20"}
    judge(
        report,
        Mended(
            "full_tb_sizes_foreign_l1",
            shows="py3gpp, every MCS and number of PRBs; it rounds ties to even",
            pytest=[SIZES],
            environment=environment,
            timeout=1800,
        ),
    )
    judge(
        report,
        Mended(
            "full_tbs_through_foreign_l1",
            shows="py3gpp: CRC, LDPC, rate matching, scrambling, modulation and back; one layer",
            pytest=CHAIN,
            environment=environment,
            timeout=1800,
        ),
    )
    report.skip("full_tbs_through_neoradium", "equal octets, four layers", NEORADIUM)


def cost(report: Report) -> None:
    say("empty loop over slots, cost of the schedulers")
    bench = load_bench()
    load = bench.other_load()
    status, output, _ = run([BENCH, "--seconds", "20"], 180)
    if status != 0:
        report.judge("full_slot_bench", "none", "slot_bench runs", False, last_line(output))
        return
    figures = json.loads(output[output.index("{") :])
    doubt = "" if load <= bench.MAX_OTHER_LOAD else f"others kept {load:.1f} cores busy; "
    for name, rows in figures["scheduler"].items():
        each = ", ".join(f"{ues} UEs {row['ns_slot']:.0f}" for ues, row in rows.items())
        report.at_most(f"full_{name}_slot", rows[MOST_UES]["ns_slot"], MOST_SLOT_NS, "ns", f"{doubt}ns a slot: {each}")
    for name, loop in figures["empty_loop"].items():
        late = loop["late_ns"]
        note = f"{loop['missed']} of {loop['slots']} slots missed, p99.99 {late['p99.99']} ns, max {late['max']} ns"
        # How a machine wakes a thread is its own affair; the loop itself must look in time.
        report.at_most(f"full_empty_loop_{name}_median_late", late["p50"], SLOT_NS[name] / 100, "ns", doubt + note)


def items(report: Report) -> None:
    for promise in PROMISES:
        judge(report, promise)
    foreign_l1(report)
    cost(report)

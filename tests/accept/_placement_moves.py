"""Moves under load, the share on the card, and what may happen in the middle of a move: judged by tests."""

from __future__ import annotations

import json

from _judged_by_tests import Mended, judge
from _tools import ROOT, say
from report import Report

MOVES = 1000  # each way
RATIOS = range(0, 101, 10)
LOAD = "tests/e2e/test_moves_load.py"


def figures(test: str) -> dict:
    """What the test wrote; nothing if it did not come so far."""
    path = ROOT / "out" / "e2e" / test / "figures.json"
    return json.loads(path.read_text()) if path.exists() else {}


def forget(test: str) -> None:
    (ROOT / "out" / "e2e" / test / "figures.json").unlink(missing_ok=True)


def items(report: Report) -> None:
    moves(report)
    shares(report)
    judge(
        report,
        Mended(
            "placement_real_tcp_over_moves",
            shows="files both ways with their bearer moving to and fro, am12 and am18, windows in worker and service: "
            "SHA-256 equal, RLC does not begin anew, each SDU acknowledged and delivered once",
            pytest=["tests/e2e/test_moves.py"],
            environment={"SPLITPLANE_TCP_MOVES": "200"},
            timeout=900,
        ),
    )
    judge(
        report,
        Mended(
            "placement_faults",
            shows="card killed, card stopped beyond the bound, gNB killed, client gone in the middle of moves: the "
            "bearer is alive on one side, failed moves are counted",
            pytest=["tests/e2e/test_moves_faults.py"],
            environment={"SPLITPLANE_MOVE_FAULTS": "25"},
            timeout=900,
        ),
    )
    consolidation(report)
    spill_live(report)


def moves(report: Report) -> None:
    test = "test_moves_under_load_lose_double_and_reorder_nothing"
    forget(test)
    judge(
        report,
        Mended(
            "placement_1000_moves_each_way",
            shows="50,000 packets a second on the bearers that move, other bearers added and released meanwhile; "
            "judged by the sink, and by tshark: PDCP and RLC SNs of each bearer step by one",
            pytest=[LOAD, "-k", "under_load"],
            environment={"SPLITPLANE_MOVES": str(MOVES)},
            timeout=900,
        ),
    )
    seen = figures(test)
    if not seen:
        report.judge("placement_moves_figures", "none", "a run that ended", False, "the test wrote no figures")
        return
    say(f"placement: {seen['moved']} moves in {seen['seconds']:.1f} s, {seen['other_calls']} other calls")
    bad = seen["lost"] + seen["duplicates"] + seen["reordered"]
    report.judge(
        "placement_moves_lost_doubled_reordered",
        f"{seen['lost']}, {seen['duplicates']}, {seen['reordered']} of {seen['sent']}",
        "0, 0, 0",
        bad == 0,
        f"{seen['rate']:.0f} packets a second",
    )
    report.judge(
        "placement_moves_done",
        f"{seen['moved']}, {seen['failed']} failed",
        f">={2 * MOVES}",
        seen["moved"] >= 2 * MOVES,
        "failed moves leave the bearer where it was",
    )
    report.judge(
        "placement_moves_with_packets_in_flight",
        f"{seen['with_packets']} of {seen['moved']}, {seen['packets']} packets",
        "at least half",
        2 * seen["with_packets"] >= seen["moved"],
        f"packets waited for {seen['hold_us'] / 1e3:.1f} ms (median of moves), "
        f"{seen['longest_hold_us'] / 1e3:.1f} ms at most",
    )


def consolidation(report: Report) -> None:
    test = "test_cores_follow_the_load_and_nothing_is_lost"
    forget(test)
    judge(
        report,
        Mended(
            "placement_consolidation",
            shows="two workers share a core while there is little load, and do not when there is more; parked and "
            "woken by hand under load and under real TCP, by N3 address, behind a dispatching worker and with "
            "baas: process: nothing lost, doubled or reordered, SHA-256 equal",
            pytest=["tests/e2e/test_consolidation.py"],
            environment={"SPLITPLANE_PARKS": "200"},
            timeout=600,
        ),
    )
    seen = figures(test)
    if not seen:
        report.judge("placement_consolidation_figures", "none", "a run that ended", False, "the test wrote no figures")
        return
    bad = seen["lost"] + seen["duplicates"] + seen["reordered"] + seen["sent"] - seen["unique"]
    report.judge(
        "placement_consolidation_lost_doubled_reordered",
        f"{bad} of {seen['sent']}",
        "0",
        bad == 0,
        f"{seen['changes']} changes, {seen['longest_us'] / 1e3:.1f} ms at most",
    )
    report.at_most(
        "placement_consolidation_time_to_react",
        seen["react_s"],
        1,
        " s",
        f"from the load to the core; parked {seen['again_s']:.2f} s after it, {seen['calm_s']} s of them the calm time",
    )


def spill_live(report: Report) -> None:
    test = "test_the_busiest_of_more_bearers_than_the_card_holds_live_there_and_no_move_loses_any"
    forget(test)
    judge(
        report,
        Mended(
            "placement_200000_bearers_live",
            shows="200,000 bearers behind a running card of 65,536 entries, packets to all of them: the 4,096 busiest "
            "live on the card, tens of thousands move, each packet arrives once and in order, or counts at a full VF",
            pytest=["tests/e2e/test_spill_live.py"],
            environment={
                "SPLITPLANE_SPILL_BEARERS": "200000",
                "SPLITPLANE_SPILL_ENTRIES": "65536",
                "SPLITPLANE_SPILL_HOT": "4096",
                "SPLITPLANE_SPILL_BUSY": "100",
                "SPLITPLANE_SPILL_LOAD_MS": "10000",
                "SPLITPLANE_SPILL_ROUNDS": "1",
            },
            timeout=600,
        ),
    )
    seen = figures(test)
    if not seen:
        report.judge("placement_spill_live_figures", "none", "a run that ended", False, "the test wrote no figures")
        return
    bad = seen["duplicates"] + seen["reordered"] + seen["sent"] - seen["unique"] - seen["full"]
    report.judge(
        "placement_spill_live_lost_doubled_reordered",
        f"{bad} of {seen['sent']}",
        "0",
        bad == 0,
        f"{seen['to_card']} moves to the card and {seen['to_host']} back, {seen['failed']} failed; "
        f"at most {seen['most']} entries, {seen['full']} packets dropped at full VFs",
    )


def shares(report: Report) -> None:
    for of in ("bearers", "load"):
        test = f"test_the_share_on_the_card_is_the_one_that_was_asked_for[{of}]"
        forget(test)
        judge(
            report,
            Mended(
                f"placement_ratio_of_{of}",
                shows="0 to 100 % in steps of 10 under load: within 2 % of what was asked for, nothing lost on the way",
                pytest=[f"{LOAD}::{test}"],
                environment={"SPLITPLANE_RATIOS": ",".join(map(str, RATIOS))},
                timeout=600,
            ),
        )
        found = {int(asked): share for asked, share in figures(test).get("shares", {}).items()}
        worst = max((abs(share - asked) for asked, share in found.items()), default=100.0)
        report.at_most(
            f"placement_ratio_of_{of}_error",
            worst,
            2,
            " %",
            ", ".join(f"{asked}: {share:.1f}" for asked, share in found.items()) or "no figures",
        )

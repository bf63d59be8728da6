"""RLC AM against a foreign peer: a sender and receiver written from TS 38.322 alone, which write STATUS the other ways.

SPLITPLANE_FOREIGN_RUNS (14) seeds each way: ours sends, theirs sends, both. A failure leaves its commands for rlc_tool
in build/rlc_foreign.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from rlc_foreign_judge import judge_report
from rlc_foreign_pdu import END, Illegal, Nack, Report, read_report, unwrapped, write_data, write_report
from rlc_foreign_plan import Tool
from rlc_foreign_receiver import Receiver
from rlc_foreign_report import Habits, Hole, Writer
from rlc_foreign_world import WAYS, Hang, RadioLinkFailure, Run

ROOT = Path(__file__).resolve().parents[2]
SEED = os.environ.get("SPLITPLANE_SEED", "1")
RUNS = int(os.environ.get("SPLITPLANE_FOREIGN_RUNS", "14"))
TOLD = 5
DEAF_RUNS = 100
MERGING = Habits(merge=1, split=0, offsets=0, range_of_one=0, trim=0, beyond=0, cuts=("before",))
# A range with SO (octets 20 on of 0, all of 1, up to 9 of 2), and a NACK that begins in its last SDU.
TOUCHING = bytes.fromhex("00 03 80 00 0e 00 14 00 09 03 00 24 00 14 00 1d")


@pytest.fixture
def tool() -> Iterator[Tool]:
    program = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release")) / "tools" / "rlc_tool"
    if not program.exists():
        pytest.skip(f"SKIPPED: {program} is not built (make build WHAT=all)")
    host = Tool(program)
    host.keep = True
    yield host
    host.close()


@pytest.mark.parametrize("way", WAYS)
def test_every_sdu_crosses_a_bad_link_to_and_from_a_foreign_peer(tool: Tool, way: str) -> None:
    failures, forms = [], set()
    for number in range(RUNS):
        seed = f"{SEED}.{number}"
        run = Run(tool, seed, way)
        try:
            run.go()
        except Illegal as wrong:
            folder = ROOT / "build" / "rlc_foreign"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{way}_{seed}.txt").write_text("\n".join(tool.lines) + "\n")
            failures.append(f"seed {seed}: {type(wrong).__name__}: {wrong}")
        forms |= run.writer.forms.keys()
    assert not failures, f"{len(failures)} of {RUNS} runs failed:\n" + "\n".join(failures[:TOLD])
    if way != "theirs" and RUNS >= 14:
        assert "a range with SO, the next NACK in its last SDU" in forms, "the peer never wrote what the test is for"


def test_a_side_that_ignores_a_status_with_a_touching_range_hangs_or_gives_up(tool: Tool) -> None:
    """The rule that this peer was written for: without it the runs above must fail."""
    for number in range(DEAF_RUNS):
        run = Run(tool, f"deaf.{number}", "ours", judged=False, deaf=touches)
        if run.plan.report_grants[0] < 200:  # what is cut says something else each time
            continue
        run.writer.habits = MERGING
        run.to_theirs.loss, run.to_theirs.burst = 0.2, 2
        try:
            run.go()
        except (Hang, RadioLinkFailure):
            return
    pytest.fail(f"{DEAF_RUNS} runs ended well")


def touches(report: Report) -> bool:
    ends = [nack.sn + (nack.count or 1) - 1 for nack in report.nacks]
    return any(
        (nack.count or 1) > 1 and nack.first is not None and after.sn == end
        for nack, after, end in zip(report.nacks, report.nacks[1:], ends, strict=False)
    )


def half_received(t_reassembly: int = 10) -> Receiver:
    """SDUs of 50 octets: 0 has octets 0-9, 20-29 and 40-49, 1 is whole, 2 is missing, 3 is whole; the timer is over."""
    writer = Writer(12, Habits.drawn(random.Random(SEED)), random.Random(SEED))
    receiver = Receiver(12, t_reassembly, 0, writer, 0)
    for sn, so, size in ((0, 0, 10), (0, 20, 10), (0, 40, 10), (1, 0, 50), (3, 0, 50)):
        receiver.take(write_data(12, sn, so, bytes(size), so + size == 50, False), 0)
    receiver.tick(t_reassembly)
    assert (receiver.rx_next, receiver.rx_highest_status) == (0, 2)
    receiver.tick(2 * t_reassembly)
    assert receiver.rx_highest_status == 4
    return receiver


@pytest.mark.parametrize(
    ("report", "because"),
    [
        (Report(4, (Nack(0, 10, 19), Nack(2))), "octets 30 to 39 of 0 never arrived"),
        (Report(4, (Nack(0, 10, 19), Nack(0, 30, 39))), "octets 0 to 49 of 2 never arrived"),
        (Report(5, (Nack(0, 10, 19), Nack(0, 30, 39), Nack(2))), "ACK_SN 5 outside"),
        (Report(3, (Nack(0, 10, 19), Nack(0, 30, 39), Nack(2))), "ACK_SN 3 is an SDU that arrived"),
        (Report(2, (Nack(0, 10, 19), Nack(0, 30, 39), Nack(1))), "a NACK of 1, which arrived"),
        (Report(2, (Nack(0, 10, 20), Nack(0, 30, 39))), "of which 20 to 29 arrived"),
        (Report(2, (Nack(0, 30, 39), Nack(0, 10, 19))), "a NACK of 0 from 10 behind"),
        (Report(2, (Nack(0, 10, 19), Nack(0, 30, 50))), "which has 50"),
        (Report(2, (Nack(0, 10, 19), Nack(0, 30, 39), Nack(2))), "at or behind ACK_SN"),
    ],
)
def test_the_judge_refuses_a_status_that_says_what_is_not_so(report: Report, because: str) -> None:
    with pytest.raises(Illegal, match=because):
        judge_report(report, half_received(), dict.fromkeys(range(5), 50), ours=True)


@pytest.mark.parametrize(
    "report",
    [
        Report(4, (Nack(0, 10, 19), Nack(0, 30, 39), Nack(2))),
        Report(2, (Nack(0, 10, 19), Nack(0, 30, 39))),
        Report(0),
        Report(2, (Nack(0, 10, END),)),
        Report(4, (Nack(0, 10, 19), Nack(0, 30, 39), Nack(2, 0, END, 1))),
    ],
)
def test_the_judge_accepts_each_way_to_say_the_same(report: Report) -> None:
    judge_report(report, half_received(), dict.fromkeys(range(5), 50), ours=True)


def test_each_way_to_write_a_report_says_what_is_so() -> None:
    """The peer's own reports, for random holes, grants and habits, before the judge of ours."""
    rng = random.Random(SEED)
    for bits in (12, 18) * 150:
        receiver = Receiver(bits, 1, 0, Writer(bits, Habits.drawn(rng), rng), 0)
        for _ in range(rng.randrange(60)):
            sn, so = rng.randrange(20), rng.choice((0, 20, 40, 60, 80))
            receiver.take(write_data(bits, sn, so, bytes(20), so == 80, False), 0)
        for now in range(1, 30):
            receiver.tick(now)
        receiver.triggered = True
        pdu = receiver.report(rng.choice((3, rng.randint(3, 40), 500)), 40)
        assert pdu is not None
        report = unwrapped(read_report(bits, pdu), 100, bits)
        judge_report(report, receiver, dict.fromkeys(range(20), 100), ours=False)


def test_a_range_and_the_next_nack_share_an_sdu_as_in_the_example() -> None:
    holes = [Hole(0, 20), Hole(1), Hole(2, 0, 9), Hole(2, 20, 29)]
    report = Writer(12, MERGING, random.Random(SEED)).write(holes, 3, 100)
    assert report == Report(3, (Nack(0, 20, 9, 3), Nack(2, 20, 29)))
    assert read_report(12, write_report(12, report)) == report
    assert touches(report)

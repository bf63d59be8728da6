"""Drills, each bounded in time: floods of every kind, spoofed and of real sources, replayed proofs, tables that are too
small, floods that come and go. In each, people connect for the first time, and a connection was there before."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from _tools import ROOT, say
from bed import SERVER_IPV4, WEB_PORT, Bed, crowd_ipv4
from crowd import Crowd, Running
from ends import Link
from flood import Flood
from guarded import QUICK, Guard, resident_bytes
from protectors import carries
from provers import Provers
from report import Report

PEOPLE, PAUSE_S, PATIENCE_S = 100, 0.025, 5.0
SUCCESS_PERCENT = 99
PAUSE_US = 50  # some 10,000 a second: no wire is full
FLAT_BYTES = 4 << 20
KINDS = ("syn", "ack", "rst", "syn-ack")
REAL_SOURCE = "10.78.250.250"  # the client's own: its kernel answers what comes to it
MODES = ("auth", "proxy")
SMALL_SOURCES, SMALL_FLOWS = 1024, 256
WAVES, ON_S, OFF_S = 8, 0.7, 1.6
# Rests a second after the flood at first; longer each time that it arms again within the next 8.
WAVE = QUICK | {"rearm_seconds": 8, "max_hold_seconds": 16}


@dataclass
class Found:
    crowd: Crowd
    old: bool
    half_open: int
    grown_bytes: int
    armings: int


class Drill:
    """A bed, a guard and someone who was there before."""

    def __init__(self, mode: str, arm: str, each: dict | None = None, **settings: object):
        self.mode, self.arm, self.each, self.settings = mode, arm, each or QUICK, settings

    def __enter__(self) -> Drill:
        self.stack = ExitStack()
        with self.stack:
            self.bed = self.stack.enter_context(Bed(ROOT / "out" / "accept-guard", "drill"))
            guard = Guard(self.bed, self.mode, self.arm, each=self.each, **self.settings)
            self.guard = self.stack.enter_context(guard)
            numbers = itertools.count()
            self.new = lambda: crowd_ipv4(next(numbers))
            self.old = self.stack.enter_context(Link(self.bed, self.new(), patience_s=PATIENCE_S))
            assert self.old.get(1000)
            self.crowd(20)  # what a process touches for the first time is not growth
            self.before = resident_bytes(self.guard.pid)
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def crowd(self, people: int = PEOPLE) -> Crowd:
        sources = [self.new() for _ in range(people)]
        return Running(self.bed, sources, SERVER_IPV4, WEB_PORT, PAUSE_S, PATIENCE_S).result()

    def look(self) -> Found:
        """With people who come now."""
        crowd = self.crowd()
        half_open, old = self.bed.half_open(), carries(self.old)
        grown = resident_bytes(self.guard.pid) - self.before
        assert self.guard.alive()
        return Found(crowd, old, half_open, grown, self.guard.servers()["web"]["armings"])


def judge(report: Report, name: str, found: Found, backlog: int, why: str, needs_success: bool = True) -> None:
    text = f"{found.crowd}; old connection {'carries' if found.old else 'is dead'}; {found.half_open} half-open at the "
    text += f"server, memory grew by {found.grown_bytes / (1 << 20):.1f} MiB, armed {found.armings} times"
    enough = found.crowd.success >= SUCCESS_PERCENT or not needs_success
    good = enough and found.old and found.half_open < backlog * 3 / 4 and found.grown_bytes < FLAT_BYTES
    success = f">={SUCCESS_PERCENT}% of the new, " if needs_success else ""
    report.judge(name, text, f"{success}the old connection, no half-open flood, memory flat", good, why)


def floods(report: Report) -> None:
    for mode, kind, source in itertools.product(MODES, KINDS, ("", REAL_SOURCE)):
        name = f"guard_drill_{kind}_flood_{'real' if source else 'spoofed'}_{mode}"
        say(name)
        with Drill(mode, "auto" if kind == "syn" else "always") as drill:
            with Flood(drill.bed, kind, seconds=20, pause_us=PAUSE_US, source=source) as flood:
                time.sleep(1)
                found = drill.look()
            taken = sum(worker["received"] for worker in drill.guard.workers())
            rate = flood.sent / flood.seconds
            why = f"{flood.sent} segments of the flood, {rate:.0f}/s; the guard received {taken} packets"
            judge(report, name, found, drill.bed.backlog, why)


def replays(report: Report) -> None:
    """A proof holds for its own source and port, under two keys and no longer."""
    for mode in MODES:
        name = f"guard_drill_replay_{mode}"
        say(name)
        with Drill(mode, "always") as drill, Provers(drill.bed) as provers:
            accepted = "proved_rst" if mode == "auth" else "connected"

            def proofs(accepted: str = accepted, drill: Drill = drill) -> int:
                return drill.guard.outcomes()["from_clients"][accepted]

            def rotations(count: int, drill: Drill = drill) -> Callable[[], None]:
                return lambda: [drill.guard.rotate() for _ in range(count)]

            counts = {}
            for at, (what, between) in enumerate(
                {"fresh": rotations(0), "one_rotation": rotations(1), "two_rotations": rotations(2)}.items()
            ):
                before = proofs()
                asked = provers.asked_and_proven(list(range(100 * at, 100 * at + 50)), mode, between)
                counts[what] = (proofs() - before, asked)
            answers = provers.ask(list(range(1000, 1050)))
            before = proofs()
            shifted = {number + 500: answer for number, answer in answers.items()}
            provers.prove(shifted, mode)
            provers.prove(answers, mode, off_by=1)
            time.sleep(0.2)
            counts["of_another"] = (proofs() - before, 2 * len(answers))
            text = ", ".join(f"{what} {good} of {asked}" for what, (good, asked) in counts.items())
            good = all(counts[what] == (50, 50) for what in ("fresh", "one_rotation"))
            good = good and counts["two_rotations"] == (0, 50) and counts["of_another"] == (0, 100)
            target = "all under the two live keys, none under an older one, none for another source or number"
            report.judge(name, text, target, good, "proofs of hosts that answer late")


def full_tables(report: Report) -> None:
    """Attackers with real addresses fill what the guard remembers. Those who were there before stay."""
    name = "guard_drill_allow_list_full"
    say(name)
    with Drill("auth", "always", sources={"entries": SMALL_SOURCES}) as drill, Provers(drill.bed) as provers:
        asked = provers.asked_and_proven(list(range(4 * SMALL_SOURCES)), "auth")
        found, counts = drill.look(), drill.guard.show()["sources"]
        why = f"{asked} attackers proved themselves for {SMALL_SOURCES} places: {counts}"
        judge(report, name, found, drill.bed.backlog, why)
    name = "guard_drill_flow_table_full"
    say(name)
    flows = {"entries": SMALL_FLOWS, "connecting_seconds": 1, "established_seconds": 15}
    with Drill("proxy", "always", flows=flows) as drill, Provers(drill.bed) as provers:
        with ExitStack() as stack:
            busy = [stack.enter_context(Link(drill.bed, drill.new(), patience_s=PATIENCE_S)) for _ in range(20)]
            asked = provers.asked_and_proven(list(range(4 * SMALL_FLOWS)), "proxy")
            alive = sum(carries(link) for link in busy)
            counts = drill.guard.show()["flows"]
        full = drill.crowd(20)
        why = f"{asked} attackers for {SMALL_FLOWS} places, {full.answered} of {full.tried} new meanwhile; {counts}"
        report.judge(f"{name}_established", f"{alive} of 20 carry", "20 of 20", alive == 20, why)
        for _ in range(flows["established_seconds"] + 2):  # the attackers are silent, the old connection is not
            assert carries(drill.old)
            time.sleep(1)
        judge(report, f"{name}_after", drill.look(), drill.bed.backlog, "once the attackers' silent flows are too old")


def square_wave(report: Report) -> None:
    for mode in MODES:
        name = f"guard_drill_square_wave_{mode}"
        say(name)
        with Drill(mode, "auto", WAVE) as drill:
            sources = [drill.new() for _ in range(PEOPLE)]
            pause = WAVES * (ON_S + OFF_S) / PEOPLE
            crowd = Running(drill.bed, sources, SERVER_IPV4, WEB_PORT, pause, PATIENCE_S)
            for _ in range(WAVES):
                with Flood(drill.bed, seconds=ON_S, pause_us=PAUSE_US):
                    time.sleep(ON_S)
                time.sleep(OFF_S)
            people, server = crowd.result(), drill.guard.servers()["web"]
            text = f"armed {server['armings']} times in {WAVES} waves, holds {server['hold_seconds']} s now; {people}"
            good = 1 <= server["armings"] <= WAVES // 2 and people.success >= SUCCESS_PERCENT and carries(drill.old)
            target = f"<={WAVES // 2} times, >={SUCCESS_PERCENT}% of the new, the old connection"
            why = f"{ON_S} s of flood, {OFF_S} s of none; it would rest after a second if it did not remember"
            report.judge(name, text, target, good, why)


def items(report: Report) -> None:
    for drill in (floods, replays, full_tables, square_wave):
        drill(report)

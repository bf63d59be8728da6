"""Our entities behind rlc_tool, a link that loses, repeats and reorders, and what the seed of a run means."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from rlc_foreign_pdu import Illegal


class Tool:
    """Our entities: one line in, one line out. `lines` is the run so far, for rlc_tool's standard input."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self.keep = False

    def ask(self, line: str) -> dict:
        assert self.process.stdin is not None and self.process.stdout is not None
        if self.keep:
            self.lines.append(line)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise Illegal(f"rlc_tool ended with {self.process.wait()} at: {line[:200]}")
        return json.loads(answer)

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@dataclass
class Link:
    """One direction. Losses come alone, or in bursts of `burst` ms; `spread` reorders."""

    rng: random.Random
    loss: float
    burst: int
    repeat: float
    delay: int
    spread: int
    in_flight: list[tuple[int, int, bytes]] = field(default_factory=list)
    bad: bool = False
    carried: int = 0

    def tick(self) -> None:
        """A burst ends with its time, not with its PDUs: else one poll after the other falls into the same."""
        if self.burst:
            leave = 1 / self.burst
            enter = leave * self.loss / (1 - self.loss)
            self.bad = self.rng.random() >= leave if self.bad else self.rng.random() < enter

    def lost(self) -> bool:
        return self.bad if self.burst else self.rng.random() < self.loss

    def put(self, pdu: bytes, now: int) -> None:
        self.carried += 1
        if self.lost():
            return
        for _ in range(2 if self.rng.random() < self.repeat else 1):
            at = now + self.delay + self.rng.randint(0, self.spread)
            self.in_flight.append((at, self.carried, pdu))

    def due(self, now: int) -> list[bytes]:
        ready = sorted(item for item in self.in_flight if item[0] <= now)
        self.in_flight = [item for item in self.in_flight if item[0] > now]
        return [pdu for _, _, pdu in ready]


@dataclass(frozen=True)
class Plan:
    """What one seed means. Times are milliseconds."""

    bits: int
    sizes: tuple[int, int]
    sdus: int
    grants: tuple[int, int]
    report_grants: tuple[int, int]
    grants_a_tick: int
    start: int  # first SN, the same both ways
    delay: int
    spread: int
    t_reassembly: int
    t_prohibit: int
    t_poll: int
    poll_pdu: int
    poll_byte: int
    offered_a_tick: int

    @staticmethod
    def drawn(rng: random.Random) -> Plan:
        bits = rng.choice((12, 18))
        sizes = rng.choice(((1, 40), (20, 200), (40, 1500), (1, 1500), (1000, 9000)))
        grants = {
            (1, 40): (6, 40),
            (20, 200): (10, 120),
            (40, 1500): (40, 700),
            (1, 1500): (60, 1600),
            (1000, 9000): (300, 3000),
        }[sizes]
        sdus, a_tick = rng.randint(8, 48), rng.randint(1, 4)
        if bits == 12 and rng.random() < 0.03:  # more than the window, so that it stalls
            sizes, grants, sdus, a_tick = (1, 4), (12, 40), 2600, 80
        delay = rng.randint(1, 6)
        spread = rng.choice((0, 0, 1, 3, 6))
        turn = 2 * (delay + spread) + 2
        t_prohibit = rng.choice((0, turn, turn, 2 * turn)) if delay + spread <= 2 else rng.choice((turn, 2 * turn))
        modulus = 1 << bits
        return Plan(
            bits=bits,
            sizes=sizes,
            sdus=sdus,
            grants=grants,
            report_grants=rng.choice(((3, 20), (3, 60), (8, 40), (200, 2000))),
            grants_a_tick=a_tick,
            start=rng.choice((0, modulus - rng.randint(1, 60))),
            delay=delay,
            spread=spread,
            t_reassembly=rng.choice((spread + 1, spread + 5, 20, 40)),
            t_prohibit=t_prohibit,
            t_poll=turn + t_prohibit + rng.randint(5, 60),
            poll_pdu=rng.choice((4, 16, 64, 1000)),
            poll_byte=rng.choice((1000, 25000, 1 << 30)),
            offered_a_tick=rng.choice((1, 3, 10000)),
        )

    @property
    def patience(self) -> int:
        """Milliseconds without any progress after which a run hangs."""
        return 1000 + 40 * (self.t_poll + self.t_reassembly + self.t_prohibit)

"""Real transport blocks for layer 1: MAC PDUs that wire_emit wrote, padded as TS 38.321 says to a legal size."""

from __future__ import annotations

import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tb_sizes import MAX_PRBS, MCS_COUNTS, Shape, rows

ROOT = Path(__file__).resolve().parents[2]
WIRE_EMIT = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release")) / "wire_emit"
PADDING = 63


@dataclass(frozen=True)
class Block:
    table: int
    mcs: int
    prbs: int
    octets: bytes

    def line(self) -> str:
        return f"{self.table} {self.mcs} {self.prbs} {self.octets.hex()}"


def mac_pdus(seed: int, count: int) -> list[tuple[bytes, bool]]:
    """PDUs, and whether padding ends them already."""
    run = subprocess.run(
        [WIRE_EMIT, "emit", str(seed), str(count)], capture_output=True, text=True, check=True, timeout=60
    )
    found = []
    for line in run.stdout.splitlines():
        kind, *words = line.split()
        if kind == "mac":
            told = dict(word.split("=", 1) for word in words)
            found.append((bytes.fromhex(told["pdu"]), told["lcid"].split(",")[-1] == str(PADDING)))
    return found


def blocks(count: int, seed: int = 1, most_prbs: int = 60) -> list[Block]:
    """At most `count` blocks of all tables and modulations: an MCS is drawn, then PRBs that hold the PDU."""
    choose = random.Random(seed)
    shapes = {table: rows(Shape(table)) for table in MCS_COUNTS}
    out = []
    for pdu, padded in mac_pdus(seed, count):
        table = choose.choice(list(MCS_COUNTS))
        mcs = choose.randrange(MCS_COUNTS[table])
        sizes = shapes[table][mcs].sizes
        fits = [n + 1 for n in range(MAX_PRBS) if sizes[n] // 8 >= len(pdu)]
        if not fits or fits[0] > most_prbs:
            continue
        prbs = choose.randint(fits[0], most_prbs)
        rest = sizes[prbs - 1] // 8 - len(pdu)
        filler = b"" if rest == 0 else bytes(rest) if padded else bytes([PADDING]) + bytes(rest - 1)
        out.append(Block(table, mcs, prbs, pdu + filler))
        if len(out) == count:
            break
    return out

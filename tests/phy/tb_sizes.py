"""tb_size_tool: sizes of transport blocks as the product computes them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release")) / "tools" / "tb_size_tool"
MAX_PRBS = 275
MCS_COUNTS = {1: 29, 2: 28, 3: 29}


@dataclass(frozen=True)
class Shape:
    table: int = 1
    layers: int = 1
    symbols: int = 13
    dmrs: int = 12
    overhead: int = 0

    @property
    def res_per_prb(self) -> int:
        """N'_RE, which a size takes 156 of at most."""
        return 12 * self.symbols - self.dmrs - self.overhead

    def words(self) -> str:
        return f"{self.table} {self.layers} {self.symbols} {self.dmrs} {self.overhead}"


@dataclass(frozen=True)
class Row:
    """One MCS: bits a symbol, code rate, and the bits of TBs of 1, 2, ... 275 PRBs."""

    bits: int
    rate: Fraction
    sizes: list[int]


def ask(requests: list[str]) -> list[list[int]]:
    run = subprocess.run(
        [TOOL], input="\n".join(requests) + "\n", capture_output=True, text=True, check=True, timeout=120
    )
    return [[int(word) for word in line.split()] for line in run.stdout.splitlines()]


def rows(shape: Shape) -> list[Row]:
    answers = ask([f"sizes {shape.words()} {mcs}" for mcs in range(MCS_COUNTS[shape.table])])
    return [Row(bits, Fraction(rate, 2048), sizes) for bits, rate, *sizes in answers]


def fewest_prbs(shape: Shape, mcs: int, octets: int) -> int:
    return ask([f"prbs {shape.words()} {mcs} {octets}"])[0][0]

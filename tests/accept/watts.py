"""`make accept PART=watts`: `budget` beside every other policy over a grid of loads, the papers' figures of power by
replay and model, the sensors and governors on trees of files, and replay beside what was measured.

Each module _watts_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import sys
from pathlib import Path

from report import run_modules

TESTS = Path(__file__).resolve().parent.parent


def main() -> int:
    sys.path[:0] = [str(TESTS / "power"), str(TESTS / "demo")]
    return run_modules("watts", "DPDK's files and the vhost socket")

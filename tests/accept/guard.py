"""`make accept PART=guard`: the SYN-flood guard between real Linux ends, beside what else may protect a server; its
rates, its cost, drills, and the judge of octets.

Each module _guard_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from report import Report, run_modules

TESTS = Path(__file__).resolve().parent.parent


def main() -> int:
    if (os.cpu_count() or 1) < 2:
        Report().skip("all", "-", "needs two cores: one for the traffic, one for the guard")
        return 1
    sys.path[:0] = [str(TESTS / name) for name in ("guard", "e2e", "power", "demo")]
    return run_modules("guard", "network namespaces and raw sockets")

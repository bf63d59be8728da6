"""`make accept PART=p4`: the card's P4 programs: compilers, coverage, both ways to run them, their speed, and what they
do with VFs, VLANs, leases and order.

Each module _p4_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import sys
from pathlib import Path

from report import run_modules

TESTS = Path(__file__).resolve().parent.parent


def main() -> int:
    sys.path[:0] = [str(TESTS / "demo")]
    return run_modules("p4", "namespaces, hugepages")

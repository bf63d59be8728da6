"""`make accept PART=nic`: card and host as one, its VFs, its cost, its death and return, and what it refuses.

Each module _nic_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import sys
from pathlib import Path

from report import run_modules

TESTS = Path(__file__).resolve().parent.parent


def main() -> int:
    sys.path[:0] = [str(TESTS / "demo")]
    return run_modules("nic", "namespaces, hugepages")

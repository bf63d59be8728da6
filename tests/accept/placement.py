"""`make accept PART=placement`: bearers that move, the share on the card, spill, and the model of a real card.

Each module _placement_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import sys
from pathlib import Path

from report import run_modules

TESTS = Path(__file__).resolve().parent.parent


def main() -> int:
    sys.path[:0] = [str(TESTS / "demo")]
    return run_modules("placement", "namespaces, hugepages")

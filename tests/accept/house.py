"""`make accept PART=house`: rooms that a stranger finds the way in: counts of the source tree, each with its rule;
the speed before and after; pages; cold builds.

Each module _house_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

from report import run_modules


def main() -> int:
    return run_modules("house")

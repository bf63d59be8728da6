"""`make accept PART=mended`: what an outside check of the first round found, one line each: what it was, and that the
test which showed it passes now.

Each module _mended_*.py beside this file holds the items of one area, in its function items(report).
"""

from __future__ import annotations

from report import run_modules


def main() -> int:
    return run_modules("mended", "namespaces, hugepages")

"""`make accept PART=full`: full mode, from SDUs to transport blocks and back: what it costs, what it survives.

Each module _full_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

from report import run_modules


def main() -> int:
    return run_modules("full", "namespaces, hugepages")

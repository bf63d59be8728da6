"""`make accept PART=rlc`: RLC exact and fast: what it costs, what it holds, what it survives, what its judges say.

Each module _rlc_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

from report import run_modules


def main() -> int:
    return run_modules("rlc", "namespaces, hugepages")

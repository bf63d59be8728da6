"""`make accept PART=pdcp`: PDCP and SDAP with security: what others say of them, and what they cost.

Each module _pdcp_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

from report import run_modules


def main() -> int:
    return run_modules("pdcp", "namespaces, hugepages")

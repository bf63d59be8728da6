"""`make accept PART=operate`: GTP-U complete, live view, explain, taps, traffic with a checking sink, telemetry.

Each module _operate_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

from report import run_modules


def main() -> int:
    return run_modules("operate", "namespaces, AF_PACKET, hugepages")

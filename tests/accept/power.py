"""`make accept PART=power`: what each power policy costs and adds on a real pair of processes, and the rules it keeps.

Each module _power_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from report import Report, run_modules

TESTS = Path(__file__).resolve().parent.parent


def main() -> int:
    if (os.cpu_count() or 1) < 2:
        Report().skip("all", "-", "needs two cores: one for the traffic, one for the device")
        return 1
    sys.path[:0] = [str(TESTS / "power"), str(TESTS / "demo")]
    return run_modules("power", "DPDK's files and the vhost socket")

"""`make accept PART=rlc`: RLC exact and fast: what it costs, what it holds, what it survives, what its judges say.

Each module _rlc_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from report import Report


def main() -> int:
    report = Report()
    if os.geteuid() != 0:
        report.skip("all", "-", "needs root: namespaces, hugepages")
        return 1
    for path in sorted(Path(__file__).parent.glob("_rlc_*.py")):
        importlib.import_module(path.stem).items(report)
    return report.exit_code()

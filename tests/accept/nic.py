"""`make accept PART=nic`: card and host as one, its VFs, its cost, its death and return, and what it refuses.

Each module _nic_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path

from report import Report

TESTS = Path(__file__).resolve().parent.parent


def main() -> int:
    report = Report()
    if os.geteuid() != 0:
        report.skip("all", "-", "needs root: namespaces, hugepages")
        return 1
    sys.path[:0] = [str(TESTS / "demo")]
    for path in sorted(Path(__file__).parent.glob("_nic_*.py")):
        try:
            importlib.import_module(path.stem).items(report)
        except Exception as failed:  # what one module needs and did not get must not hide the others
            traceback.print_exc()
            name = path.stem.removeprefix("_")
            report.judge(
                f"{name}_to_its_end", type(failed).__name__, "every item judged", False, str(failed)[:160] or "-"
            )
    return report.exit_code()

"""`make accept PART=operate`: GTP-U complete, live view, explain, taps, traffic with a checking sink, telemetry.

Each module _operate_*.py beside this file holds the items of one of them, in its function items(report).
"""

from __future__ import annotations

import importlib
import os
import traceback
from pathlib import Path

from report import Report


def main() -> int:
    report = Report()
    if os.geteuid() != 0:
        report.skip("all", "-", "needs root: namespaces, AF_PACKET, hugepages")
        return 1
    for path in sorted(Path(__file__).parent.glob("_operate_*.py")):
        try:
            importlib.import_module(path.stem).items(report)
        except Exception as failed:  # what one module needs and did not get must not hide the others
            traceback.print_exc()
            name = path.stem.removeprefix("_operate_")
            report.judge(
                f"{name}_to_its_end", type(failed).__name__, "every item judged", False, str(failed)[:160] or "-"
            )
    return report.exit_code()

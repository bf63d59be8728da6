"""`make accept PART=gpu`: host bypass on CPU threads against the soft NIC, the kernels as far as a compiler can tell,
and the figures of the GPU paper.

Each module _gpu_*.py beside this file holds some of the items, in its function items(report).
"""

from __future__ import annotations

import importlib
import traceback
from pathlib import Path

from report import Report


def main() -> int:
    report = Report()
    for path in sorted(Path(__file__).parent.glob("_gpu_*.py")):
        try:
            importlib.import_module(path.stem).items(report)
        except Exception as failed:  # what one module needs and did not get must not hide the others
            traceback.print_exc()
            name = path.stem.removeprefix("_")
            report.judge(
                f"{name}_to_its_end", type(failed).__name__, "every item judged", False, str(failed)[:160] or "-"
            )
    return report.exit_code()

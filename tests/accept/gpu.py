"""`make accept PART=gpu`: host bypass on CPU threads against the soft NIC, the kernels as far as a compiler can tell,
and the figures of the GPU paper.

Each module _gpu_*.py beside this file holds some of the items, in its function items(report). The CUDA programs are
built first: where there is a GPU, the matrix runs on it.
"""

from __future__ import annotations

from report import run_modules


def main() -> int:
    return run_modules("gpu")

"""nvcc.py LEAST: prints the machine's own nvcc, of version LEAST ("13.0") or later; exit code 1 if there is none.

Looks at $CUDACXX, then at PATH, then at CUDA's usual place. Python's own library
only: the kit for a bare machine has it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys


def version(compiler: str) -> tuple[int, int]:
    """As it says of itself; (0, 0) if it says nothing."""
    try:
        said = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0, 0
    found = re.search(r"release (\d+)\.(\d+)", said)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def find(least: tuple[int, int]) -> str | None:
    for candidate in (os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if candidate and os.access(candidate, os.X_OK) and version(candidate) >= least:
            return candidate
    return None


def main(words: list[str]) -> int:
    major, minor = words[0].split(".")
    found = find((int(major), int(minor)))
    print(found or "", end="")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

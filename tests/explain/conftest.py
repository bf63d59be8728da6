"""Where the program is, and a config and packets to explain; no privilege is needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(Path(__file__).resolve().parent)]


@pytest.fixture(scope="session")
def splitplane() -> Path:
    program = Path(os.environ.get("SPLITPLANE", ROOT / "build" / "release" / "splitplane"))
    if not program.exists():
        pytest.skip(f"SKIPPED: {program} is not built (make build WHAT=all)")
    return program

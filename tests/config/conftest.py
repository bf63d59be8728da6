"""Where the program is: $SPLITPLANE or the release build."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def splitplane() -> Path:
    program = Path(os.environ.get("SPLITPLANE", ROOT / "build" / "release" / "splitplane"))
    if not program.exists():
        pytest.skip(f"SKIPPED: {program} is not built (make build WHAT=all)")
    return program

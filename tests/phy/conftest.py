"""Puts this folder on the path, and skips what has no tool to talk to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from tb_sizes import TOOL


@pytest.fixture(scope="session", autouse=True)
def tool() -> None:
    if not TOOL.exists():
        pytest.skip(f"SKIPPED: {TOOL} is not built (make build WHAT=all)")

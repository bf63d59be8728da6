"""Where wire_emit is, and the PDUs that it wrote. Without it or without tshark the tests are skipped, and say why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

ROOT = Path(__file__).resolve().parents[2]
SEED = os.environ.get("SPLITPLANE_SEED", "1")
COUNT = os.environ.get("SPLITPLANE_ORACLE_COUNT", "200")

Pdu = dict[str, str]


@pytest.fixture(scope="session")
def wire_emit() -> Path:
    """The helper built from emit.cpp: $SPLITPLANE_BUILD or the release build."""
    build = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release"))
    program = build / "wire_emit"
    if not program.exists():
        pytest.skip(f"SKIPPED: {program} is not built (make build WHAT=all)")
    return program


@pytest.fixture(scope="session")
def pdus(wire_emit: Path) -> dict[str, list[Pdu]]:
    """By kind: what each writer was told, and under `pdu` what it wrote."""
    run = subprocess.run([str(wire_emit), "emit", SEED, COUNT], capture_output=True, text=True, timeout=60, check=True)
    out: dict[str, list[Pdu]] = defaultdict(list)
    for line in run.stdout.splitlines():
        kind, *words = line.split()
        out[kind].append(dict(word.split("=", 1) for word in words))
    return out


@pytest.fixture(scope="session")
def tshark() -> str:
    """The version of tshark."""
    if shutil.which("tshark") is None:
        pytest.skip("SKIPPED: tshark is not installed (make setup installs it)")
    return subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]


@pytest.fixture
def read_back(wire_emit: Path):
    """read_back("gtpu", [octets, ...]): what our parser reads in each, as a dictionary."""

    def call(parser: str, inputs: list[bytes]) -> list[Pdu]:
        text = "".join(f"{parser} {octets.hex() or '-'}\n" for octets in inputs)
        run = subprocess.run(
            [str(wire_emit), "parse"], input=text, capture_output=True, text=True, timeout=60, check=True
        )
        rows = [dict(word.split("=", 1) for word in line.split()) for line in run.stdout.splitlines()]
        assert len(rows) == len(inputs)
        return rows

    return call

"""What the end-to-end tests need: root, namespaces, the built programs. Without them they are skipped, and say why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "power"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "config"))
sys.path.insert(0, str(TESTS / "guard"))
sys.path[:0] = [str(Path(__file__).resolve().parent), *(str(TESTS / name) for name in ("", "oracle"))]
sys.path.append(str(TESTS / "live"))  # scrape.py

from paths import own  # noqa: E402
from processes import Processes  # noqa: E402


def pytest_configure():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: fixtures remove what they made


def _reason() -> str:
    if os.geteuid() != 0:
        return "needs root for network namespaces"
    probe = f"sp-core-{os.getpid()}-probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    subprocess.run(["ip", "netns", "del", probe], capture_output=True, check=False)
    return "" if made.returncode == 0 else f"cannot create network namespaces: {made.stderr.strip()}"


def pytest_collection_modifyitems(items):
    reason = _reason()
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter):
    if terminalreporter.stats.get("skipped"):
        terminalreporter.write_line(
            "SKIPPED end-to-end tests are not passed ones: run as root with namespaces", red=True, bold=True
        )


@pytest.fixture
def folder(request) -> Path:
    """out/e2e/<test>: logs, captures and statistics of this test, kept afterwards."""
    path = own("e2e") / request.node.name.replace("/", "_")
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture
def processes(folder):
    children = Processes(folder)
    yield children
    children.stop_all()

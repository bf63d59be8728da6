"""A running `splitplane run` with traffic, without namespaces: N3 replays a pcap of G-PDUs, the air swallows them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from live_gnb import LiveGnb, free_port  # noqa: E402
from paths import own  # noqa: E402
from processes import Processes, wait_until  # noqa: E402


@pytest.fixture(scope="module")
def folder(request) -> Path:
    """out/live/<module>: logs and configurations, kept afterwards."""
    path = own("live") / request.module.__name__.rpartition(".")[2]
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="module")
def processes(folder):
    if os.geteuid() != 0:
        pytest.skip("SKIPPED: needs root, as DPDK's files are in /run")
    children = Processes(folder)
    yield children
    children.stop_all()


@pytest.fixture(scope="module")
def gnb(folder, processes) -> LiveGnb:
    made = LiveGnb(folder, processes, metrics_port=free_port())
    made.start()
    wait_until("the worker to receive", lambda: made.stats()["workers"][0]["received"] > 20_000)
    return made

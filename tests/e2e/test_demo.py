"""The demo, interrupted in the middle of its traffic as by Ctrl-C: it says so and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from paths import ROOT, splitplane
from processes import run

PLACES = ("/run/splitplane", "/var/run/dpdk", "/dev/hugepages")


def traces() -> set[str]:
    """Files of the demo's instances: locks, sockets, DPDK's own."""
    folders = [Path(place) for place in PLACES if Path(place).is_dir()]
    return {str(path) for folder in folders for path in folder.iterdir() if path.name.startswith("splitplane-demo")}


def namespaces(demo: int) -> list[str]:
    names = [line.split()[0] for line in run(["ip", "netns", "list"]).stdout.splitlines() if line]
    return [name for name in names if name.endswith(f"-{demo}")]


def inside(names: list[str]) -> list[int]:
    return [int(pid) for name in names for pid in run(["ip", "netns", "pids", name], check=False).stdout.split()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing(folder, number):
    splitplane()
    with (folder / "demo.log").open("w+") as log:
        demo = subprocess.Popen(
            [sys.executable, "tests/demo/demo.py"], cwd=ROOT, stdout=log, stderr=log, start_new_session=True
        )
        try:
            end = time.monotonic() + 60
            while "curl: 20 MB to the UE" not in Path(log.name).read_text():
                assert demo.poll() is None and time.monotonic() < end, Path(log.name).read_text()
                time.sleep(0.05)
            made = namespaces(demo.pid)
            children = inside(made)
            assert len(made) == 3 and len(children) >= 4 and traces()
            os.killpg(demo.pid, number)  # a terminal sends Ctrl-C to the whole group
            assert demo.wait(30) == 128 + number
        finally:
            if demo.poll() is None:
                demo.kill()
                demo.wait()
    assert namespaces(demo.pid) == []
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []
    assert traces() == set()

"""The demo, interrupted or killed in the middle of its traffic: it leaves nothing behind that the next one minds."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from bypass import host_bypass
from checks import Checks, check_generated
from namespaces import inside, remove_stale
from paths import ROOT, splitplane
from processes import PATIENCE, run, wait_until

DEMO = [sys.executable, "tests/demo/demo.py"]
# The demo's instances have the names of the shipped files, so that one machine has room for one demo at a time.
ONE_DEMO = Path(tempfile.gettempdir()) / "splitplane-test-demo"
PLACES = ("/run/splitplane", "/var/run/dpdk", "/dev/hugepages")


@pytest.fixture
def only_demo():
    """Waits until no other run of the tests has a demo. What a demo killed long ago left is not this test's finding."""
    with ONE_DEMO.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in map(Path, traces()):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        yield


def traces() -> set[str]:
    """Files of the demo's instances: locks, sockets, DPDK's own."""
    folders = [Path(place) for place in PLACES if Path(place).is_dir()]
    return {str(path) for folder in folders for path in folder.iterdir() if path.name.startswith("splitplane-demo")}


def namespaces(demo: int) -> list[str]:
    names = [line.split()[0] for line in run(["ip", "netns", "list"]).stdout.splitlines() if line]
    return [name for name in names if name.endswith(f"-{demo}")]


def started(folder: Path) -> tuple[subprocess.Popen, list[int]]:
    """The demo in the middle of its traffic, and what it runs in its namespaces."""
    splitplane()
    log = folder / "demo.log"
    with log.open("w") as output:
        demo = subprocess.Popen(DEMO, cwd=ROOT, stdout=output, stderr=output, start_new_session=True)
    try:
        end = time.monotonic() + PATIENCE
        while "curl: 10 MB to the UE" not in log.read_text():
            assert demo.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        made = namespaces(demo.pid)
        children = [pid for name in made for pid in inside(name)]
        assert len(made) == 3 and len(children) >= 4 and traces()
    except BaseException:
        end_now(demo)
        raise
    return demo, children


def end_now(demo: subprocess.Popen):
    if demo.poll() is None:
        demo.kill()
        demo.wait()


def command(pid: int) -> str:
    """Empty if there is no such process, or only its exit code nobody asks for."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def runs_splitplane(pid: int) -> bool:
    """Whether the process is our program, wherever the checkout lies and whatever its name is."""
    try:
        return Path(f"/proc/{pid}/exe").readlink() == splitplane().resolve()
    except OSError:
        return False


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if command(pid)]


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)])
def test_an_interrupted_demo_leaves_nothing(folder, only_demo, number):
    demo, children = started(folder)
    try:
        second = subprocess.run(DEMO, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (second.returncode, second.stdout) == (1, "")
        assert "another `make demo`" in second.stderr and len(second.stderr.strip().splitlines()) == 1
        os.killpg(demo.pid, number)  # a terminal sends Ctrl-C to the whole group
        assert demo.wait(PATIENCE) == 128 + number
    finally:
        end_now(demo)
    assert namespaces(demo.pid) == []
    assert alive(children) == []
    assert traces() == set()


def test_what_a_killed_demo_started_ends_and_the_next_run_removes_its_namespaces(folder, only_demo, capsys):
    demo, children = started(folder)
    end_now(demo)
    wait_until("splitplane to end", lambda: not any(runs_splitplane(pid) for pid in children))
    assert len(namespaces(demo.pid)) == 3
    remove_stale()
    assert namespaces(demo.pid) == [] and alive(children) == []
    assert f"left by process {demo.pid}, which is gone" in capsys.readouterr().err
    assert traces() == set()


def verdict(sent: int, came: int, dropped: int, **more) -> bool:
    checks = Checks()
    sink = {"unique": came, "flows_seen": 1, "duplicates": 0, "reordered": 0, "too_old": 0}
    check_generated(checks, {"sent": sent, "refused": 0}, sink | more, dropped, 0.005)
    return checks.passed


def test_generated_packets_may_miss_where_the_gnb_counted_few_dropped():
    assert verdict(1000, 1000, 0) and verdict(1000, 995, 5)
    assert not verdict(1000, 994, 6)
    assert not verdict(1000, 995, 4) and not verdict(1000, 999, 0)
    assert not verdict(0, 0, 0) and not verdict(1000, 1000, 0, duplicates=1)


def test_the_demos_look_at_host_bypass_finds_every_packet_in_order():
    checks = Checks()
    rows = host_bypass(lambda text: None, checks)
    assert checks.passed, checks.done
    assert {(row[0], row[1]) for row in rows} == {
        (function, rings) for function in ("echo", "gnb-headers", "pdcp-nea2") for rings in (1, 4)
    }

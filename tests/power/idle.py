"""What an idle worker costs: `splitplane run` with one worker over ports on which nothing comes.

Run alone it prints the figures: .venv/bin/python tests/power/idle.py [POLICY]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0  # seconds for its start, and for its end


@dataclass(frozen=True)
class Idle:
    cpu_percent: float  # of a core, by the kernel's count of the worker's thread
    sleeps_per_second: float
    sleep_us: float  # mean


def measure(policy: object = "yield", seconds: float = 5.0, splitplane: Path | None = None) -> Idle:
    """Starts an instance, lets it be idle for a second, then looks twice."""
    program = splitplane or Path(os.environ.get("SPLITPLANE", ROOT / "build" / "release" / "splitplane"))
    prefix = f"sp-idle-{os.getpid()}"
    tree = {
        "file_prefix": prefix,
        "journal": "none",
        "memory": {"megabytes": 64, "mbufs": 2047, "hugepages": "never"},
        "ports": {"n3": {"device": "net_null0,no-rx=1"}, "air": {"device": "net_null1,no-rx=1"}},
        "n3": [{"port": "n3", "ipv4": "10.100.0.1"}],
        "air": [{"port": "air"}],
        "workers": {"w0": {"function": "gnb", "core": 0, "n3": "n3", "air": "air", "policy": policy}},
    }

    def stats() -> dict:
        answer = subprocess.run(
            [program, "ctl", "--json", "--prefix", prefix, "stats"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return json.loads(answer.stdout)

    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "idle.yaml"
        config.write_text(json.dumps(tree))
        child = subprocess.Popen([program, "run", config], stderr=subprocess.PIPE, text=True)
        too_late = threading.Timer(PATIENCE, child.kill)
        too_late.start()
        try:
            assert child.stderr is not None
            for line in child.stderr:
                if "serving" in line:
                    break
            too_late.cancel()
            assert child.poll() is None, "it did not start"
            time.sleep(1)
            before, begin = stats(), time.monotonic()
            time.sleep(seconds)
            after, passed = stats(), time.monotonic() - begin
        finally:
            too_late.cancel()
            child.terminate()
            try:
                child.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                raise
    one, two = before["workers"][0], after["workers"][0]
    sleeps = two["sleeps"] - one["sleeps"]
    asleep = two["cycles"]["asleep"] - one["cycles"]["asleep"]
    cpu = two["cpu_cycles"] - one["cpu_cycles"]
    hertz = after["tsc_hz"]
    return Idle(100 * cpu / (hertz * passed), sleeps / passed, 1e6 * asleep / hertz / max(1, sleeps))


if __name__ == "__main__":
    print(measure(*sys.argv[1:2]))

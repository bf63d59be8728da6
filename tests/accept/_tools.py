"""What every part of `make accept` uses: running a command with a time limit, and saying what is under way."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable


def run(command: list, timeout: float, **environment: str) -> tuple[int, str, float]:
    """Exit code, output and seconds; a run that outlasts `timeout` counts as exit code 124."""
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            env=os.environ | environment,
        )
        return done.returncode, done.stdout, time.monotonic() - begin
    except subprocess.TimeoutExpired as late:
        return 124, str(late.stdout or ""), time.monotonic() - begin


def say(text: str) -> None:
    print(f"accept: {text} ...", file=sys.stderr, flush=True)


def last_line(output: str) -> str:
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no output"


def load_bench():
    spec = importlib.util.spec_from_file_location("bench_run", ROOT / "bench" / "run.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


QUIET_REPEATS, MOST_REPEATS = 5, 15


def quiet_results(program: Path, seconds: float) -> tuple[list[dict], str]:
    """Results of a bench's quiet repeats, or of all if too few were; and why they should not be believed."""
    bench = load_bench()
    results: list[dict] = []
    quiet: list[dict] = []
    for _ in range(MOST_REPEATS):
        load = bench.other_load()
        status, output, _ = run([program], seconds)
        if status != 0:
            return [], last_line(output)
        results.append(json.loads(output[output.index("{") :]))
        if load <= bench.MAX_OTHER_LOAD and results[-1]["jitter_percent"] <= bench.MAX_JITTER_PERCENT:
            quiet.append(results[-1])
        if len(quiet) == QUIET_REPEATS:
            return quiet, ""
    return quiet or results, f"only {len(quiet)} of {len(results)} repeats on a quiet machine"

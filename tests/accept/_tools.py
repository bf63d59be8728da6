"""What every part of `make accept` uses: running a command with a time limit, and saying what is under way."""

from __future__ import annotations

import importlib.util
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

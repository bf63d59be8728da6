"""Ready for the day a GPU is lent: the kit where nothing else is, and the plan of commands against a fake runner."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from _gpu_device import FUNCTIONS, MODES
from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

KIT = ROOT / "build" / "gpu-kit"
NAMED = {"gpu_info", "device_check", "programs_on_a_gpu", "gpu_run_on_a_gpu"}
NAMED |= {f"smoke_{name.replace('-', '_')}" for name in (*MODES, *FUNCTIONS)}
SKIPPED = 77
PACKED = (
    "src", "bench", "cmake", "setup", "CMakeLists.txt", "CMakePresets.json", "tests/accept", "tests/gpu/kit",
    "tests/gpu/cuda",
)  # fmt: skip


def no_kit() -> str:
    """Why there is no kit of this source, or nothing."""
    if not (KIT / "run").exists():
        return "build/gpu-kit is not here: make gpu-kit"
    packed = (KIT / "commit").read_text().strip()
    code, _, _ = run(["git", "diff", "--quiet", packed, "--", *PACKED], 60)
    return f"build/gpu-kit is of commit {packed[:10]}, and its source has changed: make gpu-kit" if code == 1 else ""


def kit_without_network(report: Report) -> None:
    name = "kit_without_network"
    target = "empty environment, no network: info, checks, smoke run or are named, exit 77 without a GPU"
    script = ROOT / "setup" / "gpu_kit_check.sh"
    why = no_kit() or ("" if os.geteuid() == 0 else "needs root, for a root of its own")
    if why or not script.exists():
        report.skip(name, target, why or "setup/gpu_kit_check.sh is not here")
        return
    say("the kit where nothing else is")
    code, output, seconds = run([script, "smoke"], 300)
    found = dict(re.findall(r"^(\S+) measured=.* verdict=(\S+) reason=", output, re.MULTILINE))
    short = [item for item, verdict in found.items() if verdict == "short"]
    missing = sorted(NAMED - set(found))
    good = code in (0, SKIPPED) and not short and not missing
    why = f"short: {', '.join(short)}; not named: {', '.join(missing)}" if short or missing else last_line(output)
    report.judge(
        name, f"exit {code} after {seconds:.0f} s, {len(found)} items, {len(short)} short", target, good,
        "" if good else why,
    )  # fmt: skip


def plan_dry_run(report: Report) -> None:
    name, target = "plan_dry_run", "45 minutes, 10 minutes a command: cut off, busy, hung, no row lost"
    test = ROOT / "tests" / "gpu" / "test_gpu_session.py"
    if not test.exists() or importlib.util.find_spec("pytest") is None:
        report.skip(name, target, "no pytest here" if test.exists() else "tests/gpu/test_gpu_session.py is not here")
        return
    say("the plan for a lent GPU against a fake runner")
    code, output, _ = run([PYTHON, "-m", "pytest", test, "-q"], 300)
    report.judge(name, last_line(output), target, code == 0, "" if code == 0 else last_line(output))


def plan_with_the_kit(report: Report) -> None:
    """All of the plan's commands with the kit as it is packed; without a GPU each says so."""
    name, target = "plan_with_the_kit", "every command answers 0 or 77, all within 2700 s, none beyond 600 s"
    tool, runner = ROOT / "tools" / "gpu_session.py", ROOT / "tests" / "gpu" / "fake_runner.py"
    if why := no_kit():
        report.skip(name, target, why)
        return
    if not tool.exists() or not runner.exists():
        report.skip(name, target, "tools/gpu_session.py or its fake runner is not here")
        return
    if Path("/dev/nvidiactl").exists():
        report.skip(name, target, "here is a GPU: the plan itself is run, tools/gpu_session.py")
        return
    say("the plan with the kit")
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        played = f"{sys.executable} {runner} {folder}/room"
        code, output, seconds = run([PYTHON, tool, "--runner", played, "--kit", KIT, results], 600)
        done = json.loads((results / "session.json").read_text()) if (results / "session.json").exists() else []
    steps = ", ".join(f"{step['name']} {step['rc']} {step['wall_s']:.0f}s" for step in done)
    good = code in (0, SKIPPED) and len(done) >= 5
    report.judge(name, f"{seconds:.0f} s: {steps}", target, good, "" if good else last_line(output))


def items(report: Report) -> None:
    kit_without_network(report)
    plan_dry_run(report)
    plan_with_the_kit(report)

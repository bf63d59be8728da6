"""The rules that every policy keeps, by the unit tests, and what a simulated core says of the same rates (no watts)."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from _tools import ROOT, last_line, run, say
from figures import rate_name
from pair import POLICIES
from report import Report

BUILD = ROOT / "build" / "release"
RATES = (1_000, 10_000, 100_000, 1_000_000)
SIMULATED_SECONDS = 10
SPEED_RATE, SPEED_SECONDS, SPEED_TRIES = 1_000, 100, 3
SPEED = 1000  # times faster than real time

CYCLES = 100_000
# Item, program, tests, what must hold.
ITEMS = (
    ("power_algorithm_1_lines", "power_test", "Paper.line*", "every line of Algorithm 1"),
    ("power_algorithm_1_completions", "power_test", "Paper.*completion*", "what it leaves undefined"),
    ("power_properties", "power_test", "*Property.*", "no sleep with work, past a timer or a budget; no oscillation"),
    ("power_policies", "power_test", "*", "every test passes"),
    ("power_simulated_core", "replay_test", "*", "every test passes"),
)


def tests(report: Report, item: str, program: str, chosen: str, target: str, **environment: str) -> None:
    path = BUILD / program
    if not path.exists():
        report.skip(item, target, f"{path.relative_to(ROOT)} is not built")
        return
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [path, f"--gtest_filter={chosen}", f"--gtest_output=json:{results}"]
        status, output, seconds = run(command, 300, **environment)
        said = longest_waits(results)
    passed = re.search(r"\[  PASSED  \] (\d+) test", output)
    count = int(passed.group(1)) if passed else 0
    met = status == 0 and count > 0
    report.judge(item, f"{count} tests{said}", target, met, f"{seconds:.1f} s" if met else last_line(output))


def longest_waits(results: Path) -> str:
    """What tests recorded of the longest time that a packet waited."""
    if not results.exists():
        return ""
    cases = [case for suite in json.loads(results.read_text())["testsuites"] for case in suite["testsuite"]]
    waits = [case["longest_us"] for case in cases if "longest_us" in case]
    return f", longest wait {' and '.join(waits)} us" if waits else ""


def replay(rate: int, seconds: int, *options: str) -> list[dict] | str:
    """Each policy's results; or what it said instead."""
    command = [BUILD / "splitplane", "power", "replay", "--arrivals", "poisson", "--rate", str(rate)]
    status, output, _ = run([*command, "--duration", str(seconds), "--policy", "all", "--json", *options], 120)
    return json.loads(output)["policies"] if status == 0 else last_line(output)


def simulated(report: Report, rate: int) -> None:
    name = f"power_simulated_{rate_name(rate)}"
    found = replay(rate, SIMULATED_SECONDS)
    if isinstance(found, str):
        report.judge(name, "none", "every policy", False, found)
        return
    cells = [
        f"{one['policy']} active {one['active']:.1%} added p50 {one['added_us']['p50']:.3g} p99 "
        f"{one['added_us']['p99']:.3g} max {one['added_us']['max']:.3g} us lost {one['lost']}"
        for one in found
    ]
    complete = [one["policy"] for one in found] == list(POLICIES)
    why = "simulated core with stated costs, Poisson; no measurement"
    report.judge(name, "; ".join(cells), "every policy", complete, why)


def items(report: Report) -> None:
    say("power: the rules of the policies, and 100,000 sleeps")
    for item in ITEMS:
        tests(report, *item)
    bound = "no packet lost, none waits for the sleep's own end"
    name = f"power_{CYCLES}_sleep_wake_cycles"
    tests(report, name, "datapath_test", "*sleep_wake*", bound, SPLITPLANE_SLEEP_CYCLES=str(CYCLES))
    say("power: simulated core")
    for rate in RATES:
        simulated(report, rate)
    speed(report)


def speed(report: Report) -> None:
    """Of the slowest policy, in the best of some tries: the machine only ever makes it worse."""
    name, best, who = "power_simulation_speed", 0.0, ""
    for _ in range(SPEED_TRIES):
        found = replay(SPEED_RATE, SPEED_SECONDS)
        if isinstance(found, str):
            report.judge(name, "none", f">={SPEED}x", False, found)
            return
        faster, policy = min((one["simulated_s"] / one["real_s"], one["policy"]) for one in found)
        if faster > best:
            best, who = faster, policy
    why = f"{who}, the slowest policy, at {rate_name(SPEED_RATE)} packets/s, best of {SPEED_TRIES}"
    report.at_least(name, best, SPEED, "x", why)

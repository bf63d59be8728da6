"""The rules that every policy keeps, by the unit tests, and what a simulated core says of the same rates (no watts)."""

from __future__ import annotations

import json
import re

from _tools import ROOT, last_line, run, say
from figures import rate_name
from pair import POLICIES
from report import Report

BUILD = ROOT / "build" / "release"
RATES = (1_000, 10_000, 100_000, 1_000_000)
SIMULATED_SECONDS = 10
SPEED_RATE, SPEED_SECONDS, SPEED = 1_000, 100, 1000  # faster than real time

# Item, program, tests, what must hold.
ITEMS = (
    ("power_algorithm_1_lines", "power_test", "Paper.line*", "every line of Algorithm 1"),
    ("power_algorithm_1_completions", "power_test", "Paper.*completion*", "what it leaves undefined"),
    ("power_properties", "power_test", "*Propert*", "no sleep with work, past a timer or a budget; no oscillation"),
    ("power_policies", "power_test", "*", "every test passes"),
    ("power_100000_sleep_wake_cycles", "datapath_test", "*sleep_wake*", "no packet waits longer than the bound"),
    ("power_simulated_core", "replay_test", "*", "every test passes"),
)


def tests(report: Report, item: str, program: str, chosen: str, target: str) -> None:
    path = BUILD / program
    if not path.exists():
        report.skip(item, target, f"{path.relative_to(ROOT)} is not built")
        return
    status, output, seconds = run([path, f"--gtest_filter={chosen}"], 300)
    passed = re.search(r"\[  PASSED  \] (\d+) test", output)
    count = int(passed.group(1)) if passed else 0
    met = status == 0 and count > 0
    report.judge(item, f"{count} tests", target, met, f"{seconds:.1f} s" if met else last_line(output))


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
    say("power: simulated core")
    for rate in RATES:
        simulated(report, rate)
    found = replay(SPEED_RATE, SPEED_SECONDS)
    if isinstance(found, str):
        report.judge("power_simulation_speed", "none", f">={SPEED}", False, found)
        return
    slowest = min(found, key=lambda one: one["simulated_s"] / one["real_s"])
    faster = slowest["simulated_s"] / slowest["real_s"]
    why = f"{slowest['policy']}, the slowest policy, at {rate_name(SPEED_RATE)} packets/s"
    report.at_least("power_simulation_speed", faster, SPEED, "x", why)

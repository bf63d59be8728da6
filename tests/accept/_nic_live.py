"""A card in a process of its own: the demo with bearers on it, its death and return, bad input, packets per core."""

from __future__ import annotations

import json
import re

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

SHARES = (0, 30, 70, 100)  # per cent of the bearers on the card
E2E_CARD, E2E_NIC, E2E_START = "tests/e2e/test_card.py", "tests/e2e/test_nic.py", "tests/e2e/test_nic_start.py"
NO_TESTS = 5  # what pytest says when it selected none
# Item, file, its tests (pytest -k), what must hold.
TESTS = (
    (
        "nic_kill_and_restart_under_traffic",
        E2E_CARD,
        "killed",
        "COUNTs on the air unique, bearers back within 1 s, host bearers served meanwhile, losses counted",
    ),
    ("nic_tcp_through_every_bearer", E2E_CARD, "share", "real TCP both ways at 0, 30, 70 and 100 %, counters add up"),
    ("nic_workers_and_bearers_behind_a_card", E2E_CARD, "workers or come_to or cannot_read", "every test passes"),
    (
        "nic_card_that_hangs",
        E2E_CARD,
        "hangs",
        "ctl answers within 1 s, last numbers shown, away and back without a restart",
    ),
    (
        "nic_card_refuses_or_cannot",
        "tests/e2e/test_card_control.py",
        "",
        "a refused change is made nowhere; metrics and telemetry say what stats say",
    ),
    (
        "nic_card_of_two_cores",
        "tests/e2e/test_card_cores.py",
        "",
        "real TCP through each core's bearers, COUNTs in order, all accounted, killed and back",
    ),
    (
        "nic_host_restart",
        "tests/e2e/test_card_host_restart.py",
        "",
        "a card that lives on keeps numbers and RLC epoch of its bearers",
    ),
    ("nic_baselines", E2E_NIC, "l2fwd or p4wire", "l2fwd on the card; p4wire in front of l2fwd on the host"),
    (
        "nic_process",
        E2E_NIC,
        "not l2fwd and not p4wire and not refuses",
        "every test passes",
    ),
    ("nic_bad_requests", E2E_NIC, "refuses", "an error, nothing half installed"),
    (
        "nic_bad_input",
        E2E_START,
        "refused or missing",
        ".spec missing, corrupt or another's; 0 or 65 VFs; no host; another's file: one line, exit code 2",
    ),
    ("nic_placement_plan", E2E_START, "where_card", "check prints where card, workers and buffers lie"),
    ("nic_explain", "tests/explain", "card", "actions and entries met, then the host's stages"),
    ("nic_specs_are_of_their_sources", "tests/p4", "", "hashes equal; compiling again gives the same (p4c on PATH)"),
)


def tests(report: Report) -> None:
    for item, file, chosen, target in TESTS:
        if not (ROOT / file).exists():
            report.judge(item, "no_test", target, False, f"{file} is not there")
            continue
        say(f"nic: {item}")
        selection = ["-k", chosen] if chosen else []
        status, output, _ = run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", file, *selection], 400)
        line = last_line(output)
        if status == NO_TESTS:
            report.judge(item, "no_test", target, False, f"{file} has no test of it")
        elif status == 0 and "passed" not in line:
            report.skip(item, target, line)
        else:
            report.judge(item, line, target, status == 0, line)


def demo(report: Report) -> None:
    for share in SHARES:
        item, target = f"nic_demo_{share}_percent", "real TCP both ways, equal SHA-256, packets accounted"
        if "--card-share" not in run([PYTHON, "tests/demo/demo.py", "--help"], 20)[1]:
            report.skip(item, target, "the demo has no --card-share")
            continue
        say(f"nic: the demo with {share} % of its bearers on a card")
        status, output, _ = run([PYTHON, "tests/demo/demo.py", "--card-share", share], 180)
        checks = re.findall(r"^\s*(pass|FAIL)\s+(.+)$", output, re.MULTILINE)
        failed = [text for verdict, text in checks if verdict == "FAIL"]
        good = status == 0 and not failed and len(checks) > 0
        measured = f"{len(checks) - len(failed)}_of_{len(checks)}_checks"
        report.judge(item, measured, target, good, "" if good else "; ".join(failed) or last_line(output))


def packets_per_core(report: Report) -> None:
    program = ROOT / "build" / "release" / "bench" / "nic_bench"
    if not program.exists():
        report.skip("nic_packets_per_core", "measured, beside the host's", f"{program.relative_to(ROOT)} is not built")
        return
    say("nic: packets per second per core, card beside host")
    status, output, _ = run([program, "--json"], 400)
    if status != 0:
        report.judge("nic_packets_per_core", f"exit_{status}", "a figure", False, last_line(output))
        return
    found = json.loads(output.strip().splitlines()[-1])
    lost = f"{found['jitter_percent']:.2g}% of the time went to others"
    for name, card in found["card"].items():
        host = found["host"].get(name)
        beside = f"host {1e3 / host:.2f} Mpps: the card takes {card / host:.1f} times as long" if host else "no host's"
        report.judge(f"nic_per_core_{name}", f"{1e3 / card:.2f}Mpps", "measured", card > 0, f"{beside}; {lost}")
    stray = {name: n for name, n in found["card_unexpected"].items() if n != 0}
    report.judge("nic_per_core_nothing_punted_or_lost", sum(stray.values()), "0", not stray, str(stray or "-"))
    several_cores(report, found, lost)
    for name, took in found["install_ms"].items():
        report.at_most(f"nic_65536_bearers_into_{name}", took, 100, "ms", reason=lost)


def several_cores(report: Report, found: dict, lost: str) -> None:
    """Over rings, with the harness's own work on the same cores; by the CPU time of the busier one."""
    item, target = "nic_two_cores_mat", "measured, beside one core"
    one, two = found["cores"]["one"], found["cores"].get("two")
    if two is None:
        report.skip(item, target, "one core here")
        return
    gain, wall = two["busy_mpps"] / one["busy_mpps"], two["mpps"] / one["mpps"]
    beside = f"one core {one['busy_mpps']:.2f} Mpps: {gain:.2f} times as many, by the wall clock {wall:.2f} times"
    note = f"{beside}; {two['handed_share']:.0%} cross; {lost}"
    report.judge(item, f"{two['busy_mpps']:.2f}Mpps", target, two["busy_mpps"] > 0, note)
    report.at_most("nic_65536_bearers_into_two_cores", two["install_ms"], 100, "ms", reason=lost)


def fill(report: Report) -> None:
    """The slower of a first start and of one behind a death, with the process of the host busy on one core."""
    item, target = "nic_65536_bearers_over_the_link", 5
    say(f"nic: {item}")
    test = "tests/e2e/test_card_fill.py"
    status, output, _ = run([PYTHON, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", test], 400)
    took = re.findall(r"(\d+\.\d+) s\b", next((x for x in output.splitlines() if "bearers on the card after" in x), ""))
    if status == 0 and took:
        report.at_most(item, max(map(float, took)), target, "s")
    else:
        report.judge(item, "none", f"<= {target} s", False, last_line(output))


def items(report: Report) -> None:
    packets_per_core(report)
    fill(report)
    tests(report)
    demo(report)

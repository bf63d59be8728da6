"""The card against the host, packet by packet, and the tables: by the unit tests of nic/, each with its own target."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

PROGRAM = ROOT / "build" / "release" / "card_test"
PACKETS, LONG_PACKETS = 10_000, 200_000
VFS = (1, 3, 5, 8, 64)


@dataclass(frozen=True)
class Ran:
    """What card_test said of the chosen tests."""

    good: bool
    passed: int
    output: str
    properties: dict[str, str] = field(default_factory=dict)

    def why(self) -> str:
        failed = re.findall(r"^\[  FAILED  \] (\S+)", self.output, re.MULTILINE)
        return f"failed: {' '.join(dict.fromkeys(failed))}" if failed else last_line(self.output)


def unit_tests(chosen: str, **environment: str) -> Ran:
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [PROGRAM, f"--gtest_filter={chosen}", f"--gtest_output=json:{results}"]
        status, output, _ = run(command, 300, **environment)
        properties: dict[str, str] = {}
        passed = 0
        if results.exists():
            suites = json.loads(results.read_text())["testsuites"]
            for case in (case for suite in suites for case in suite["testsuite"]):
                passed += "failures" not in case and case["result"] == "COMPLETED"
                known = {
                    "name",
                    "file",
                    "line",
                    "status",
                    "result",
                    "timestamp",
                    "time",
                    "classname",
                    "failures",
                    "value_param",
                }
                properties |= {f"{case['name']}.{key}": str(case[key]) for key in case.keys() - known}
    return Ran(status == 0 and passed > 0, passed, output, properties)


def judge_tests(report: Report, item: str, chosen: str, target: str, **environment: str) -> Ran:
    say(f"nic: {item}")
    ran = unit_tests(chosen, **environment)
    report.judge(item, f"{ran.passed} tests passed", target, ran.good, "" if ran.good else ran.why())
    return ran


def card_and_host(report: Report) -> None:
    say(f"nic: {PACKETS} random packets through card and host, and through the host alone")
    ran = unit_tests("CardAndHost.*", SPLITPLANE_PACKETS=str(PACKETS))
    target = "same octets, order and verdicts; drops equal by reason; every punt has one; no valid variant is punted"
    report.judge("nic_card_and_host", f"{ran.passed} tests passed", target, ran.good, "" if ran.good else ran.why())
    said = r"^\[ packets  \] (\S+): (\d+) packets, (\d+) valid for a card's bearer, (\d+) of them punted; (.+)$"
    for program, packets, valid, punted, rest in re.findall(said, ran.output, re.MULTILINE):
        text = f"of {valid} among {packets} packets; {rest}"
        report.judge(f"nic_valid_variants_punted_{program}", punted, "0", punted == "0" and valid != "0", text)

    seed = time.time_ns() % 1_000_000_000  # another one each time: a failure prints it
    say(f"nic: {LONG_PACKETS} packets of seed {seed}")
    long = unit_tests("CardAndHost.*", SPLITPLANE_PACKETS=str(LONG_PACKETS), SPLITPLANE_SEED=str(seed))
    why = f"{LONG_PACKETS} packets, seed {seed}" + ("" if long.good else f": {long.why()}")
    report.judge("nic_card_and_host_long", f"{long.passed} tests passed", target, long.good, why)


def v1model(report: Report) -> None:
    target = "the v1model build gives the same octets as the software NIC"
    test = ROOT / "tests" / "p4" / "test_bmv2.py"
    if shutil.which("simple_switch") is None:
        report.skip("nic_v1model_in_bmv2", target, "simple_switch is not on PATH")
    elif not test.exists():
        report.skip("nic_v1model_in_bmv2", target, "there is no test for it yet")
    else:
        status, output, _ = run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", test], 300)
        good = status == 0 and "skipped" not in last_line(output)
        report.judge("nic_v1model_in_bmv2", last_line(output), target, good, "" if good else last_line(output))


def vfs(report: Report) -> None:
    say("nic: VFs by turns and by bearer")
    ran = unit_tests("*VfDistribution*")
    for test, limit in (("round_robin_is_even_within_a_percent", 1.0), ("bearers_are_even_within_five_percent", 5.0)):
        item = "nic_vf_round_robin" if limit == 1.0 else "nic_vf_by_bearer"
        for n in VFS:
            found = [
                v for k, v in ran.properties.items() if k.startswith(test) and k.endswith(f"of_{n}.unevenness_percent")
            ]
            if found:
                report.at_most(f"{item}_{n}", float(found[0]), limit, "%")
            else:
                report.judge(f"{item}_{n}", "none", f"<={limit:g}%", False, ran.why())
    steady = sum("never_change" in name for name in ran.properties)
    met = ran.good and steady == len(VFS)
    target = "a bearer never changes its VF"
    report.judge("nic_bearer_keeps_its_vf", f"{steady} of {len(VFS)} runs", target, met, "" if met else ran.why())


def items(report: Report) -> None:
    if not PROGRAM.exists():
        report.skip("nic_card_and_host", "-", f"{PROGRAM.relative_to(ROOT)} is not built")
        return
    card_and_host(report)
    v1model(report)
    judge_tests(
        report, "nic_numbers_and_leases", "CardNumbers.*", "SN wraps, polls, leases, armed bearers as the host's"
    )
    judge_tests(
        report,
        "nic_only_p4_writes_octets",
        "*a_constant_changed*",
        "a constant changed in a copy of a .spec changes the output",
    )
    vfs(report)
    judge_tests(
        report,
        "nic_tables_refuse",
        "CardRefuses.*",
        "0 and 65 VFs, unknown bearers, duplicates, full: nothing half done",
    )
    judge_tests(
        report, "nic_bad_spec_files", "SpecFile.*", "missing, corrupt, of another program: refused with file and line"
    )

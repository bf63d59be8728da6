"""Runs the tests that stand for an item, and judges it by them: all of them ran, none failed and none was skipped."""

from __future__ import annotations

import fnmatch
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from _tools import PYTHON, ROOT, run, say
from report import Report

BUILD = ROOT / "build" / "release"


@dataclass(frozen=True)
class Mended:
    """One finding: what it was, and the tests that failed then. Or what a part promises, and the tests that show it."""

    name: str
    was: str = ""
    shows: str = ""  # what the tests show, where nothing was mended
    gtest: str = ""  # patterns of unit tests with colons between them; the programs that have them are found
    pytest: list[str] = field(default_factory=list)  # node ids
    environment: dict[str, str] = field(default_factory=dict)  # for the full length of a drill
    timeout: float = 900


@dataclass
class Outcome:
    passed: int = 0
    bad: list[str] = field(default_factory=list)

    def take(self, report: Path, what: str, status: int) -> None:
        """Adds the cases of a JUnit report; a run without one, or without a case, is bad."""
        cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
        for case in cases:
            if case.get("status") == "notrun":
                continue
            skipped = case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed")
            failed = case.find("failure") is not None or case.find("error") is not None
            if skipped or failed:
                self.bad.append(f"{case.get('name')} {'was skipped' if skipped else 'failed'}")
            else:
                self.passed += 1
        if not cases or (status != 0 and not self.bad):
            self.bad.append(f"{what}: exit code {status}, {len(cases)} tests")


@cache
def unit_tests() -> dict[Path, list[str]]:
    """The unit tests of each program of the release build, as Suite.name."""
    found = {}
    for program in sorted(BUILD.rglob("*_test")):
        if not program.is_file():
            continue
        suite, tests = "", []
        for line in run([program, "--gtest_list_tests"], 60)[1].splitlines():
            name = line.split("#")[0].rstrip()
            if not name.startswith(" "):
                suite = name
            elif suite.endswith("."):
                tests.append(suite + name.strip())
        found[program] = tests
    return found


def run_unit_tests(patterns: str, item: Mended, folder: Path, outcome: Outcome) -> float:
    """A pattern that no test has any more is bad, too: a test that was renamed must not go unseen."""
    seconds = 0.0
    wanted: dict[Path, list[str]] = {}
    for pattern in patterns.split(":"):
        programs = [program for program, tests in unit_tests().items() if fnmatch.filter(tests, pattern)]
        if not programs:
            outcome.bad.append(f"no test is named {pattern}")
        for program in programs:
            wanted.setdefault(program, []).append(pattern)
    for program, filters in wanted.items():
        xml = folder / f"{program.name}.xml"
        choice = ":".join(filters)
        status, _, took = run(
            [program, f"--gtest_filter={choice}", f"--gtest_output=xml:{xml}"], item.timeout, **item.environment
        )
        seconds += took
        outcome.take(xml, f"{program.name} {choice}", status)
    return seconds


def judge(report: Report, item: Mended) -> None:
    say(item.name)
    outcome = Outcome()
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:
        if item.gtest:
            seconds += run_unit_tests(item.gtest, item, Path(folder), outcome)
        if item.pytest:
            xml = Path(folder) / "pytest.xml"
            status, output, took = run(
                [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={xml}", *item.pytest],
                item.timeout,
                **item.environment,
            )
            seconds += took
            outcome.take(xml, "pytest", status)
            if outcome.bad:
                print(output[-3000:], flush=True)
    report.judge(
        item.name,
        f"{outcome.passed} passed, {len(outcome.bad)} not, {seconds:.0f} s",
        "all pass",
        not outcome.bad and outcome.passed > 0,
        "; ".join(outcome.bad)[:200] if outcome.bad else item.shows or f"was: {item.was}",
    )

"""Runs the tests that stand for an item, and judges it by them: all of them ran, none failed and none was skipped."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

from _tools import PYTHON, ROOT, run, say
from report import Report

BUILD = ROOT / "build" / "release"


@dataclass(frozen=True)
class Mended:
    """One finding: what it was, and the tests that failed then."""

    name: str
    was: str
    gtest: dict[str, str] = field(default_factory=dict)  # program -> filter
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


def program(name: str) -> Path:
    found = [path for path in BUILD.rglob(name) if path.is_file()]
    return found[0] if found else BUILD / name


def judge(report: Report, item: Mended) -> None:
    say(item.name)
    outcome = Outcome()
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, wanted) in enumerate(item.gtest.items()):
            xml = Path(folder) / f"{number}.xml"
            status, _, took = run(
                [program(name), f"--gtest_filter={wanted}", f"--gtest_output=xml:{xml}"],
                item.timeout,
                **item.environment,
            )
            seconds += took
            outcome.take(xml, f"{name} {wanted}", status)
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
        "; ".join(outcome.bad)[:200] if outcome.bad else f"was: {item.was}",
    )

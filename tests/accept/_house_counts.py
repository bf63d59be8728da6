"""What can be counted in the source tree: full rooms, .cpp files without a header, cycles, how often a key is spelt."""

from __future__ import annotations

import importlib.util
import os
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from _tools import ROOT, run
from report import Report

KEY = "pdcp_sn"  # the key of a bearer that was spelt in 14 places
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)/[^"/]+"', re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: : [^{;]*)? \{", re.MULTILINE)
CONTROL_SIDE = ("control", "gnb/control", "card/control", "ue/control", "traffic/control", "card/link", "gnb/journal")
QUESTIONS = {
    "what happens to a downlink packet": "gnb/datapath/pipeline.h",
    "why was it dropped": "engine/drop_reason.h",
    "which keys has a bearer": "ran/bearer_fields.h",
    "which keys has the gNB's file": "gnb/config/fields.cpp",
    "what answers bearer.add": "gnb/control/methods.cpp",
    "what do host and card say": "card/protocol/fields.h",
    "when is a lease of COUNTs renewed": "card/protocol/lease.h",
    "host or card for a bearer": "placement/card_placement.h",
    "when does a worker sleep": "power/budget.h",
    "what is on the wire": "wire/gtpu.h",
    "where do metrics come from": "engine/stats.h",
    "what does splitplane explain do": "cli/explain.cpp",
}


def lint_rules():
    spec = importlib.util.spec_from_file_location("repo_rules", ROOT / "tests" / "lint" / "repo_rules.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sources(rules) -> list[Path]:
    """Production code of src/."""
    return [
        path for path in rules.repository_files() if rules.room_of(path) is not None and not rules.is_for_tests(path)
    ]


def cycles(rules, files: list[Path]) -> str:
    """The rooms of a cycle in what files really include, or nothing."""
    graph: dict[str, set[str]] = {}
    for path in files:
        room = rules.room_of(path)
        graph.setdefault(room, set()).update(set(INCLUDE.findall(path.read_text())) - {room})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as cycle:
        return " ".join(cycle.args[1])
    return ""


def untested(files: list[Path], rules) -> list[str]:
    """Classes with methods in headers of the control side without a test: neither has their header a *_test.cpp beside
    it, nor does a test of their room name them."""
    tests: dict[str, str] = {}
    for path in rules.repository_files():
        if rules.room_of(path) in CONTROL_SIDE and rules.is_for_tests(path):
            tests[rules.room_of(path)] = tests.get(rules.room_of(path), "") + path.read_text()
    found = []
    for path in files:
        if rules.room_of(path) not in CONTROL_SIDE or path.suffix != ".h" or not path.with_suffix(".cpp").exists():
            continue
        if path.with_name(f"{path.stem}_test.cpp").exists():
            continue
        for name in CLASS.findall(path.read_text()):
            has_methods = re.search(rf"^[^/\n]*\b{name}::~?\w+\(", path.with_suffix(".cpp").read_text(), re.MULTILINE)
            if has_methods and not re.search(rf"\b{name}\b", tests.get(rules.room_of(path), "")):
                found.append(f"{rules.room_of(path)}/{name}")
    return found


def lines_before() -> str:
    """Production lines of the commit that SPLITPLANE_BEFORE_COMMIT names."""
    commit = os.environ.get("SPLITPLANE_BEFORE_COMMIT", "")
    if not commit:
        return "not asked (SPLITPLANE_BEFORE_COMMIT)"
    code, listing, _ = run(["git", "ls-tree", "-r", "--name-only", commit, "src"], 30)
    names = [name for name in listing.splitlines() if re.search(r"\.(h|cpp|cu|cuh)$", name)]
    names = [name for name in names if not re.search(r"(_test\.\w+|/test_[^/]+)$", name)]
    if code != 0 or not names:
        return "unknown commit"
    _, text, _ = run(["git", "show", *(f"{commit}:{name}" for name in names)], 60)
    return str(text.count("\n"))


def items(report: Report) -> None:
    rules = lint_rules()
    files = sources(rules)
    rooms = Counter(rules.room_of(path) for path in files)
    room, fullest = rooms.most_common(1)[0]
    report.at_most("fullest_room_files", fullest, 35, reason=f"src/{room} of {len(rooms)}; tests/lint/repo_rules.py")
    alone = [
        str(path.relative_to(ROOT / "src"))
        for path in files
        if path.suffix == ".cpp" and path.name != "main.cpp" and not path.with_suffix(".h").exists()
    ]
    report.judge("cpp_without_header", len(alone), "0 but main.cpp", not alone, "; ".join(alone))
    cycle = cycles(rules, files)
    report.judge("cycles_between_rooms", 1 if cycle else 0, "0", not cycle, cycle)
    upward = [sentence for path in rules.repository_files() for sentence in rules.breaches(path)]
    report.judge("breaches_of_lint", len(upward), "0", not upward, "; ".join(upward[:3]))
    spelt = [str(path.relative_to(ROOT / "src")) for path in files if re.search(rf'"{KEY}"', path.read_text())]
    report.judge(f"files_that_spell_{KEY}", len(spelt), "<=3", len(spelt) <= 3, ", ".join(spelt))
    bare = untested(files, rules)
    report.judge("control_classes_without_unit_test", len(bare), "0", not bare, ", ".join(bare))
    lines = sum(path.read_text().count("\n") for path in files)
    report.judge("production_lines", f"{lines} (before: {lines_before()})", "counted", True)
    lost = [question for question, place in QUESTIONS.items() if not (ROOT / "src" / place).exists()]
    report.judge("questions_with_their_file", f"{12 - len(lost)} of 12", "12", not lost, "; ".join(lost))

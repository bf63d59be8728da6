"""The comparison finds no difference where there is none, and finds each wrong rule within a bounded number of steps.

SPLITPLANE_PDCP_STEPS (10000) steps go to pdcp_tool, the C++ entities behind a pipe. At the first difference all steps
of that scenario are left in build/pdcp_replay.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from pdcp.comparison import Comparison, DifferenceFound, InProcess, Program, compare, differences
from pdcp.model import COUNTERS
from pdcp.mutants import MUTANTS, Mutant
from pdcp.scenarios import KINDS, play
from pdcp.sdap import SDAP_COUNTERS
from pdcp.steps import PDCP_OPS, SDAP_OPS, ModelHost, Reply, Step

ROOT = Path(__file__).resolve().parents[2]
PDCP_TOOL = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release")) / "tools" / "pdcp_tool"
SEED = int(os.environ.get("SPLITPLANE_SEED", "1"))
STEPS = int(os.environ.get("SPLITPLANE_PDCP_STEPS", "10000"))
STEPS_TO_FIND = 100_000
MODEL = [sys.executable, "-m", "pdcp.steps"]


def test_the_tool_answers_like_the_model() -> None:
    if not PDCP_TOOL.exists():
        pytest.skip(f"SKIPPED: {PDCP_TOOL} is not built (make build WHAT=all)")
    program = Program([str(PDCP_TOOL)])
    try:
        compare(Comparison(program, ROOT / "build" / "pdcp_replay"), SEED, STEPS)
    finally:
        program.close()


def test_the_model_behind_a_pipe_answers_like_the_model() -> None:
    program = Program(MODEL, ROOT / "tests")
    comparison = Comparison(program)
    try:
        compare(comparison, SEED, 4000)
    finally:
        program.close()
    assert comparison.steps >= 4000


def test_a_wrong_rule_behind_a_pipe_is_reported_with_the_last_steps(tmp_path: Path) -> None:
    program = Program([*MODEL, "t-Reordering does not start again"], ROOT / "tests")
    try:
        with pytest.raises(DifferenceFound) as found:
            compare(Comparison(program, tmp_path), SEED, STEPS_TO_FIND)
    finally:
        program.close()
    assert "the last 12 steps:" in str(found.value) and "state.rx_reord" in str(found.value)
    (replay,) = tmp_path.iterdir()
    steps = replay.read_text().splitlines()
    assert f"step {len(steps)}:" in str(found.value)


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "print('{}', flush=True); raise SystemExit(0)"])
def test_a_program_that_ends_is_a_difference(code: str) -> None:
    program = Program([sys.executable, "-c", code])
    try:
        with pytest.raises(DifferenceFound):
            compare(Comparison(program), SEED, 1000)
    finally:
        program.close()


@cache
def recorded(number: int, kind: str) -> list[tuple[Step, Reply]]:
    """A scenario played on the model, once for all mutants."""
    host, record = ModelHost(), []

    def run(step: Step) -> Reply:
        record.append((step, host.run(step)))
        return record[-1][1]

    play(run, number, STEPS_TO_FIND, (kind,))
    return record


def steps_to_find(mutant: Mutant) -> int | None:
    other = InProcess(mutant.host_class()())
    kind = "sdap" if mutant.module == "sdap" else "pdcp"
    steps, number = 0, SEED * 1_000_000
    while steps < STEPS_TO_FIND:
        for step, ours in recorded(number, kind):
            steps += 1
            if differences(ours, other.exchange([step])[0]):
                return steps
        number += 1
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_comparison_finds_a_wrong_rule(mutant: Mutant) -> None:
    assert steps_to_find(mutant) is not None


def test_scenarios_reach_each_operation_refusal_and_counter() -> None:
    """So a rule that no scenario reaches is noticed here, not trusted."""
    host, seen, counted = ModelHost(), Counter[str](), Counter[str]()

    def run(step: dict) -> dict:
        reply = host.run(step)
        seen[step["op"]] += 1
        seen[reply["reply"].get("refused", "accepted")] += 1
        counted.update(dict.fromkeys(reply["counters"], 1))
        counted.update(name for name, *_ in reply["indications"])
        return reply

    for seed in range(160):
        play(run, seed, 1000)
    refusals = {"key_reused", "not_am", "suspended", "not_empty", "count_goes_back", "out_of_range", "unknown_drb"}
    assert {*PDCP_OPS, *SDAP_OPS, *refusals} <= seen.keys()
    indications = {"integrity_failure", "key_needed", "rqi", "end_marker"}
    assert {*COUNTERS, *SDAP_COUNTERS, *indications} <= counted.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_steps_again(kind: str) -> None:
    def steps_of(seed: int) -> list[dict]:
        host, steps = ModelHost(), []

        def run(step: dict) -> dict:
            steps.append(step)
            return host.run(step)

        play(run, seed, 300, (kind,))
        return steps

    assert steps_of(7) == steps_of(7) != steps_of(8)


def test_differences_are_those_of_the_protocol() -> None:
    ours = {"pdus": [], "state": {"tx_next": 1}, "counters": {"duplicate": 0}, "reply": {}}
    assert differences(ours, {"state": {"tx_next": 1, "more": 5}, "counters": {"our_own": 3}}) == []
    assert differences(ours, {"state": {"tx_next": 2}}) == ["state.tx_next: 1 against 2"]
    assert differences(ours, {"state": {"tx_next": 2}}, frozenset({"state.tx_next"})) == []
    assert differences(ours, {"state": {"tx_next": 1}, "counters": {"duplicate": 1}}) == [
        "counters.duplicate: 0 against 1"
    ]
    assert len(differences(ours, {"state": {"tx_next": 1}, "pdus": [[0, "80"]]})) == 1

"""What p4/targets.py committed is of these sources: the compilers' answers, and the tables of the page.
With a compiler on PATH its target is compiled again."""

from __future__ import annotations

import shutil

import memory
import pytest
import specs
import targets


@pytest.fixture
def report() -> list[str]:
    if not targets.REPORT.exists():
        pytest.skip(f"SKIPPED: {targets.REPORT.name} was not made yet: make p4 with the compilers on PATH makes it")
    return targets.REPORT.read_text().splitlines()


def test_the_report_was_made_of_these_sources(report):
    first = report[0]
    assert first.split()[0] == f"sha256={specs.source_hash()}", "a source changed: run make p4"


def test_the_report_has_a_line_for_each_target_and_program(report):
    for target in targets.TARGETS:
        for program in targets.COMPILED:
            assert any(target.name in line and f" {program.name} " in line for line in report), target.name


@pytest.mark.parametrize("program", targets.COMPILED, ids=lambda program: program.name)
@pytest.mark.parametrize("target", targets.TARGETS, ids=lambda target: target.compiler)
def test_compiling_again_gives_the_same_answer(target, program, tmp_path, report):
    if shutil.which(target.compiler) is None:
        pytest.skip(f"SKIPPED: {target.compiler} is not on PATH; the hash of the sources was compared")
    answer = targets.Answer(target, program, targets.compile_for(target, program, tmp_path))
    assert targets.answers_table([answer]).split() in [line.split() for line in report]


def test_the_tables_of_the_page_are_what_is_printed():
    page = targets.PAGE.read_text()
    assert all(f"<!-- {name} -->" in page for name in targets.TABLES)
    assert targets.page_with_tables(page) == page, "run make p4"


def test_each_target_says_all_that_it_cannot_do():
    assert all(len(target.limits) == len(targets.COLUMNS) and all(target.limits) for target in targets.TARGETS)


def test_a_bearer_takes_at_most_64_octets_of_hardware():
    assert 0 < memory.octets(memory.parts()) <= memory.MOST_OCTETS


def test_the_memory_is_of_what_the_sources_declare():
    parts = {part.name: part.bits for part in memory.parts()}
    assert parts["bearers: key"] == 32
    assert parts["uplink: action data of `uplink_serve`"] == 16 + 8 + 6 + 32 + 8 + 6 + 6
    assert parts["registers: COUNT, waiting packets, PDUs without poll"] == 64 + 16
    # In the software NIC's widths more: its fields are whole octets.
    assert memory.octets(memory.parts("pna.p4i")) > memory.octets(memory.parts())

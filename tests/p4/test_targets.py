"""What p4/targets.py committed is of these sources: the compilers' answers, and the tables of the page.
With a compiler on PATH its target is compiled again."""

from __future__ import annotations

import shutil

import memory
import pytest
import specs
import targets
import tofino


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


def test_the_complaint_is_the_first_error_and_not_a_warning_before_it():
    said = (
        "gnb_tna.p4(6): [--Wwarn=uninitialized-out-param] warning: out parameter 'meta' may be uninitialized\n"
        "gnb_tna.p4(62): [--Werror=unsupported] error: Non-zero constant value 8w2 in digest field list\n"
        "1 error, 1 warnings generated.\n"
    )
    assert targets.first_error(said).startswith("gnb_tna.p4(62)")
    crash = "terminate called\n  what():  In file: typeMap.cpp:103\nCompiler Bug: typeMap.cpp:103: Null element\n"
    assert targets.first_error(crash) == "Compiler Bug: typeMap.cpp:103: Null element"
    assert targets.first_error("killed\n") == "killed"
    assert targets.first_error("") == ""


def captured() -> tuple[dict, dict]:
    """A piece of p4c-barefoot 9.13.4's resources.json and phv.json: one stage, two tables, three of its RAMs."""
    by = [{"used_by": "GnbControl.ports", "used_for": "match_entry_ram"}]
    stage = {
        "stage_number": 0,
        "logical_tables": {
            "ids": [{"id": 0, "table_name": "GnbControl.ports"}, {"id": 1, "table_name": "tbl_gnb_control47"}],
            "size": 16,
        },
        "gateways": {"gateways": [], "nRows": 8, "nUnits": 2},
        "rams": {
            "nColumns": 10,
            "nRows": 8,
            "srams": [{"column": column, "row": 7, "usages": by, "way": column} for column in range(3)],
        },
        "map_rams": {"maprams": [], "nRows": 8, "nUnits": 6},
        "tcams": {"nColumns": 2, "nRows": 12, "tcams": []},
        "meter_alus": {"meters": [], "nAlus": 4},
        "statistic_alus": {"nAlus": 4, "stats": []},
        "vliw": {"instructions": [{"color_usages": [], "instruction_number": 0}], "size": 32},
        "hash_distribution_units": {"nHashIds": 2, "nUnitIds": 3, "units": []},
    }
    containers = {"normal": [{"units": 64, "width": 8}], "tagalong": [{"units": 32, "width": 8}]}
    resources = {"resources": {"mau": {"mau_stages": [stage], "nStages": 12}, "phv_containers": containers}}
    slices = [{"slice_info": {"lsb": 0, "msb": 4}}, {"slice_info": {"lsb": 3, "msb": 6}}]  # two fields, overlaid
    phv = {"containers": [{"bit_width": 8, "container_type": "normal", "gress": "ingress", "slices": slices}]}
    return resources, phv


def test_the_resources_of_tofino_are_counted_by_stage():
    lines = tofino.resources_text(*captured()).splitlines()
    assert lines[0] == "1 of 12 stages"
    names = [resource.name for resource in tofino.RESOURCES]
    stage = next(line.split() for line in lines if line.split()[:1] == ["0"])
    assert dict(zip(names, stage[1:], strict=True))["SRAM"] == "3"
    every = next(line for line in lines if line.split()[:1] == ["all"])
    assert "2 of 192" in every and "3 of 960" in every and "0 of 288" in every and "1 of 384" in every
    assert "normal containers of 8 bits: 1 of 64, 7 of 512 bits" in lines
    assert "tagalong containers of 8 bits: 0 of 32, 0 of 256 bits" in lines
    assert "    0: ports, tbl_gnb_control47" in lines


def test_the_report_of_tofino_was_made_of_these_sources():
    if not targets.RESOURCES.exists():
        pytest.skip(f"SKIPPED: {targets.RESOURCES.name} was not made yet: make p4 with p4c-barefoot on PATH makes it")
    lines = targets.RESOURCES.read_text().splitlines()
    assert lines[0].split()[0] == f"sha256={specs.source_hash()}", "a source changed: run make p4"
    for program in targets.COMPILED:
        assert any(line.startswith(f"{program.name}: ") for line in lines), program.name

"""The committed .spec files are what the P4 sources say: by the hash of every source, which needs no compiler, and with
p4c-dpdk on PATH by compiling them again. The reasons for punting have the same numbers in P4 and in C++."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import specs

ROOT = Path(__file__).resolve().parents[2]
P4 = ROOT / "p4"
REASONS = ROOT / "src" / "card" / "punt_reason.h"


@pytest.mark.parametrize("program", specs.PROGRAMS, ids=lambda program: program.name)
def test_the_spec_was_made_of_these_sources(program):
    assert program.spec.exists(), "run make p4"
    first, body = program.spec.read_text().split("\n", 1)
    assert f"{first}\n" == specs.first_line(program, body), "a source or the .spec itself changed: run make p4"


def test_there_is_no_spec_without_a_program():
    assert set(specs.GENERATED.iterdir()) == {program.spec for program in specs.PROGRAMS}


def test_the_hash_covers_each_source(tmp_path, monkeypatch):
    copy = tmp_path / "p4"
    shutil.copytree(P4, copy)
    monkeypatch.setattr(specs, "P4", copy)
    seen = {specs.source_hash()}
    for source in sorted(copy.glob("*.p4*")):
        source.write_bytes(source.read_bytes() + b"\n")
        seen.add(specs.source_hash())
    assert len(seen) == 1 + len(list(copy.glob("*.p4*"))) > 10


@pytest.mark.parametrize("program", specs.PROGRAMS, ids=lambda program: program.name)
def test_compiling_again_gives_the_same_spec(program, tmp_path):
    tool = specs.compiler()
    if tool is None:
        pytest.skip(f"SKIPPED: {specs.COMPILER} is not on PATH; the hash of the sources was compared")
    output = tmp_path / program.spec.name
    assert specs.compile_program(tool, program, output) == ""
    assert output.read_text() == program.spec.read_text()


@pytest.mark.parametrize("program", [p for p in specs.PROGRAMS if p.arch == "pna"], ids=lambda program: program.name)
def test_the_v1model_build_compiles(program, tmp_path):
    compiler = shutil.which("p4c-bm2-ss")
    if compiler is None:
        pytest.skip("SKIPPED: p4c-bm2-ss is not on PATH")
    include = specs.include_folder(compiler)
    command = [compiler, "--Wdisable=unused", "-I", include, *(f"-D{define}" for define in program.defines)]
    done = subprocess.run(
        [*command, "-o", tmp_path / "gnb.json", P4 / "gnb_v1model.p4"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "gnb.json").stat().st_size > 10000


def numbers_in_p4(prefix: str) -> dict[str, int]:
    found = re.findall(rf"^#define {prefix}_(\w+) (\d+)$", (P4 / "punt.p4i").read_text(), re.MULTILINE)
    return {name.lower(): int(number) for name, number in found}


def numbers_in_cpp(macro: str) -> dict[str, int]:
    text = REASONS.read_text()
    body = text[text.index(f"#define {macro}(X)") :].split("\n\n")[0]
    return {name: number for number, name in enumerate(re.findall(r"X\((\w+), \"", body))}


def test_punt_reasons_have_the_same_numbers_in_p4_and_cpp():
    cpp = numbers_in_cpp("SPLITPLANE_PUNT_REASONS")
    assert cpp["none"] == 0
    assert numbers_in_p4("PUNT") == cpp and len(cpp) == 29


def test_drop_reasons_have_the_same_numbers_in_p4_and_cpp():
    cpp = numbers_in_cpp("SPLITPLANE_CARD_DROPS")
    p4 = numbers_in_p4("DROP")
    assert p4.items() <= cpp.items() and len(p4) == 5

"""The vectors of tests/p4/vectors are of these sources, and each statement that they do not reach is named. Vectors, a
test of card_test, gives them to the card's pipeline."""

from __future__ import annotations

import json

import pytest
import specs
import vectors


@pytest.mark.parametrize("name", vectors.NAMES)
def test_the_vectors_were_made_of_these_sources(name):
    head = json.loads((vectors.FOLDER / f"{name}.json").read_text())
    program = next(program for program in specs.PROGRAMS if program.name == name)
    assert head["sha256"] == specs.source_hash(), "a source changed: run python3 p4/vectors.py"
    assert tuple(head["defines"]) == program.defines


@pytest.mark.parametrize("name", vectors.NAMES)
def test_each_statement_that_no_vector_reaches_is_named(name):
    head = json.loads((vectors.FOLDER / f"{name}.json").read_text())
    assert len(head["not_covered"]) == head["statements"] - head["covered"]
    assert head["covered"] > 0 and head["vectors"]


def test_a_test_of_p4testgen_is_read():
    text = """# [ExtractFailure] of hdr.udp
# Table GnbControl.air
add "GnbControl.air" "meta.profile":0x0C "meta.poll":0x01 "GnbControl.decap"("dst":0x0,"src":0xFF)
setdefault "GnbControl.fixed" "GnbControl.to_host"("vf":0x2)
mirroring_add 64622 295
packet 3 00 AB
expect 295
expect 6 ABCD$
"""
    vector = vectors.read_test(text)
    assert vector == vectors.Vector(
        port=3,
        frame="00ab",
        short=True,
        entries=[
            {"table": "air", "key": [12, 1], "action": "decap", "values": {"dst": 0, "src": 255}},
            {"table": "fixed", "key": [], "action": "to_host", "values": {"vf": 2}},
        ],
        mirror=[[64622, 295]],
        out=[[295, None], [6, "abcd"]],
    )

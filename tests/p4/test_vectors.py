"""The vectors of tests/p4/vectors are of these sources, and each statement that they do not reach is named. Vectors, a
test of card_test, gives them to the card's pipeline."""

from __future__ import annotations

import json

import pytest
import specs
import steering
import vectors


@pytest.mark.parametrize("name", sorted(path.stem for path in vectors.FOLDER.glob("*.json")))
def test_the_vectors_were_made_of_these_sources(name):
    head = json.loads((vectors.FOLDER / f"{name}.json").read_text())
    program = next(program for program in specs.PROGRAMS if program.name == name)
    assert head["sha256"] == vectors.source_hash(program), "a source changed: run python3 p4/vectors.py"
    assert tuple(head["defines"]) == program.defines


@pytest.mark.parametrize("name", sorted(path.stem for path in vectors.FOLDER.glob("*.json")))
def test_each_statement_that_no_vector_reaches_is_named(name):
    head = json.loads((vectors.FOLDER / f"{name}.json").read_text())
    assert len(head["not_covered"]) == head["statements"] - head["covered"]
    assert head["covered"] > 0 and head["vectors"]
    unexplained = [statement for statement in head["not_covered"] if not vectors.why(name, statement)]
    assert not unexplained, "steer p4testgen there (p4/steering.py), or say in vectors.UNREACHED why it cannot"


def test_a_test_of_p4testgen_is_read():
    text = """# [ExtractFailure] of hdr.udp
# Table GnbControl.air
add "GnbControl.air" "meta.profile":0x0C "meta.poll":0x01 "GnbControl.decap"("dst":0x0,"src":0xFF)
setdefault "GnbControl.fixed" "GnbControl.serve"("slot":0x5)
setdefault "GnbControl.numbers_held" "GnbControl.numbers_hold"("value":0x0000000700000002)
setdefault "GnbControl.polls_held" "GnbControl.polls_hold"("value":0x0009)
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
            {"table": "fixed", "key": [], "action": "serve", "values": {"slot": 5}},
        ],
        registers=[["next_count", 5, 7], ["waiting", 5, 2], ["polls", 5, 9]],
        mirror=[[64622, 295]],
        out=[[295, None], [6, "abcd"]],
    )


@pytest.mark.parametrize("region", steering.REGIONS, ids=lambda region: region.name)
def test_a_region_assumes_something_of_places_that_the_sources_have_and_no_line_moves(region, tmp_path):
    assert steering.steer(specs.P4, region, tmp_path) == []
    for source in specs.P4.glob("*.p4i"):
        before, after = source.read_text().splitlines(), (tmp_path / source.name).read_text().splitlines()
        assert len(before) == len(after)
        assert all("testgen_assume" in new for old, new in zip(before, after, strict=True) if old != new)


def test_what_a_run_left_is_read_without_names_that_the_compiler_made():
    log = """Nodes covered: 0.5 (1/3)
Not covered:
\t/tmp/x/gnb_uplink.p4i\\12: hdr.a = dst_10/dst;
\t/tmp/x/gnb_uplink.p4i\\12: testgen_assume(meta.side == 1);
============ Test 2: Nodes covered: 0.6 (2/3) ============
\t/tmp/x/gnb_uplink.p4i\\12: hdr.a = dst_10/dst;
"""
    assert vectors.left_by_each(log) == (3, [{"gnb_uplink.p4i:12: hdr.a = dst;"}] * 2)

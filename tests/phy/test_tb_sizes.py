"""Sizes of transport blocks against a second implementation in exact fractions, for each MCS of the three tables."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tb_size_model import MCS_TABLES, SMALL, is_tie, tb_bits
from tb_sizes import MAX_PRBS, MCS_COUNTS, Shape, ask, rows

SHAPES = [(14, 12, 0), (13, 12, 0), (12, 18, 6), (2, 6, 0)]


def test_the_models_table_has_the_93_sizes() -> None:
    assert len(SMALL) == 93
    assert sorted(set(SMALL)) == SMALL
    assert all(size % 8 == 0 for size in SMALL)


@pytest.mark.parametrize("table", MCS_COUNTS)
def test_each_mcs_has_the_modulation_and_rate_of_its_table(table: int) -> None:
    assert [(row.bits, row.rate) for row in rows(Shape(table))] == MCS_TABLES[table]


@pytest.mark.parametrize("table", MCS_COUNTS)
@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_sizes_equal_the_model(table: int, layers: int) -> None:
    for number, (symbols, dmrs, overhead) in enumerate(SHAPES):
        shape = Shape(table, layers, symbols, dmrs, overhead)
        for mcs, row in enumerate(rows(shape)):
            assert len(row.sizes) == MAX_PRBS
            for prbs in range(1 + (mcs + number) % 7, MAX_PRBS + 1, 7):
                assert row.sizes[prbs - 1] == tb_bits(shape.res_per_prb, prbs, row.rate, row.bits, layers), (
                    shape,
                    mcs,
                    prbs,
                )


def test_a_model_that_rounds_ties_down_is_found_out() -> None:
    """So the combinations above have ties: a rule that they do not test would be no rule."""
    ties = 0
    for symbols, dmrs, overhead in SHAPES:
        shape = Shape(2, 4, symbols, dmrs, overhead)
        for row in rows(shape):
            for prbs in range(1, MAX_PRBS + 1):
                info = Fraction(min(156, shape.res_per_prb) * prbs) * row.rate * row.bits * 4
                ties += is_tie(info)
    assert ties > 0


def test_a_reserved_mcs_has_no_size() -> None:
    for table, count in MCS_COUNTS.items():
        for answer in ask([f"sizes {Shape(table).words()} {mcs}" for mcs in range(count, 32)]):
            assert set(answer) == {0}


def test_the_inverse_gives_the_fewest_prbs_and_the_lowest_mcs() -> None:
    shape = Shape(2, 2)
    table = rows(shape)
    wanted = [1, 3, 4, 100, 478, 479, 1000, 5000, 20000, 60000]
    for mcs in range(0, 28, 3):
        answers = ask([f"prbs {shape.words()} {mcs} {' '.join(map(str, wanted))}"])[0]
        for octets, prbs in zip(wanted, answers, strict=True):
            fits = [n + 1 for n, bits in enumerate(table[mcs].sizes) if bits // 8 >= octets]
            assert prbs == (fits[0] if fits else MAX_PRBS + 1)
    for prbs in (1, 40, 275):
        answers = ask([f"mcs {shape.words()} {prbs} {' '.join(map(str, wanted))}"])[0]
        for octets, mcs in zip(wanted, answers, strict=True):
            fits = [n for n, row in enumerate(table) if row.sizes[prbs - 1] // 8 >= octets]
            assert mcs == (fits[0] if fits else MCS_COUNTS[2])

"""Sizes and octets of transport blocks against a layer 1 that is not ours (py3gpp, which setup/l1.sh installs)."""

from __future__ import annotations

import os

import foreign_l1
import pytest
from foreign_l1 import chain_for
from real_blocks import WIRE_EMIT, blocks
from tb_size_model import information, is_tie
from tb_sizes import MAX_PRBS, MCS_COUNTS, Shape, rows

COUNT = int(os.environ.get("SPLITPLANE_L1_BLOCKS", "12"))
STEP = int(os.environ.get("SPLITPLANE_L1_STEP", "5"))  # 1: each number of PRBs
pytestmark = pytest.mark.skipif(not foreign_l1.available(), reason="SKIPPED: py3gpp is not installed (setup/l1.sh)")


@pytest.mark.parametrize("table", MCS_COUNTS)
def test_its_sizes_equal_ours_but_for_ties_that_it_rounds_to_even(table: int) -> None:
    compared = ties = 0
    for layers in (1, 2, 3, 4):
        for symbols, dmrs in ((14, 12), (13, 12), (7, 12)):
            shape = Shape(table, layers, symbols, dmrs)
            for row in rows(shape):
                for prbs in range(1, MAX_PRBS + 1, STEP):
                    theirs = foreign_l1.tb_bits(shape.res_per_prb, prbs, row.rate, row.bits, layers)
                    compared += 1
                    if theirs == row.sizes[prbs - 1]:
                        continue
                    assert is_tie(information(shape.res_per_prb, prbs, row.rate, row.bits, layers)), (shape, row, prbs)
                    assert theirs < row.sizes[prbs - 1]
                    ties += 1
    print(f"{compared} sizes compared, {ties} of them ties")
    assert compared > 10_000 / STEP
    assert ties * 100 < compared


@pytest.fixture(scope="module")
def sample() -> list:
    if not WIRE_EMIT.exists():
        pytest.skip(f"SKIPPED: {WIRE_EMIT} is not built (make build WHAT=all)")
    return blocks(COUNT)


def test_real_blocks_come_back_equal(sample: list) -> None:
    modulations = set()
    for block in sample:
        chain = chain_for(block.table, block.mcs, block.prbs)
        modulations.add(chain.modulation)
        assert chain.octets == len(block.octets)
        assert chain.receive(chain.send(block.octets)) == block.octets, block
    assert len(modulations) >= 3


def test_each_redundancy_version_at_a_low_rate_comes_back(sample: list) -> None:
    """What HARQ sends again is the same block: each version of it alone is enough at a rate this low."""
    chain = chain_for(3, 2, 40)
    block = (sample[0].octets + bytes(chain.octets))[: chain.octets]
    for rv in (0, 3):
        assert chain.receive(chain.send(block, rv), rv) == block


def test_a_block_that_the_air_changed_is_not_taken_for_right(sample: list) -> None:
    chain = chain_for(1, 5, 8)
    block = (sample[0].octets + bytes(chain.octets))[: chain.octets]
    symbols = chain.send(block)
    assert chain.receive(symbols) == block
    half = len(symbols) // 2
    symbols[:half] = -symbols[:half]
    assert chain.receive(symbols) is None

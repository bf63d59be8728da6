"""What the FAPI messages of a slot say, read by the specifications apart from src/wire/dci.h and src/phy/mapping."""

from __future__ import annotations

from functools import cache
from math import ceil, log2
from typing import Any

# TS 38.211 tables 7.4.1.1.2-3 and 6.4.1.1.3-3, mapping type A, single-symbol DMRS, l_0 = 2: by how long the allocation
# is from the begin of the slot, then by the number of additional DMRS symbols.
DMRS = {
    12: [{2}, {2, 9}, {2, 6, 9}, {2, 5, 8, 11}],
    13: [{2}, {2, 11}, {2, 7, 11}, {2, 5, 8, 11}],
    14: [{2}, {2, 11}, {2, 7, 11}, {2, 5, 8, 11}],
}


@cache
def rivs(bwp: int) -> dict[int, tuple[int, int]]:
    """TS 38.214 5.1.2.2.2: first PRB and number of PRBs by RIV."""
    out = {}
    for start in range(bwp):
        for length in range(1, bwp - start + 1):
            above = length - 1
            riv = bwp * above + start if above <= bwp // 2 else bwp * (bwp - above) + (bwp - 1 - start)
            out[riv] = (start, length)
    assert len(out) == bwp * (bwp + 1) // 2
    return out


def fields_of(payload: str, bits: int, names: list[tuple[str, int]]) -> dict[str, int]:
    text = f"{int(payload, 16):0{len(payload) * 4}b}"
    assert len(text) - bits in range(8) and "1" not in text[bits:], "octets of a DCI"
    out, at = {}, 0
    for name, width in names:
        out[name] = int(text[at : at + width], 2)
        at += width
    assert "1" not in text[at:], "padding of a DCI"
    return out


def format_1_0(dci: dict[str, Any], prbs: int) -> dict[str, int]:
    """TS 38.212 7.3.1.2.1, C-RNTI."""
    width = ceil(log2(prbs * (prbs + 1) / 2))
    names = [("format", 1), ("riv", width), ("row", 4), ("vrb_to_prb", 1), ("mcs", 5), ("ndi", 1), ("rv", 2)]
    names += [("process", 4), ("dai", 2), ("tpc", 2), ("pucch_resource", 3), ("timing", 3)]
    assert dci["payload_size_bits"] == sum(width for _, width in names)
    return fields_of(dci["payload"], dci["payload_size_bits"], names)


def format_0_0(dci: dict[str, Any], prbs: int) -> dict[str, int]:
    """TS 38.212 7.3.1.1.1, C-RNTI, padded to the size of format 1_0."""
    width = ceil(log2(prbs * (prbs + 1) / 2))
    names = [("format", 1), ("riv", width), ("row", 4), ("hopping", 1), ("mcs", 5), ("ndi", 1), ("rv", 2)]
    names += [("process", 4), ("tpc", 2)]
    assert dci["payload_size_bits"] == 28 + width
    return fields_of(dci["payload"], dci["payload_size_bits"], names)

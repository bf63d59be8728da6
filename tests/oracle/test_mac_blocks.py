"""Transport blocks that ran/mac builds from RLC entities and control elements, judged by tshark.

`mac_blocks` prints each block with what went into it. tshark must read the same: LCIDs, lengths, SDUs, control
elements, padding, and inside the SDUs the numbers of RLC.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import COUNT, ROOT, SEED, Pdu
from full_mode.mac import is_in_order, sub_pdus
from nr_framing import HEURISTICS, in_udp, mac_nr
from test_tshark import MAC, Mapping, as_hex, judge, octets, same

# Each block is a UE of its own: tshark would put segments of different exchanges together.
WITHOUT_RRC = [*HEURISTICS, "-o", "mac-nr.attempt_rrc_decode:FALSE"]
CHANNELS = [
    *("-o", 'uat:drb_bearerconfig:"LCID 4","1","AM, SN Len=18","AM, SN Len=18"'),
    *("-o", 'uat:drb_bearerconfig:"LCID 5","2","UM, SN Len=12","UM, SN Len=12"'),
    *("-o", "rlc-nr.reassemble_am_frames:FALSE"),
]
BLOCKS: Mapping = MAC | {
    "truncated_size": ("mac-nr.control.bsr.trunc-bs", same),
    **{f"in_long{lcg}": (f"mac-nr.control.bsr.long.lcg{lcg}", same) for lcg in range(8)},
}
INSIDE: Mapping = {
    "am_sn": ("rlc-nr.am.sn", same),
    "am_si": ("rlc-nr.am.si", as_hex(2)),
    "um_si": ("rlc-nr.um.si", as_hex(2)),
}


@pytest.fixture(scope="module")
def blocks() -> list[Pdu]:
    build = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release"))
    program = build / "tools" / "mac_blocks"
    if not program.exists():
        pytest.skip(f"SKIPPED: {program} is not built (make build WHAT=all)")
    run = subprocess.run(
        [str(program), SEED, str(5 * int(COUNT))], capture_output=True, text=True, timeout=60, check=True
    )
    told = [dict(word.split("=", 1) for word in line.split()[1:]) for line in run.stdout.splitlines()]
    return [{f"{k}_{pdu['direction']}" if k in ("lcid", "sdu") else k: v for k, v in pdu.items()} for pdu in told]


def frames(told: list[Pdu]) -> list[bytes]:
    return [
        in_udp(mac_nr(octet, int(pdu["direction"]), ue))
        for ue, (octet, pdu) in enumerate(zip(octets(told), told, strict=True), 1)
    ]


def test_mac_fields_of_built_blocks(tmp_path: Path, tshark: str, blocks: list[Pdu]) -> None:
    seen = {word for pdu in blocks for word in (pdu.get("lcid_0", "") + "," + pdu.get("lcid_1", "")).split(",")}
    assert {"4", "5", "57", "58", "59", "60", "61", "62", "63"} <= seen, "each element is among them"
    assert any(int(length) > 255 for pdu in blocks for length in pdu.get("length", "0").split(","))
    judge(tmp_path / "blocks.pcap", blocks, frames(blocks), BLOCKS, WITHOUT_RRC, ignore=("direction", *INSIDE))


def test_rlc_inside_built_blocks(tmp_path: Path, tshark: str, blocks: list[Pdu]) -> None:
    assert {si for pdu in blocks for si in pdu.get("am_si", "").split(",")} >= {"0", "1", "2"}, "segments too"
    told = [{k: v for k, v in pdu.items() if k in (*INSIDE, "direction", "pdu")} for pdu in blocks]
    judge(tmp_path / "rlc.pcap", told, frames(told), INSIDE, [*WITHOUT_RRC, *CHANNELS], ignore=("direction",))


def test_the_reader_of_full_mode_finds_the_same_sub_pdus(blocks: list[Pdu]) -> None:
    for told, block in zip(blocks, octets(blocks), strict=True):
        direction = int(told["direction"])
        found = list(sub_pdus(block, direction))
        assert ",".join(str(one.lcid) for one in found) == told.get(f"lcid_{direction}", "")
        sdus = ",".join(one.payload.hex() for one in found if one.kind == "sdu")
        assert sdus == told.get(f"sdu_{direction}", "") and is_in_order(found, direction)


def test_the_judge_sees_a_wrong_lcid(tmp_path: Path, tshark: str, blocks: list[Pdu]) -> None:
    """The assertions can fail: one changed bit in the first subheader is noticed."""
    told = next(pdu for pdu in blocks if pdu.get("lcid_1", "").startswith("4"))
    wrong = bytearray.fromhex(told["pdu"])
    wrong[0] ^= 1
    with pytest.raises(AssertionError):
        judge(
            tmp_path / "wrong.pcap",
            [told],
            [in_udp(mac_nr(bytes(wrong), 1))],
            BLOCKS,
            WITHOUT_RRC,
            ignore=("direction", *INSIDE),
        )

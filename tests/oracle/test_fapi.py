"""FAPI over nFAPI: fapi_tool writes messages with random values, and a decoder written apart from it reads them.

SPLITPLANE_FAPI_SEEDS (4) files of 12 messages of each kind.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nfapi_judge import OPEN, decode
from nfapi_judge.compare import compare, datagrams, unnoticed

ROOT = Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("SPLITPLANE_SEED", "1"))
SEEDS = range(SEED, SEED + int(os.environ.get("SPLITPLANE_FAPI_SEEDS", "4")))
KINDS = 19
OURS = replace(
    OPEN,
    name="ours",
    # 16 bits hold no transport block above 65535 octets. OpenAirInterface and 222.10.04 have 32, too.
    tx_tlv_length_bits=32,
    # The values are random, so that a field in a wrong place shows. They break rules as "bit 4 is reserved".
    check_values=False,
    # The tool fills PDUs of other types with random octets.
    offered=frozenset({"PDCCH", "PDSCH", "PUSCH", "PUCCH"}),
)
File = tuple[list[bytes], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def tool() -> Path:
    program = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release")) / "tools" / "fapi_tool"
    if not program.exists():
        pytest.skip(f"SKIPPED: {program} is not built (make build WHAT=all)")
    return program


def emitted(tool: Path, folder: Path, seed: int, count: int) -> File:
    octets, values = folder / "octets", folder / "values"
    subprocess.run([tool, "emit", str(seed), str(count), octets, values], check=True, timeout=120)
    return datagrams(octets.read_bytes()), json.loads(values.read_text())


@pytest.fixture(scope="module")
def sample(tool: Path, tmp_path_factory: pytest.TempPathFactory) -> File:
    return emitted(tool, tmp_path_factory.mktemp("fapi"), SEED, 12)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_message_means_to_the_judge_what_the_writer_meant(tool: Path, tmp_path: Path, seed: int) -> None:
    octets, values = emitted(tool, tmp_path, seed, 12)
    right, wrong = compare(octets, values, OURS)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:20])
    assert right.total() == len(values)
    assert len(right) == KINDS
    assert max(meant["datagrams"] for meant in values) > 1, "no message in segments"


def test_the_judge_notices_every_octet_that_changed(sample: File) -> None:
    changed, unseen = unnoticed(*sample, OURS)
    assert changed > 5000
    assert not unseen, f"{len(unseen)} of {changed}:\n" + "\n".join(unseen[:20])


def test_the_judge_verifies_the_checksum_of_each_segment(sample: File) -> None:
    octets, values = sample
    segments = next(meant for meant in values if meant["datagrams"] > 2)
    first = segments["first_datagram"]
    for number in range(3):
        wrong = octets[first : first + segments["datagrams"]]
        wrong[number] = wrong[number][:-1] + bytes([wrong[number][-1] ^ 1])
        with pytest.raises(ValueError, match="bad checksum"):
            list(decode(wrong, OURS))


@pytest.mark.parametrize(
    "other",
    [
        {"tx_tlv_length_bits": 16},
        {"node_sync_swapped": True},
        {"checksum": "zero"},
        {"bits_plus_one": True},
        {"maintenance_v3": True},
        {"tx_words_swapped": True},
        {"pdu_length_bits": 16},
        {"dl_group_index_bits": 32},
        {"p7_length_with_header": False},
    ],
    ids=lambda other: next(iter(other)),
)
def test_the_judge_refuses_another_reading_of_the_format(sample: File, other: dict[str, Any]) -> None:
    right, wrong = compare(*sample, replace(OURS, **other))
    assert wrong and right.total() < len(sample[1])

"""RLC AM and UM in C++ against an independent model in Python, and the model against itself, wrong rules and tshark.

SPLITPLANE_RLC_STEPS (10000) commands go to both; at the first difference the test prints the seed, the step, the last
steps and both states, and leaves all commands of that schedule in build/rlc_replay for rlc_tool.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from nr_framing import HEURISTICS, in_udp, rlc_nr
from rlc_corners import CORNERS
from rlc_hosts import DifferenceFound, Duel, ModelHost, ToolHost
from rlc_pdu import (
    WHOLE,
    DataPdu,
    Nack,
    Status,
    is_control,
    read_amd,
    read_status,
    read_umd,
    write_amd,
    write_status,
    write_umd,
)
from rlc_schedule import CLEAN, LOSSY, PEER, PROFILES, WALL, Profile, Schedule
from rlc_wrong_rules import WRONG_RULES, Wrong
from test_tshark import RLC, Told, judge

ROOT = Path(__file__).resolve().parents[2]
RLC_TOOL = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release")) / "tools" / "rlc_tool"
REPLAYS = ROOT / "build" / "rlc_replay"
SEED = int(os.environ.get("SPLITPLANE_SEED", "1"))
STEPS = int(os.environ.get("SPLITPLANE_RLC_STEPS", "10000"))
STEPS_A_SCHEDULE = 300
LONG_RUN = 100_000
SEEDS_BEFORE_CORNERS = 3
# Share of the steps; AM has far more rules.
VARIANTS = {("am", 12): 4, ("am", 18): 4, ("um", 6): 2, ("um", 12): 2}
SHARES = sum(VARIANTS.values()) * len(PROFILES)
# 18 bits take 131,072 SDUs and half a minute.
WALLS = [(12, number) for number in range(max(2, STEPS // 20_000))] + [(18, 0)] * (STEPS >= LONG_RUN)


@pytest.fixture
def rlc_tool() -> Iterator[ToolHost]:
    if not RLC_TOOL.exists():
        pytest.skip(f"SKIPPED: {RLC_TOOL} is not built (make build WHAT=all)")
    tool = ToolHost(RLC_TOOL)
    yield tool
    tool.close()


def seeds() -> Iterator[int]:
    number = SEED * 1_000_000
    while True:
        yield number
        number += 1


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("mode, sn_bits", VARIANTS)
def test_the_tool_answers_like_the_model(rlc_tool: ToolHost, mode: str, sn_bits: int, profile: str) -> None:
    duel = Duel(ModelHost(), rlc_tool, REPLAYS)
    steps = STEPS * VARIANTS[mode, sn_bits] // SHARES
    for seed in seeds():
        if duel.steps >= steps:
            return
        duel.begin(f"{mode} {sn_bits} {profile} seed {seed}")
        Schedule(duel, seed, mode, sn_bits, PROFILES[profile]).play(min(STEPS_A_SCHEDULE, steps - duel.steps))


def play_at_the_wall(duel: Duel, seed: int, sn_bits: int = 12) -> None:
    """The transmit window fills up, stalls, and opens again."""
    duel.begin(f"am {sn_bits} wall seed {seed}")
    schedule = Schedule(duel, seed, "am", sn_bits, WALL)
    arrives = schedule.rng.choice([0, 0.5, 0.95, 1]) if sn_bits == 12 else 1
    schedule.fill_window("a", schedule.rng.randint(0, 6), arrives)
    schedule.play(2000)


@pytest.mark.parametrize("sn_bits, number", WALLS)
def test_the_tool_answers_like_the_model_when_the_window_stalls(rlc_tool: ToolHost, sn_bits: int, number: int) -> None:
    play_at_the_wall(Duel(ModelHost(), rlc_tool, REPLAYS), SEED * 1_000_000 + number, sn_bits)


def play(duel: Duel, lines: Iterable[str]) -> None:
    for line in lines:
        duel.run(line)


@pytest.mark.parametrize("corner", CORNERS)
def test_the_tool_answers_like_the_model_in_corners(rlc_tool: ToolHost, corner: str) -> None:
    duel = Duel(ModelHost(), rlc_tool, REPLAYS)
    duel.begin(corner)
    play(duel, CORNERS[corner]())


# The model alone: does it do what RLC promises?


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("profile", [CLEAN, LOSSY], ids=["clean", "lossy"])
@pytest.mark.parametrize("sn_bits", [12, 18])
def test_am_delivers_every_sdu_once_and_acknowledges_no_other(sn_bits: int, profile: Profile, seed: int) -> None:
    schedule = Schedule(ModelHost(), seed, "am", sn_bits, profile, smallest_sdu=6)
    for _ in range(40):
        schedule.play(20)
        for name, peer in PEER.items():
            arrived = schedule.delivered[peer]
            assert all(schedule.sent[name][number] in arrived for number in schedule.acked[name])
            assert all(count == 1 for count in arrived.values())
    schedule.finish()  # buffers are empty at both ends
    for name, peer in PEER.items():
        assert set(schedule.delivered[peer]) == set(schedule.sent[name].values())
        assert sorted(schedule.acked[name]) == sorted(schedule.sent[name])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sn_bits", [6, 12])
def test_um_delivers_every_sdu_once_without_loss_and_never_twice_with_it(sn_bits: int, seed: int) -> None:
    clean = Schedule(ModelHost(), seed, "um", sn_bits, CLEAN, smallest_sdu=6)
    clean.play(800)
    clean.finish()
    for name, peer in PEER.items():
        assert list(clean.delivered[peer].elements()) == list(clean.sent[name].values())
    lossy = Schedule(ModelHost(), seed, "um", sn_bits, Profile("no doubles", loss=0.2, reorder=0.3), smallest_sdu=6)
    lossy.play(800)
    for name, peer in PEER.items():
        assert set(lossy.delivered[peer]) <= set(lossy.sent[name].values())
        assert all(count == 1 for count in lossy.delivered[peer].values())


@pytest.mark.parametrize("wrong", WRONG_RULES, ids=lambda wrong: wrong.name)
def test_the_comparison_finds_a_wrong_rule(wrong: Wrong) -> None:
    widths = [sn_bits for mode, sn_bits in VARIANTS if mode == wrong.mode]
    host = wrong.host_class()
    # KeyError: octets are missing where the wrong rule takes an SDU for complete.
    with pytest.raises((DifferenceFound, KeyError)):
        for seed in range(300):
            if wrong.at_the_wall:
                play_at_the_wall(Duel(ModelHost(), host()), seed)
                continue
            for profile in PROFILES.values():
                Schedule(Duel(ModelHost(), host()), seed, wrong.mode, widths[seed % 2], profile).play(STEPS_A_SCHEDULE)
            if seed == SEEDS_BEFORE_CORNERS:
                for corner in CORNERS.values():
                    play(Duel(ModelHost(), host()), corner())


DATA = bytes.fromhex("aabbccddee")
# formats.md, section 9: R1 to R18, except R12.
UMD_EXAMPLES = [
    (6, None, 0, True, "00"),
    (6, 33, 0, False, "61"),
    (6, 33, 20, False, "e10014"),
    (12, 0xABC, 0, False, "4abc"),
    (12, 0xABC, 30, True, "8abc001e"),
]
AMD_EXAMPLES = [
    (12, True, 5, 0, True, "c005"),
    (12, False, 6, 0, False, "9006"),
    (12, False, 6, 20, False, "b0060014"),
    (12, True, 6, 40, True, "e0060028"),
    (18, False, 0x2ABCD, 0, True, "82abcd"),
    (18, True, 0x2ABCE, 30, True, "e2abce001e"),
]
STATUS_EXAMPLES = [
    (12, Status(10), "000a00"),
    (12, Status(10, (Nack(7),)), "000a800070"),
    (12, Status(2, (Nack(1, 20, 39),)), "000280001400140027"),
    (
        12,
        Status(20, (Nack(7, 20, 39), Nack(9, range=3), Nack(15, 100, 0xFFFF, 2))),
        "001480007c00140027009a0300f60064ffff02",
    ),
    (18, Status(0x2ABCF), "0aaf3c"),
    (18, Status(0x2ABCF, (Nack(0x2ABCD, 5, 0xFFFF),)), "0aaf3eaaf3500005ffff"),
    (18, Status(0x2ABCF, (Nack(0x2AB00, range=200),)), "0aaf3eaac008c8"),
]


@pytest.mark.parametrize("sn_bits, sn, so, ends, header", UMD_EXAMPLES)
def test_umd_examples(sn_bits: int, sn: int | None, so: int, ends: bool, header: str) -> None:
    pdu = bytes.fromhex(header) + DATA
    assert write_umd(sn_bits, sn or 0, so, ends, DATA) == pdu
    assert read_umd(sn_bits, pdu) == DataPdu(pdu[0] >> 6, sn, so, DATA)


@pytest.mark.parametrize("sn_bits, poll, sn, so, ends, header", AMD_EXAMPLES)
def test_amd_examples(sn_bits: int, poll: bool, sn: int, so: int, ends: bool, header: str) -> None:
    pdu = bytes.fromhex(header) + DATA
    assert write_amd(sn_bits, poll, sn, so, ends, DATA) == pdu
    assert read_amd(sn_bits, pdu) == DataPdu(pdu[0] >> 4 & 3, sn, so, DATA, poll)


@pytest.mark.parametrize("sn_bits, status, octets", STATUS_EXAMPLES)
def test_status_examples(sn_bits: int, status: Status, octets: str) -> None:
    assert write_status(sn_bits, status).hex() == octets
    assert read_status(sn_bits, bytes.fromhex(octets)) == status
    for cut in range(len(octets) // 2):
        assert read_status(sn_bits, bytes.fromhex(octets)[:cut]) is None
    assert read_status(sn_bits, bytes.fromhex(octets + "00")) is None


def test_the_report_of_the_example_in_5_5_5() -> None:
    """SN 0 whole, SN 1 with octets 0-19 and 40-49 of 50, SN 2-4 lost, SN 5 whole with P."""
    host = ModelHost()
    host.run("new a am t_status_prohibit=0")
    data = bytes(50)
    for sn, start, end in [(0, 0, 50), (1, 0, 20), (1, 40, 50), (5, 0, 50)]:
        host.run(f"receive a {write_amd(12, sn == 5, sn, start, end == 50, data[start:end]).hex()}")
    host.run("tick a 35")
    assert host.run("pull a 100")["pdu"] == "000280001400140027"
    host.run("tick a 70")
    assert read_status(12, bytes.fromhex(host.run("pull a 100")["pdu"])) == Status(
        6, (Nack(1, 20, 39), Nack(2, range=3))
    )


# tshark as a third judge of the same PDUs.


def told_of(mode: str, sn_bits: int, pdu: bytes) -> Told:
    """What the model's reader finds, in the words of test_tshark.RLC."""
    if mode == "um":
        umd = read_umd(sn_bits, pdu)
        assert umd is not None
        told = {"um_si": str(umd.si), "um_data": umd.data.hex()}
        return told | ({} if umd.si == WHOLE else {"um_sn": str(umd.sn)}) | ({"um_so": str(umd.so)} if umd.so else {})
    if not is_control(pdu):
        amd = read_amd(sn_bits, pdu)
        assert amd is not None
        told = {"dc": "1", "poll": str(int(amd.poll)), "am_si": str(amd.si), "am_sn": str(amd.sn)}
        return told | {"am_data": amd.data.hex()} | ({"am_so": str(amd.so)} if amd.so else {})
    status = read_status(sn_bits, pdu)
    assert status is not None
    lists = {
        "nack_sn": [nack.sn for nack in status.nacks],
        "so_start": [nack.so_start for nack in status.nacks if nack.so_start is not None],
        "so_end": [nack.so_end for nack in status.nacks if nack.so_end is not None],
        "range": [nack.range for nack in status.nacks if nack.range is not None],
    }
    told = {"dc": "0", "control": "0", "ack_sn": str(status.ack_sn)}
    lists["nacks"] = [sum(nack.count for nack in status.nacks)] if status.nacks else []  # as tshark counts
    return told | {key: ",".join(map(str, values)) for key, values in lists.items() if values}


@pytest.mark.parametrize("mode, sn_bits", VARIANTS)
def test_tshark_reads_the_same_in_a_lossy_run(tmp_path: Path, tshark: str, mode: str, sn_bits: int) -> None:
    pdus: list[tuple[str, str]] = []
    for seed in range(10):
        schedule = Schedule(ModelHost(), seed, mode, sn_bits, LOSSY)
        schedule.play(400)
        pdus += schedule.pdus
    told = [told_of(mode, sn_bits, bytes.fromhex(pdu)) for _, pdu in pdus]
    assert mode == "um" or any("range" in pdu for pdu in told) and any("so_start" in pdu for pdu in told)
    # A UE for each PDU: tshark 4.0.17 aborts at the second SDU that it reassembles on a UM bearer.
    frames = [
        in_udp(rlc_nr(bytes.fromhex(pdu), mode, sn_bits, int(sender == "b"), ue))
        for ue, (sender, pdu) in enumerate(pdus, 1)
    ]

    def tolerated(pdu: Told, messages: str, malformed: str) -> bool:
        """A note on each NACK; in 18 bits after the wrap of the SN also the false alarms of tshark's wrong modulus."""
        rest = re.sub(r"Status PDU reports NACK( \(partial\))? on (Uplink|Downlink) for UE \d+", "", messages)
        alarms = 0
        if sn_bits == 18 and "nack_sn" in pdu and int(pdu["ack_sn"]) < int(pdu["nack_sn"].split(",")[0]):
            rest, alarms = re.subn(r"NACK must not be ahead of ACK in status PDU", "", rest)
        return rest.strip(", ") == "" and (malformed == "" or alarms > 0)

    judge(tmp_path / "rlc.pcap", told, frames, RLC, HEURISTICS, tolerated)

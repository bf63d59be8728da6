"""The reader that judges bearers' numbers finds what it is there to find: each fault, seeded by hand, and no other."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import air_reader  # noqa: E402
import n3_frames  # noqa: E402

SDUS = n3_frames.make(60, 3, seed=5).sdus


def air(sdu: n3_frames.Sdu, rlc: int, pdcp: int, count: int | None = None, bearer_of_key: int | None = None) -> bytes:
    """An air frame, ciphered with this COUNT, or with its PDCP SN."""
    key_bearer = bearer_of_key or sdu.bearer
    octets = air_reader.nea2(key_bearer, pdcp if count is None else count, sdu.octets)
    head = bytes(12) + b"\x88\xb5" + bytes.fromhex("20de0000") + sdu.bearer.to_bytes(4, "big")
    head += (7 + len(octets)).to_bytes(2, "big")
    return head + (0x800000 | rlc).to_bytes(3, "big") + (0x800000 | pdcp).to_bytes(3, "big") + b"\x09" + octets


def frames() -> list[bytes]:
    """All SDUs as they should leave."""
    following: dict[int, int] = {}
    made = []
    for sdu in SDUS:
        n = following.get(sdu.bearer, 0)
        following[sdu.bearer] = n + 1
        made.append(air(sdu, n, n))
    return made


def judge(made: list[bytes]) -> air_reader.Verdict:
    return air_reader.judge(SDUS, iter(made), ciphered=True)


def of_one_bearer() -> tuple[int, int]:
    """Places of two SDUs of a bearer, its first and its second."""
    places = [i for i, sdu in enumerate(SDUS) if sdu.bearer == SDUS[0].bearer]
    return places[0], places[1]


def test_good_frames_are_good() -> None:
    found = judge(frames())
    assert found.unique() and found.reordered == 0 and found.frames == len(SDUS)


def test_a_count_given_twice_is_a_key_stream_used_twice() -> None:
    made = frames()
    first, second = of_one_bearer()
    made[second] = air(SDUS[second], 1, 0)
    found = judge(made)
    assert (found.pdcp_twice, found.count_twice, found.rlc_twice) == (1, 1, 0)
    assert found.key_stream_octets_twice == min(len(SDUS[i].octets) for i in (first, second))


def test_an_rlc_number_given_twice_is_found_alone() -> None:
    made = frames()
    _, second = of_one_bearer()
    made[second] = air(SDUS[second], 0, 1)
    found = judge(made)
    assert (found.rlc_twice, found.pdcp_twice, found.key_stream_octets_twice) == (1, 0, 0)
    assert not found.unique()


def test_a_number_left_out_a_frame_twice_and_one_missing_are_found() -> None:
    assert judge([*frames()[1:]]).missing == 1
    assert judge([*frames()[1:]]).left_out == 1
    assert judge([*frames(), frames()[0]]).foreign == 1


@pytest.mark.parametrize(("count", "bearer_of_key"), [(1 << 18, None), (None, 33)])
def test_another_count_or_key_than_the_header_says_is_foreign(count, bearer_of_key) -> None:
    made = frames()
    made[0] = air(SDUS[0], 0, 0, count=count, bearer_of_key=bearer_of_key)
    assert judge(made).foreign == 1


def test_disorder_in_a_bearer_is_counted_and_between_bearers_is_not() -> None:
    first, second = of_one_bearer()
    made = frames()
    made[first], made[second] = made[second], made[first]
    assert judge(made).reordered == 1
    by_bearer = [frames()[i] for i in sorted(range(len(SDUS)), key=lambda i: SDUS[i].bearer)]
    assert judge(by_bearer).reordered == 0


def test_the_traffic_has_every_form_of_outer_header() -> None:
    traffic = n3_frames.make(500, 8, seed=1)
    ports, forms = set(), set()
    for frame in traffic.frames:
        if frame[12:14] == b"\x08\x00":
            header = (frame[14] & 15) * 4
            fragment = int.from_bytes(frame[20:22], "big") & 0x3FFF
            forms.add(("ipv4", header, bool(fragment)))
            ports.add(frame[14 + header : 16 + header])
        else:
            forms.add(("ipv6", frame[20]))
    assert {("ipv4", 20, False), ("ipv4", 24, False), ("ipv4", 60, False), ("ipv4", 20, True)} <= forms
    assert {("ipv6", n3_frames.UDP), ("ipv6", n3_frames.HOP_BY_HOP), ("ipv6", n3_frames.FRAGMENT)} <= forms
    assert len(ports) > 200, "source ports vary with each packet"
    assert traffic.fragments > 10

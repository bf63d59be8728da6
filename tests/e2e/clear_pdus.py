"""PDUs of secured bearers on the air, deciphered and verified by Python that shares no code with the gNB
(tests/pdcp/ciphers.py), and the check that no COUNT protects two things under one key."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import air_views

from pdcp.ciphers import CIPHERS, INTEGRITY, MAC_I_OCTETS
from pdcp.pdu import SN_OCTETS, read_sn


def key_pair(number: int) -> tuple[bytes, bytes]:
    """The keys of the tests with this number, at most 63: for ciphering and for integrity."""
    return bytes([0xC0 + number, *range(15)]), bytes([0x50 + number, *range(15)])


def key_line(number: int, keys: tuple[bytes, bytes] | None = None) -> str:
    """Their line in a file of keys."""
    cipher, integrity = keys or key_pair(number)
    return f"{number} {cipher.hex()} {integrity.hex()}\n"


@dataclass(frozen=True)
class Keys:
    """What protects a PDU with NEA2: the number of its keys, and the DRB."""

    number: int
    drb: int
    is_signed: bool = True  # with NIA2


@dataclass(frozen=True)
class Clear:
    """A PDU of the air, deciphered and verified."""

    bearer: int
    direction: int
    count: int
    pdu: bytes  # as on the air
    ip: bytes  # nothing: an end marker of SDAP
    key: int  # number of its keys


def decipher(
    pdus: Iterable[air_views.AirPdu],
    keys_of: Callable[[air_views.AirPdu], Keys | None],
    starts: dict[tuple[int, int, int], int] | None = None,
) -> Iterator[Clear]:
    """Each data PDU for which there are keys. COUNTs begin at 0, and one is near the highest one before it. With new
    keys COUNTs of RLC UM are 0 again. `starts`: where COUNTs of bearer and direction begin; with RLC UM those of this
    number of keys, otherwise of 0.
    """
    highest = dict(starts or {})
    for air in pdus:
        keys = keys_of(air)
        if keys is None or not air.is_complete_data():
            continue
        assert air.missing == 0
        pdu = air.pdu[air.rlc_header_bytes() :]
        bits, header = air.pdcp_sn_bits, SN_OCTETS[air.pdcp_sn_bits]
        assert pdu[0] & 0x80
        counts = (air.bearer, air.direction, keys.number if air.mode == air_views.UM else 0)
        near = highest.get(counts, 0)
        ahead = (read_sn(bits, pdu) - near + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        count = near + ahead
        highest[counts] = max(near, count)
        cipher, integrity = key_pair(keys.number)
        clear = header + air.sdap
        plain = pdu[:clear] + CIPHERS["nea2"](cipher, count, keys.drb - 1, air.direction, pdu[clear:])
        if keys.is_signed:
            mac = INTEGRITY["nia2"](integrity, count, keys.drb - 1, air.direction, plain[:-MAC_I_OCTETS])
            assert plain[-MAC_I_OCTETS:] == mac, f"MAC-I of COUNT {count} with key {keys.number}"
            plain = plain[:-MAC_I_OCTETS]
        yield Clear(air.bearer, air.direction, count, pdu, plain[clear:], keys.number)


def total_length(ip: bytes) -> int:
    return struct.unpack_from("!H", ip, 2)[0] if ip[0] >> 4 == 4 else 40 + struct.unpack_from("!H", ip, 4)[0]


def assert_clear(found: list[Clear]):
    """Each is a whole IP packet, or an end marker, and no COUNT protects two things under one key."""
    used: dict[tuple[int, int, int, int], bytes] = {}
    for one in found:
        if one.ip:
            assert one.ip[0] >> 4 in (4, 6) and total_length(one.ip) == len(one.ip)
        assert used.setdefault((one.key, one.bearer, one.direction, one.count), one.pdu) == one.pdu, one

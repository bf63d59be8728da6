"""RLC PDUs as plain values: read and written from formats.md 5.1 (data) and 5.2 (STATUS), knowing nothing of the C++.

A reader returns None for whatever does not parse; reserved bits are ignored when read and zero when written.
"""

from __future__ import annotations

from dataclasses import dataclass

WHOLE, FIRST, LAST, MIDDLE = 0b00, 0b01, 0b10, 0b11  # SI, 5.1
TO_THE_END = 0xFFFF  # SOend, 5.2
MAX_RANGE = 255
MAX_SDU_OCTETS = 65535
STATUS_FIXED_OCTETS = 3
AM_WINDOW = {12: 2048, 18: 131072}  # 5.3
UM_WINDOW = {6: 32, 12: 2048}


@dataclass(frozen=True)
class DataPdu:
    """Octets so.. of SDU sn. sn is None in a UMD PDU with a complete SDU; UM has no poll."""

    si: int
    sn: int | None
    so: int
    data: bytes
    poll: bool = False

    @property
    def ends(self) -> bool:
        """Whether the last octet of the SDU is among the data."""
        return self.si in (WHOLE, LAST)


@dataclass(frozen=True)
class Nack:
    """One block of a STATUS PDU; so_start and so_end are both there or both None."""

    sn: int
    so_start: int | None = None
    so_end: int | None = None
    range: int | None = None

    @property
    def count(self) -> int:
        return self.range or 1


@dataclass(frozen=True)
class Status:
    ack_sn: int
    nacks: tuple[Nack, ...] = ()


def segment_info(so: int, ends: bool) -> int:
    """SI by the position in the SDU, 5.4.4."""
    if so == 0:
        return WHOLE if ends else FIRST
    return LAST if ends else MIDDLE


def amd_header_octets(sn_bits: int, so: int) -> int:
    return (2 if sn_bits == 12 else 3) + (2 if so else 0)


def umd_header_octets(sn_bits: int, si: int) -> int:
    if si == WHOLE:
        return 1
    return (1 if sn_bits == 6 else 2) + (0 if si == FIRST else 2)


def write_amd(sn_bits: int, poll: bool, sn: int, so: int, ends: bool, data: bytes) -> bytes:
    sn_octets = 2 if sn_bits == 12 else 3
    head = 1 << 7 | poll << 6 | segment_info(so, ends) << 4
    header = (head << 8 * (sn_octets - 1) | sn).to_bytes(sn_octets, "big")
    return header + (so.to_bytes(2, "big") if so else b"") + data


def write_umd(sn_bits: int, sn: int, so: int, ends: bool, data: bytes) -> bytes:
    si = segment_info(so, ends)
    if si == WHOLE:
        return bytes(1) + data
    header = bytes([si << 6 | sn]) if sn_bits == 6 else (si << 14 | sn).to_bytes(2, "big")
    return header + (so.to_bytes(2, "big") if so else b"") + data


def _segment(si: int, sn: int, rest: bytes, poll: bool = False) -> DataPdu | None:
    """What follows the SN: SO in last and middle segments (never 0 there), then at least one octet of data."""
    so = 0
    if si in (LAST, MIDDLE):
        so = int.from_bytes(rest[:2], "big") if len(rest) >= 2 else 0
        if so == 0:
            return None
        rest = rest[2:]
    return DataPdu(si, sn, so, rest, poll) if rest else None


def is_control(pdu: bytes) -> bool:
    """D/C = 0; an empty PDU is nothing at all."""
    return bool(pdu) and not pdu[0] & 0x80


def read_amd(sn_bits: int, pdu: bytes) -> DataPdu | None:
    sn_octets = 2 if sn_bits == 12 else 3
    if len(pdu) < sn_octets or not pdu[0] & 0x80:
        return None
    sn = int.from_bytes(pdu[:sn_octets], "big") & (1 << sn_bits) - 1
    return _segment(pdu[0] >> 4 & 3, sn, pdu[sn_octets:], bool(pdu[0] & 0x40))


def read_umd(sn_bits: int, pdu: bytes) -> DataPdu | None:
    if not pdu:
        return None
    si = pdu[0] >> 6
    if si == WHOLE:
        return DataPdu(si, None, 0, pdu[1:]) if len(pdu) > 1 else None
    sn_octets = 1 if sn_bits == 6 else 2
    if len(pdu) < sn_octets:
        return None
    sn = int.from_bytes(pdu[:sn_octets], "big") & (1 << sn_bits) - 1
    return _segment(si, sn, pdu[sn_octets:])


def nack_octets(sn_bits: int, nack: Nack) -> int:
    return (2 if sn_bits == 12 else 3) + (4 if nack.so_start is not None else 0) + (1 if nack.range is not None else 0)


def write_status(sn_bits: int, status: Status) -> bytes:
    """Fixed part: 0 000, ACK_SN, E1, R; blocks: NACK_SN, E1, E2, E3, R, then SOstart SOend, then the range."""
    ack_shift, sn_octets, flag_shift = (8, 2, 1) if sn_bits == 12 else (2, 3, 3)
    out = (status.ack_sn << ack_shift | bool(status.nacks) << ack_shift - 1).to_bytes(3, "big")
    for index, nack in enumerate(status.nacks):
        more = index + 1 < len(status.nacks)
        flags = more << 2 | (nack.so_start is not None) << 1 | (nack.range is not None)
        out += (nack.sn << flag_shift + 3 | flags << flag_shift).to_bytes(sn_octets, "big")
        if nack.so_start is not None and nack.so_end is not None:
            out += nack.so_start.to_bytes(2, "big") + nack.so_end.to_bytes(2, "big")
        if nack.range is not None:
            out += bytes([nack.range])
    return out


def read_status(sn_bits: int, pdu: bytes) -> Status | None:
    """None if CPT is not 0, something is cut off or follows the last block, a range is 0, or SO runs backwards."""
    ack_shift, sn_octets, flag_shift = (8, 2, 1) if sn_bits == 12 else (2, 3, 3)
    if len(pdu) < STATUS_FIXED_OCTETS or pdu[0] & 0xF0:
        return None
    fixed, rest = int.from_bytes(pdu[:3], "big"), pdu[3:]
    ack_sn, more = fixed >> ack_shift & (1 << sn_bits) - 1, fixed >> ack_shift - 1 & 1
    nacks = []
    while more:
        if len(rest) < sn_octets:
            return None
        block, rest = int.from_bytes(rest[:sn_octets], "big"), rest[sn_octets:]
        more, with_so, with_range = (block >> flag_shift + bit & 1 for bit in (2, 1, 0))
        needed = 4 * with_so + with_range
        if len(rest) < needed:
            return None
        so_start = int.from_bytes(rest[:2], "big") if with_so else None
        so_end = int.from_bytes(rest[2:4], "big") if with_so else None
        nack = Nack(block >> flag_shift + 3, so_start, so_end, rest[needed - 1] if with_range else None)
        rest = rest[needed:]
        if nack.range == 0:
            return None
        if so_start is not None and so_end is not None and nack.count == 1 and so_end < so_start:
            return None
        nacks.append(nack)
    return None if rest else Status(ack_sn, tuple(nacks))

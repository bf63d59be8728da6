"""nFAPI headers, checksum, segments, and the dispatch by message id."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from . import p5, p7_down, p7_up
from .profile import OPEN, Profile
from .reader import Reader

# P5 header (OAI nfapi_nr_p4_p5_message_header_t, NFAPI_NR_P5_HEADER_LENGTH 10):
#   phy_id u16, message_id u16, message_length u32, spare u16
P5_HEADER = 10
# P7 header (OAI nfapi_nr_p7_message_header_t, NFAPI_NR_P7_HEADER_LENGTH 18):
#   phy_id u16, message_id u16, message_length u32, M(1) segment(7) sequence(8), checksum u32, transmit_timestamp u32
P7_HEADER = 18

# SCF-222 Table 3-4 and SCF-225 Table 2-7.
NAMES = {
    0x00: "PARAM.request",
    0x01: "PARAM.response",
    0x02: "CONFIG.request",
    0x03: "CONFIG.response",
    0x04: "START.request",
    0x05: "STOP.request",
    0x06: "STOP.indication",
    0x07: "ERROR.indication",
    0x80: "DL_TTI.request",
    0x81: "UL_TTI.request",
    0x82: "SLOT.indication",
    0x83: "UL_DCI.request",
    0x84: "TX_DATA.request",
    0x85: "RX_DATA.indication",
    0x86: "CRC.indication",
    0x87: "UCI.indication",
    0x89: "RACH.indication",
    0x0108: "START.response",
    0x0180: "DL_NODE_SYNC",
    0x0181: "UL_NODE_SYNC",
    0x0182: "TIMING.info",
}
P5_IDS = frozenset({0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0108})


def message_name(message_id: int, profile: Profile) -> str:
    if profile.node_sync_swapped and message_id in (0x0180, 0x0181):
        message_id ^= 1
    if message_id not in NAMES:
        raise ValueError(f"unknown message id 0x{message_id:04x}")
    return NAMES[message_id]


def checksum(datagram: bytes, profile: Profile) -> int:
    """The checksum of one P7 segment.

    OAI nfapi_nr_calculate_checksum, and cisco/open-nFAPI before it: over octets 0..9, four zero octets in place of the
    checksum, and the octets after the header (octets 14..17, the timestamp, are left out); NOT of zlib's crc32.
    """
    if profile.checksum == "zero":
        return 0
    if profile.checksum != "oai":
        raise ValueError(f"unknown checksum rule {profile.checksum}")
    return zlib.crc32(datagram[:10] + bytes(4) + datagram[P7_HEADER:]) ^ 0xFFFFFFFF


def _p5_header(datagram: bytes, profile: Profile) -> tuple[dict[str, Any], bytes]:
    reader = Reader(datagram, "P5 header")
    header: dict[str, Any] = reader.fields("phy_id:u16 message_id:u16 message_length:u32 spare:u16")
    want = len(datagram) - (0 if profile.p5_length_with_header else P5_HEADER)
    if header["message_length"] != want:
        raise ValueError(f"P5 header: message length {header['message_length']}, {want} by the datagram")
    return header, datagram[P5_HEADER:]


def _p7_header(datagram: bytes, profile: Profile) -> tuple[dict[str, Any], bytes]:
    reader = Reader(datagram, "P7 header")
    header: dict[str, Any] = reader.fields(
        "phy_id:u16 message_id:u16 message_length:u32 mss:u16 checksum:u32 transmit_timestamp:u32"
    )
    want = len(datagram) - (0 if profile.p7_length_with_header else P7_HEADER)
    if header["message_length"] != want:
        raise ValueError(f"P7 header: message length {header['message_length']}, {want} by the datagram")
    # OAI NFAPI_NR_P7_SET_MSS and NFAPI_P7_GET_*: M in bit 15, segment in 14..8, sequence in 7..0 (as SCF-082).
    mss = header.pop("mss")
    header.update(more=mss >> 15, segment_number=mss >> 8 & 0x7F, sequence_number=mss & 0xFF)
    right = checksum(datagram, profile)
    if header["checksum"] != right:
        raise ValueError(f"P7 header: bad checksum 0x{header['checksum']:08x}, computed 0x{right:08x}")
    return header, datagram[P7_HEADER:]


class Reassembler:
    """Joins the segments of P7 messages: by sequence number, the headers after the first cut (OAI socket_pnf.c)."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int, int], dict[int, tuple[dict[str, Any], bytes]]] = {}

    def add(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes, int] | None:
        """The header of segment 0, the whole body and the count of segments, once the last one is here."""
        key = (header["phy_id"], header["message_id"], header["sequence_number"])
        number = header["segment_number"]
        parts = self._open.setdefault(key, {})
        if number in parts:
            raise ValueError(f"segment {number} of sequence {key[2]} came twice")
        parts[number] = (header, body)
        last = [seg for seg, (head, _) in parts.items() if not head["more"]]
        if len(last) > 1:
            raise ValueError(f"sequence {key[2]} has {len(last)} last segments")
        if last and max(parts) > last[0]:
            raise ValueError(f"sequence {key[2]} goes on after its last segment {last[0]}")
        if not last or len(parts) <= last[0]:
            return None
        del self._open[key]
        return parts[0][0], b"".join(parts[seg][1] for seg in sorted(parts)), len(parts)

    def end(self) -> None:
        for (phy_id, message_id, sequence), parts in self._open.items():
            have = sorted(parts)
            raise ValueError(f"phy {phy_id} message 0x{message_id:04x} sequence {sequence}: only segments {have}")


def decode_body(name: str, body: bytes, profile: Profile) -> dict[str, Any]:
    """The fields of one whole message body; every octet shall be used."""
    for table in (p5.BODIES, p7_down.BODIES, p7_up.BODIES):
        if name in table:
            reader = Reader(body, name)
            fields = table[name](reader, profile)
            reader.end()
            return fields
    raise ValueError(f"{name}: no decoder")


def decode(datagrams: Iterable[bytes], profile: Profile = OPEN) -> Iterator[dict[str, Any]]:
    """One dictionary for each message; ValueError with the reason at the first octet that is wrong."""
    segments = Reassembler()
    for datagram in datagrams:
        if len(datagram) < P5_HEADER:
            raise ValueError(f"a datagram of {len(datagram)} octets is shorter than a header")
        message_id = int.from_bytes(datagram[2:4], "big")
        name = message_name(message_id, profile)
        if message_id in P5_IDS:
            header, body = _p5_header(datagram, profile)
            yield {"message": name, "interface": "P5", **header, **decode_body(name, body, profile)}
            continue
        whole = segments.add(*_p7_header(datagram, profile))
        if whole is not None:
            header, body, count = whole
            header["segments"] = count
            yield {"message": name, "interface": "P7", **header, **decode_body(name, body, profile)}
    segments.end()

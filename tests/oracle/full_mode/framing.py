"""Transport blocks of a capture: pcap or pcapng, UDP in whatever is below, and Wireshark's framing mac-nr in it.

The framing is packet-mac-nr.h's: "mac-nr", radio type, direction, RNTI type, tagged values, 0x01, and the PDU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scapy.utils import RawPcapReader

UPLINK, DOWNLINK = 0, 1  # the values of the framing, and of DIRECTION in TS 33.501 D
SIGNATURE = b"mac-nr"
C_RNTI = 3
UDP = 17
LINK_TYPES = (1, 101, 149, 228, 229)  # Ethernet, raw IP, USER2, IPv4, IPv6
PDU, RNTI, UE_ID, HARQ, SLOT = 0x01, 0x02, 0x03, 0x06, 0x07
TAG_OCTETS = {RNTI: 2, UE_ID: 2, 0x04: 2, 0x05: 1, HARQ: 1, SLOT: 4}


@dataclass(frozen=True)
class Block:
    """A transport block and what the framing says of it. `frame` counts from 1, as Wireshark does."""

    frame: int
    time: float
    direction: int
    rnti: int
    pdu: bytes
    rnti_type: int = C_RNTI
    ue_id: int | None = None
    harq: int | None = None
    slot: tuple[int, int] | None = None  # SFN, slot


def parse(payload: bytes, frame: int = 0, time: float = 0.0) -> Block | None:
    """None for a payload of another kind; ValueError for a framing that does not parse."""
    if not payload.startswith(SIGNATURE):
        return None
    at = len(SIGNATURE) + 3
    if len(payload) < at:
        raise ValueError("the framing ends in its fixed part")
    direction, rnti_type = payload[at - 2], payload[at - 1]
    values: dict[int, bytes] = {}
    while True:
        if at >= len(payload):
            raise ValueError("the framing has no PDU")
        tag, at = payload[at], at + 1
        if tag == PDU:
            break
        if tag not in TAG_OCTETS:
            raise ValueError(f"unknown tag {tag:#04x}")
        values[tag], at = payload[at : at + TAG_OCTETS[tag]], at + TAG_OCTETS[tag]
    if direction not in (UPLINK, DOWNLINK):
        raise ValueError(f"direction {direction}")
    number = {tag: int.from_bytes(octets, "big") for tag, octets in values.items()}
    slot = (number[SLOT] >> 16, number[SLOT] & 0xFFFF) if SLOT in number else None
    return Block(
        frame,
        time,
        direction,
        number.get(RNTI, 0),
        payload[at:],
        rnti_type,
        number.get(UE_ID),
        number.get(HARQ),
        slot,
    )


def _behind_ethernet(frame: bytes) -> bytes:
    at = 12
    while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    return frame[at + 2 :] if frame[at : at + 2] in (b"\x08\x00", b"\x86\xdd") else b""


def _datagram(packet: bytes) -> bytes:
    """The UDP datagram of an IPv4 packet that is no fragment, or of an IPv6 packet without extension headers."""
    if len(packet) >= 20 and packet[0] >> 4 == 4 and packet[9] == UDP and packet[6:8] in (b"\0\0", b"\x40\0"):
        return packet[4 * (packet[0] & 15) :]
    return packet[40:] if len(packet) >= 48 and packet[0] >> 4 == 6 and packet[6] == UDP else b""


def _payload(link_type: int, frame: bytes) -> bytes:
    """What the UDP datagram of a frame holds, by its length field. Link type USER2 (149) has the datagram itself."""
    packet = _behind_ethernet(frame) if link_type == 1 else frame
    datagram = packet if link_type == 149 else _datagram(packet)
    octets = int.from_bytes(datagram[4:6], "big")
    if octets > len(datagram):
        raise ValueError(f"{octets} octets of UDP, and the capture has {len(datagram)}")
    return datagram[8:octets]


def read_blocks(path: Path) -> Iterator[Block]:
    """All blocks, in the order of the capture. Frames of another kind are passed over."""
    reader = RawPcapReader(str(path))  # this is a RawPcapNgReader for a pcapng
    try:
        for number, (frame, about) in enumerate(reader, 1):
            is_classic = hasattr(about, "caplen")
            if is_classic and len(frame) < about.caplen:
                return  # the writer was killed
            link_type = reader.linktype if is_classic else about.linktype
            if link_type not in LINK_TYPES:
                raise ValueError(f"{path}: link type {link_type}; allowed: {', '.join(map(str, LINK_TYPES))}")
            try:
                block = parse(_payload(link_type, frame), number, _seconds(about, reader))
            except ValueError as wrong:
                raise ValueError(f"{path}: frame {number}: {wrong}") from wrong
            if block is not None:
                yield block
    finally:
        reader.close()


def _seconds(about: Any, reader: Any) -> float:
    if hasattr(about, "sec"):
        return about.sec + about.usec / (1e9 if reader.nano else 1e6)
    return ((about.tshigh or 0) << 32 | (about.tslow or 0)) / about.tsresol

"""GTP-U and IP built and taken apart with struct only, independent of our C++ and of go-gtp (TS 29.281, TS 38.415)."""

from __future__ import annotations

import ipaddress
import struct


def checksum(data: bytes) -> int:
    if len(data) & 1:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(payload: bytes, source: str, destination: str, protocol: int = 17) -> bytes:
    head = struct.pack(
        "!BBHHHBBH4s4s",
        0x45,
        0,
        20 + len(payload),
        1,
        0,
        64,
        protocol,
        0,
        ipaddress.IPv4Address(source).packed,
        ipaddress.IPv4Address(destination).packed,
    )
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(payload: bytes, source: str, destination: str, protocol: int = 17) -> bytes:
    return (
        struct.pack(
            "!IHBB16s16s",
            6 << 28,
            len(payload),
            protocol,
            64,
            ipaddress.IPv6Address(source).packed,
            ipaddress.IPv6Address(destination).packed,
        )
        + payload
    )


def udp(
    payload: bytes, source: str, destination: str, source_port: int = 40001, destination_port: int = 40002
) -> bytes:
    """A UDP datagram with its checksum over the pseudo header of either family."""
    pseudo = ipaddress.ip_address(source).packed + ipaddress.ip_address(destination).packed
    pseudo += struct.pack("!IHBB", 8 + len(payload), 0, 0, 17)
    head = struct.pack("!HHHH", source_port, destination_port, 8 + len(payload), 0)
    return head[:6] + struct.pack("!H", checksum(pseudo + head + payload) or 0xFFFF) + payload


def packet(payload: bytes, source: str, destination: str, **ports: int) -> bytes:
    """An IP packet of the addresses' family with one UDP datagram."""
    build = ipv6 if ":" in source else ipv4
    return build(udp(payload, source, destination, **ports), source, destination)


def psc(pdu_type: int, qfi: int, flags: int = 0) -> bytes:
    """Shortest PDU Session Container as extension header content with length and end of chain."""
    return bytes([1, pdu_type << 4, flags << 6 | qfi, 0])


def message(kind: int, teid: int, payload: bytes = b"", extension: bytes = b"", sequence: int | None = None) -> bytes:
    flags = 0x30 | (4 if extension else 0) | (2 if sequence is not None else 0)
    optional = struct.pack("!HBB", sequence or 0, 0, 0x85 if extension else 0) if flags & 7 else b""
    body = optional + extension + payload
    return struct.pack("!BBHI", flags, kind, len(body), teid) + body


def gpdu(teid: int, payload: bytes, qfi: int, pdu_type: int = 0) -> bytes:
    return message(255, teid, payload, psc(pdu_type, qfi))


def parse(data: bytes) -> dict:
    """Kind, TEID, PSC content (or None) and payload; raises on anything inconsistent."""
    flags, kind, length, teid = struct.unpack_from("!BBHI", data)
    assert flags >> 4 == 3 and length + 8 == len(data), data.hex()
    at, next_type, content = 8, 0, None
    if flags & 7:
        at, next_type = 12, data[11] if flags & 4 else 0
    while next_type:
        units = data[at]
        assert units and at + 4 * units <= len(data), data.hex()
        if next_type == 0x85:
            content = data[at + 1 : at + 4 * units - 1]
        at, next_type = at + 4 * units, data[at + 4 * units - 1]
    sequence = struct.unpack_from("!H", data, 8)[0] if flags & 2 else None
    return {"kind": kind, "teid": teid, "psc": content, "payload": data[at:], "sequence": sequence}

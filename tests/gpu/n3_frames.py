"""G-PDUs as a UPF may send them: the outer UDP source port changes with each packet, the outer header is IPv4 or IPv6,
with and without options, and some of the frames are IP fragments. Written from RFC 791, 8200, 768 and TS 29.281.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

GTPU_PORT = 2152
MACS = bytes.fromhex("028259900001 020000000002")
HOP_BY_HOP, UDP, FRAGMENT, DESTINATION_OPTIONS = 0, 17, 44, 60


@dataclass(frozen=True)
class Sdu:
    """What a bearer must carry: `serial` counts all SDUs in the order in which they arrive."""

    bearer: int
    serial: int
    octets: bytes


@dataclass
class Traffic:
    frames: list[bytes] = field(default_factory=list)
    sdus: list[Sdu] = field(default_factory=list)
    fragments: int = 0


def ones_sum(octets: bytes) -> int:
    octets += b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def gpdu(teid: int, qfi: int, sdu: bytes) -> bytes:
    """GTP-U with a PDU Session Container, downlink (TS 29.281 5.1, TS 38.415 5.5.2.1)."""
    container = bytes([1, 0x00, qfi, 0])
    return struct.pack(">BBHIHBB", 0x34, 255, 8 + len(sdu), teid, 0, 0, 0x85) + container + sdu


def udp(source: bytes, destination: bytes, port: int, payload: bytes) -> bytes:
    datagram = struct.pack(">HHHH", port, GTPU_PORT, 8 + len(payload), 0) + payload
    if len(source) == 4:
        return datagram  # no checksum, as IPv4 allows
    pseudo = source + destination + struct.pack(">II", len(datagram), UDP)
    return datagram[:6] + struct.pack(">H", 0xFFFF - ones_sum(pseudo + datagram) or 0xFFFF) + datagram[8:]


def ipv4(source: bytes, destination: bytes, payload: bytes, options: bytes = b"", fragment: int = 0) -> bytes:
    words = 5 + len(options) // 4
    head = struct.pack(">BBHHHBBH", 0x40 | words, 0, 4 * words + len(payload), 7, fragment, 64, UDP, 0)
    head += source + destination + options
    return MACS + b"\x08\x00" + head[:10] + struct.pack(">H", 0xFFFF - ones_sum(head)) + head[12:] + payload


def ipv6(source: bytes, destination: bytes, payload: bytes, extensions: Iterable[tuple[int, bytes]] = ()) -> bytes:
    """`extensions`: type and octets of each, without the octet that names what follows."""
    chain = list(extensions)
    following = ([kind for kind, _ in chain[1:]] + [UDP])[: len(chain)]
    body = b"".join(bytes([after]) + octets for (_, octets), after in zip(chain, following, strict=True)) + payload
    first = chain[0][0] if chain else UDP
    return MACS + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, len(body), first, 64) + source + destination + body


def outer(source: random.Random, upf: int, payload: bytes, family: int | None) -> bytes:
    """One datagram to the gNB in one of the forms that header mode takes. `family`: 4, 6, or either."""
    port = source.randrange(49152, 65536)
    if (family or source.choice((4, 6))) == 4:
        ends = (bytes([10, 1, upf >> 8, upf & 255]), bytes([10, 0, 0, 2]))
        options = source.choice((b"", b"", b"\x94\x04\0\0", b"\x01" * 8, b"\x01" * 40))  # router alert, no-operation
        return ipv4(*ends, udp(*ends, port, payload), options)
    ends = (bytes([0xFD, *([0] * 13), upf >> 8, upf & 255]), bytes([0xFD, *([0] * 14), 2]))
    padding = (HOP_BY_HOP, bytes([0, 1, 4, 0, 0, 0, 0]))
    more = (DESTINATION_OPTIONS, bytes([1, 1, 12]) + bytes(12))
    return ipv6(*ends, udp(*ends, port, payload), source.choice(([], [], [padding], [padding, more])))


def fragment_of(source: random.Random, payload: bytes) -> bytes:
    """A piece of a datagram: its first octets with a UDP header, or a later piece whose octets look like one."""
    first = source.random() < 0.5
    if source.random() < 0.5:
        ends = (bytes([10, 1, 0, 1]), bytes([10, 0, 0, 2]))
        return ipv4(*ends, udp(*ends, GTPU_PORT, payload), fragment=0x2000 if first else 0x0008)
    ends = (bytes([0xFD, *([0] * 14), 1]), bytes([0xFD, *([0] * 14), 2]))
    where = 1 if first else 8 << 3
    return ipv6(*ends, udp(*ends, GTPU_PORT, payload), [(FRAGMENT, struct.pack(">BHI", 0, where, 99))])


def make(frames: int, bearers: int, seed: int, one_family_a_bearer: bool = False) -> Traffic:
    """`frames` SDUs of bearers 1 to `bearers`, each from a UPF address of its own, and fragments between them.

    Lengths are such that the last block of the key stream has 8 octets at least (air_reader.KEY_STREAM_SAMPLE).
    """
    source, traffic = random.Random(seed), Traffic()
    for serial in range(frames):
        bearer = 1 + source.randrange(bearers)
        length = 64 + 16 * source.randrange(12) + source.choice((0, 8, 11, 15))
        sdu = struct.pack(">BIQ", 0x45, bearer, serial) + source.randbytes(length - 13)
        family = (4 if bearer % 2 else 6) if one_family_a_bearer else None
        traffic.frames.append(outer(source, bearer, gpdu(bearer, 9, sdu), family))
        traffic.sdus.append(Sdu(bearer, serial, sdu))
        if source.random() < 0.05:
            traffic.frames.append(fragment_of(source, gpdu(bearer, 9, source.randbytes(80))))
            traffic.fragments += 1
    return traffic


def write_pcap(path: Path, frames: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for n, frame in enumerate(frames):
            file.write(struct.pack("<IIII", 1, n % 1_000_000, len(frame), len(frame)) + frame)

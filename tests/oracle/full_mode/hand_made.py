"""Transport blocks written octet by octet for the tests of the reader. Shares no code with it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC
from nr_framing import in_udp
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6

CIPHER_KEY, INTEGRITY_KEY = bytes(range(16)), bytes(range(16, 32))
KEYS = {1: (CIPHER_KEY, INTEGRITY_KEY)}
UL, DL = 0, 1
START, MIDDLE, END = 0b01, 0b11, 0b10


def ip_packet(number: int, octets: int = 60) -> bytes:
    """A UDP datagram that no other one equals; to 8.8.x.y by its number."""
    data = number.to_bytes(4, "big") + bytes((7 * i + number) % 256 for i in range(octets - 32))
    return bytes(
        IP(src="10.45.0.2", dst=f"8.8.{number >> 8}.{number & 255}", id=number) / UDP(sport=40001, dport=40002) / data
    )


def ipv6_packet(number: int) -> bytes:
    return bytes(IPv6(src="fd00::2", dst=f"2001:db8::{number + 1:x}") / UDP(sport=40001, dport=40002) / b"six")


def aes_ctr(key: bytes, count: int, drb: int, direction: int, octets: bytes) -> bytes:
    """TS 33.401 B.1.3: the counter block is COUNT, BEARER | DIRECTION | 0.., and 64 zero bits."""
    first = struct.pack("!IB11x", count, (drb - 1) * 8 + direction * 4)
    return Cipher(algorithms.AES(key), modes.CTR(first)).encryptor().update(octets)


def aes_cmac(key: bytes, count: int, drb: int, direction: int, octets: bytes) -> bytes:
    """TS 33.401 B.2.3: the same 64 bits in front of the message; the first 32 bits of the CMAC."""
    mac = CMAC(algorithms.AES(key))
    mac.update(struct.pack("!IB3x", count, (drb - 1) * 8 + direction * 4) + octets)
    return mac.finalize()[:4]


@dataclass(frozen=True)
class Pdcp:
    """A sender of one bearer and direction."""

    direction: int = DL
    drb: int = 1
    sn_bits: int = 18
    nea2: bool = True
    nia2: bool = True
    sdap: bytes = b""  # the header octet
    keys: tuple[bytes, bytes] = (CIPHER_KEY, INTEGRITY_KEY)

    def pdu(self, count: int, sdu: bytes) -> bytes:
        header = struct.pack("!H", 0x8000 | count % 4096)
        if self.sn_bits == 18:
            header = struct.pack("!I", 0x800000 | count % 262144)[1:]
        clear = header + self.sdap
        text = sdu
        if self.nia2:
            text += aes_cmac(self.keys[1], count, self.drb, self.direction, clear + sdu)
        return clear + (aes_ctr(self.keys[0], count, self.drb, self.direction, text) if self.nea2 else text)


def am18(sn: int, sdu: bytes, poll: bool = False) -> bytes:
    return struct.pack("!I", 0x800000 | poll << 22 | sn)[1:] + sdu


def am18_segment(kind: int, sn: int, so: int, data: bytes) -> bytes:
    header = struct.pack("!I", 0x800000 | kind << 20 | sn)[1:]
    return header + (b"" if kind == START else struct.pack("!H", so)) + data


def am18_segments(sn: int, sdu: bytes, *cuts: int) -> list[bytes]:
    edges = [0, *cuts, len(sdu)]
    return [
        am18_segment(START if low == 0 else END if high == len(sdu) else MIDDLE, sn, low, sdu[low:high])
        for low, high in zip(edges, edges[1:], strict=False)
    ]


def um12_segments(sn: int, sdu: bytes, *cuts: int) -> list[bytes]:
    edges, out = [0, *cuts, len(sdu)], []
    for low, high in zip(edges, edges[1:], strict=False):
        kind = START if low == 0 else END if high == len(sdu) else MIDDLE
        out.append(struct.pack("!H", kind << 14 | sn) + (b"" if low == 0 else struct.pack("!H", low)) + sdu[low:high])
    return out


def sub_pdu(lcid: int, sdu: bytes) -> bytes:
    if len(sdu) > 255:
        return bytes([0x40 | lcid]) + struct.pack("!H", len(sdu)) + sdu
    return bytes([lcid, len(sdu)]) + sdu


def framed(block: bytes, direction: int, rnti: int = 1, harq: int = 0, ue: int | None = 1, slot: int = 0) -> bytes:
    """An Ethernet frame with the mac-nr framing."""
    tags = b"\x02" + struct.pack("!H", rnti)
    tags += b"" if ue is None else b"\x03" + struct.pack("!H", ue)
    tags += b"\x06" + bytes([harq]) + b"\x07" + struct.pack("!HH", slot // 10 % 1024, slot % 10)
    return in_udp(b"mac-nr" + bytes([1, direction, 3]) + tags + b"\x01" + block)


def write_pcapng(path: Path, frames: list[bytes]) -> None:
    """Section header, interface (Ethernet, nanoseconds), enhanced packets with flags, and statistics."""

    def block(kind: int, body: bytes) -> bytes:
        size = 12 + len(body)
        return struct.pack("<II", kind, size) + body + struct.pack("<I", size)

    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3xI", 9, 1, 9, 0))
    for number, frame in enumerate(frames):
        time = 1_700_000_000_000_000_000 + 1_000_000 * number
        head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
        flags = struct.pack("<HHII", 2, 4, 1 + number % 2, 0)
        out += block(6, head + frame + bytes(-len(frame) % 4) + flags)
    path.write_bytes(out + block(5, struct.pack("<III", 0, 0, 0)))

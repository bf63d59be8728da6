"""Reads pcap and pcapng, writes pcap: frames with their time, their captured octets and their length on the wire."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class Frame(NamedTuple):
    time_us: int
    data: bytes
    length: int  # on the wire; more than len(data) when the capture was cut


def read(path: Path) -> Iterator[Frame]:
    data = path.read_bytes()
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        yield from _read_ng(data)
    elif data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"):
        unit = 1 if data[:4] == b"\xd4\xc3\xb2\xa1" else 1000
        at = 24
        while at + 16 <= len(data):
            seconds, fraction, kept, length = struct.unpack_from("<IIII", data, at)
            yield Frame(seconds * 1000000 + fraction // unit, data[at + 16 : at + 16 + kept], length)
            at += 16 + kept
    else:
        raise ValueError(f"{path}: neither pcap nor pcapng of a little-endian machine")


def _read_ng(data: bytes) -> Iterator[Frame]:
    at, per_second = 0, {}
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 12 or at + size > len(data):
            return  # the capture was cut off while writing
        if kind == 1:  # interface description: option 9 is the time resolution
            per_second[len(per_second)] = _resolution(data[at + 16 : at + size - 4])
        elif kind == 6:  # enhanced packet
            interface, high, low, kept, length = struct.unpack_from("<IIIII", data, at + 8)
            time = (high << 32 | low) * 1000000 // per_second[interface]
            yield Frame(time, data[at + 28 : at + 28 + kept], length)
        at += size


def _resolution(options: bytes) -> int:
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from("<HH", options, at)
        if code == 9:
            value = options[at + 4]
            return 1 << (value & 0x7F) if value & 0x80 else 10**value
        if code == 0:
            break
        at += 4 + (size + 3) // 4 * 4
    return 1000000


def write(path: Path, frames: Iterable[Frame | bytes]):
    """Classic pcap, Ethernet. Plain octets get a time of their own, a microsecond after another."""
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for number, frame in enumerate(frames):
            if isinstance(frame, bytes):
                frame = Frame(1700000000_000000 + number, frame, len(frame))
            out.write(struct.pack("<IIII", *divmod(frame.time_us, 1000000), len(frame.data), frame.length) + frame.data)

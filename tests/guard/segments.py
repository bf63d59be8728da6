"""Frames of a capture as TCP segments, read by the RFCs (791, 8200, 9293, 7323, 2018) and with no code of ours, and
frames written octet by octet for floods and scripted peers."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
IPV4, IPV6, VLAN, QINQ, TCP = 0x0800, 0x86DD, 0x8100, 0x88A8, 6
MODULUS = 1 << 32


def less(a: int, b: int) -> bool:
    """a before b in sequence space."""
    return 0 < (b - a) % MODULUS < MODULUS // 2


def at_most(a: int, b: int) -> bool:
    return a % MODULUS == b % MODULUS or less(a, b)


def folded(octets: bytes) -> int:
    """The 16-bit ones' complement sum (RFC 1071)."""
    if len(octets) % 2:
        octets += b"\0"
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@dataclass
class Options:
    mss: int | None = None
    scale: int | None = None
    sack_permitted: bool = False
    sack: list[tuple[int, int]] = field(default_factory=list)
    timestamps: tuple[int, int] | None = None  # TSval, TSecr
    fast_open: bool = False
    sound: bool = True


def read_options(octets: bytes) -> Options:
    found, at = Options(), 0
    while at < len(octets):
        kind = octets[at]
        if kind == 0:
            break
        if kind == 1:
            at += 1
            continue
        size = octets[at + 1] if at + 1 < len(octets) else 0
        if size < 2 or at + size > len(octets):
            found.sound = False
            break
        data = octets[at + 2 : at + size]
        if kind == 2 and size == 4:
            found.mss = struct.unpack("!H", data)[0]
        elif kind == 3 and size == 3:
            found.scale = min(14, data[0])
        elif kind == 4 and size == 2:
            found.sack_permitted = True
        elif kind == 5 and size > 2 and (size - 2) % 8 == 0:
            words = struct.unpack(f"!{(size - 2) // 4}I", data)
            found.sack = list(zip(words[::2], words[1::2], strict=True))
        elif kind == 8 and size == 10:
            found.timestamps = struct.unpack("!II", data)
        elif kind == 34:
            found.fast_open = True
        elif kind in (2, 3, 4, 5, 8):
            found.sound = False
        at += size
    return found


@dataclass
class Segment:
    time_us: int
    source: tuple[str, int]
    destination: tuple[str, int]
    sequence: int
    acknowledgment: int
    flags: int
    window: int
    options: Options
    payload: bytes
    packet: bytes  # of IP, without link header and padding
    vlan: int
    ip_sound: bool  # its header checksum; IPv6 has none
    tcp_sound: bool
    ecn: int  # of the IP header

    def has(self, flags: int) -> bool:
        return self.flags & flags == flags

    @property
    def end(self) -> int:
        """The sequence number behind it."""
        return (self.sequence + len(self.payload) + bool(self.flags & SYN) + bool(self.flags & FIN)) % MODULUS

    def __str__(self) -> str:
        names = "".join(name for bit, name in enumerate("FSRPAUEC") if self.flags >> bit & 1)
        return (
            f"{self.source[0]}.{self.source[1]} > {self.destination[0]}.{self.destination[1]} {names or '-'} "
            f"seq {self.sequence} ack {self.acknowledgment} win {self.window} len {len(self.payload)}"
        )


def read(time_us: int, frame: bytes) -> Segment | None:
    """None: no TCP, or a fragment."""
    at, vlan = 12, 0
    kind = struct.unpack_from("!H", frame, at)[0]
    while kind in (VLAN, QINQ):
        vlan = struct.unpack_from("!H", frame, at + 2)[0] & 0xFFF
        kind = struct.unpack_from("!H", frame, at + 4)[0]
        at += 4
    ip = frame[at + 2 :]
    if kind == IPV4 and len(ip) >= 20:
        size, total = (ip[0] & 15) * 4, struct.unpack_from("!H", ip, 2)[0]
        if ip[9] != TCP or struct.unpack_from("!H", ip, 6)[0] & 0x3FFF or len(ip) < total or total < size + 20:
            return None
        ends = [str(ipaddress.IPv4Address(ip[begin : begin + 4])) for begin in (12, 16)]
        sound, pseudo, ecn = folded(ip[:size]) == 0xFFFF, ip[12:20] + struct.pack("!HH", TCP, total - size), ip[1] & 3
    elif kind == IPV6 and len(ip) >= 40:
        size, total = 40, 40 + struct.unpack_from("!H", ip, 4)[0]
        if ip[6] != TCP or len(ip) < total or total < size + 20:
            return None
        ends = [str(ipaddress.IPv6Address(ip[begin : begin + 16])) for begin in (8, 24)]
        sound, pseudo, ecn = True, ip[8:40] + struct.pack("!IHH", total - size, 0, TCP), ip[1] >> 4 & 3
    else:
        return None
    tcp = ip[size:total]
    ports = struct.unpack_from("!HH", tcp)
    header = (tcp[12] >> 4) * 4
    if header < 20 or header > len(tcp):
        return None
    return Segment(
        time_us,
        (ends[0], ports[0]),
        (ends[1], ports[1]),
        *struct.unpack_from("!II", tcp, 4),
        flags=tcp[13],
        window=struct.unpack_from("!H", tcp, 14)[0],
        options=read_options(tcp[20:header]),
        payload=tcp[header:],
        packet=ip[:total],
        vlan=vlan,
        ip_sound=sound,
        tcp_sound=folded(pseudo + tcp) == 0xFFFF,
        ecn=ecn,
    )


def option_octets(*, mss: int = 0, scale: int | None = None, sack: bool = False, stamps: tuple[int, int] | None = None):
    """Options of a SYN, padded by NOPs."""
    found = struct.pack("!BBH", 2, 4, mss) if mss else b""
    found += b"\x04\x02" if sack else b""
    found += struct.pack("!BBII", 8, 10, *stamps) if stamps else b""
    found += struct.pack("!BBB", 3, 3, scale) if scale is not None else b""
    return found + b"\x01" * (-len(found) % 4)


def write(
    source: str,
    source_port: int,
    destination: str,
    port: int,
    flags: int,
    *,
    sequence: int = 0,
    acknowledgment: int = 0,
    window: int = 64240,
    options: bytes = b"",
    payload: bytes = b"",
    macs: bytes = b"\2\0\0\0\0\2\2\0\0\0\0\1",
    vlan: int = 0,
    hop_limit: int = 64,
    bad_checksum: bool = False,
) -> bytes:
    """A frame; `macs` is destination and source. Padded to the 60 octets of Ethernet only by the link."""
    ends = [ipaddress.ip_address(end) for end in (source, destination)]
    size = 20 + len(options) + len(payload)
    pair = ends[0].packed + ends[1].packed
    if ends[0].version == 4:
        pseudo = pair + struct.pack("!HH", TCP, size)
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + size, 0, 0x4000, hop_limit, TCP, 0) + pair
        head = head[:10] + struct.pack("!H", 0xFFFF ^ folded(head)) + head[12:]
        kind = IPV4
    else:
        pseudo = pair + struct.pack("!IHH", size, 0, TCP)
        head, kind = struct.pack("!IHBB", 6 << 28, size, TCP, hop_limit) + pair, IPV6
    words = (source_port, port, sequence % MODULUS, acknowledgment % MODULUS, (5 + len(options) // 4) << 4, flags)
    tcp = struct.pack("!HHIIBBHHH", *words, window, 0, 0) + options + payload
    checksum = (0xFFFF ^ folded(pseudo + tcp)) ^ (0x5555 if bad_checksum else 0)
    tcp = tcp[:16] + struct.pack("!H", checksum) + tcp[18:]
    tag = struct.pack("!HH", VLAN, vlan) if vlan else b""
    return macs + tag + struct.pack("!H", kind) + head + tcp


def segments(frames: Iterable) -> list[Segment]:
    """Of pcap.read(); in the order of their times. A frame that was cut is no segment."""
    found = (read(frame.time_us, frame.data) for frame in frames if len(frame.data) == frame.length)
    return sorted((each for each in found if each), key=lambda each: each.time_us)

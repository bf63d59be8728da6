"""Frames that no ordinary client sends, put on the wire in front of the guard octet by octet."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bed import SERVER_IPV4, SERVER_IPV6, WEB_PORT, Bed
from segments import ACK, CWR, ECE, FIN, PSH, RST, SYN, URG, folded, option_octets, write
from wire import Wire

ODD_PORT = 4000  # of the client
# Flags that a client's segment may have at all, and then those that none has.
ODD_FLAGS = {
    "null": 0,
    "xmas": FIN | PSH | URG,
    "SYN and FIN": SYN | FIN,
    "SYN and RST": SYN | RST,
    "SYN-ACK": SYN | ACK,
    "all": 0xFF,
    "FIN alone": FIN,
    "ECE and CWR alone": ECE | CWR,
    "RST and ACK": RST | ACK,
    "RST": RST,
    "ACK": ACK,
}
# Sources from which no host sends (RFC 1122 3.2.1.3, RFC 6890, RFC 4291 2.5, 2.7).
NO_HOSTS = ("0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", SERVER_IPV4)
NO_HOSTS_IPV6 = ("::", "::1", "ff02::1", SERVER_IPV6)


@dataclass(frozen=True)
class Macs:
    """Of the frames towards the server."""

    octets: bytes

    @classmethod
    def of(cls, bed: Bed) -> Macs:
        ends = ((bed.server, "sv0"), (bed.client, "cl0"))
        return cls(b"".join(bytes.fromhex(bed.mac(*end).replace(":", "")) for end in ends))


def ipv6_syns(bed: Bed, count: int, seed: int = 1) -> list[bytes]:
    """From random addresses, each in another /64."""
    chance, macs = random.Random(seed), Macs.of(bed).octets
    options = option_octets(mss=1440, scale=7, sack=True, stamps=(1, 0))
    return [
        write(
            f"2001:db8:{chance.getrandbits(16):x}:{chance.getrandbits(16):x}::{chance.getrandbits(16):x}",
            *(1024 + chance.getrandbits(15), SERVER_IPV6, WEB_PORT, SYN),
            sequence=chance.getrandbits(32),
            options=options,
            macs=macs,
        )
        for _ in range(count)
    ]


def send_for(bed: Bed, frames: Sequence[bytes], seconds: float, per_second: int = 5000) -> int:
    """The frames again and again, at a rate that leaves the wires room; how many were sent."""
    wire, sent, begin = Wire(bed.client, "cl0"), 0, time.monotonic()
    try:
        while (passed := time.monotonic() - begin) < seconds:
            for _ in range(max(0, int(passed * per_second) - sent)):
                wire.send(frames[sent % len(frames)])
                sent += 1
            time.sleep(0.001)
    finally:
        wire.close()
    return sent


def odd_frames(bed: Bed, source: str, with_options: bool = True) -> dict[str, bytes]:
    """A frame of each kind to which nothing may be answered, by what it is. Options that cannot be read are no concern
    of who answers without any."""
    macs = Macs.of(bed).octets

    def frame(source: str, flags: int, server: str = SERVER_IPV4, **rest) -> bytes:
        return write(source, ODD_PORT, server, WEB_PORT, flags, sequence=99, acknowledgment=77, macs=macs, **rest)

    found = {f"flags {name}": frame(source, flags) for name, flags in ODD_FLAGS.items()}
    found |= {f"SYN from {address}": frame(address, SYN) for address in NO_HOSTS}
    found |= {f"SYN from {address}": frame(address, SYN, SERVER_IPV6) for address in NO_HOSTS_IPV6}
    found["SYN with a wrong checksum"] = frame(source, SYN, bad_checksum=True)
    if with_options:
        found["SYN with an option of length 0"] = frame(source, SYN, options=b"\2\0\0\0")
        found["SYN with an option behind the header"] = frame(source, SYN, options=b"\1\1\2\10")
    syn = frame(source, SYN)
    short = bytearray(syn)
    short[46] = 0x40  # a header of 16 octets
    found["SYN with a header of 16 octets"] = bytes(short)
    found["SYN that ends in its header"] = syn[:44]
    first = bytearray(syn)
    first[20] = 0x20  # more fragments
    found["first fragment of a SYN"] = with_ip_checksum(first)
    later = bytearray(syn)
    later[20], later[21] = 0, 3
    found["later fragment"] = with_ip_checksum(later)
    return found


def is_fragment(frame: bytes) -> bool:
    """Of IPv4: the socket of an AF_PACKET port gets it only when the kernel has put all of its packet together."""
    return frame[12:14] == b"\x08\0" and len(frame) > 21 and (frame[20] & 0x3F or frame[21]) != 0


def with_ip_checksum(frame: bytearray) -> bytes:
    """An IPv4 frame without VLAN, its header checksum made anew."""
    frame[24:26] = b"\0\0"
    frame[24:26] = (0xFFFF ^ folded(bytes(frame[14:34]))).to_bytes(2, "big")
    return bytes(frame)


def mutated(frames: Iterable[bytes], count: int, seed: int = 1) -> list[bytes]:
    """Each with a few octets changed, cut or repeated, behind the MAC addresses."""
    chance, pool, found = random.Random(seed), list(frames), []
    for _ in range(count):
        frame = bytearray(chance.choice(pool))
        for _ in range(chance.randint(1, 4)):
            way = chance.random()
            at = chance.randrange(12, len(frame)) if len(frame) > 13 else 12
            if way < 0.7:
                frame[at : at + 1] = bytes([chance.getrandbits(8)])
            elif way < 0.85:
                frame = frame[: max(14, at)]
            else:
                frame[at:at] = frame[at : at + chance.randint(1, 20)]
        found.append(bytes(frame[:1514]).ljust(14, b"\0"))
    return found

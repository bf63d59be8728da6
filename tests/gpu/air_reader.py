"""Reads the air frames that the ring driver sent, and says what was given twice: its own reader of octets, with
OpenSSL's AES, that shares no code with the driver. Judges RLC and PDCP sequence numbers, 128-NEA2's COUNTs, and the
key stream itself, which is what a frame and its SDU differ by.

    Ethernet 14, type 0x88b5 | airhdr 10, bearer in octets 4-7, length of the PDU in 8-9 | RLC AM 3, SN 18 |
    PDCP 3, SN 18 | SDAP 1 | SDU
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from n3_frames import Sdu

ETHERNET, HEADERS = 14, 14 + 10 + 3 + 3 + 1
SN_MASK = (1 << 18) - 1
BLOCK, KEY_STREAM_SAMPLE = 16, 8  # octets of the cipher's block, and of it that tell two blocks apart


@dataclass(frozen=True)
class AirFrame:
    bearer: int
    poll: bool
    rlc_sn: int
    pdcp_sn: int
    payload: bytes


@dataclass
class Verdict:
    """What was found. `reordered`: SDUs that leave behind one of their bearer that arrived later."""

    frames: int = 0
    foreign: int = 0  # no air frame, or no SDU that was sent, or one that had come out before
    missing: int = 0  # SDUs that did not come out
    pdcp_twice: int = 0
    rlc_twice: int = 0
    count_twice: int = 0
    left_out: int = 0  # sequence numbers between 0 and the highest that no frame has
    polls_wrong: int = 0
    key_stream_octets_twice: int = 0
    key_stream_octets_unjudged: int = 0  # of last blocks that are too short to be told apart
    reordered: int = 0
    numbers: dict[int, set[int]] = field(default_factory=dict)

    def unique(self) -> bool:
        wrong = (self.foreign, self.missing, self.pdcp_twice, self.rlc_twice, self.count_twice, self.left_out)
        return not any(wrong) and self.key_stream_octets_twice == self.key_stream_octets_unjudged == 0

    def __str__(self) -> str:
        return (
            f"{self.frames} frames: SNs twice PDCP {self.pdcp_twice} RLC {self.rlc_twice}, COUNTs twice "
            f"{self.count_twice}, left out {self.left_out}, key-stream octets twice {self.key_stream_octets_twice}, "
            f"foreign {self.foreign}, missing {self.missing}, reordered in a bearer {self.reordered}"
        )


def read_pcap(path: Path) -> Iterator[bytes]:
    octets = path.read_bytes()
    at = 24
    while at < len(octets):
        (length,) = struct.unpack_from("<I", octets, at + 8)
        yield octets[at + 16 : at + 16 + length]
        at += 16 + length


def parse(frame: bytes) -> AirFrame | None:
    if len(frame) <= HEADERS or frame[12:14] != b"\x88\xb5":
        return None
    (bearer,) = struct.unpack_from(">I", frame, ETHERNET + 4)
    rlc, pdcp = (int.from_bytes(frame[at : at + 3], "big") for at in (ETHERNET + 10, ETHERNET + 13))
    if rlc >> 18 & 0b101100 != 0b100000 or pdcp >> 18 != 0b100000:  # data PDUs, complete SDUs
        return None
    return AirFrame(bearer, bool(rlc >> 22 & 1), rlc & SN_MASK, pdcp & SN_MASK, frame[HEADERS:])


def key_of(bearer: int) -> bytes:
    """The bench's keys: one for each UE, which has 32 radio bearers at most."""
    return bytes(range(12)) + (0x0C0D0E0F ^ (bearer - 1) // 32).to_bytes(4, "big")


def nea2(bearer: int, count: int, octets: bytes) -> bytes:
    """TS 33.401 B.1.3, downlink: COUNT, BEARER (radio bearer identity - 1, 5 bits), DIRECTION 1."""
    counter = count.to_bytes(4, "big") + bytes([((bearer - 1) & 31) << 3 | 1 << 2]) + bytes(11)
    cipher = Cipher(algorithms.AES(key_of(bearer)), modes.CTR(counter)).encryptor()
    return cipher.update(octets) + cipher.finalize()


def judge(sent: list[Sdu], frames: Iterator[bytes], ciphered: bool, poll_pdu: int = 0) -> Verdict:
    """All output frames against all SDUs that were sent. With less than 2^18 SDUs a bearer, COUNT is the SN."""
    found = Verdict()
    left = {sdu.octets: sdu for sdu in sent}
    pdcp, rlc, counts, blocks = Counter(), Counter(), Counter(), Counter()
    newest: dict[int, int] = {}
    for octets in frames:
        found.frames += 1
        air = parse(octets)
        if air is None:
            found.foreign += 1
            continue
        pdcp[air.bearer, air.pdcp_sn] += 1
        rlc[air.bearer, air.rlc_sn] += 1
        found.polls_wrong += air.poll != (poll_pdu != 0 and (air.rlc_sn + 1) % poll_pdu == 0)
        found.numbers.setdefault(air.bearer, set()).add(air.pdcp_sn)
        plain = air.payload
        if ciphered:
            counts[air.bearer, air.pdcp_sn] += 1
            plain = nea2(air.bearer, air.pdcp_sn, air.payload)
        sdu = left.pop(plain, None)
        if sdu is None or sdu.bearer != air.bearer:
            found.foreign += 1
            continue
        if ciphered:
            stream = bytes(a ^ b for a, b in zip(air.payload, sdu.octets, strict=True))
            for at in range(0, len(stream), BLOCK):
                block = stream[at : at + BLOCK]
                if len(block) < KEY_STREAM_SAMPLE:
                    found.key_stream_octets_unjudged += len(block)
                else:
                    sample = block[:KEY_STREAM_SAMPLE]
                    found.key_stream_octets_twice += min(len(block), blocks[sample])
                    blocks[sample] = max(len(block), blocks[sample])
        if sdu.serial < newest.get(sdu.bearer, -1):
            found.reordered += 1
        newest[sdu.bearer] = max(sdu.serial, newest.get(sdu.bearer, -1))
    found.missing = len(left)
    found.pdcp_twice, found.rlc_twice, found.count_twice = (
        sum(n - 1 for n in table.values()) for table in (pdcp, rlc, counts)
    )
    found.left_out = sum(max(numbers) + 1 - len(numbers) for numbers in found.numbers.values())
    return found

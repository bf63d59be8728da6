"""PDCP PDUs of data radio bearers as plain values (TS 38.323 clause 6), and their limits.

A reader ignores reserved bits; a writer sets them to zero (6.3, "R"; formats.md section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SN_OCTETS = {12: 2, 18: 3}
COUNT_BITS = 32
LAST_COUNT = (1 << COUNT_BITS) - 1  # 7.1: state variables are 0 to 2^32 - 1
MAX_SDU_OCTETS = 9000  # 4.3.1
MAX_CONTROL_OCTETS = 9000  # 4.3.1
STATUS_REPORT = 0  # 6.3.8 PDU type
STATUS_FIXED_OCTETS = 5  # D/C, type, R; FMC


def window_size(sn_bits: int) -> int:
    return 1 << sn_bits - 1  # 7.2


def data_header(sn_bits: int, count: int) -> bytes:
    """D/C = 1, R bits, SN (6.2.2.2 and 6.2.2.3)."""
    octets = SN_OCTETS[sn_bits]
    return (1 << 8 * octets - 1 | count & (1 << sn_bits) - 1).to_bytes(octets, "big")


def read_sn(sn_bits: int, pdu: bytes) -> int:
    return int.from_bytes(pdu[: SN_OCTETS[sn_bits]], "big") & (1 << sn_bits) - 1


def is_data(pdu: bytes) -> bool:
    return bool(pdu[0] & 0x80)


def control_type(pdu: bytes) -> int:
    return pdu[0] >> 4 & 7


def bitmap_of(first_missing: int, received: Iterable[int]) -> bytes:
    """6.3.10: bit N, counted from 1 at the MSB of the first octet, stands for COUNT first_missing + N."""
    bits = [count - first_missing for count in received if count > first_missing]
    bitmap = bytearray((max(bits, default=0) + 7) // 8)
    for bit in bits:
        bitmap[bit - 1 >> 3] |= 0x80 >> (bit - 1 & 7)
    return bytes(bitmap)


@dataclass(frozen=True)
class StatusReport:
    """6.2.3.1. `fmc` is the COUNT of the first missing SDU."""

    fmc: int
    bitmap: bytes = b""

    def write(self) -> bytes:
        return bytes([STATUS_REPORT << 4]) + self.fmc.to_bytes(4, "big") + self.bitmap

    def confirms(self, count: int) -> bool:
        """5.4.2: below FMC, or with its bit set. The COUNT of a bit is taken modulo 2^32 (6.3.10)."""
        bit = count - self.fmc & LAST_COUNT
        if count < self.fmc:
            return True
        return 0 < bit <= 8 * len(self.bitmap) and bool(self.bitmap[bit - 1 >> 3] & 0x80 >> (bit - 1 & 7))


def read_status_report(pdu: bytes) -> StatusReport | None:
    if not STATUS_FIXED_OCTETS <= len(pdu) <= MAX_CONTROL_OCTETS:
        return None
    return StatusReport(int.from_bytes(pdu[1:5], "big"), pdu[5:])

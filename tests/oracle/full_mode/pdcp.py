"""PDCP and SDAP of one bearer and direction as a receiver: COUNT, ciphering, integrity, duplicates, and the header.

TS 38.323 5.2.2 (COUNT from HFN and SN), 5.8 and 5.9 (what is ciphered and protected), 6.2 and 6.3; TS 37.324 6.2. The
algorithms are those of tests/pdcp/ciphers.py. There is no t-Reordering: SDUs come out as they are found.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass

from pdcp.ciphers import CIPHERS, INTEGRITY, MAC_I_OCTETS
from pdcp.pdu import LAST_COUNT, SN_OCTETS, is_data, read_sn, read_status_report

from .bearers import Bearer
from .framing import UPLINK

SDAP_DATA, QFI = 0x80, 0x3F


@dataclass(frozen=True)
class Sdu:
    """An SDAP SDU: an IP packet, if all is well."""

    count: int
    qfi: int | None
    octets: bytes


class PdcpReceiver:
    def __init__(self, bearer: Bearer, direction: int, keys: tuple[bytes, bytes]) -> None:
        self.bearer, self.direction = bearer, direction
        self.cipher_key, self.integrity_key = keys
        self.cipher = CIPHERS[bearer.cipher]
        self.integrity = None if bearer.integrity == "none" else INTEGRITY[bearer.integrity]
        self.rx_next: int | None = None  # one more than the highest COUNT that came
        self.seen: dict[int, bytes] = {}  # COUNT -> digest of its PDU
        self.counts: Counter[str] = Counter()

    def receive(self, pdu: bytes) -> Sdu | None:
        """None: nothing for the upper layer, and a counter says why."""
        header = SN_OCTETS[self.bearer.pdcp_sn]
        if not pdu:
            self.counts["pdcp_malformed"] += 1
            return None
        if not is_data(pdu):
            kind = pdu[0] >> 4 & 7
            well = kind == 1 or (kind == 0 and read_status_report(pdu) is not None)
            self.counts["pdcp_control" if well else "pdcp_malformed"] += 1
            return None
        sdap = self.bearer.has_sdap(self.direction)
        mac_octets = 0 if self.integrity is None else MAC_I_OCTETS
        if len(pdu) < header + sdap + mac_octets + (not sdap):
            self.counts["pdcp_malformed"] += 1
            return None
        self.counts["pdcp_pdus"] += 1
        sn = read_sn(self.bearer.pdcp_sn, pdu)
        counts = self.possible_counts(sn)
        opened = [(count, data) for count in counts if (data := self.opened(pdu, count, header + sdap)) is not None]
        if not opened:
            self.counts["integrity_failed" if counts else "count_unknown"] += 1
            return None
        count, data = next((one for one in opened if looks_like_ip(one[1][sdap:])), opened[0])
        return self.accept(pdu, count, data)

    def possible_counts(self, sn: int) -> list[int]:
        """5.2.2.1, around the highest COUNT so far: HFN is the one that brings COUNT nearest. The HFN of the first PDU
        is 0, or the one that brings COUNT nearest to what the gNB told."""
        modulus = 1 << self.bearer.pdcp_sn

        def near(start: int) -> int:
            ahead = (sn - start) % modulus
            return start + ahead - (modulus if ahead >= modulus // 2 else 0)

        found = [near(self.rx_next)] if self.rx_next is not None else [sn, near(self.bearer.counts[self.direction])]
        return [count for count in dict.fromkeys(found) if 0 <= count <= LAST_COUNT]

    def opened(self, pdu: bytes, count: int, clear: int) -> bytes | None:
        """What follows the PDCP header, deciphered and without MAC-I. None if the MAC-I is wrong. The SDAP header, and
        an SDAP control PDU, are not ciphered (5.8), but integrity protected (5.9)."""
        arguments = count, self.bearer.drb - 1, self.direction
        plain = pdu[:clear] + self.cipher(self.cipher_key, *arguments, pdu[clear:])
        if self.integrity is not None:
            plain, mac_i = plain[:-MAC_I_OCTETS], plain[-MAC_I_OCTETS:]
            if self.integrity(self.integrity_key, *arguments, plain) != mac_i:
                return None
        return plain[SN_OCTETS[self.bearer.pdcp_sn] :]

    def accept(self, pdu: bytes, count: int, data: bytes) -> Sdu | None:
        digest = hashlib.blake2b(pdu, digest_size=8).digest()
        before = self.seen.setdefault(count, digest)
        if before is not digest:
            self.counts["pdcp_duplicates"] += 1
            self.counts["count_used_twice"] += before != digest
            return None
        self.counts["pdcp_late"] += self.rx_next is not None and count < self.rx_next
        self.rx_next = max(self.rx_next or 0, count + 1)
        qfi = None
        if self.bearer.has_sdap(self.direction):
            if self.direction == UPLINK and not data[0] & SDAP_DATA:  # 6.2.3: a control PDU is its header
                self.counts["sdap_end_markers" if len(data) == 1 else "sdap_malformed"] += 1
                return None
            qfi, data = data[0] & QFI, data[1:]
            if not data:
                self.counts["sdap_malformed"] += 1
                return None
        return Sdu(count, qfi, data)


def looks_like_ip(octets: bytes) -> bool:
    """The version, and the length in the header."""
    if len(octets) >= 20 and octets[0] >> 4 == 4:
        return int.from_bytes(octets[2:4], "big") == len(octets)
    return len(octets) >= 40 and octets[0] >> 4 == 6 and 40 + int.from_bytes(octets[4:6], "big") == len(octets)

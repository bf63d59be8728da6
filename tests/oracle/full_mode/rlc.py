"""RLC AM and UM receivers of a bearer and direction without timers: SDUs come out once all octets crossed the air.

TS 38.322 6.2.2 (PDUs, read by rlc_pdu.py), 5.2.2 and 5.2.3. A capture may begin in the middle, so that the windows
follow the highest SN seen. An SDU that crossed twice comes out once.
"""

from __future__ import annotations

from collections import Counter

from rlc_pdu import (
    AM_WINDOW,
    MAX_SDU_OCTETS,
    TO_THE_END,
    UM_WINDOW,
    DataPdu,
    Status,
    is_control,
    read_amd,
    read_status,
    read_umd,
)


class Partial:
    """Octets of an SDU that is not whole yet."""

    def __init__(self) -> None:
        self.octets = bytearray()
        self.there: list[tuple[int, int]] = []  # which of them came: disjoint, ascending
        self.size: int | None = None

    def add(self, pdu: DataPdu, counts: Counter[str]) -> None:
        begin, end = pdu.so, pdu.so + len(pdu.data)
        if pdu.ends:
            counts["rlc_size_differs"] += self.size not in (None, end)
            self.size = end
        counts["rlc_size_differs"] += self.size is not None and end > self.size
        for low, high in self.there:
            low, high = max(low, begin), min(high, end)
            counts["rlc_octets_differ"] += low < high and self.octets[low:high] != pdu.data[low - begin : high - begin]
        self.octets.extend(bytes(max(0, end - len(self.octets))))
        self.octets[begin:end] = pdu.data
        self.there = merged([*self.there, (begin, end)])

    def has(self, begin: int, end: int) -> bool:
        return begin >= end or any(low <= begin and end <= high for low, high in self.there)

    def whole(self) -> bytes | None:
        return bytes(self.octets[: self.size]) if self.size is not None and self.has(0, self.size) else None


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return out


class Receiver:
    """What AM and UM have in common: SNs that do not wrap, what is whole, and what is not."""

    def __init__(self, sn_bits: int, window: int) -> None:
        self.sn_bits, self.window = sn_bits, window
        self.highest: int | None = None  # SNs here go on where those of the air wrap
        self.lowest = 0
        self.partial: dict[int, Partial] = {}
        self.whole: set[int] = set()
        self.counts: Counter[str] = Counter()

    def unwrapped(self, sn: int) -> int:
        """The number nearest to the highest one that is `sn` on the air."""
        if self.highest is None:
            return sn
        modulus = 1 << self.sn_bits
        ahead = (sn - self.highest) % modulus
        return self.highest + ahead - (modulus if ahead >= modulus // 2 else 0)

    def store(self, pdu: DataPdu) -> list[bytes]:
        assert pdu.sn is not None
        sn = self.unwrapped(pdu.sn)
        if self.highest is None:
            self.highest = self.lowest = sn
        if sn > self.highest:
            self.highest = sn
            self.forget()
        self.lowest = min(self.lowest, sn)
        if sn in self.whole:
            self.counts["rlc_duplicates"] += 1
            return []
        partial = self.partial.setdefault(sn, Partial())
        if partial.has(pdu.so, pdu.so + len(pdu.data)):
            self.counts["rlc_duplicates"] += 1
        partial.add(pdu, self.counts)
        sdu = partial.whole()
        if sdu is None:
            return []
        del self.partial[sn]
        self.whole.add(sn)
        return [sdu]

    def forget(self) -> None:
        """What is behind the window can neither come nor be completed."""
        assert self.highest is not None
        edge = self.highest - self.window
        for sn in [sn for sn in self.partial if sn < edge]:
            del self.partial[sn]
            self.counts["rlc_unfinished"] += 1
        if len(self.whole) > 2 * self.window:
            self.whole = {sn for sn in self.whole if sn >= edge}

    def end(self) -> None:
        self.counts["rlc_unfinished"] += len(self.partial)
        self.partial.clear()


class UmReceiver(Receiver):
    def __init__(self, sn_bits: int) -> None:
        super().__init__(sn_bits, UM_WINDOW[sn_bits])

    def receive(self, octets: bytes) -> list[bytes]:
        pdu = read_umd(self.sn_bits, octets)
        if pdu is None:
            self.counts["rlc_malformed"] += 1
            return []
        self.counts["rlc_pdus"] += 1
        if pdu.sn is None:
            return [pdu.data]
        self.counts["rlc_segments"] += 1
        return self.store(pdu)


class AmReceiver(Receiver):
    """Its STATUS PDUs acknowledge what the other direction's receiver got."""

    def __init__(self, sn_bits: int) -> None:
        super().__init__(sn_bits, AM_WINDOW[sn_bits])
        self.acknowledged: int | None = None  # below it a STATUS PDU has acknowledged everything

    def receive(self, octets: bytes, other: AmReceiver) -> list[bytes]:
        if is_control(octets):
            status = read_status(self.sn_bits, octets)
            if status is None:
                self.counts["status_malformed"] += 1
            else:
                self.counts["status_pdus"] += 1
                self.counts["status_nacks"] += len(status.nacks)
                self.counts.update(other.wrong(status))
            return []
        pdu = read_amd(self.sn_bits, octets)
        if pdu is None:
            self.counts["rlc_malformed"] += 1
            return []
        self.counts["rlc_pdus"] += 1
        self.counts["rlc_polls"] += pdu.poll
        self.counts["rlc_segments"] += pdu.si != 0
        return self.store(pdu)

    def wrong(self, status: Status) -> list[str]:
        """What a STATUS PDU says that cannot be: its sender has at most what crossed the air."""
        if self.highest is None:
            return ["status_acks_unsent"] if status.ack_sn or status.nacks else []
        ack = self.unwrapped(status.ack_sn)
        if ack > self.highest + 1:
            return ["status_acks_unsent"]
        missing = self.missing(status)
        found = ["status_nack_beyond_ack" for sn in missing if sn > ack]
        begin = self.lowest if self.acknowledged is None else self.acknowledged
        for sn in range(max(begin, self.highest - self.window), ack):
            if sn not in self.whole and not self.rest_is_there(sn, missing.get(sn, [])):
                found.append("status_acks_missing")
        self.acknowledged = max(begin, min([ack, *missing]))
        return found

    def missing(self, status: Status) -> dict[int, list[tuple[int, int]]]:
        """By SN the octets that a STATUS PDU says are missing (6.2.2.5)."""
        out: dict[int, list[tuple[int, int]]] = {}
        for nack in status.nacks:
            first = self.unwrapped(nack.sn)
            for sn in range(first, first + nack.count):
                low = nack.so_start or 0 if sn == first else 0
                ends = sn == first + nack.count - 1 and nack.so_end not in (None, TO_THE_END)
                out.setdefault(sn, []).append((low, nack.so_end + 1 if ends else MAX_SDU_OCTETS))
        return out

    def rest_is_there(self, sn: int, missing: list[tuple[int, int]]) -> bool:
        """Whether what no NACK names of an SDU that is not whole crossed the air."""
        partial, at = self.partial.get(sn), 0
        if partial is None:
            return merged(missing) == [(0, MAX_SDU_OCTETS)]
        for low, high in merged(missing):
            if not partial.has(at, low):
                return False
            at = high
        return at == MAX_SDU_OCTETS or (partial.size is not None and partial.has(at, partial.size))

"""The received octets of one SDU that is not complete yet, as a dictionary from offset to octet."""

from __future__ import annotations

from rlc_pdu import MAX_SDU_OCTETS, TO_THE_END, DataPdu


def possible(pdu: DataPdu) -> bool:
    """An SDU has 65535 octets at most."""
    return pdu.so + len(pdu.data) <= MAX_SDU_OCTETS


class Partial:
    def __init__(self) -> None:
        self.octets: dict[int, int] = {}
        self.last: int | None = None  # offset of the SDU's last octet, once a segment with it came

    def contradicted_by(self, pdu: DataPdu) -> bool:
        """Octets beyond the known end, another end, or held octets beyond the end that this segment claims."""
        last = pdu.so + len(pdu.data) - 1
        if self.last is not None and (last > self.last or (pdu.ends and last != self.last)):
            return True
        return pdu.ends and any(offset > last for offset in self.octets)

    def has_all_of(self, pdu: DataPdu) -> bool:
        return all(pdu.so + index in self.octets for index in range(len(pdu.data)))

    def add(self, pdu: DataPdu) -> None:
        """Octets that are held already are dropped from the segment (5.5.1)."""
        for index, octet in enumerate(pdu.data):
            self.octets.setdefault(pdu.so + index, octet)
        if pdu.ends:
            self.last = pdu.so + len(pdu.data) - 1

    def complete(self) -> bool:
        return self.last is not None and len(self.octets) == self.last + 1

    def sdu(self) -> bytes:
        return bytes(self.octets[offset] for offset in range(len(self.octets)))

    def has_gap(self) -> bool:
        """An octet is missing below the last one received; a missing tail alone is no gap (5.5.2)."""
        return bool(self.octets) and len(self.octets) != max(self.octets) + 1

    def holes(self) -> list[tuple[int, int]]:
        """Missing octets, first and last of each run; the tail goes to SOend = 0xFFFF (5.5.5)."""
        holes, expected = [], 0
        for offset in sorted(self.octets):
            if offset > expected:
                holes.append((expected, offset - 1))
            expected = offset + 1
        if self.last is None:
            holes.append((expected, TO_THE_END))
        return holes

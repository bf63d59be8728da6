"""RLC AM PDUs of the foreign peer, from TS 38.322 6.2.2.4, 6.2.2.5 and 6.2.3: written loosely, read strictly.

The reader refuses whatever the specification does not let a sender write; it is the judge of the PDUs that we send.
"""

from __future__ import annotations

from dataclasses import dataclass

ALL, FIRST, LAST, MIDDLE = 0, 1, 2, 3  # SI, 6.2.3.4
END = 0xFFFF  # SOend: up to the last octet of the SDU, 6.2.3.16
REPORT_HEAD = 3  # octets of a STATUS without NACKs, both SN lengths


class Illegal(AssertionError):
    """A PDU that the specification does not allow."""


@dataclass(frozen=True)
class Data:
    sn: int
    si: int
    so: int
    octets: bytes
    poll: bool


@dataclass(frozen=True)
class Nack:
    """`first` and `last` are SOstart and SOend (both or none), `count` is the NACK range (None without E3)."""

    sn: int
    first: int | None = None
    last: int | None = None
    count: int | None = None

    def size(self, bits: int) -> int:
        return (2 if bits == 12 else 3) + (0 if self.first is None else 4) + (0 if self.count is None else 1)

    def spans(self) -> list[tuple[int, int, int]]:
        """(SN, first octet, last octet) of each SDU that it touches; END stands for the SDU's end."""
        n = self.count or 1
        return [
            (
                self.sn + i,
                self.first if i == 0 and self.first is not None else 0,
                self.last if i == n - 1 and self.last is not None else END,
            )
            for i in range(n)
        ]


@dataclass(frozen=True)
class Report:
    """A STATUS PDU. SNs are those on the wire, or counted on without wrapping; each holder says which."""

    ack: int
    nacks: tuple[Nack, ...] = ()

    def size(self, bits: int) -> int:
        return REPORT_HEAD + sum(nack.size(bits) for nack in self.nacks)


class Bits:
    def __init__(self) -> None:
        self.value, self.width = 0, 0

    def put(self, value: int, width: int) -> None:
        assert 0 <= value < 1 << width
        self.value, self.width = self.value << width | value, self.width + width

    def octets(self) -> bytes:
        return self.value.to_bytes(self.width // 8, "big")


class Taker:
    def __init__(self, octets: bytes) -> None:
        self.value, self.left = int.from_bytes(octets, "big"), 8 * len(octets)

    def take(self, width: int, what: str) -> int:
        if width > self.left:
            raise Illegal(f"it ends before {what}")
        self.left -= width
        return self.value >> self.left & (1 << width) - 1

    def zero(self, width: int, what: str) -> None:
        if self.take(width, what) != 0:
            raise Illegal(f"a reserved bit is set in {what}")


def data_head(bits: int, so: int) -> int:
    return (2 if bits == 12 else 3) + (2 if so else 0)


def write_data(bits: int, sn: int, so: int, octets: bytes, ends: bool, poll: bool) -> bytes:
    out = Bits()
    out.put(1, 1)
    out.put(poll, 1)
    out.put((LAST if ends else MIDDLE) if so else (ALL if ends else FIRST), 2)
    if bits == 18:
        out.put(0, 2)
    out.put(sn % (1 << bits), bits)
    if so:
        out.put(so, 16)
    return out.octets() + octets


def read_data(bits: int, pdu: bytes) -> Data:
    taker = Taker(pdu[:5])
    if taker.take(1, "D/C") != 1:
        raise Illegal("a control PDU where a data PDU was expected")
    poll, si = taker.take(1, "P"), taker.take(2, "SI")
    if bits == 18:
        taker.zero(2, "a data PDU")
    sn = taker.take(bits, "SN")
    so = taker.take(16, "SO") if si in (LAST, MIDDLE) else 0
    if si in (LAST, MIDDLE) and so == 0:
        raise Illegal("SO 0 in a segment that is not the first one")
    octets = pdu[data_head(bits, so) :]
    if not octets:
        raise Illegal("a data PDU without data")
    return Data(sn, si, so, octets, bool(poll))


def is_report(pdu: bytes) -> bool:
    return not pdu[0] & 0x80


def write_report(bits: int, report: Report) -> bytes:
    out = Bits()
    out.put(0, 4)
    out.put(report.ack % (1 << bits), bits)
    out.put(bool(report.nacks), 1)
    out.put(0, 19 - bits)
    for number, nack in enumerate(report.nacks, 1):
        out.put(nack.sn % (1 << bits), bits)
        out.put(number < len(report.nacks), 1)
        out.put(nack.first is not None, 1)
        out.put(nack.count is not None, 1)
        out.put(0, 1 if bits == 12 else 3)
        if nack.first is not None and nack.last is not None:
            out.put(nack.first, 16)
            out.put(nack.last, 16)
        if nack.count is not None:
            out.put(nack.count, 8)
    return out.octets()


def read_report(bits: int, pdu: bytes) -> Report:
    """SNs as on the wire."""
    taker = Taker(pdu)
    if taker.take(4, "D/C and CPT") != 0:
        raise Illegal("not a STATUS PDU")
    ack = taker.take(bits, "ACK_SN")
    more = taker.take(1, "E1")
    taker.zero(19 - bits, "the fixed part")
    nacks = []
    while more:
        sn, more = taker.take(bits, "NACK_SN"), taker.take(1, "E1")
        with_so, with_range = taker.take(1, "E2"), taker.take(1, "E3")
        taker.zero(1 if bits == 12 else 3, "a NACK")
        first = taker.take(16, "SOstart") if with_so else None
        last = taker.take(16, "SOend") if with_so else None
        count = taker.take(8, "NACK range") if with_range else None
        if count == 0:
            raise Illegal("a NACK range of 0")
        if first is not None and last is not None and first > last and (count or 1) == 1:
            raise Illegal("SOstart behind SOend")
        nacks.append(Nack(sn, first, last, count))
    if taker.left:
        raise Illegal(f"{taker.left} bits behind the last NACK")
    return Report(ack, tuple(nacks))


def nearest(wire_sn: int, base: int, bits: int) -> int:
    """The SN counted on without wrapping that is nearest to `base` and looks like this on the wire."""
    modulus = 1 << bits
    return base + (wire_sn - base + modulus // 2) % modulus - modulus // 2


def unwrapped(report: Report, base: int, bits: int) -> Report:
    """The report with SNs counted on; base is any SN of the sender's window."""
    nacks = tuple(Nack(nearest(n.sn, base, bits), n.first, n.last, n.count) for n in report.nacks)
    return Report(nearest(report.ack, base, bits), nacks)

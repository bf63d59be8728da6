"""The receiving side of the foreign peer: TS 38.322 5.2.3.2 and 5.3.4, SNs counted on without wrapping."""

from __future__ import annotations

from dataclasses import dataclass, field

from rlc_foreign_pdu import ALL, LAST, REPORT_HEAD, nearest, read_data, write_report
from rlc_foreign_report import Hole, Writer

AM_WINDOW = {12: 2048, 18: 131072}


@dataclass
class Assembly:
    """What arrived of one SDU: octets by their place, and its length once the last octet arrived."""

    octets: dict[int, bytes] = field(default_factory=dict)  # disjoint runs by their first octet
    length: int | None = None

    def runs(self) -> list[tuple[int, int]]:
        """(first, last) of what arrived, neighbours joined, ascending."""
        out: list[tuple[int, int]] = []
        for start in sorted(self.octets):
            end = start + len(self.octets[start]) - 1
            if out and out[-1][1] + 1 == start:
                out[-1] = (out[-1][0], end)
            else:
                out.append((start, end))
        return out

    def add(self, so: int, octets: bytes, ends: bool) -> bool:
        """False if all of it had arrived before."""
        at, stop, new = so, so + len(octets), False
        for first, last in self.runs():
            if first >= stop:
                break
            if at < first:
                self.octets[at] = octets[at - so : first - so]
                new = True
            at = max(at, last + 1)
        if at < stop:
            self.octets[at] = octets[at - so :]
            new = True
        if ends:
            self.length = stop
        return new

    def complete(self) -> bool:
        return self.length is not None and self.runs() == [(0, self.length - 1)]

    def gap(self) -> bool:
        """An octet is missing before the last one that arrived."""
        runs = self.runs()
        return bool(runs) and (len(runs) > 1 or runs[0][0] > 0)

    def holes(self, sn: int) -> list[Hole]:
        out, at = [], 0
        for first, last in self.runs():
            if at < first:
                out.append(Hole(sn, at, first - 1))
            at = last + 1
        if self.length is None:
            out.append(Hole(sn, at))
        return out


class Receiver:
    """A poll that the specification delays may be answered at once: senders accept both (`at_once`)."""

    def __init__(self, bits: int, t_reassembly: int, t_prohibit: int, writer: Writer | None, start: int) -> None:
        self.bits, self.t_reassembly, self.t_prohibit, self.writer = bits, t_reassembly, t_prohibit, writer
        self.at_once = False
        self.rx_next = self.rx_next_highest = self.rx_highest_status = start
        self.trigger_sn = start
        self.reassembly: int | None = None
        self.prohibit: int | None = None
        self.triggered = False
        self.waiting_polls: list[int] = []
        self.held: dict[int, Assembly] = {}
        self.done: set[int] = set()  # complete SDUs at or behind rx_next

    def inside(self, sn: int) -> bool:
        return self.rx_next <= sn < self.rx_next + AM_WINDOW[self.bits]

    def first_missing(self, sn: int) -> int:
        while sn in self.done:
            sn += 1
        return sn

    def gap_in(self, sn: int) -> bool:
        return sn in self.held and self.held[sn].gap()

    def take(self, pdu: bytes, now: int) -> tuple[int, bytes] | None:
        """The SN and the octets of the SDU that this PDU completed."""
        data = read_data(self.bits, pdu)
        offset = (data.sn - self.rx_next) % (1 << self.bits)
        sn = self.rx_next + offset if offset < AM_WINDOW[self.bits] else nearest(data.sn, self.rx_next, self.bits)
        sdu, kept = None, False
        if self.inside(sn) and sn not in self.done:
            assembly = self.held.setdefault(sn, Assembly())
            kept = assembly.add(data.so, data.octets, data.si in (ALL, LAST))
            if kept:
                sdu = self.stored(sn, assembly, now)
        if data.poll:
            if not kept or self.at_once:
                self.triggered = True
            else:
                self.waiting_polls.append(sn)
        self.answer_polls()
        return None if sdu is None else (sn, sdu)

    def answer_polls(self) -> None:
        still = [sn for sn in self.waiting_polls if sn >= self.rx_highest_status and self.inside(sn)]
        if len(still) < len(self.waiting_polls):
            self.triggered = True
        self.waiting_polls = still

    def stored(self, sn: int, assembly: Assembly, now: int) -> bytes | None:
        self.rx_next_highest = max(self.rx_next_highest, sn + 1)
        sdu = None
        if assembly.complete():
            sdu = b"".join(assembly.octets[at] for at in sorted(assembly.octets))
            del self.held[sn]
            self.done.add(sn)
            if sn == self.rx_highest_status:
                self.rx_highest_status = self.first_missing(sn)
            if sn == self.rx_next:
                self.rx_next = self.first_missing(sn)
                self.done = {x for x in self.done if x > self.rx_next}
        trigger = self.trigger_sn
        window_end = self.rx_next + AM_WINDOW[self.bits]
        if self.reassembly is not None and (
            trigger == self.rx_next
            or (trigger == self.rx_next + 1 and not self.gap_in(self.rx_next))
            or (not self.inside(trigger) and trigger != window_end)
        ):
            self.reassembly = None
        if self.reassembly is None:
            self.watch(self.rx_next, now)
        return sdu

    def watch(self, sn: int, now: int) -> None:
        """Starts t-Reassembly if anything from `sn` on waits for something earlier."""
        if self.rx_next_highest > sn + 1 or (self.rx_next_highest == sn + 1 and self.gap_in(sn)):
            self.reassembly = now + self.t_reassembly
            self.trigger_sn = self.rx_next_highest

    def tick(self, now: int) -> None:
        if self.prohibit is not None and now >= self.prohibit:
            self.prohibit = None
        if self.reassembly is not None and now >= self.reassembly:
            self.reassembly = None
            self.rx_highest_status = self.first_missing(self.trigger_sn)
            self.watch(self.rx_highest_status, now)
            self.triggered = True
            self.answer_polls()

    def holes(self) -> list[Hole]:
        """What a report may name: everything missing from RX_Next up to, not including, RX_Highest_Status."""
        out: list[Hole] = []
        for sn in range(self.rx_next, self.rx_highest_status):
            if sn not in self.done:
                out += self.held[sn].holes(sn) if sn in self.held else [Hole(sn)]
        return out

    def wants_report(self) -> bool:
        return self.triggered and self.prohibit is None

    def report(self, grant: int, now: int) -> bytes | None:
        if not self.wants_report() or grant < REPORT_HEAD:
            return None
        assert self.writer is not None
        report = self.writer.write(self.holes(), self.rx_highest_status, grant)
        self.triggered = False
        if self.t_prohibit:
            self.prohibit = now + self.t_prohibit
        return write_report(self.bits, report)

"""What a STATUS PDU may say, judged by one who knows what arrived; what a data PDU of ours must look like."""

from __future__ import annotations

from dataclasses import dataclass, field

from rlc_foreign_pdu import ALL, END, LAST, MIDDLE, Illegal, Report, data_head, nearest, read_data
from rlc_foreign_receiver import AM_WINDOW, Receiver


def judge_report(report: Report, truth: Receiver, lengths: dict[int, int], ours: bool) -> None:
    """`truth` is a receiver that got what the writer of the report got; SNs are counted on; `lengths` of sent SDUs.

    Ours may not do what is only just legal: name an SDU at or behind ACK_SN, or octets that arrived, except by a last
    NACK to the end of its SDU in a report that is cut there.
    """
    if not truth.rx_next <= report.ack <= truth.rx_highest_status:
        raise Illegal(f"ACK_SN {report.ack} outside {truth.rx_next} to {truth.rx_highest_status}")
    if report.ack in truth.done:
        raise Illegal(f"ACK_SN {report.ack} is an SDU that arrived")
    missing = missing_octets(truth, lengths, report.ack)
    before = (truth.rx_next - 1, 0)
    named: dict[int, list[tuple[int, int]]] = {}
    for number, nack in enumerate(report.nacks, 1):
        for sn, first, last in nack.spans():
            if ours and sn >= report.ack:
                raise Illegal(f"a NACK of {sn} at or behind ACK_SN {report.ack}")
            if sn not in lengths or sn < truth.rx_next:
                raise Illegal(f"a NACK of {sn}, which was never sent or is below RX_Next {truth.rx_next}")
            if last == END:
                last = lengths[sn] - 1
            if not first <= last < lengths[sn]:
                raise Illegal(f"a NACK of octets {first} to {last} of {sn}, which has {lengths[sn]}")
            if (sn, first) <= before:
                raise Illegal(f"a NACK of {sn} from {first} behind one up to {before}")
            before = (sn, last)
            named.setdefault(sn, []).append((first, last))
            judge_named(truth, sn, first, last, number == len(report.nacks) and nack.last == END)
    for sn, holes in missing.items():
        for first, last in holes:
            if not covered(first, last, named.get(sn, [])):
                raise Illegal(
                    f"octets {first} to {last} of {sn} never arrived, and ACK_SN {report.ack} acknowledges them"
                )


def judge_named(truth: Receiver, sn: int, first: int, last: int, cut_here: bool) -> None:
    if sn in truth.done:
        raise Illegal(f"a NACK of {sn}, which arrived")
    held = truth.held.get(sn)
    for a, b in held.runs() if held else []:
        if a <= last and first <= b and not cut_here:
            raise Illegal(f"a NACK of octets {first} to {last} of {sn}, of which {a} to {b} arrived")


def missing_octets(truth: Receiver, lengths: dict[int, int], ack: int) -> dict[int, list[tuple[int, int]]]:
    out = {}
    for hole in truth.holes():
        if hole.sn < ack:
            last = lengths[hole.sn] - 1 if hole.last is None else hole.last
            out.setdefault(hole.sn, []).append((hole.first, last))
    return out


def covered(first: int, last: int, spans: list[tuple[int, int]]) -> bool:
    for a, b in sorted(spans):
        if a <= first <= b:
            first = b + 1
    return first > last


@dataclass
class DataJudge:
    """Follows the data PDUs of our sender: TS 38.322 5.2.3.1 and 5.3.3.2, and that the octets are the SDU's."""

    bits: int
    poll_pdu: int
    poll_byte: int
    tx_next: int
    offered: list[bytes] = field(default_factory=list)
    sent: dict[int, int] = field(default_factory=dict)  # octets submitted at least once, by SN
    pdus: int = 0
    octets: int = 0

    def __post_init__(self) -> None:
        self.start = self.tx_next

    def sdu(self, sn: int) -> bytes:
        return self.offered[sn - self.start]

    def lengths(self) -> dict[int, int]:
        return {sn: len(self.sdu(sn)) for sn in self.sent}

    def take(self, pdu: bytes, grant: int, next_ack: int, pending: bool) -> None:
        """`next_ack` is TX_Next_Ack, `pending`: something is left to retransmit behind this PDU."""
        if len(pdu) > grant:
            raise Illegal(f"{len(pdu)} octets for a grant of {grant}")
        data = read_data(self.bits, pdu)
        sn = nearest(data.sn, next_ack + AM_WINDOW[self.bits] // 2, self.bits)
        if not next_ack <= sn < next_ack + AM_WINDOW[self.bits]:
            raise Illegal(f"SN {sn} is outside the window from {next_ack}")
        if sn > self.tx_next or sn - self.start >= len(self.offered):
            raise Illegal(f"SN {sn} after {self.tx_next - 1}")
        sdu, behind = self.sdu(sn), data.so + len(data.octets)
        if sdu[data.so : behind] != data.octets:
            raise Illegal(f"octets {data.so} to {behind - 1} of {sn} are not those of the SDU")
        if (data.si in (ALL, LAST)) != (behind == len(sdu)) or (data.si in (LAST, MIDDLE)) != (data.so > 0):
            raise Illegal(f"SI {data.si} at octets {data.so} to {behind - 1} of {sn}, which has {len(sdu)}")
        if data.octets and len(pdu) != data_head(self.bits, data.so) + len(data.octets):
            raise Illegal("a header of the wrong length")
        was = self.sent.get(sn, 0)
        if data.so > was:
            raise Illegal(f"octets of {sn} from {data.so}, but only {was} were sent before")
        self.tx_next = max(self.tx_next, sn + 1)
        if behind > was:
            self.sent[sn] = behind
            self.pdus, self.octets = self.pdus + 1, self.octets + behind - was
        self.judge_poll(data.poll, next_ack, pending)

    def judge_poll(self, poll: bool, next_ack: int, pending: bool) -> None:
        started = self.tx_next - self.start
        done = started == 0 or self.sent.get(self.tx_next - 1, 0) == len(self.sdu(self.tx_next - 1))
        empty = not pending and done and started == len(self.offered)
        if not poll and (self.pdus >= self.poll_pdu or self.octets >= self.poll_byte):
            raise Illegal(f"no poll after {self.pdus} PDUs and {self.octets} octets")
        if not poll and empty:
            raise Illegal("no poll in the PDU that leaves both buffers empty")
        if not poll and not pending and done and self.tx_next >= next_ack + AM_WINDOW[self.bits]:
            raise Illegal("no poll in the PDU that stalls the window")
        if poll:
            self.pdus = self.octets = 0

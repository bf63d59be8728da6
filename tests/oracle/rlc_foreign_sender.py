"""The transmitting side of the foreign peer: TS 38.322 5.2.3.1, 5.3.2 and 5.3.3, SNs counted on without wrapping.

It does what other senders do and ours does not: polls at odd moments, segments of odd sizes, retransmissions cut anew.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from rlc_foreign_pdu import END, Report, data_head, write_data
from rlc_foreign_receiver import AM_WINDOW


@dataclass
class Sdu:
    octets: bytes
    sent: int = 0  # octets submitted at least once
    again: list[tuple[int, int]] = field(default_factory=list)  # (first, behind) to retransmit, disjoint
    freed: list[tuple[int, int]] = field(default_factory=list)  # (first, behind) acknowledged and no longer held
    retx: int | None = None  # RETX_COUNT


@dataclass(frozen=True)
class SenderHabits:
    poll_pdu: int
    poll_byte: int
    t_poll: int
    max_retx: int
    odd_poll: float  # a poll that no rule asks for
    odd_cut: float  # a segment shorter than its grant
    whole_again: float  # an SDU of which a part is missing goes out again as a whole
    any_on_expiry: float  # t-PollRetransmit: any unacknowledged SDU instead of the newest
    frees_parts: bool  # octets that a report acknowledges are gone, although others of their SDU are missing


Spans = list[tuple[int, int]]  # (first, behind)


def joined(spans: Spans) -> Spans:
    out: Spans = []
    for first, behind in sorted(spans):
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], max(behind, out[-1][1]))
        elif first < behind:
            out.append((first, behind))
    return out


def without(spans: Spans, gone: Spans) -> Spans:
    """`spans` less what lies in `gone`; both joined."""
    for a, b in gone:
        spans = [part for x, y in spans for part in ((x, min(y, a)), (max(x, b), y)) if part[0] < part[1]]
    return spans


class Sender:
    def __init__(self, bits: int, habits: SenderHabits, rng: random.Random, start: int) -> None:
        self.bits, self.habits, self.rng = bits, habits, rng
        self.queue: deque[bytes] = deque()
        self.sdus: dict[int, Sdu] = {}  # not yet acknowledged
        self.tx_next = self.tx_next_ack = start
        self.poll_sn: int | None = None
        self.pdus = self.octets = 0  # PDU_WITHOUT_POLL, BYTE_WITHOUT_POLL
        self.poll_due = False
        self.poll_timer: int | None = None
        self.failed = False

    def offer(self, sdu: bytes) -> None:
        self.queue.append(sdu)

    def idle(self) -> bool:
        return not self.queue and not self.sdus

    def stalled(self) -> bool:
        return self.tx_next >= self.tx_next_ack + AM_WINDOW[self.bits]

    def unsent(self) -> int | None:
        """The SN whose SDU has octets that were never submitted."""
        last = self.tx_next - 1
        return last if last in self.sdus and self.sdus[last].sent < len(self.sdus[last].octets) else None

    def pull(self, grant: int, now: int) -> bytes | None:
        waiting = [sn for sn, sdu in self.sdus.items() if sdu.again]
        if waiting:
            sn = min(waiting) if self.rng.random() < 0.7 else self.rng.choice(waiting)
            return self.resend(sn, grant, now)
        sn = self.unsent()
        if sn is None:
            if not self.queue or self.stalled():
                return None
            if grant <= data_head(self.bits, 0):
                return None
            sn = self.tx_next
            self.sdus[sn] = Sdu(self.queue.popleft())
            self.tx_next += 1
        sdu = self.sdus[sn]
        size = self.size(grant, sdu.sent, len(sdu.octets))
        if size <= 0:
            return None
        first, sdu.sent = sdu.sent, sdu.sent + size
        self.pdus, self.octets = self.pdus + 1, self.octets + size
        return self.submit(sn, first, sdu.sent, now)

    def size(self, grant: int, so: int, behind: int) -> int:
        size = min(grant - data_head(self.bits, so), behind - so)
        return self.rng.randint(1, size) if size > 1 and self.rng.random() < self.habits.odd_cut else size

    def resend(self, sn: int, grant: int, now: int) -> bytes | None:
        sdu = self.sdus[sn]
        first, behind = sdu.again[0]
        size = self.size(grant, first, behind)
        if size <= 0:
            return None
        sdu.again[0] = (first + size, behind)
        if first + size == behind:
            sdu.again.pop(0)
        return self.submit(sn, first, first + size, now)

    def submit(self, sn: int, first: int, behind: int, now: int) -> bytes:
        pending = any(sdu.again for sdu in self.sdus.values())
        no_more = self.unsent() is None and (self.stalled() or not (pending or self.queue))
        poll = (
            self.poll_due
            or self.pdus >= self.habits.poll_pdu
            or self.octets >= self.habits.poll_byte
            or no_more
            or self.rng.random() < self.habits.odd_poll
        )
        if poll:
            self.pdus = self.octets = 0
            self.poll_due = False
            self.poll_sn = self.tx_next - 1
            self.poll_timer = now + self.habits.t_poll
        sdu = self.sdus[sn].octets
        return write_data(self.bits, sn, first, sdu[first:behind], behind == len(sdu), poll)

    def consider(self, sn: int, spans: Spans, counted: set[int]) -> None:
        """5.3.2: `spans` shall go out again, only as far as they were sent and are still held."""
        sdu = self.sdus[sn]
        wanted = without(joined([(a, min(b, sdu.sent)) for a, b in spans]), sdu.freed)
        if not wanted:
            return
        if sdu.retx is None:
            sdu.retx = 0
        elif not sdu.again and sn not in counted:
            sdu.retx += 1
        counted.add(sn)
        if sdu.retx >= self.habits.max_retx:
            self.failed = True
        sdu.again = joined(sdu.again + wanted)

    def take(self, report: Report) -> None:
        """A report with SNs counted on."""
        missing: dict[int, Spans] = {}
        for nack in report.nacks:
            for sn, first, last in nack.spans():
                if sn in self.sdus:
                    end = len(self.sdus[sn].octets)
                    missing.setdefault(sn, []).append((first, end if last == END else last + 1))
        for sn in [sn for sn in self.sdus if sn < report.ack]:
            self.acknowledge(sn, missing.get(sn, []))
        self.tx_next_ack = min(self.sdus, default=self.tx_next)
        counted: set[int] = set()
        for sn, spans in missing.items():
            if sn in self.sdus:
                again = [(0, len(self.sdus[sn].octets))] if self.rng.random() < self.habits.whole_again else spans
                self.consider(sn, again, counted)
        if self.poll_sn is not None and (self.poll_sn < report.ack or self.poll_sn in missing):
            self.poll_timer, self.poll_sn = None, None

    def acknowledge(self, sn: int, missing: Spans) -> None:
        """ACK_SN is behind this SDU: all of it arrived but what is named as missing."""
        sdu = self.sdus[sn]
        if not missing:
            del self.sdus[sn]
        elif self.habits.frees_parts:
            sdu.freed = joined(sdu.freed + without([(0, sdu.sent)], joined(missing)))
            sdu.again = without(sdu.again, sdu.freed)
            if sdu.freed == [(0, len(sdu.octets))]:
                del self.sdus[sn]

    def tick(self, now: int) -> None:
        if self.poll_timer is None or now < self.poll_timer:
            return
        self.poll_timer = None
        self.poll_due = True
        sent = [sn for sn, sdu in self.sdus.items() if sdu.sent]
        pending = any(sdu.again for sdu in self.sdus.values())
        empty = not pending and not self.queue and self.unsent() is None
        if sent and (empty or (self.stalled() and not pending)):
            sn = self.rng.choice(sent) if self.rng.random() < self.habits.any_on_expiry else max(sent)
            self.consider(sn, [(0, self.sdus[sn].sent)], set())

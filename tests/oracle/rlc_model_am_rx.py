"""The receiving side of an RLC AM entity, written from formats.md 5.5: part of the judge of the C++ one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rlc_model_am_tx import AmConfig
from rlc_pdu import (
    AM_WINDOW,
    MAX_RANGE,
    STATUS_FIXED_OCTETS,
    TO_THE_END,
    DataPdu,
    Nack,
    Status,
    nack_octets,
    write_status,
)
from rlc_segments import Partial, possible


class AmRx:
    def __init__(self, config: AmConfig) -> None:
        self.config = config
        self.modulus = 1 << config.sn_bits
        self.window_size = AM_WINDOW[config.sn_bits]
        self.partials: dict[int, Partial] = {}
        self.complete: set[int] = set()  # SNs from RX_Next on whose SDU was delivered
        self.delayed_polls: set[int] = set()
        self.rx_next = self.rx_next_highest = self.rx_highest_status = self.rx_next_status_trigger = 0
        self.t_reassembly: int | None = None
        self.t_status_prohibit: int | None = None
        self.status_triggered = False

    def seed(self, sn: int) -> None:
        self.rx_next = self.rx_next_highest = self.rx_highest_status = self.rx_next_status_trigger = sn

    def above(self, sn: int) -> int:
        """Position in window order: the base is RX_Next (5.3)."""
        return (sn - self.rx_next) % self.modulus

    def plus(self, sn: int, count: int) -> int:
        return (sn + count) % self.modulus

    def first_missing(self, sn: int) -> int:
        while sn in self.complete:
            sn = self.plus(sn, 1)
        return sn

    def has_gap(self, sn: int) -> bool:
        return sn in self.partials and self.partials[sn].has_gap()

    # Data (5.5.1, 5.5.2).

    def receive(self, pdu: DataPdu, now: int) -> list[bytes]:
        assert pdu.sn is not None
        if not self.store(pdu):
            self.status_triggered |= pdu.poll  # a poll counts even if its PDU is discarded
            return []
        delivered = self.update(pdu.sn)
        self.stop_or_start_reassembly(now)
        if pdu.poll:
            self.delayed_polls.add(pdu.sn)
        self.look_at_polls()
        return delivered

    def store(self, pdu: DataPdu) -> bool:
        """False: discarded, because outside the window, held already, or impossible."""
        assert pdu.sn is not None
        if self.above(pdu.sn) >= self.window_size or pdu.sn in self.complete or not possible(pdu):
            return False
        partial = self.partials.get(pdu.sn, Partial())
        if partial.contradicted_by(pdu) or partial.has_all_of(pdu):
            return False
        partial.add(pdu)
        self.partials[pdu.sn] = partial
        return True

    def update(self, sn: int) -> list[bytes]:
        if self.above(sn) >= self.above(self.rx_next_highest):
            self.rx_next_highest = self.plus(sn, 1)
        if not self.partials[sn].complete():
            return []
        sdu = self.partials.pop(sn).sdu()
        self.complete.add(sn)
        if sn == self.rx_highest_status:
            self.rx_highest_status = self.first_missing(sn)
        if sn == self.rx_next:
            while self.rx_next in self.complete:
                self.complete.remove(self.rx_next)
                self.rx_next = self.plus(self.rx_next, 1)
        return [sdu]

    def reassembly_is_over(self) -> bool:
        trigger = self.rx_next_status_trigger
        if trigger == self.rx_next:
            return True
        if trigger == self.plus(self.rx_next, 1) and not self.has_gap(self.rx_next):
            return True
        return self.above(trigger) > self.window_size  # the upper edge itself is not meant

    def something_missing_from(self, sn: int) -> bool:
        """RX_Next_Highest > sn + 1, or it is sn + 1 and SDU sn has a gap."""
        distance = self.above(self.rx_next_highest) - self.above(sn)
        return distance > 1 or (distance == 1 and self.has_gap(sn))

    def start_reassembly(self, now: int) -> None:
        self.t_reassembly = now + self.config.t_reassembly
        self.rx_next_status_trigger = self.rx_next_highest

    def stop_or_start_reassembly(self, now: int) -> None:
        if self.t_reassembly is not None and self.reassembly_is_over():
            self.t_reassembly = None
        if self.t_reassembly is None and self.something_missing_from(self.rx_next):
            self.start_reassembly(now)

    def look_at_polls(self) -> None:
        """5.5.4: delayed until its SN is below RX_Highest_Status or outside the window."""
        ready = {
            sn
            for sn in self.delayed_polls
            if self.above(sn) < self.above(self.rx_highest_status) or self.above(sn) >= self.window_size
        }
        self.delayed_polls -= ready
        self.status_triggered |= bool(ready)

    def tick(self, now: int) -> None:
        if self.t_status_prohibit is not None and self.t_status_prohibit <= now:
            self.t_status_prohibit = None
        if self.t_reassembly is not None and self.t_reassembly <= now:
            self.reassembly_expired(now)

    def reassembly_expired(self, now: int) -> None:
        """5.5.3."""
        self.t_reassembly = None
        self.rx_highest_status = self.first_missing(self.rx_next_status_trigger)
        if self.something_missing_from(self.rx_highest_status):
            self.start_reassembly(now)
        self.status_triggered = True
        self.look_at_polls()

    # STATUS (5.5.5).

    def status_is_due(self) -> bool:
        return self.status_triggered and self.t_status_prohibit is None

    def pull_status(self, grant: int, now: int) -> bytes | None:
        if grant < STATUS_FIXED_OCTETS:
            return None
        self.status_triggered = False
        self.t_status_prohibit = now + self.config.t_status_prohibit
        return write_status(self.config.sn_bits, self.build_status(grant))

    def build_status(self, grant: int) -> Status:
        room = grant - STATUS_FIXED_OCTETS
        nacks: list[Nack] = []
        for nack in self.missing():
            room -= nack_octets(self.config.sn_bits, nack)
            if room < 0:
                return self.cut_status(nacks, nack)
            nacks.append(nack)
        return Status(self.rx_highest_status, tuple(nacks))

    def cut_status(self, nacks: list[Nack], cut: Nack) -> Status:
        """ACK_SN is the SN cut off. Between two holes of one SDU the last block runs to that SDU's end, and ACK_SN is
        the next SN with octets missing: everything below ACK_SN that is not reported counts as received (5.5.5)."""
        if nacks and nacks[-1].sn == cut.sn:
            nacks[-1] = replace(nacks[-1], so_end=TO_THE_END)
            return Status(self.first_missing(self.plus(cut.sn, 1)), tuple(nacks))
        return Status(cut.sn, tuple(nacks))

    def missing(self) -> Iterator[Nack]:
        """One block for each run of SDUs missing whole and for each hole, RX_Next <= SN < RX_Highest_Status."""
        end = self.above(self.rx_highest_status)
        offset = 0
        while offset < end:
            sn = self.plus(self.rx_next, offset)
            count = 1
            if sn in self.partials:
                for start, last in self.partials[sn].holes():
                    yield Nack(sn, start, last)
            elif sn not in self.complete:
                while count < MAX_RANGE and offset + count < end and self.missing_whole(self.plus(sn, count)):
                    count += 1
                yield Nack(sn, range=count if count > 1 else None)
            offset += count

    def missing_whole(self, sn: int) -> bool:
        return sn not in self.complete and sn not in self.partials

    def state(self) -> dict:
        return {
            "rx_next": self.rx_next,
            "rx_next_highest": self.rx_next_highest,
            "rx_highest_status": self.rx_highest_status,
            "rx_next_status_trigger": self.rx_next_status_trigger,
            "t_reassembly": self.t_reassembly,
            "t_status_prohibit": self.t_status_prohibit,
            "status_triggered": self.status_triggered,
        }

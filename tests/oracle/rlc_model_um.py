"""An RLC UM entity, both sides, as formats.md 5.6 describes it: the judge of the C++ one."""

from __future__ import annotations

from dataclasses import dataclass

from rlc_pdu import (
    FIRST,
    MAX_SDU_OCTETS,
    UM_WINDOW,
    WHOLE,
    DataPdu,
    read_umd,
    segment_info,
    umd_header_octets,
    write_umd,
)
from rlc_segments import Partial, possible


@dataclass(frozen=True)
class UmConfig:
    sn_bits: int = 6
    t_reassembly: int = 35
    max_queued: int = 4096


class UmEntity:
    def __init__(self, config: UmConfig) -> None:
        self.config = config
        self.modulus = 1 << config.sn_bits
        self.window_size = UM_WINDOW[config.sn_bits]
        self.now = 0
        self.reset()

    def reset(self) -> None:
        """Re-establishment (5.7). Time goes on."""
        self.accepted = 0
        self.queue: list[tuple[int, bytes]] = []  # (ordinal, SDU); of the first one `sent` octets are gone
        self.sent = 0
        self.partials: dict[int, Partial] = {}
        self.delivered: set[int] = set()  # SNs inside the reassembly window
        self.t_reassembly: int | None = None
        self.seed(0)

    def seed(self, sn: int) -> None:
        self.tx_next = self.rx_next_reassembly = self.rx_next_highest = self.rx_timer_trigger = sn

    # Transmitting.

    def send(self, sdu: bytes) -> bool:
        untouched = len(self.queue) - (self.sent > 0)
        if not 1 <= len(sdu) <= MAX_SDU_OCTETS or untouched >= self.config.max_queued:
            return False
        self.queue.append((self.accepted, sdu))
        self.accepted += 1
        return True

    def discard(self, number: int) -> bool:
        """Only while no octet was submitted (5.7)."""
        for index, (candidate, _) in enumerate(self.queue):
            if candidate == number and not (index == 0 and self.sent):
                del self.queue[index]
                return True
        return False

    def pull(self, grant: int) -> bytes | None:
        if not self.queue:
            return None
        sdu, so = self.queue[0][1], self.sent
        ends = umd_header_octets(self.config.sn_bits, segment_info(so, True)) + len(sdu) - so <= grant
        room = grant - umd_header_octets(self.config.sn_bits, segment_info(so, ends))
        if room < 1:
            return None
        data = sdu[so : so + room]
        pdu = write_umd(self.config.sn_bits, self.tx_next, so, ends, data)
        self.sent += len(data)
        if ends:
            self.queue.pop(0)
            self.sent = 0
            if self.uses_sn(so):
                self.tx_next = (self.tx_next + 1) % self.modulus
        return pdu

    def uses_sn(self, so: int) -> bool:
        """Complete SDUs use none."""
        return so > 0

    # Receiving.

    def above(self, sn: int) -> int:
        """Position in window order: the base is RX_Next_Highest - UM_Window_Size (5.3)."""
        return (sn - self.rx_next_highest + self.window_size) % self.modulus

    def outside(self, sn: int) -> bool:
        return self.above(sn) >= self.window_size

    def first_undelivered(self, sn: int) -> int:
        while sn in self.delivered:
            sn = (sn + 1) % self.modulus
        return sn

    def receive(self, octets: bytes) -> list[bytes]:
        pdu = read_umd(self.config.sn_bits, octets)
        if pdu is None or not possible(pdu):
            return []
        if pdu.si == WHOLE:
            return [pdu.data]
        if not self.store(pdu):
            return []
        assert pdu.sn is not None
        delivered = self.update(pdu.sn)
        if self.t_reassembly is not None and self.reassembly_is_over():
            self.t_reassembly = None
        self.start_reassembly_if_needed()
        return delivered

    def store(self, pdu: DataPdu) -> bool:
        """False: discarded, because too old, delivered already, held already, or in contradiction to what is held."""
        assert pdu.sn is not None and pdu.si >= FIRST
        if self.above(pdu.sn) < self.above(self.rx_next_reassembly) or self.was_delivered(pdu.sn):
            return False
        partial = self.partials.get(pdu.sn, Partial())
        if partial.contradicted_by(pdu) or partial.has_all_of(pdu):
            return False
        partial.add(pdu)
        self.partials[pdu.sn] = partial
        return True

    def was_delivered(self, sn: int) -> bool:
        return sn in self.delivered

    def update(self, sn: int) -> list[bytes]:
        if self.partials[sn].complete():
            sdu = self.partials.pop(sn).sdu()
            self.delivered.add(sn)
            if sn == self.rx_next_reassembly:
                self.rx_next_reassembly = self.first_undelivered(sn)
            return [sdu]
        if self.outside(sn):
            self.rx_next_highest = (sn + 1) % self.modulus
            self.partials = {key: value for key, value in self.partials.items() if not self.outside(key)}
            self.delivered = {key for key in self.delivered if not self.outside(key)}
            if self.outside(self.rx_next_reassembly):
                self.rx_next_reassembly = self.first_undelivered(
                    (self.rx_next_highest - self.window_size) % self.modulus
                )
        return []

    def has_gap(self, sn: int) -> bool:
        return sn in self.partials and self.partials[sn].has_gap()

    def reassembly_is_over(self) -> bool:
        trigger = self.rx_timer_trigger
        if self.above(trigger) <= self.above(self.rx_next_reassembly):
            return True
        if self.outside(trigger) and trigger != self.rx_next_highest:
            return True
        return self.distance() == 1 and not self.has_gap(self.rx_next_reassembly)

    def distance(self) -> int:
        """RX_Next_Highest - RX_Next_Reassembly."""
        return self.above(self.rx_next_highest) - self.above(self.rx_next_reassembly)

    def start_reassembly_if_needed(self) -> None:
        needed = self.distance() > 1 or (self.distance() == 1 and self.has_gap(self.rx_next_reassembly))
        if self.t_reassembly is None and needed:
            self.t_reassembly = self.now + self.config.t_reassembly
            self.rx_timer_trigger = self.rx_next_highest

    def tick(self, now: int) -> None:
        self.now = now
        if self.t_reassembly is None or self.t_reassembly > now:
            return
        self.t_reassembly = None
        self.rx_next_reassembly = self.first_undelivered(self.rx_timer_trigger)
        edge = self.above(self.rx_next_reassembly)
        self.partials = {key: value for key, value in self.partials.items() if self.above(key) >= edge}
        self.start_reassembly_if_needed()

    def events(self) -> dict[str, list[int]]:
        return {"acked": [], "max_retx": []}

    def state(self) -> dict:
        return {
            "tx_next": self.tx_next,
            "rx_next_reassembly": self.rx_next_reassembly,
            "rx_next_highest": self.rx_next_highest,
            "rx_timer_trigger": self.rx_timer_trigger,
            "t_reassembly": self.t_reassembly,
            "queued": len(self.queue),
            "held": len(self.partials),
        }

"""A PDCP entity of a data radio bearer, as TS 38.323 (Rel-16/17) describes it: the judge of the C++ one.

Time is an argument, in microseconds. Header compression, DAPS, duplication and sidelink are left out. A clause number
names the text that a line follows. "Reading:" marks what the specification leaves open, and what this model does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from pdcp.ciphers import CIPHERS, DOWNLINK, INTEGRITY, MAC_I_OCTETS, UPLINK
from pdcp.pdu import (
    LAST_COUNT,
    MAX_CONTROL_OCTETS,
    MAX_SDU_OCTETS,
    SN_OCTETS,
    STATUS_FIXED_OCTETS,
    STATUS_REPORT,
    StatusReport,
    bitmap_of,
    control_type,
    data_header,
    is_data,
    read_sn,
    read_status_report,
    window_size,
)

COUNTERS = (
    # sending
    "sdu_empty",
    "sdu_too_large",
    "window_full",
    "count_exhausted",
    "discarded_by_timer",
    "confirmed_by_status",
    # receiving
    "suspended",
    "malformed",
    "hfn_negative",
    "count_out_of_range",
    "integrity_failed",
    "too_old",
    "duplicate",
    "unknown_control",
    "bad_status_report",
)


@dataclass(frozen=True)
class Config:
    role: str = "gnb"  # the gNB sends downlink, the UE uplink
    rlc: str = "am"
    drb: int = 1
    sn_bits_ul: int = 18
    sn_bits_dl: int = 18
    sdap_header_ul: bool = False
    sdap_header_dl: bool = False
    t_reordering_us: int | None = None  # None is infinity; 0 runs out at once
    discard_timer_us: int | None = None  # None is infinity
    out_of_order_delivery: bool = False
    status_report_required: bool = False
    max_in_flight: int | None = None  # AM: COUNTs from the first in flight to TX_NEXT; None is Window_Size
    count_threshold: int = LAST_COUNT - (1 << 20)  # the entity tells RRC once that COUNT is near its end
    count_stop: int = LAST_COUNT  # the first COUNT that is never sent

    @property
    def bearer(self) -> int:
        """BEARER, the input of NEA and NIA: the DRB identity less one (5.8, 5.9; formats.md 4.3)."""
        return self.drb - 1

    @property
    def tx_direction(self) -> int:
        return DOWNLINK if self.role == "gnb" else UPLINK

    @property
    def tx_sn_bits(self) -> int:
        return self.sn_bits_dl if self.role == "gnb" else self.sn_bits_ul

    @property
    def rx_sn_bits(self) -> int:
        return self.sn_bits_ul if self.role == "gnb" else self.sn_bits_dl

    @property
    def tx_sdap_header(self) -> bool:
        return self.sdap_header_dl if self.role == "gnb" else self.sdap_header_ul

    @property
    def rx_sdap_header(self) -> bool:
        return self.sdap_header_ul if self.role == "gnb" else self.sdap_header_dl


@dataclass(frozen=True)
class Security:
    """`integrity` None: not configured, no MAC-I on the air. "nia0": a MAC-I of zeros (TS 33.501 D.1)."""

    cipher: str = "nea0"
    cipher_key: bytes = bytes(16)
    integrity: str | None = None
    integrity_key: bytes = bytes(16)

    @property
    def mac_i_octets(self) -> int:
        return MAC_I_OCTETS if self.integrity else 0

    def uses_again(self, old: Security) -> bool:
        """Whether an algorithm that is not null keeps its key."""
        same_cipher = self.cipher != "nea0" and (self.cipher, self.cipher_key) == (old.cipher, old.cipher_key)
        with_key = self.integrity not in (None, "nia0")
        return same_cipher or (with_key and (self.integrity, self.integrity_key) == (old.integrity, old.integrity_key))

    def crypt(self, count: int, bearer: int, direction: int, octets: bytes) -> bytes:
        return CIPHERS[self.cipher](self.cipher_key, count, bearer, direction, octets)

    def mac_i(self, count: int, bearer: int, direction: int, octets: bytes) -> bytes:
        if self.integrity is None:
            return b""
        return INTEGRITY[self.integrity](self.integrity_key, count, bearer, direction, octets)


def protect(
    security: Security, sn_bits: int, count: int, bearer: int, direction: int, sdu: bytes, sdap_header: bool
) -> bytes:
    """5.2.1, 5.8, 5.9: MAC-I over PDCP header and whole SDU; then cipher data and MAC-I, but no SDAP octet.

    An SDAP header and an SDAP end-marker control PDU are both the first octet of the SDU, so one rule is enough. The
    keystream begins behind that octet.
    """
    header = data_header(sn_bits, count)
    clear = 1 if sdap_header else 0
    mac_i = security.mac_i(count, bearer, direction, header + sdu)
    return header + sdu[:clear] + security.crypt(count, bearer, direction, sdu[clear:] + mac_i)


@dataclass
class Answer:
    """What an entity does in one step, for its neighbours."""

    pdus: list[tuple[int | None, bytes]] = field(default_factory=list)  # to RLC, with COUNT; control PDUs have none
    delivered: list[bytes] = field(default_factory=list)  # to SDAP
    discards: list[int] = field(default_factory=list)  # COUNTs that RLC shall discard (5.3)
    indications: list[tuple[str, Any]] = field(default_factory=list)  # to RRC


@dataclass(frozen=True)
class StoredSdu:
    data: bytes
    deadline: int | None  # of discardTimer


class PdcpTransmitter:
    """7.1: tx_next is the COUNT of the next SDU."""

    def __init__(self, config: Config, security: Security, answer: Answer, counters: Counter[str]) -> None:
        self.config, self.security, self.answer, self.counters = config, security, answer, counters
        self.tx_next = 0
        self.stored: dict[int, StoredSdu] = {}  # by COUNT, ascending: not confirmed, not discarded
        self.settled = 0  # AM: one more than the highest COUNT that is known to be delivered
        self.waiting: list[StoredSdu] = []  # came while the entity was suspended; no COUNT yet
        self.suspended = False
        self.asked_for_key = False

    @property
    def is_am(self) -> bool:
        return self.config.rlc == "am"

    def send(self, data: bytes, now: int) -> None:
        """5.2.1. Reading: an SDU without an octet, and one above the limit of 4.3.1, is dropped and counted."""
        if not data:
            self.counters["sdu_empty"] += 1
            return
        if len(data) > MAX_SDU_OCTETS:
            self.counters["sdu_too_large"] += 1
            return
        timer = self.config.discard_timer_us
        sdu = StoredSdu(data, None if timer is None else now + timer)
        if self.suspended:
            self.waiting.append(sdu)
        else:
            self.send_first_time(sdu)

    def send_first_time(self, sdu: StoredSdu) -> None:
        if self.tx_next >= self.config.count_stop:
            self.counters["count_exhausted"] += 1  # TS 38.331 5.3.1.2: no COUNT twice under one key
            return
        if self.window_is_full():
            self.counters["window_full"] += 1
            return
        count = self.tx_next
        self.tx_next += 1
        self.stored[count] = sdu
        self.submit(count)
        if not self.is_am and sdu.deadline is None:
            del self.stored[count]
        if self.tx_next >= self.config.count_threshold and not self.asked_for_key:
            self.asked_for_key = True
            self.answer.indications.append(("key_needed", "tx"))

    def window_is_full(self) -> bool:
        """5.2.1 NOTE: more than half of the SN space in flight may desynchronize the HFN.

        Reading: an AM entity drops the SDU instead. The NOTE names discarded SDUs as a cause, so a COUNT whose SDU was
        discarded is in flight as well, until the delivery of a later one is known. Then the peer passes it with its
        t-Reordering.
        """
        if not self.is_am:
            return False
        limit = self.config.max_in_flight
        if limit is None:
            limit = window_size(self.config.tx_sn_bits)
        oldest = min(next(iter(self.stored), self.settled), self.settled)
        return self.tx_next - oldest >= limit

    def submit(self, count: int) -> None:
        config = self.config
        pdu = protect(
            self.security,
            config.tx_sn_bits,
            count,
            config.bearer,
            config.tx_direction,
            self.stored[count].data,
            config.tx_sdap_header,
        )
        self.answer.pdus.append((count, pdu))

    def advance(self, now: int) -> None:
        """discardTimer (5.3). All timers of an entity have one length, so the oldest SDU runs out first.

        Reading: the last SDU in a full window stays, because nothing but its delivery opens the window again.
        """
        for count in list(self.stored):
            deadline = self.stored[count].deadline
            if deadline is None or deadline > now:
                break
            if len(self.stored) == 1 and self.window_is_full():
                break
            self.discard(count, "discarded_by_timer")
        while self.waiting and self.waiting[0].deadline is not None and self.waiting[0].deadline <= now:
            del self.waiting[0]
            self.counters["discarded_by_timer"] += 1

    def discard(self, count: int, reason: str) -> None:
        """5.3: the SDU and its PDU; lower layers hear of it, except while suspended, when they hold no PDU of it."""
        del self.stored[count]
        self.counters[reason] += 1
        if not self.suspended:
            self.answer.discards.append(count)

    def confirm(self, counts: list[int]) -> None:
        """RLC AM: the SDUs were delivered, maybe after their discard.

        Reading: a confirmation that comes while suspended is too late.
        """
        if self.is_am and not self.suspended:
            for count in counts:
                self.stored.pop(count, None)
                if count < self.tx_next:
                    self.settled = max(self.settled, count + 1)

    def receive_status_report(self, report: StatusReport) -> None:
        """5.4.2. Reading: a report on a UM bearer, and an FMC beyond TX_NEXT, is an invalid value (5.10)."""
        if not self.is_am or report.fmc > self.tx_next:
            self.counters["bad_status_report"] += 1
            return
        self.settled = max(self.settled, report.fmc)
        for count in [count for count in self.stored if report.confirms(count)]:
            self.discard(count, "confirmed_by_status")
            self.settled = max(self.settled, count + 1)

    def retransmit(self) -> None:
        """All that is stored, in ascending order of COUNT (5.1.2, 5.5)."""
        for count in self.stored:
            self.submit(count)

    def reestablish(self, security: Security) -> None:
        """5.1.2.

        Reading: of an AM bearer, what lower layers confirmed is not sent again, although 5.1.2 says "from the first
        PDCP SDU for which the successful delivery has not been confirmed ... all"; the data recovery of 5.5 does not.
        Reading: a UM bearer submits each PDU at once, so no SDU with a COUNT is left to be sent again.
        """
        was_suspended, self.suspended = self.suspended, False
        self.security = security
        if was_suspended or not self.is_am:
            self.asked_for_key = False  # COUNT begins anew
        if not self.is_am:
            self.tx_next = 0
            self.stored.clear()
        elif was_suspended:
            again, self.stored = list(self.stored.values()), {}
            for sdu in again:  # "as received from upper layer", the discardTimer goes on
                self.send_first_time(sdu)
        else:
            self.retransmit()
        arrived, self.waiting = self.waiting, []
        for sdu in arrived:
            self.send_first_time(sdu)

    def suspend(self) -> None:
        """5.1.4: TX_NEXT to its initial value, PDUs are discarded. SDUs of an AM bearer stay (5.1.2)."""
        self.tx_next = 0
        self.settled = 0
        self.suspended = True
        if not self.is_am:
            self.stored.clear()

    def release(self) -> None:
        """5.1.3"""
        self.stored.clear()
        self.waiting.clear()


class PdcpReceiver:
    """7.1: rx_next, rx_deliv and rx_reord hold COUNTs."""

    def __init__(self, config: Config, security: Security, answer: Answer, counters: Counter[str]) -> None:
        self.config, self.security, self.answer, self.counters = config, security, answer, counters
        self.sn_bits = config.rx_sn_bits
        self.window_size = window_size(self.sn_bits)
        self.t_reordering_us = config.t_reordering_us
        self.reset()

    def reset(self) -> None:
        self.asked_for_key = False
        self.rx_next = 0
        self.rx_deliv = 0
        self.rx_reord: int | None = None  # None while t-Reordering does not run
        self.deadline: int | None = None  # of t-Reordering; None also while an infinite one runs
        self.held: dict[int, bytes | None] = {}  # received with COUNT > RX_DELIV; None is delivered out of order

    def count_of(self, sn: int) -> int:
        """5.2.2.1, RCVD_COUNT. It is negative where RCVD_HFN is."""
        hfn, deliv_sn = self.rx_deliv >> self.sn_bits, self.rx_deliv & (1 << self.sn_bits) - 1
        if sn < deliv_sn - self.window_size:
            hfn += 1
        elif sn >= deliv_sn + self.window_size:
            hfn -= 1
        return (hfn << self.sn_bits) + sn

    def receive(self, pdu: bytes, now: int) -> None:
        """5.2.2.1, a data PDU.

        Reading: a PDU without an octet of SDU, or with more than 4.3.1 allows, is invalid (5.10).
        Reading: a negative RCVD_HFN is no COUNT, and the last COUNT would take RX_NEXT beyond 7.1: both are dropped.
        """
        sdu_octets = len(pdu) - SN_OCTETS[self.sn_bits] - self.security.mac_i_octets
        if not 0 < sdu_octets <= MAX_SDU_OCTETS:
            self.counters["malformed"] += 1
            return
        count = self.count_of(read_sn(self.sn_bits, pdu))
        if count < 0:
            self.counters["hfn_negative"] += 1
            return
        if count >= LAST_COUNT:
            self.counters["count_out_of_range"] += 1
            return
        sdu = self.decipher_and_verify(count, pdu)
        if sdu is None:
            self.counters["integrity_failed"] += 1
            self.answer.indications.append(("integrity_failure", count))
            return
        if count < self.rx_deliv:
            self.counters["too_old"] += 1
            return
        if count in self.held:
            self.counters["duplicate"] += 1
            return
        self.accept(count, sdu, now)

    def decipher_and_verify(self, count: int, pdu: bytes) -> bytes | None:
        """The header counts as it came, with its R bits."""
        security, bearer, direction = self.security, self.config.bearer, 1 - self.config.tx_direction
        header, body = pdu[: SN_OCTETS[self.sn_bits]], pdu[SN_OCTETS[self.sn_bits] :]
        clear = 1 if self.config.rx_sdap_header else 0
        plain = body[:clear] + security.crypt(count, bearer, direction, body[clear:])
        end = len(plain) - security.mac_i_octets
        expected = security.mac_i(count, bearer, direction, header + plain[:end])
        return plain[:end] if plain[end:] == expected else None

    def accept(self, count: int, sdu: bytes, now: int) -> None:
        """5.2.2.1, what is not discarded."""
        self.held[count] = sdu
        if count >= self.rx_next:
            self.rx_next = count + 1
        if self.config.out_of_order_delivery:
            self.deliver(count)
        if count == self.rx_deliv:
            self.deliver_consecutive()
        if self.rx_reord is not None and self.rx_deliv >= self.rx_reord:
            self.stop_reordering()
        if self.rx_reord is None and self.rx_deliv < self.rx_next:
            self.start_reordering(now)
        if self.rx_next >= self.config.count_threshold and not self.asked_for_key:
            self.asked_for_key = True
            self.answer.indications.append(("key_needed", "rx"))

    def deliver(self, count: int) -> None:
        sdu = self.held[count]
        if sdu is not None:
            self.answer.delivered.append(sdu)
            self.held[count] = None

    def deliver_consecutive(self) -> None:
        """From RX_DELIV on; RX_DELIV becomes the first COUNT that was not delivered."""
        while self.rx_deliv in self.held:
            self.deliver(self.rx_deliv)
            del self.held[self.rx_deliv]
            self.rx_deliv += 1

    def start_reordering(self, now: int) -> None:
        """Reading: a t-Reordering of 0 runs out within the same step."""
        self.rx_reord = self.rx_next
        self.deadline = None if self.t_reordering_us is None else now + self.t_reordering_us
        if self.t_reordering_us == 0:
            self.reordering_ran_out(now)

    def stop_reordering(self) -> None:
        self.rx_reord = self.deadline = None

    def advance(self, now: int) -> None:
        """Reading: a timer that starts again does so at `now`, when the entity saw that it had run out."""
        if self.deadline is not None and self.deadline <= now:
            self.reordering_ran_out(now)

    def reordering_ran_out(self, now: int) -> None:
        """5.2.2.2"""
        edge = self.rx_reord
        assert edge is not None
        self.stop_reordering()
        for count in sorted(count for count in self.held if count < edge):
            self.deliver(count)
            del self.held[count]
        self.rx_deliv = edge
        self.deliver_consecutive()
        if self.rx_deliv < self.rx_next:
            self.start_reordering(now)

    def set_t_reordering(self, value_us: int | None, now: int) -> None:
        """5.2.2.3"""
        self.t_reordering_us = value_us
        if self.rx_reord is not None:
            self.start_reordering(now)

    def received_counts(self) -> list[int]:
        return list(self.held)

    def status_report(self) -> StatusReport:
        """5.4.1. FMC is RX_DELIV; the bitmap ends at the last SDU received, or where the PDU has 9000 octets."""
        bitmap = bitmap_of(self.rx_deliv, self.held) if self.rx_deliv < self.rx_next else b""
        return StatusReport(self.rx_deliv, bitmap[: MAX_CONTROL_OCTETS - STATUS_FIXED_OCTETS])

    def reestablish(self, security: Security) -> None:
        """5.1.2: a UM bearer begins anew; an AM bearer keeps its COUNTs, what it holds and t-Reordering."""
        if self.config.rlc == "um":
            self.deliver_all_and_reset()
        self.security = security

    def deliver_all_and_reset(self) -> None:
        """5.1.2 of UM, and 5.1.4: stop t-Reordering, deliver what is stored, state variables to initial values."""
        for count in sorted(self.held):
            self.deliver(count)
        self.reset()


class PdcpEntity:
    """Both sides. A method that RRC calls returns a reply; {"refused": why} means that nothing changed."""

    tx_class, rx_class = PdcpTransmitter, PdcpReceiver

    def __init__(self, config: Config, security: Security) -> None:
        self.config = config
        self.answer = Answer()
        self.counters: Counter[str] = Counter()
        self.tx = self.tx_class(config, security, self.answer, self.counters)
        self.rx = self.rx_class(config, security, self.answer, self.counters)

    def advance(self, now: int) -> None:
        self.tx.advance(now)
        self.rx.advance(now)

    def send_sdu(self, data: bytes, now: int) -> None:
        self.tx.send(data, now)

    def receive_pdu(self, pdu: bytes, now: int) -> None:
        """Reading: a suspended entity drops what arrives."""
        if self.tx.suspended:
            self.counters["suspended"] += 1
        elif not pdu:
            self.counters["malformed"] += 1
        elif is_data(pdu):
            self.rx.receive(pdu, now)
        elif control_type(pdu) != STATUS_REPORT:
            self.counters["unknown_control"] += 1  # 5.10, reserved value; ROHC, EHC and UDC are not configured
        elif (report := read_status_report(pdu)) is None:
            self.counters["bad_status_report"] += 1
        else:
            self.tx.receive_status_report(report)

    def confirm(self, counts: list[int]) -> None:
        self.tx.confirm(counts)

    def send_status_report(self) -> None:
        """5.4.1: AM only, before any data PDU."""
        if self.config.rlc == "am" and self.config.status_report_required:
            self.answer.pdus.append((None, self.rx.status_report().write()))

    def data_recovery(self) -> dict:
        """5.5: for AM bearers."""
        if self.config.rlc != "am":
            return {"refused": "not_am"}
        if self.tx.suspended:
            return {"refused": "suspended"}
        self.send_status_report()
        self.tx.retransmit()
        return {}

    def reestablish(self, security: Security) -> dict:
        """5.1.2; of a suspended entity, this resumes it.

        Reading: TS 38.331 5.3.1.2 wants no COUNT twice under one key, and leaves that to the network. This entity
        refuses it. Where COUNT begins anew, each key has to be new. An AM bearer that goes on may keep all keys, which
        repeats PDUs, or change all. One new key of two would put another MAC-I under the same keystream.
        """
        old = self.tx.security
        begins_anew = self.tx.suspended or self.config.rlc == "um"
        if security.uses_again(old) and (begins_anew or security != old):
            return {"refused": "key_reused"}
        self.rx.reestablish(security)
        self.send_status_report()
        self.tx.reestablish(security)
        return {}

    def suspend(self) -> dict:
        """5.1.4"""
        if self.tx.suspended:
            return {"refused": "suspended"}
        self.tx.suspend()
        self.rx.deliver_all_and_reset()
        return {}

    def release(self) -> dict:
        """5.1.3: the receiving side delivers what it stored."""
        self.tx.release()
        self.rx.deliver_all_and_reset()
        return {}

    def set_t_reordering(self, value_us: int | None, now: int) -> dict:
        self.rx.set_t_reordering(value_us, now)
        return {}

    def get_count(self) -> dict:
        """SN STATUS TRANSFER at the source (TS 38.423 9.1.1.4): next COUNT to send, first missing one, what is behind.

        The bitmap has the form of the status report, without its limit.
        """
        rx = self.rx
        return {
            "tx_next": self.tx.tx_next,
            "rx_deliv": rx.rx_deliv,
            "bitmap": bitmap_of(rx.rx_deliv, rx.received_counts()).hex(),
        }

    def set_count(self, tx_next: int, rx_deliv: int, received: dict[int, bytes]) -> dict:
        """SN STATUS TRANSFER at the target; `received` are SDUs that the source got out of sequence and forwarded.

        Reading: only for an entity that holds nothing, and only forward, so that no COUNT comes back.
        Reading: t-Reordering starts at the next data PDU (5.2.2.1), as the UE is not yet there.
        """
        tx, rx = self.tx, self.rx
        if tx.suspended:
            return {"refused": "suspended"}
        if tx.stored or tx.waiting or rx.held:
            return {"refused": "not_empty"}
        if tx_next < tx.tx_next or rx_deliv < rx.rx_deliv:
            return {"refused": "count_goes_back"}
        if max(tx_next, rx_deliv, *received) > LAST_COUNT - 1 or any(
            not 0 < count - rx_deliv < rx.window_size for count in received
        ):
            return {"refused": "out_of_range"}
        tx.tx_next = tx.settled = tx_next
        rx.rx_deliv = rx.rx_next = rx_deliv
        for count, sdu in received.items():
            rx.held[count] = sdu
            rx.rx_next = max(rx.rx_next, count + 1)
            if self.config.out_of_order_delivery:
                rx.deliver(count)
        return {}

    def counter_check(self) -> dict:
        """TS 38.331 5.3.6.3: TX_NEXT - 1 and RX_NEXT - 1, and their 25 most significant bits.

        Reading: 0 where nothing was sent or received yet.
        """
        sent, received = max(self.tx.tx_next - 1, 0), max(self.rx.rx_next - 1, 0)
        uplink, downlink = (received, sent) if self.config.role == "gnb" else (sent, received)
        return {"uplink": uplink, "downlink": downlink, "uplink_msb": uplink >> 7, "downlink_msb": downlink >> 7}

    def take_answer(self) -> Answer:
        taken = replace(self.answer)
        self.answer.pdus, self.answer.delivered, self.answer.discards, self.answer.indications = [], [], [], []
        return taken

    def state(self) -> dict:
        """What two implementations must agree on after each step."""
        tx, rx = self.tx, self.rx
        return {
            "tx_next": tx.tx_next,
            "rx_next": rx.rx_next,
            "rx_deliv": rx.rx_deliv,
            "rx_reord": rx.rx_reord,
            "t_reordering": rx.deadline,
            "unconfirmed": len(tx.stored) if tx.is_am else None,
            "waiting": len(tx.waiting),
            "held": sum(sdu is not None for sdu in rx.held.values()),
            "suspended": tx.suspended,
        }

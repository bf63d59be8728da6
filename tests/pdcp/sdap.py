"""An SDAP entity of one PDU session, at the UE or at the gNB, as TS 37.324 (Rel-16/17) describes it.

UL data: D/C = 1, R, QFI; UL end-marker control PDU: D/C = 0, R, QFI, one octet; DL data: RDI, RQI, QFI (6.2.2, 6.2.3).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MAX_QFI = 63
DATA, RDI, RQI = 0x80, 0x80, 0x40  # of the first octet

SDAP_COUNTERS = ("no_drb", "no_qfi", "malformed", "sdu_empty", "unknown_drb", "bad_qfi")


@dataclass
class Drb:
    """What RRC configured: sdap-HeaderUL, sdap-HeaderDL. `qfi` is the only flow of a DRB without an UL header."""

    header_ul: bool = False
    header_dl: bool = False
    qfi: int | None = None


@dataclass
class SdapAnswer:
    pdus: list[tuple[int, bytes]] = field(default_factory=list)  # (DRB, PDU) to PDCP
    delivered: list[tuple[int | None, bytes]] = field(default_factory=list)  # (QFI where known, SDU)
    indications: list[tuple[str, int, int]] = field(default_factory=list)  # (what, QFI, DRB)


class SdapEntity:
    def __init__(self, drbs: dict[int, Drb], default_drb: int | None) -> None:
        self.drbs, self.default_drb = drbs, default_drb
        self.rules: dict[int, int] = {}  # QFI -> DRB: for UL at the UE (5.3), for DL at the gNB
        self.answer = SdapAnswer()
        self.counters: Counter[str] = Counter()

    def drb_of(self, qfi: int, sdu: bytes) -> int | None:
        """5.2.1: the stored rule, else the default DRB. NOTE 1 leaves open what comes without both: a counted drop."""
        drb = self.rules.get(qfi, self.default_drb)
        if not 0 <= qfi <= MAX_QFI:
            self.counters["bad_qfi"] += 1
        elif not sdu:
            self.counters["sdu_empty"] += 1
        elif drb is None:
            self.counters["no_drb"] += 1
        else:
            return drb
        return None

    def drb_release(self, drb: int) -> None:
        """5.3.3: all rules of that DRB go, configured or reflective."""
        self.drbs.pop(drb, None)
        self.rules = {qfi: rule for qfi, rule in self.rules.items() if rule != drb}
        if self.default_drb == drb:
            self.default_drb = None

    def rule_release(self, qfi: int) -> None:
        """5.3.1"""
        self.rules.pop(qfi, None)

    def take_answer(self) -> SdapAnswer:
        taken, self.answer = self.answer, SdapAnswer()
        return taken

    def state(self) -> dict:
        return {"rules": {str(qfi): self.rules[qfi] for qfi in sorted(self.rules)}, "default_drb": self.default_drb}


class UeSdap(SdapEntity):
    def send(self, qfi: int, sdu: bytes, rdi: bool = False, rqi: bool = False) -> None:
        """5.2.1. RDI and RQI exist in DL only."""
        drb = self.drb_of(qfi, sdu)
        if drb is not None:
            header = bytes([DATA | qfi]) if self.drbs[drb].header_ul else b""
            self.answer.pdus.append((drb, header + sdu))

    def receive(self, drb: int, pdu: bytes) -> None:
        """5.2.2. Without a header, only NAS finds out to which flow the SDU belongs."""
        if drb not in self.drbs:
            self.counters["unknown_drb"] += 1
            return
        header = self.drbs[drb].header_dl
        if len(pdu) <= header:
            self.counters["malformed"] += 1  # no SDU
            return
        if not header:
            self.answer.delivered.append((None, pdu))
            return
        qfi = pdu[0] & MAX_QFI
        if pdu[0] & RDI:
            self.store_rule(qfi, drb)  # 5.3.2
        if pdu[0] & RQI:
            self.answer.indications.append(("rqi", qfi, drb))  # 5.4, to NAS
        self.answer.delivered.append((qfi, pdu[1:]))

    def rule_configure(self, qfi: int, drb: int) -> dict:
        if drb not in self.drbs:
            return {"refused": "unknown_drb"}
        self.store_rule(qfi, drb)  # 5.3.1
        return {}

    def store_rule(self, qfi: int, drb: int) -> None:
        """5.3.1 and 5.3.2 are the same.

        One rule a flow: RRC and reflective mapping replace each other, the latest counts (TS 38.300 12.1). Reading: a
        flow without a rule ends on the default DRB with an end-marker also when the new rule names the default DRB,
        and also when nothing of that flow was ever sent, as the text has no such condition.
        """
        old = self.rules.get(qfi)
        if old is None:
            self.end_marker(qfi, self.default_drb)
        elif old != drb:
            self.end_marker(qfi, old)
        self.rules[qfi] = drb

    def end_marker(self, qfi: int, drb: int | None) -> None:
        """6.2.3: only a DRB with an UL header can carry it. 5.2.1 NOTE 2: the default DRB always has one."""
        if drb is not None and self.drbs[drb].header_ul:
            self.answer.pdus.append((drb, bytes([qfi])))


class GnbSdap(SdapEntity):
    def send(self, qfi: int, sdu: bytes, rdi: bool = False, rqi: bool = False) -> None:
        """DL. Reading: RDI and RQI of an SDU on a DRB without a DL header are not sent."""
        drb = self.drb_of(qfi, sdu)
        if drb is not None:
            flags = RDI * rdi | RQI * rqi
            header = bytes([flags | qfi]) if self.drbs[drb].header_dl else b""
            self.answer.pdus.append((drb, header + sdu))

    def receive(self, drb: int, pdu: bytes) -> None:
        """UL. Reading: the QFI of the header counts on any DRB, as the UE may use reflective rules."""
        if drb not in self.drbs:
            self.counters["unknown_drb"] += 1
            return
        config = self.drbs[drb]
        if not pdu:
            self.counters["malformed"] += 1
        elif not config.header_ul:
            self.deliver(config.qfi, pdu)
        elif pdu[0] & DATA:
            self.deliver(pdu[0] & MAX_QFI, pdu[1:])
        elif len(pdu) == 1:
            self.answer.indications.append(("end_marker", pdu[0] & MAX_QFI, drb))
        else:
            self.counters["malformed"] += 1  # 5.5: a control PDU has one octet

    def deliver(self, qfi: int | None, sdu: bytes) -> None:
        if not sdu:
            self.counters["malformed"] += 1
        elif qfi is None:
            self.counters["no_qfi"] += 1  # N3 needs one (TS 38.415)
        else:
            self.answer.delivered.append((qfi, sdu))

    def rule_configure(self, qfi: int, drb: int) -> dict:
        if drb not in self.drbs:
            return {"refused": "unknown_drb"}
        self.rules[qfi] = drb
        return {}


SDAP_ROLES = {"ue": UeSdap, "gnb": GnbSdap}

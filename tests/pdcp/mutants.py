"""Models with one wrong rule each, made by changing one place of a text: the comparison must find every one."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

MODULES = ("ciphers", "pdu", "model", "sdap", "steps")


@dataclass(frozen=True)
class Mutant:
    name: str
    module: str
    right: str
    wrong: str

    def host_class(self) -> type:
        """ModelHost of a second set of modules, in which `wrong` stands in the place of `right`."""
        names = [f"pdcp.{name}" for name in MODULES]
        saved = {name: sys.modules.pop(name, None) for name in names}
        try:
            for name in MODULES:
                path = Path(__file__).with_name(f"{name}.py")
                text = path.read_text()
                if name == self.module:
                    assert text.count(self.right) == 1, f"{self.right!r} is not in {path.name} exactly once"
                    text = text.replace(self.right, self.wrong)
                sys.modules[f"pdcp.{name}"] = module = ModuleType(f"pdcp.{name}")
                exec(compile(text, str(path), "exec"), vars(module))
            return module.ModelHost
        finally:
            for name, original in saved.items():
                sys.modules.pop(name, None)
                if original is not None:
                    sys.modules[name] = original


def model(name: str, right: str, wrong: str) -> Mutant:
    return Mutant(name, "model", right, wrong)


def pdu(name: str, right: str, wrong: str) -> Mutant:
    return Mutant(name, "pdu", right, wrong)


def sdap(name: str, right: str, wrong: str) -> Mutant:
    return Mutant(name, "sdap", right, wrong)


NOT_INTEGRITY = "return plain[:end] if plain[end:] == expected else None"
RECEIVING = (
    model("the window ends one earlier", "sn >= deliv_sn + self.window_size", "sn > deliv_sn + self.window_size"),
    model("the window begins one later", "sn < deliv_sn - self.window_size", "sn <= deliv_sn - self.window_size"),
    model(
        "the HFN follows RX_NEXT",
        "self.rx_deliv >> self.sn_bits, self.rx_deliv &",
        "self.rx_next >> self.sn_bits, self.rx_next &",
    ),
    model("a negative HFN wraps", "if count < 0:", "count %= 1 << 32\n        if count < 0:"),
    model("the last COUNT is received", "if count >= LAST_COUNT:", "if count > LAST_COUNT:"),
    model("a forged PDU is accepted", NOT_INTEGRITY, "return plain[:end]"),
    model(
        "two octets of the MAC-I are enough",
        NOT_INTEGRITY,
        NOT_INTEGRITY.replace("[end:] == expected", "[end:][:2] == expected[:2]"),
    ),
    model("the MAC-I does not cover the PDCP header", "header + plain[:end])", "plain[:end])"),
    model("the MAC-I of the sender leaves the SDAP header out", "header + sdu)\n", "header + sdu[clear:])\n"),
    model(
        "the receiver clears the R bits",
        "header, body = pdu[: SN_OCTETS[self.sn_bits]]",
        "header, body = bytes([pdu[0] & 0x8F]) + pdu[1 : SN_OCTETS[self.sn_bits]]",
    ),
    model("the SDAP header is ciphered", "clear = 1 if sdap_header else 0\n    mac_i", "clear = 0\n    mac_i"),
    model("BEARER is the DRB identity", "return self.drb - 1", "return self.drb % 32"),
    model("the directions are swapped", "return DOWNLINK if", "return UPLINK if self.role != 'ue' else DOWNLINK if"),
    model("a forged PDU is not reported", 'self.answer.indications.append(("integrity_failure", count))', "pass"),
    model(
        "a forged PDU moves RX_NEXT",
        '            self.counters["integrity_failed"] += 1\n',
        '            self.counters["integrity_failed"] += 1\n            self.rx_next = max(self.rx_next, count + 1)\n',
    ),
    model(
        "a duplicate is found before its MAC-I",
        "        sdu = self.decipher_and_verify(count, pdu)\n",
        '        if count in self.held:\n            self.counters["duplicate"] += 1\n            return\n'
        "        sdu = self.decipher_and_verify(count, pdu)\n",
    ),
    model(
        "a duplicate is delivered",
        "if count in self.held:\n            self.counters",
        "if count in self.held and not self.config.out_of_order_delivery:\n            self.counters",
    ),
    model(
        "an old PDU is delivered",
        'self.counters["too_old"] += 1\n            return',
        "self.answer.delivered.append(sdu)\n            return",
    ),
    model(
        "RX_NEXT is the highest COUNT received",
        "self.rx_next = count + 1\n        if self.config.out",
        "self.rx_next = count\n        if self.config.out",
    ),
    model("RX_NEXT goes back", "if count >= self.rx_next:", "if True:"),
    model(
        "outOfOrderDelivery is ignored",
        "if self.config.out_of_order_delivery:\n            self.deliver(count)\n        if",
        "if",
    ),
    model("out of order delivered SDUs come twice", "self.held[count] = None\n\n", "pass\n\n"),
    model("t-Reordering is not stopped", "self.rx_deliv >= self.rx_reord:", "self.rx_deliv > self.rx_reord:"),
    model(
        "t-Reordering is stopped by each delivery",
        "if self.rx_reord is not None and self.rx_deliv >= self.rx_reord:",
        "if self.rx_reord is not None and count < self.rx_deliv:",
    ),
    model(
        "t-Reordering starts again with each PDU",
        "if self.rx_reord is None and self.rx_deliv < self.rx_next:",
        "if self.rx_deliv < self.rx_next:",
    ),
    model(
        "t-Reordering does not start again",
        "        if self.rx_deliv < self.rx_next:\n            self.start_reordering(now)\n\n    def set",
        "\n    def set",
    ),
    model(
        "t-Reordering runs out one later",
        "self.deadline <= now:\n            self.reordering",
        "self.deadline < now:\n            self.reordering",
    ),
    model(
        "RX_REORD is the COUNT that started it", "self.rx_reord = self.rx_next\n", "self.rx_reord = self.rx_next - 1\n"
    ),
    model(
        "what follows RX_REORD stays",
        "self.rx_deliv = edge\n        self.deliver_consecutive()",
        "self.rx_deliv = edge",
    ),
    model(
        "SDUs are delivered as they came",
        "for count in sorted(count for count in self.held if count < edge):",
        "for count in [count for count in self.held if count < edge]:",
    ),
    model(
        "a reconfigured t-Reordering goes on",
        "        if self.rx_reord is not None:\n            self.start_reordering(now)",
        "        pass",
    ),
    model("t-Reordering of 0 waits for the next step", "if self.t_reordering_us == 0:", "if False:"),
    model("any control PDU is a status report", "elif control_type(pdu) != STATUS_REPORT:", "elif False:"),
    model("an SDU may have no octet", "if not 0 < sdu_octets", "if not 0 <= sdu_octets"),
    model("an SDU may have 9001 octets", "<= MAX_SDU_OCTETS:", "<= MAX_SDU_OCTETS + 1:"),
    model(
        "a suspended entity receives",
        "if self.tx.suspended:\n            self.counters",
        "if False:\n            self.counters",
    ),
)
SENDING = (
    model("COUNT begins at 1", "self.tx_next = 0\n        self.stored: ", "self.tx_next = 1\n        self.stored: "),
    model("an SDU of 9000 octets is too large", "len(data) > MAX_SDU_OCTETS", "len(data) >= MAX_SDU_OCTETS"),
    model("the window takes one more", "self.tx_next - oldest >= limit", "self.tx_next - oldest > limit"),
    model(
        "what was discarded is in flight no more",
        "oldest = min(next(iter(self.stored), self.settled), self.settled)",
        "oldest = next(iter(self.stored), self.tx_next)",
    ),
    model(
        "a late confirmation opens no window",
        "self.settled = max(self.settled, count + 1)\n\n    def receive",
        "pass\n\n    def receive",
    ),
    model("FMC opens no window", "self.settled = max(self.settled, report.fmc)", "pass"),
    model("the last SDU of a full window is discarded", "len(self.stored) == 1 and self.window_is_full()", "False"),
    model(
        "RRC is told again after each re-establishment",
        "if was_suspended or not self.is_am:\n            self.asked",
        "if True:\n            self.asked",
    ),
    model(
        "COUNT goes one beyond its end",
        "self.tx_next >= self.config.count_stop",
        "self.tx_next > self.config.count_stop",
    ),
    model(
        "the key is asked for one later",
        "self.tx_next >= self.config.count_threshold",
        "self.tx_next > self.config.count_threshold",
    ),
    model(
        "the key is asked for each time",
        'self.asked_for_key = True\n            self.answer.indications.append(("key_needed", "tx"))',
        'self.answer.indications.append(("key_needed", "tx"))',
    ),
    model("the receiver asks for no key", 'self.answer.indications.append(("key_needed", "rx"))', "pass"),
    model(
        "discardTimer runs out one later",
        "if deadline is None or deadline > now:",
        "if deadline is None or deadline >= now:",
    ),
    model(
        "RLC hears of no discard",
        "if not self.suspended:\n            self.answer.discards",
        "if False:\n            self.answer.discards",
    ),
    pdu("FMC itself is confirmed", "if count < self.fmc:", "if count <= self.fmc:"),
    pdu("the first bit is FMC", "bit = count - self.fmc & LAST_COUNT", "bit = count - self.fmc + 1 & LAST_COUNT"),
    pdu(
        "bits are counted from the LSB",
        "self.bitmap[bit - 1 >> 3] & 0x80 >> (bit - 1 & 7)",
        "self.bitmap[bit - 1 >> 3] & 1 << (bit - 1 & 7)",
    ),
    pdu("the bitmap is not rounded up", "(max(bits, default=0) + 7) // 8", "(max(bits, default=0) + 8) // 8"),
    pdu("a cut report is read", "if not STATUS_FIXED_OCTETS <= len", "if not STATUS_FIXED_OCTETS - 1 <= len"),
    pdu("the SN has one bit less", "count & (1 << sn_bits) - 1", "count & (1 << sn_bits - 1) - 1"),
    model("a report from the future counts", "or report.fmc > self.tx_next:", ":"),
    model("FMC is RX_NEXT", "return StatusReport(self.rx_deliv, ", "return StatusReport(self.rx_next, "),
    model("the report has no limit", "bitmap[: MAX_CONTROL_OCTETS - STATUS_FIXED_OCTETS]", "bitmap"),
    model(
        "UM sends reports",
        'if self.config.rlc == "am" and self.config.status_report_required',
        "if self.config.status_report_required",
    ),
    model(
        "no report at data recovery",
        "        self.send_status_report()\n        self.tx.retransmit()",
        "        self.tx.retransmit()",
    ),
    model(
        "the report follows the data",
        "        self.send_status_report()\n        self.tx.reestablish(security)",
        "        self.tx.reestablish(security)\n        self.send_status_report()",
    ),
    model("what was confirmed is sent again", "self.stored.pop(count, None)", "pass"),
)
PROCEDURES = (
    model(
        "retransmissions get a new COUNT",
        "            self.retransmit()\n        arrived",
        "            again, self.stored = list(self.stored.values()), {}\n            for sdu in again:\n"
        "                self.send_first_time(sdu)\n        arrived",
    ),
    model(
        "an AM bearer sends nothing again",
        "            self.retransmit()\n        arrived",
        "            pass\n        arrived",
    ),
    model(
        "an AM bearer sends again under the old key",
        "self.security = security\n        if was",
        "self.retransmit() if self.is_am and not was_suspended else None\n"
        "        self.security = security\n        if was",
    ),
    model(
        "AM COUNTs begin anew",
        "# COUNT begins anew\n        if not self.is_am:\n            self.tx_next = 0\n",
        "# COUNT begins anew\n        self.tx_next = 0\n        if not self.is_am:\n",
    ),
    model(
        "UM COUNTs go on",
        "if not self.is_am:\n            self.tx_next = 0\n            self.stored.clear()\n        elif",
        "if not self.is_am:\n            self.stored.clear()\n        elif",
    ),
    model(
        "an AM receiver begins anew",
        'if self.config.rlc == "um":\n            self.deliver_all',
        "if True:\n            self.deliver_all",
    ),
    model(
        "a UM receiver drops what it holds",
        "        for count in sorted(self.held):\n            self.deliver(count)\n",
        "",
    ),
    model(
        "the receiver keeps the old key",
        "            self.deliver_all_and_reset()\n        self.security = security",
        "            self.deliver_all_and_reset()",
    ),
    model(
        "COUNT is used again after a re-key that kept the key",
        "if security.uses_again(old) and (begins_anew or security != old):",
        "if False:",
    ),
    model("COUNT is used again after suspend", "begins_anew = self.tx.suspended or", "begins_anew = "),
    model("one new key of two is enough", "(begins_anew or security != old)", "begins_anew"),
    model("suspend keeps TX_NEXT", "self.tx_next = 0\n        self.settled = 0", "self.settled = 0"),
    model(
        "suspend drops the SDUs of an AM bearer",
        "self.suspended = True\n        if not self.is_am:\n            self.stored.clear()",
        "self.suspended = True\n        self.stored.clear()",
    ),
    model(
        "what comes while suspended is sent",
        "if self.suspended:\n            self.waiting.append(sdu)\n        else:",
        "if True:",
    ),
    model(
        "discardTimer starts again at resume",
        "for sdu in again:  #",
        "for sdu in [StoredSdu(sdu.data, None) for sdu in again]:  #",
    ),
    model(
        "suspend holds back what was received",
        "self.tx.suspend()\n        self.rx.deliver_all_and_reset()",
        "self.tx.suspend()\n        self.rx.reset()",
    ),
    model("SN status transfer may go back", "if tx_next < tx.tx_next or rx_deliv < rx.rx_deliv:", "if False:"),
    model("counter check is one ahead", "max(self.tx.tx_next - 1, 0)", "self.tx.tx_next"),
    model("the most significant bits are 24", '"uplink_msb": uplink >> 7', '"uplink_msb": uplink >> 8'),
)
SDAP = (
    sdap("QFI has five bits", "MAX_QFI = 63", "MAX_QFI = 31"),
    sdap("RDI and RQI are swapped", "DATA, RDI, RQI = 0x80, 0x80, 0x40", "DATA, RDI, RQI = 0x80, 0x40, 0x80"),
    sdap("UL data look like a control PDU", "bytes([DATA | qfi])", "bytes([qfi])"),
    sdap("no end-marker on the default DRB", "            self.end_marker(qfi, self.default_drb)", "            pass"),
    sdap("the end-marker goes to the new DRB", "self.end_marker(qfi, old)", "self.end_marker(qfi, drb)"),
    sdap(
        "an end-marker without an UL header", "if drb is not None and self.drbs[drb].header_ul:", "if drb is not None:"
    ),
    sdap(
        "a configured rule beats a reflective one",
        "        if pdu[0] & RDI:\n",
        "        if pdu[0] & RDI and qfi not in self.rules:\n",
    ),
    sdap("every DL PDU maps its flow", "        if pdu[0] & RDI:\n", "        if True:\n"),
    sdap("the UE reports no RQI", "        if pdu[0] & RQI:\n", "        if False:\n"),
    sdap("the gNB delivers end-markers", "elif len(pdu) == 1:", "elif False:"),
    sdap("rules outlive their DRB", "if rule != drb}", "}"),
    sdap("a flow without a rule is dropped", "self.rules.get(qfi, self.default_drb)", "self.rules.get(qfi)"),
)
MUTANTS = RECEIVING + SENDING + PROCEDURES + SDAP


def mutant_named(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)

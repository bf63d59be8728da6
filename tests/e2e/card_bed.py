"""A whole path with a card in front of the gNB, and what the air says about the numbers of its bearers."""

from __future__ import annotations

import signal
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import air_views
import configs
import pcap
from card import card_state, check_card, wait_for_card
from checks import Checks, check_balance, check_ports
from instance import Instance
from testbed import Testbed, assert_passed

EPOCH_AT = 14 + 3  # of airhdr


class CardBed(Testbed):
    """`nic` are members of the card's section; the gNB's configuration is configs.behind_a_card's."""

    __test__ = False

    def __init__(self, folder: Path, name: str, config: dict, queues: int = 1, nic: dict | None = None, **more):
        super().__init__(folder, name, config, **more)
        self.nic_tree = configs.nic(name, queues, **(nic or {}))

    def put_in_front(self):
        self.start_card()
        wait_for_card(self.gnb, self.card)

    def start_card(self):
        config = configs.write(self.folder, "nic", self.nic_tree)
        self.card = Instance(self.processes, "nic", "card", config, self.network.gnb)

    def start_host(self):
        config = configs.write(self.folder, "gnb", self.tree)
        self.gnb = Instance(self.processes, "gnb-again", "run", config, self.network.gnb, fresh=False)

    def kill_card(self):
        self.card.process.signal(signal.SIGKILL)
        self.card.process.wait()
        self.processes.stop(self.card.process)

    def state(self) -> dict:
        return card_state(self.gnb)

    def on_card(self) -> list[dict]:
        return [bearer for bearer in self.bearers() if bearer.get("card")]

    def finish(self, drops: tuple[str, ...] = ()) -> dict:
        """Ends UE sides, card and gNB; each adds up. Returns the card's last counters."""
        checks = Checks()
        last = {f"UE {number}": ue.finish() for number, ue in enumerate(self.ues)}
        last |= {"card": self.card.finish(), "gNB": self.gnb.finish()}
        for who, stats in last.items():
            if who != "card":
                check_balance(checks, who, stats)
            check_ports(checks, who, stats)
        check_card(checks, last["card"], drops)
        assert_passed(checks)
        return last["card"]


@dataclass
class Numbers:
    """Of one bearer's downlink, in the order of the air: (epoch, RLC SN, PDCP SN)."""

    sent: list[tuple[int, int, int]] = field(default_factory=list)
    sn_bits: int = 18

    def counts(self) -> list[int]:
        """COUNTs, as a receiver that has lost nothing but what a lease skips makes them of the SNs."""
        found, modulus = [], 1 << self.sn_bits
        for _, _, sn in self.sent:
            last = found[-1] if found else 0
            found.append(last + (sn - last + modulus // 2) % modulus - modulus // 2)
        return found

    def runs(self) -> list[tuple[int, list[int], list[int]]]:
        """(epoch, RLC SNs, COUNTs) of each run of the card."""
        runs: list[tuple[int, list[int], list[int]]] = []
        for (epoch, rlc, _), count in zip(self.sent, self.counts(), strict=True):
            if not runs or runs[-1][0] != epoch:
                runs.append((epoch, [], []))
            runs[-1][1].append(rlc)
            runs[-1][2].append(count)
        return runs


def numbers_on_air(capture: Path) -> dict[int, Numbers]:
    """By bearer, of AM data PDUs downlink."""
    found: dict[int, Numbers] = defaultdict(Numbers)
    for frame in pcap.read(capture):
        pdu = air_views.parse(frame)
        if pdu is None or pdu.direction != air_views.DOWNLINK or pdu.rlc_sn() is None:
            continue
        numbers = found[pdu.bearer]
        numbers.sn_bits = pdu.pdcp_sn_bits
        numbers.sent.append((frame.data[EPOCH_AT], pdu.rlc_sn(), pdu.pdcp_sn()))
    return found


def unwrapped(number: int, highest: int, bits: int) -> int:
    """The number with these low bits that is nearest to the highest one so far."""
    half, modulus = 1 << bits - 1, 1 << bits
    return highest + (number - highest + half) % modulus - half


@dataclass
class UsedNumbers:
    """Of one bearer's AM data PDUs downlink, by the air: which SDU each COUNT was used for, and which COUNT each RLC
    number of an epoch. A retransmission is the same PDU again, so it uses nothing twice. It may be the first time that
    the PDU is seen, where a card died with it."""

    sdus: dict[int, bytes] = field(default_factory=dict)  # by COUNT
    counts: dict[tuple[int, int], int] = field(default_factory=dict)  # by (run, RLC number); an epoch begins a run
    highest: int | None = None  # COUNT
    highest_rlc: dict[int, int] = field(default_factory=dict)  # by run
    epochs: list[int] = field(default_factory=list)  # of the runs
    complaints: list[str] = field(default_factory=list)

    def run_of(self, epoch: int) -> int:
        """Of an epoch that comes round again after 256 others nothing is known here."""
        if epoch not in self.epochs:
            self.epochs.append(epoch)
        return self.epochs.index(epoch)

    def take(self, pdu: air_views.AirPdu):
        run, highest = self.run_of(pdu.epoch), pdu.pdcp_sn() if self.highest is None else self.highest
        rlc = unwrapped(pdu.rlc_sn(), self.highest_rlc.get(run, pdu.rlc_sn()), pdu.rlc_sn_bits)
        count = unwrapped(pdu.pdcp_sn(), highest, pdu.pdcp_sn_bits)
        self.highest = max(count, highest)
        self.highest_rlc[run] = max(rlc, self.highest_rlc.get(run, rlc))
        at = f"bearer {pdu.bearer:#010x}, epoch {pdu.epoch}, RLC {rlc}, COUNT {count}"
        if self.counts.setdefault((run, rlc), count) != count:
            self.complaints.append(f"{at}: the RLC number had COUNT {self.counts[run, rlc]}")
        if self.sdus.setdefault(count, pdu.inner()) != pdu.inner():
            self.complaints.append(f"{at}: the COUNT was used for another SDU")


def used_numbers(capture: Path) -> dict[int, UsedNumbers]:
    """By bearer."""
    found: dict[int, UsedNumbers] = defaultdict(UsedNumbers)
    for pdu in air_views.read(capture):
        if pdu.direction == air_views.DOWNLINK and pdu.rlc_sn() is not None and pdu.is_complete_data():
            found[pdu.bearer].take(pdu)
    return found

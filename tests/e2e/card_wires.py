"""Cards and their host between wires that the test itself holds: N3 without a UPF, the air without a UE. gtpu.py makes
what goes in, air_views.py and gtpu.py read what comes out: they share no code with the gNB."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable
from contextlib import ExitStack

import air_views
import configs
import gtpu
import pcap
from card import check_card, wait_for_card
from checks import Checks, check_balance, check_ports
from instance import Instance
from namespaces import AirLink, N3Link, Network, quiet
from paths import own
from processes import Processes, run, wait_until
from testbed import assert_passed
from wire import Wire

UPF_MAC = "02:00:00:00:00:02"
SERVER, SERVER_V6 = "10.200.0.1", "fd00:200::1"
PORTS = {"source_port": 2152, "destination_port": 2152}


class CardWires:
    """`cards`: configuration of each card by its name in the host's `tree`. The n-th card has the n-th links."""

    def __init__(
        self,
        name: str,
        tree: dict,
        cards: dict[str, dict],
        n3: tuple[N3Link, ...] = (N3Link(),),
        air: tuple[AirLink, ...] = (AirLink(),),
    ):
        self.folder = own("e2e") / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.network, self.processes = Network(name, n3, air), Processes(self.folder)
        self.tree, self.card_trees, self.stack = tree, cards, ExitStack()
        for entry in tree[
            "n3"
        ]:  # each UPF's address is known, and none is supervised: the host sends nothing by itself
            entry |= {"peer_mac": UPF_MAC, "echo": {"interval_s": 0}}

    def __enter__(self) -> CardWires:
        with self.stack:
            self.stack.enter_context(self.network)
            self.stack.callback(self.processes.stop_all)
            for link in self.network.n3:  # the kernel there neither answers nor asks
                quiet(self.network.core, link.upf_interface)
                run(["ip", "-n", self.network.core, "addr", "flush", "dev", link.upf_interface])
            self.n3 = [self._wire(self.network.core, link.upf_interface) for link in self.network.n3]
            self.air = [self._wire(self.network.ue, link.ue_interface) for link in self.network.air]
            self.cards = {name: self._start(name, "card", tree) for name, tree in self.card_trees.items()}
            self.gnb = self._start("gnb", "run", self.tree)
            for name, card in self.cards.items():
                wait_for_card(self.gnb, card, name)
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _wire(self, netns: str, interface: str) -> Wire:
        wire = Wire(netns, interface)
        self.stack.callback(wire.close)
        return wire

    def _start(self, name: str, command: str, tree: dict) -> Instance:
        return Instance(self.processes, name, command, configs.write(self.folder, name, tree), self.network.gnb)

    def bearers(self) -> dict[int, dict]:
        return {bearer["id"]: bearer for bearer in self.gnb.control.bearers()}

    def show(self, bearer: int) -> dict:
        return self.gnb.control.call("bearer.show", id=bearer)

    def punts(self, card: str = "card0") -> dict[str, int]:
        return {reason: n for reason, n in self.cards[card].control.call("card.show")["punts"].items() if n}

    def numbers(self, card: str = "card0") -> dict[int, dict[str, int]]:
        """What the card itself says of its bearers, by identity."""
        names = ("pdcp_next", "rlc_next", "in_flight", "dl_packets", "ul_packets", "epoch", "ahead", "lease_end")
        names += ("dl_octets", "ul_octets", "place")
        rows = self.cards[card].control.call("card.numbers", after=0)
        return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}

    def nothing_in_flight(self, card: str = "card0"):
        """Waits until the card counts no packet of a bearer at the host."""
        wait_until("in_flight to be 0", lambda: not any(row["in_flight"] for row in self.numbers(card).values()))

    def drops(self) -> dict[str, int]:
        """Of all workers."""
        found: dict[str, int] = defaultdict(int)
        for worker in self.gnb.control.stats()["workers"]:
            for reason, count in worker["drops"].items():
                found[reason] += count
        return {reason: count for reason, count in found.items() if count}

    def on_air(self, count: int, wire: int = 0) -> list[air_views.AirPdu]:
        """The next `count` frames of the air."""
        return pdus_of(self.air[wire].gather("frame on the air", is_air, count))

    def on_n3(self, count: int, wire: int = 0) -> list[bytes]:
        """The next `count` G-PDUs towards the UPF, as frames."""
        return [frame for frame in self.n3[wire].gather("G-PDU on N3", is_gpdu, count) if is_gpdu(frame)]

    def quiet_on_air(self, seconds: float = 0.3) -> list[air_views.AirPdu]:
        """What comes beside what was asked for: nothing should."""
        return [pdu for wire in self.air for pdu in pdus_of(wire.frames(seconds))]

    def finish(self, *, card_drops: tuple[str, ...] = ()) -> tuple[dict, dict[str, dict]]:
        """Ends cards and host; the counters of each add up. Returns the last ones: the host's, and each card's."""
        checks = Checks()
        cards = {name: card.finish() for name, card in self.cards.items()}
        host = self.gnb.finish()
        check_balance(checks, "gNB", host)
        for who, stats in {"gNB": host, **cards}.items():
            check_ports(checks, who, stats)
        for stats in cards.values():
            check_card(checks, stats, card_drops)
        assert_passed(checks)
        return host, {name: stats["cards"][0] for name, stats in cards.items()}


def behind_one_card(name: str, bearers: list[dict], queues: int = 1, card: dict | None = None, **sections) -> CardWires:
    tree = configs.behind_a_card(name, bearers, queues)
    return CardWires(name, tree | sections, {"card0": configs.nic(name, queues, **(card or {}))})


def is_air(frame: bytes) -> bool:
    return frame[12:14] == b"\x88\xb5"


def is_gpdu(frame: bytes) -> bool:
    """IPv4 or IPv6 without options, UDP to 2152, GTP-U message 255."""
    at = {b"\x08\x00": 34, b"\x86\xdd": 54}.get(frame[12:14])
    return at is not None and frame[at + 2 : at + 4] == b"\x08\x68" and frame[at + 9 : at + 10] == b"\xff"


def gpdu_in(frame: bytes) -> dict:
    """The GTP-U message of such a frame, taken apart by gtpu.py."""
    udp = 34 if frame[12:14] == b"\x08\x00" else 54
    (length,) = struct.unpack_from("!H", frame, udp + 4)
    return gtpu.parse(frame[udp + 8 : udp + length])


def pdus_of(frames: Iterable[bytes]) -> list[air_views.AirPdu]:
    found = [air_views.parse(pcap.Frame(number, octets, len(octets))) for number, octets in enumerate(frames)]
    return [pdu for pdu in found if pdu]


def sdu(number: int, destination: str, source: str = SERVER, octets: int = 20) -> bytes:
    """An IP packet that says its number."""
    return gtpu.packet(number.to_bytes(4, "big") + bytes(octets), source, destination)


def number_of(inner: bytes) -> int:
    """Of an SDU of either family."""
    at = 28 if inner[0] >> 4 == 4 else 48
    return int.from_bytes(inner[at : at + 4], "big")


def to_gnb(message: bytes, link: N3Link | None = None, *, v6: bool = False) -> bytes:
    """The frame of a UPF around a GTP-U message."""
    link = link or N3Link()
    ends = (link.upf_ipv6, link.gnb_ipv6) if v6 else (link.upf_ipv4, link.gnb_ipv4)
    head = b"\xff" * 6 + bytes.fromhex(UPF_MAC.replace(":", ""))
    return head + (b"\x86\xdd" if v6 else b"\x08\x00") + gtpu.packet(message, *ends, **PORTS)


def uplink(bearer: dict, sn: int, inner: bytes, qfi: int = 9) -> bytes:
    """The air frame of a complete SDU of RLC AM (TS 38.322 6.2.2.4, TS 38.323 6.2.2, TS 37.324 6.2.2)."""
    rlc18, pdcp18 = bearer["rlc"] == "am18", bearer["pdcp_sn"] == 18
    rlc = (0x80 << 16 | sn).to_bytes(3, "big") if rlc18 else (0x80 << 8 | sn).to_bytes(2, "big")
    pdcp = (0x80 << 16 | sn).to_bytes(3, "big") if pdcp18 else (0x80 << 8 | sn).to_bytes(2, "big")
    sdap = bytes([0x80 | qfi]) if bearer["sdap"]["ul"] else b""
    pdu = rlc + pdcp + sdap + inner
    modes = 2 << 5 | (3 if rlc18 else 2) << 3 | pdcp18 << 2 | len(sdap) << 1
    airhdr = bytes([0x20, modes, 0, 0]) + bearer["id"].to_bytes(4, "big") + len(pdu).to_bytes(2, "big")
    return b"\xff" * 6 + bytes.fromhex("020000000099") + b"\x88\xb5" + airhdr + pdu


def by_bearer(pdus: Iterable[air_views.AirPdu]) -> dict[int, list[air_views.AirPdu]]:
    found: dict[int, list[air_views.AirPdu]] = defaultdict(list)
    for pdu in pdus:
        found[pdu.bearer].append(pdu)
    return dict(found)


def assert_numbered(pdus: list[air_views.AirPdu], first: int = 0):
    """Of one bearer: SNs of PDCP and RLC without a gap from `first` on, in the order of the air."""
    counts = range(first, first + len(pdus))
    for what, bits, found in (
        ("PDCP", pdus[0].pdcp_sn_bits, [pdu.pdcp_sn() for pdu in pdus]),
        ("RLC", pdus[0].rlc_sn_bits, [pdu.rlc_sn() for pdu in pdus]),
    ):
        assert found == [count % (1 << bits) for count in counts], f"SNs of {what}, bearer {pdus[0].bearer:#x}"

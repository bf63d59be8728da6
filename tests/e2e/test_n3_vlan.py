"""An N3 interface in a VLAN: everything goes in and out with its tag, and nothing else passes; without `vlan` no tagged
frame does. The test is the UPF, tag by tag: not every kernel has VLAN interfaces."""

from __future__ import annotations

import socket
import struct
import time

import configs
import pytest
from card import wait_for_card
from gtpu_bed import INNER, LINK, GtpuBed
from instance import Instance
from paths import own
from processes import PATIENCE, run, wait_until
from tagger import PACKET_AUXDATA, SOL_PACKET, TP_STATUS_VLAN_VALID
from wire import Wire

from scapy.contrib.gtp import GTP_U_Header, GTPEchoRequest  # noqa: E402  isort: skip
from scapy.layers.inet import UDP  # noqa: E402  isort: skip
from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, IPv6  # noqa: E402  isort: skip
from scapy.layers.l2 import ARP, Dot1Q, Ether  # noqa: E402  isort: skip

VLAN = 100


class TaggedWire(Wire):
    """Shows frames with the tag that the kernel took out of them."""

    def __init__(self, netns: str, interface: str):
        super().__init__(netns, interface)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)

    def frames(self, seconds: float, enough=lambda _: False) -> list[bytes]:
        found, end = [], time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                octets, more, _, address = self.socket.recvmsg(65535, 256)
            except TimeoutError:
                break
            if address[2] == socket.PACKET_OUTGOING:
                continue
            status, tci = struct.unpack_from("=I12xH", more[0][2]) if more else (0, 0)
            if status & TP_STATUS_VLAN_VALID:
                octets = octets[:12] + b"\x81\x00" + tci.to_bytes(2, "big") + octets[12:]
            found.append(octets)
            if enough(octets):
                break
        self.seen += found
        return found


class VlanBed(GtpuBed):
    def prepare(self):
        """Nobody but the test answers for the UPF."""
        run(["ip", "-n", self.network.core, "addr", "flush", "dev", LINK.upf_interface])

    def send(self, frame: Ether, *tags: int):
        made = frame.payload
        for tag in reversed(tags):
            made = Dot1Q(vlan=tag) / made
        self.wire.send(Ether(src=frame.src, dst=frame.dst) / made)

    def answer(self, octets: bytes):
        """As a host with the UPF's addresses in the VLAN."""
        asked = Ether(octets)
        if not asked.haslayer(Dot1Q) or asked[Dot1Q].vlan != VLAN:
            return
        head = Ether(src=self.upf_mac, dst=asked.src)
        if asked.haslayer(ARP) and asked[ARP].op == 1 and asked[ARP].pdst == LINK.upf_ipv4:
            sender = {"hwdst": asked.src, "pdst": asked[ARP].psrc}
            self.send(head / ARP(op=2, hwsrc=self.upf_mac, psrc=LINK.upf_ipv4, **sender), VLAN)
        if asked.haslayer(ICMPv6ND_NS) and asked[ICMPv6ND_NS].tgt == LINK.upf_ipv6:
            told = ICMPv6ND_NA(tgt=LINK.upf_ipv6, R=0, S=1, O=1) / ICMPv6NDOptDstLLAddr(lladdr=self.upf_mac)
            self.send(head / IPv6(src=LINK.upf_ipv6, dst=asked[IPv6].src, hlim=255) / told, VLAN)

    def turn(self, seconds: float) -> list[bytes]:
        found = self.wire.frames(seconds)
        for octets in found:
            self.answer(octets)
        return found

    def expect(self, kind: int, v6: bool) -> bytes:
        """The GTP-U message of that type that comes next, in the VLAN."""

        def wanted(octets: bytes) -> bool:
            frame = Ether(octets)
            return (
                frame.haslayer(UDP) and frame.haslayer(IPv6) == v6 and bytes(frame[UDP].payload)[1:2] == bytes([kind])
            )

        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for octets in self.turn(0.05):
                if wanted(octets):
                    assert octets[12:16] == b"\x81\x00" + VLAN.to_bytes(2, "big"), octets.hex()
                    return octets
        raise AssertionError(f"no GTP-U message {kind}")


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "n3-vlan"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [configs.bearer(n, upf=upf, shard=n) for n, upf in ((1, LINK.upf_ipv4), (2, LINK.upf_ipv6))]
    echo = {"interval_s": 1, "timeout_s": 1, "retries": 1}
    with VlanBed(folder, "n3vlan", bearers, upf_sockets=False, vlan=VLAN, echo=echo) as made:
        made.wire = TaggedWire(made.network.core, LINK.upf_interface)

        def resolved() -> bool:
            made.turn(0.1)
            return all(p["mac"] == made.upf_mac for p in made.gnb.control.call("peer.list")["peers"])

        wait_until("both MAC addresses", resolved, 8)
        yield made
        ours = [f for f in made.wire.seen if f[6:12] == bytes.fromhex(made.gnb_mac.replace(":", ""))]
        assert len(ours) >= 10 and {f[12:16] for f in ours} == {b"\x81\x00" + VLAN.to_bytes(2, "big")}
        assert made.gnb.finish()["totals"]["balanced"]


@pytest.mark.parametrize("number", [0, 1], ids=["ipv4", "ipv6"])
def test_messages_and_packets_pass_in_the_vlan(bed, number):
    v6 = number == 1
    bed.send(bed.to_gnb(GTP_U_Header(teid=0, S=1, seq=77) / GTPEchoRequest(), v6=v6), VLAN)
    bed.expect(2, v6)
    bed.send(bed.to_gnb(bed.gpdu(bed.ids[number]), v6=v6), VLAN)
    air = bed.air.expect("air frame", lambda f: f[12:14] == b"\x88\xb5")
    assert air.endswith(INNER)
    bed.air.send(bed.uplink(number, sn=0))
    assert bed.expect(255, v6).endswith(INNER)
    bed.expect(1, v6)  # supervised in the VLAN
    bed.send(bed.to_gnb(bed.gpdu(0x07654321), v6=v6), VLAN)
    bed.expect(26, v6)


def test_our_address_is_told_in_the_vlan(bed):
    question = ARP(op=1, hwsrc=bed.upf_mac, psrc=LINK.upf_ipv4, pdst=LINK.gnb_ipv4)
    bed.send(Ether(src=bed.upf_mac, dst="ff:ff:ff:ff:ff:ff") / question, VLAN)
    frame = bed.wire.expect("ARP reply", lambda f: Ether(f).haslayer(ARP) and Ether(f)[ARP].op == 2)
    assert Ether(frame)[Dot1Q].vlan == VLAN and Ether(frame)[ARP].hwsrc == bed.gnb_mac


def test_other_vlans_and_untagged_frames_are_dropped_by_name(bed):
    dropped = bed.drops("vlan_wrong")
    packet = bed.to_gnb(bed.gpdu(bed.ids[0]))
    arp = Ether(src=bed.upf_mac, dst=bed.gnb_mac) / ARP(op=1, psrc=LINK.upf_ipv4, pdst=LINK.gnb_ipv4)
    for frame in (packet, arp):
        for tags in ((), (101,), (VLAN, VLAN)):
            bed.send(frame, *tags)
    wait_until("the drops", lambda: bed.drops("vlan_wrong") == dropped + 6, 2)
    assert not [f for f in bed.wire.frames(0.2) if Ether(f).haslayer(ARP) and Ether(f)[ARP].op == 2]


def test_without_vlan_no_tagged_frame_passes():
    folder = own("e2e") / "n3-no-vlan"
    folder.mkdir(parents=True, exist_ok=True)
    with GtpuBed(folder, "n3novlan", [configs.bearer(1, upf=LINK.upf_ipv4, shard=1)]) as bed:
        frame = bed.to_gnb(bed.gpdu(bed.ids[0]))
        echo = bed.to_gnb(GTP_U_Header(teid=0, S=1, seq=1) / GTPEchoRequest())
        for number, tagged in enumerate((frame, echo), 1):
            bed.n3.send(Ether(src=bed.upf_mac, dst=bed.gnb_mac) / Dot1Q(vlan=7) / tagged.payload)
            wait_until("the drop", lambda n=number: bed.drops("vlan_wrong") == n, 2)
        assert bed.bearer()["downlink"]["received"] == 0
        bed.n3.send(frame)
        wait_until("the untagged one", lambda: bed.bearer()["downlink"]["received"] == 1, 2)


class VlanCardBed(VlanBed):
    """The same behind a card: bearer 0 is on it, bearer 1 on the host."""

    def __init__(self, folder, name: str, bearers: list[dict], **n3):
        super().__init__(folder, name, bearers, upf_sockets=False)
        self.name = name
        self.tree = configs.behind_a_card(name, bearers)
        self.tree["n3"][0] |= n3

    def prepare(self):
        super().prepare()
        self.card = Instance(
            self.processes, "nic", "card", configs.write(self.folder, "nic", configs.nic(self.name)), self.network.gnb
        )

    def drops(self, reason: str) -> int:
        return sum(worker["drops"].get(reason, 0) for worker in self.stats()["workers"])


def test_a_card_takes_and_sends_in_the_vlan():
    folder = own("e2e") / "n3-vlan-card"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [
        configs.bearer(1, upf=LINK.upf_ipv4, shard=1, card="card0"),
        configs.bearer(2, upf=LINK.upf_ipv4, shard=2),
    ]
    with VlanCardBed(folder, "n3vlancard", bearers, vlan=VLAN) as bed:
        bed.wire = TaggedWire(bed.network.core, LINK.upf_interface)
        wait_for_card(bed.gnb, bed.card)

        def resolved() -> bool:
            bed.turn(0.1)
            return all(p["mac"] == bed.upf_mac for p in bed.gnb.control.call("peer.list")["peers"])

        wait_until("the MAC address", resolved, 8)
        for number in (0, 1):
            for sn in range(3):
                bed.send(bed.to_gnb(bed.gpdu(bed.ids[number])), VLAN)
                air = bed.air.expect("air frame", lambda f: f[12:14] == b"\x88\xb5")
                assert air[18:22] == bed.ids[number].to_bytes(4, "big") and air.endswith(INNER)
                bed.air.send(bed.uplink(number, sn=sn))
                assert bed.expect(255, False).endswith(INNER)
        shown: list[dict] = []

        def counted() -> bool:  # a host whose card does not answer in time shows what it heard before
            shown[:] = [bed.bearer(number) for number in (0, 1)]
            return [b[way]["transmitted"] for way in ("downlink", "uplink") for b in shown] == [3, 3, 3, 3]

        wait_until("three packets each way of both bearers", counted)
        assert shown[0]["on_card"]["returned"] == 0, "the card served its bearer itself"
        dropped = bed.drops("vlan_wrong")
        for number in (0, 1):
            for tags in ((), (101,), (VLAN, VLAN)):
                bed.send(bed.to_gnb(bed.gpdu(bed.ids[number])), *tags)
        wait_until("the drops", lambda: bed.drops("vlan_wrong") == dropped + 6, 2)
        assert bed.bearer(0)["on_card"]["in_flight"] == 0
        bed.send(bed.to_gnb(bed.gpdu(bed.ids[0])), VLAN)
        bed.air.expect("air frame", lambda f: f[18:22] == bed.ids[0].to_bytes(4, "big"))
        assert bed.card.finish()["totals"]["balanced"] and bed.gnb.finish()["totals"]["balanced"]

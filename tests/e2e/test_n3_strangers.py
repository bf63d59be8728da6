"""Frames that somebody else than the UPF sends to N3: forged Error Indications, G-PDUs, ARP and neighbour discovery
change nothing, or for a bounded time; a UPF that really moved, or really lost a tunnel, is still followed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import configs
import pytest
from gtpu_bed import LINK, GtpuBed, error_indication, inet, message_of, play_upf
from paths import own
from processes import run, wait_until

from scapy.contrib.gtp import GTP_U_Header, GTPEchoRequest  # noqa: E402  isort: skip
from scapy.layers.inet import IP  # noqa: E402  isort: skip
from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6NDOptDstLLAddr, IPv6  # noqa: E402  isort: skip
from scapy.layers.l2 import ARP, Ether  # noqa: E402  isort: skip

NOBODY = "10.100.0.9"
STRANGER = "10.100.0.77"
FORGED = "02:00:00:00:00:66"
METRICS = 19464


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "n3-strangers"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [
        configs.bearer(1, upf=LINK.upf_ipv4, shard=1),
        configs.bearer(2, upf=LINK.upf_ipv6, shard=2),
        configs.bearer(3, upf=NOBODY, shard=3),
    ]
    echo = {"interval_s": 1, "timeout_s": 1, "retries": 1}
    made = GtpuBed(folder, "n3str", bearers, echo=echo)
    made.tree["metrics"] = {"listen": f"127.0.0.1:{METRICS}"}
    with made:
        wait_until(
            "both MAC addresses", lambda: all(row(made, upf)["mac"] for upf in (LINK.upf_ipv4, LINK.upf_ipv6)), 5
        )
        yield made
        assert made.gnb.finish()["totals"]["balanced"]


def row(bed: GtpuBed, upf: str) -> dict:
    return next(p for p in bed.gnb.control.call("peer.list")["peers"] if p["name"] == upf)


class Uplink:
    """Uplink packets of a bearer, one each 20 ms, and where they went."""

    def __init__(self, bed: GtpuBed, number: int = 0):
        self.bed, self.number, self.sn = bed, number, bed.bearer(number)["rlc_rx_next"]

    def run(self, seconds: float, *, indicates: bool = False) -> list[bytes]:
        end, found = time.monotonic() + seconds, []
        while time.monotonic() < end:
            self.bed.air.send(self.bed.uplink(self.number, sn=self.sn))
            self.sn += 1
            found += play_upf(self.bed, 0.02, indicates=indicates)
        return found + play_upf(self.bed, 0.1)

    def sent(self) -> int:
        return self.bed.bearer(self.number)["uplink"]["received"]


def gather(bed: GtpuBed, found: list[bytes], wanted: Callable[[], int]):
    """Reads what is still under way until the UPF has as many packets as the gNB got for it."""

    def agree() -> bool:
        more = play_upf(bed, 0.1)
        found.extend(more)
        return not more and len(found) == wanted()

    wait_until("as many packets at the UPF as the gNB got", agree)


def test_an_unanswered_arp_is_called_so_in_peer_list_log_and_metrics(bed):
    wait_until("the gNB to give up", lambda: row(bed, NOBODY)["state"] == "down", 6)
    nobody = row(bed, NOBODY)
    assert (nobody["cause"], nobody["mac"], nobody["echo_sent"], nobody["echo_lost"]) == ("arp_unanswered", None, 0, 0)
    wait_until("the log", lambda: f"ARP for {NOBODY} gets no answer" in bed.gnb.process.log.read_text(), 3)
    log = bed.gnb.process.log.read_text()
    assert f"the path to {NOBODY} is down: no Echo Response" not in log
    fetch = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{METRICS}/metrics').read().decode())"
    pages = [""]

    def is_up() -> bool:
        """In the list and in the metrics: a UPF that does not answer for a moment is down again."""
        play_upf(bed, 1.2)
        shown = row(bed, LINK.upf_ipv4)
        pages[0] = run([sys.executable, "-c", fetch], netns=bed.network.gnb).stdout
        up = f'splitplane_upf_up{{port="n3",upf="{LINK.upf_ipv4}"}} 1\n'
        return shown["state"] == "up" and shown["rtt_us"] > 0 and up in pages[0]

    wait_until("the UPF to be up", is_up)
    page = pages[0]
    for upf, name, value in ((NOBODY, "resolved", 0), (NOBODY, "up", 0), (LINK.upf_ipv4, "resolved", 1)):
        assert f'splitplane_upf_{name}{{port="n3",upf="{upf}"}} {value}\n' in page
    assert f'splitplane_upf_rtt_microseconds{{port="n3",upf="{LINK.upf_ipv4}"}} ' in page


def test_one_forged_error_indication_costs_no_packet(bed):
    uplink, before = Uplink(bed), bed.counters()
    sent, arrived = uplink.sent(), uplink.run(0.5)
    bed.n3.send(bed.to_gnb(error_indication(0x1001)))
    wait_until("the check", lambda: bed.bearer()["uplink_state"] == "checking", 1)
    arrived += uplink.run(4)
    gather(bed, arrived, lambda: uplink.sent() - sent)
    wait_until("the end of the check", lambda: bed.bearer()["uplink_state"] == "active")
    after = bed.counters()
    assert after["error_indications_refuted"] == before["error_indications_refuted"] + 1
    assert after["uplinks_stopped"] == before["uplinks_stopped"]


def test_forged_error_indications_without_end_stop_an_uplink_for_a_second_and_it_resumes_by_itself(bed):
    uplink = Uplink(bed)
    uplink.run(0.2)
    stopped = 0.0
    for _ in range(40):
        bed.n3.send(bed.to_gnb(error_indication(0x1001)))
        uplink.run(0.02)
        if bed.bearer()["uplink_state"] == "stopped":
            stopped = time.monotonic()
            break
    assert stopped, "the uplink of a UPF that says it again and again is not stopped"
    wait_until("the uplink to be tried again", lambda: bed.bearer()["uplink_state"] == "retrying", 3)
    assert time.monotonic() - stopped < 5
    wait_until("packets to pass again", lambda: len(uplink.run(0.3)) >= 5)
    assert bed.counters()["uplinks_resumed"] >= 1
    bed.gnb.control.call("bearer.modify", id=bed.ids[0], qfi=9)


def test_a_upf_that_lost_the_tunnel_stops_it_and_gets_it_back_by_itself(bed):
    uplink, before = Uplink(bed), bed.counters()
    uplink.run(2, indicates=True)
    after = bed.counters()
    assert after["uplinks_stopped"] > before["uplinks_stopped"]
    wait_until("packets to pass again", lambda: len(uplink.run(0.1)) > 2, 20)  # the UPF knows it again
    bed.gnb.control.call("bearer.modify", id=bed.ids[0], qfi=9)


def from_stranger(frame: Ether) -> Ether:
    frame[IP].src = STRANGER
    return frame


def test_packets_of_a_bearer_come_from_its_upf_only(bed):
    before, dropped = bed.bearer(), bed.drops("not_from_upf")
    bed.n3.send(from_stranger(bed.to_gnb(bed.gpdu(bed.ids[0]))))
    bed.n3.send(bed.to_gnb(bed.gpdu(bed.ids[0]), v6=True))
    bed.n3.send(from_stranger(bed.to_gnb(bytes.fromhex("30fe0000") + bed.ids[0].to_bytes(4, "big"))))
    wait_until("the drops", lambda: bed.drops("not_from_upf") == dropped + 2, 2)
    wait_until("the End Marker", lambda: bed.counters()["end_markers_unmatched"] >= 1, 2)
    after = bed.bearer()
    assert after["downlink"]["dropped"] == before["downlink"]["dropped"] + 2 and after["end_markers"] == 0
    bed.n3.send(bed.to_gnb(bed.gpdu(bed.ids[0])))
    wait_until("the UPF's own", lambda: bed.bearer()["downlink"]["transmitted"] > before["downlink"]["transmitted"], 2)
    # whoever asks is answered: an Echo Response says nothing that an ARP reply does not
    bed.n3.send(from_stranger(bed.to_gnb(GTP_U_Header(teid=0, S=1, seq=5) / GTPEchoRequest())))
    bed.n3.expect("Echo Response", lambda f: message_of(f, 2) and f[30:34] == inet(STRANGER))


def test_with_any_source_they_come_from_everywhere():
    folder = own("e2e") / "n3-any-source"
    folder.mkdir(parents=True, exist_ok=True)
    with GtpuBed(folder, "n3any", [configs.bearer(1, upf=LINK.upf_ipv4, shard=1)], any_source=True) as bed:
        bed.n3.send(from_stranger(bed.to_gnb(bed.gpdu(bed.ids[0]))))
        bed.air.expect("air frame", lambda f: f[12:14] == b"\x88\xb5")


def claims(mac: str, gnb_mac: str) -> list[Ether]:
    """A gratuitous reply and request, a reply to us alone that nobody asked for, an advertisement."""
    upf, everybody = LINK.upf_ipv4, "ff:ff:ff:ff:ff:ff"
    source = mac if not int(mac[:2], 16) & 1 and mac != "00:00:00:00:00:00" else FORGED
    na = ICMPv6ND_NA(tgt=LINK.upf_ipv6, R=0, S=1, O=1) / ICMPv6NDOptDstLLAddr(lladdr=mac)
    return [
        Ether(src=source, dst=everybody) / ARP(op=2, hwsrc=mac, psrc=upf, hwdst=everybody, pdst=upf),
        Ether(src=source, dst=everybody) / ARP(op=1, hwsrc=mac, psrc=upf, pdst=upf),
        Ether(src=source, dst=everybody) / ARP(op=1, hwsrc=mac, psrc=upf, pdst=LINK.gnb_ipv4),
        Ether(src=source, dst=gnb_mac) / ARP(op=2, hwsrc=mac, psrc=upf, hwdst=gnb_mac, pdst=LINK.gnb_ipv4),
        Ether(src=source, dst=gnb_mac) / IPv6(src=LINK.upf_ipv6, dst=LINK.gnb_ipv6, hlim=255) / na,
    ]


@pytest.mark.parametrize(
    "mac",
    [
        FORGED,
        "ff:ff:ff:ff:ff:ff",
        *(pytest.param(mac, marks=pytest.mark.nightly) for mac in ("01:00:5e:00:00:01", "00:00:00:00:00:00")),
    ],
)
def test_forged_claims_of_the_upfs_address_change_nothing(bed, mac):
    before = bed.counters()
    wait_until("the UPF to have what tests before sent", lambda: not play_upf(bed, 0.2))
    first, second = Uplink(bed, 0), Uplink(bed, 1)
    sent = first.sent() + second.sent()
    found = []
    for frame in claims(mac, bed.gnb_mac) * 2:
        bed.n3.send(frame)
        found += first.run(0.04) + second.run(0.04)
    found += first.run(0.7)
    gather(bed, found, lambda: first.sent() + second.sent() - sent)
    assert len(found) > 20
    assert {Ether(frame).dst for frame in found} == {bed.upf_mac}
    after = bed.counters()
    if mac == FORGED:
        assert after["neighbor_claims_refused"] > before["neighbor_claims_refused"]
        assert "it is not believed" in bed.gnb.process.log.read_text()
    else:
        assert after["neighbor_macs_refused"] >= before["neighbor_macs_refused"] + 10
    assert after["neighbor_moves"] == before["neighbor_moves"] == 0


def test_a_upf_that_moved_is_followed_within_a_second(bed):
    moved = "02:00:00:00:77:02"
    ip = ["ip", "-n", bed.network.core, "link", "set", LINK.upf_interface, "address"]
    run([*ip, moved])
    bed.n3.send(*claims(moved, bed.gnb_mac)[:1])
    begin, uplink = time.monotonic(), Uplink(bed)
    wait_until("packets to the new address", lambda: any(Ether(f).dst == moved for f in uplink.run(0.02)), 5)
    took = time.monotonic() - begin
    print(f"moved_upf_followed_after_ms {1000 * took:.0f}")
    assert took < 5, "three probes of 200 ms, a question of 200 ms, and time for a busy machine"
    assert bed.counters()["neighbor_moves"] == 1 and row(bed, LINK.upf_ipv4)["mac"] == moved
    run([*ip, bed.upf_mac])
    bed.n3.send(*claims(bed.upf_mac, bed.gnb_mac)[:1])
    wait_until("the first address again", lambda: row(bed, LINK.upf_ipv4)["mac"] == bed.upf_mac, 5)


def test_a_sweep_of_4096_teids_does_not_stop_the_bearers():
    folder = own("e2e") / "n3-sweep"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [configs.bearer(1, upf=LINK.upf_ipv4) | {"count": 4096}]
    del bearers[0]["ue_ipv6"]
    with GtpuBed(folder, "n3sweep", bearers, echo={"interval_s": 1, "timeout_s": 1, "retries": 1}) as bed:
        wait_until("the UPF's MAC address", lambda: row(bed, LINK.upf_ipv4)["mac"], 5)
        play_upf(bed, 0.3)
        forged = bytearray(bytes(bed.to_gnb(error_indication(0x1001))))
        at = forged.index(b"\x10\0\0\x10\x01") + 1
        forged[40:42] = b"\0\0"  # without a checksum: only the TEID differs
        for _ in range(2):
            for number in range(4096):
                forged[at : at + 4] = (0x1001 + number).to_bytes(4, "big")
                bed.n3.send(bytes(forged))
                if number % 64 == 0:  # a busy bearer among many
                    bed.air.send(bed.uplink(number, sn=bed.bearer(number)["rlc_rx_next"]))
                    play_upf(bed, 0.002)
        stopped = [b for b in bed.gnb.control.bearers() if b["uplink_stopped"]]
        seen = bed.counters()
        print(f"sweep_stopped {len(stopped)} of 4096, limited {seen['error_indications_limited']}")
        assert len(stopped) <= 64 and seen["error_indications_received"] > 100
        wait_until("all to go on", lambda: not any(b["uplink_stopped"] for b in bed.gnb.control.bearers()), 10)
        assert bed.gnb.finish()["totals"]["balanced"]

"""GTP-U messages other than the forwarded G-PDU, in both directions: scapy and pycrate build and read them octet by
octet, and tshark finds nothing wrong with any frame that the gNB sent."""

from __future__ import annotations

import itertools
import struct
import time

import configs
import pcap
import pytest
from gtpu_bed import LINK, GtpuBed, message_in, message_of, play_upf
from paths import own
from processes import run, wait_until
from silent_worker import silent_worker

from pycrate_mobile.TS29281_GTPU import GTPUEndMarker, parse_GTPU  # noqa: E402  isort: skip
from scapy.contrib.gtp import (  # noqa: E402  isort: skip
    GTP_U_Header,
    GTPEchoRequest,
    GTPEchoResponse,
    GTPErrorIndication,
    IE_GSNAddress,
    IE_Recovery,
    IE_TEIDI,
)
from scapy.layers.inet import IP, UDP  # noqa: E402  isort: skip
from scapy.layers.l2 import Ether  # noqa: E402  isort: skip

SECOND = configs.bearer(2, upf=LINK.upf_ipv6, shard=2)
FIRST = configs.bearer(1, upf=LINK.upf_ipv4, shard=1)
PSC, UDP_PORT = 0x85, 0x40
UNKNOWN = 0x07654321
WARNING = 0x600000  # PI_WARN of tshark's expert severities; notes and chats are below


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "gtpu"
    folder.mkdir(parents=True, exist_ok=True)
    options = {
        "echo": {"interval_s": 1, "timeout_s": 1, "retries": 1},
        "error_indications_per_s": 5,
        "released_teid_silence_s": 2,
    }
    with GtpuBed(folder, "gtpu", [FIRST, SECOND], **options) as made:
        yield made
        judge(made)
        assert made.gnb.finish()["totals"]["balanced"]


def judge(bed: GtpuBed):
    """Every message that the gNB sent, before the eyes of tshark; a G-PDU over IPv4 has no UDP checksum to look at."""
    ours = [frame for frame in bed.n3.seen if Ether(frame).src == bed.gnb_mac and Ether(frame).haslayer(UDP)]
    sent = [frame for frame in ours if not message_of(frame, 255)]
    path = bed.folder / "sent.pcap"
    pcap.write(path, sent)
    fields = ["gtp.message", "udp.checksum.status", "ip.checksum.status", "_ws.malformed", "_ws.expert.severity"]
    options = [word for field in fields for word in ("-e", field)]
    checks = ["-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    out = run(["tshark", "-r", path, "-T", "fields", *options, *checks]).stdout
    rows = [line.split("\t") for line in out.splitlines()]
    assert len(rows) == len(sent) and {row[0] for row in rows} >= {"0x01", "0x02", "0x1a", "0x1f"}
    assert all(row[1] == "1" and row[2] in ("1", "") and not row[3] for row in rows), rows
    severities = {int(word, 0) for row in rows for word in row[4].split(",") if word}
    assert max(severities, default=0) < WARNING, rows


def pycrate(octets: bytes):
    message, error = parse_GTPU(octets)
    assert error == 0 and message.to_bytes() == octets
    return message


def quiet_second(bed: GtpuBed):
    """Waits until the limit of answers has filled up again, and forgets what arrived meanwhile."""
    bed.n3.frames(1.1)


@pytest.mark.parametrize("v6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("destination", ["own", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"])
def test_echo_requests_are_answered_from_our_own_mac_address(bed, v6, destination):
    dst = bed.gnb_mac if destination == "own" else destination
    request = GTP_U_Header(teid=0, S=1, seq=0xBEEF) / GTPEchoRequest()
    bed.n3.send(bed.to_gnb(request, v6=v6, source_port=3000, dst=dst))
    frame = bed.n3.expect("Echo Response", lambda f: Ether(f).haslayer(UDP) and Ether(f)[UDP].dport == 3000)
    assert (Ether(frame).src, Ether(frame).dst) == (bed.gnb_mac, bed.upf_mac)
    assert message_in(frame) == bytes.fromhex("32020006" + "00000000" + "beef0000" + "0e00")
    assert pycrate(message_in(frame))["GTPUIERecovery"]["RestartCounter"].get_val() == 0


def answer(bed: GtpuBed, counter: int | None) -> float:
    """Answers the next Echo Request with that restart counter; returns how long it took to come."""
    begin = time.monotonic()
    frame = bed.n3.expect("Echo Request", lambda f: message_of(f, 1) and f[12:14] == b"\x08\x00")
    request = GTP_U_Header(message_in(frame))
    assert message_in(frame) == struct.pack("!BBHIHBB", 0x32, 1, 4, 0, request.seq, 0, 0)
    ies = [] if counter is None else [IE_Recovery(restart_counter=counter)]
    bed.n3.send(bed.to_gnb(GTP_U_Header(teid=0, S=1, seq=request.seq) / GTPEchoResponse(IE_list=ies)))
    return time.monotonic() - begin


def peer(bed: GtpuBed, upf: str) -> dict:
    return next(p for p in bed.gnb.control.call("peer.list")["peers"] if p["name"] == upf)


def test_a_peer_is_supervised_and_its_restart_seen_within_the_interval(bed):
    for counter in (7, 7, None):
        answer(bed, counter)
    wait_until("the path to be up", lambda: peer(bed, LINK.upf_ipv4)["state"] == "up")
    assert peer(bed, LINK.upf_ipv4)["restarts"] == 0 and peer(bed, LINK.upf_ipv4)["restart_counter"] == 7
    took = answer(bed, 8)
    wait_until("the restart to be seen", lambda: peer(bed, LINK.upf_ipv4)["restarts"] == 1)
    assert took < 10, "asked by the interval of 1 s, not by the default of 60 s"
    assert "restarted: another restart counter" in bed.gnb.process.log.read_text()
    # the IPv6 path was never answered: it is down after T3 * (1 + N3 repetitions)
    lost = peer(bed, LINK.upf_ipv6)
    assert (lost["state"], lost["times_down"], lost["echo_answered"]) == ("down", 1, 0)
    answer(bed, 8)
    wait_until("the loss to be seen", lambda: peer(bed, LINK.upf_ipv4)["state"] == "down")
    assert f"the path to {LINK.upf_ipv4} is down" in bed.gnb.process.log.read_text()


def test_responses_that_nobody_asked_for_are_counted(bed):
    before = bed.counters()["echo_responses_unasked"]
    bed.n3.send(bed.to_gnb(GTP_U_Header(teid=0, S=1, seq=0x7777) / GTPEchoResponse(IE_list=[IE_Recovery()])))
    wait_until("the count", lambda: bed.counters()["echo_responses_unasked"] == before + 1)


@pytest.mark.parametrize("v6", [False, True], ids=["ipv4", "ipv6"])
def test_an_unknown_teid_draws_an_error_indication(bed, v6):
    quiet_second(bed)
    bed.n3.send(bed.to_gnb(bed.gpdu(UNKNOWN), v6=v6, source_port=40123))
    frame = bed.n3.expect("Error Indication", lambda f: message_of(f, 26))
    assert Ether(frame)[UDP].dport == 2152
    own = LINK.gnb_ipv6 if v6 else LINK.gnb_ipv4
    message = pycrate(message_in(frame))
    assert message["GTPUHdr"]["TEID"].get_val() == 0
    assert message["GTPUIETEID"]["TEID"].get_val() == UNKNOWN
    address = message["GTPUIEPeerAddr"]["IP"].get_val()
    assert address == (bytes.fromhex("fd000100000000000000000000000001") if v6 else bytes([10, 100, 0, 1])), own
    extension = message["GTPUHdr"]["GTPUHdrExtList"][0]
    assert (message["GTPUHdr"]["GTPUHdrOpt"]["NextExt"].get_val(), extension["UDPPort"]["Value"].get_val()) == (
        UDP_PORT,
        40123,
    )
    assert bed.drops("teid_unknown") >= 1


def test_error_indications_are_limited_for_each_peer(bed):
    quiet_second(bed)
    before = bed.counters()
    begin = time.monotonic()
    for number in range(200):
        bed.n3.send(bed.to_gnb(bed.gpdu(UNKNOWN + number)))
    found = []

    def all_seen() -> bool:
        found.extend(f for f in bed.n3.frames(0.6) if message_of(f, 26))
        return bed.counters()["error_indications_sent"] - before["error_indications_sent"] == len(found) >= 5

    wait_until("the Error Indications", all_seen)
    assert len(found) <= 6 + 5 * (time.monotonic() - begin), "five a second, and a second's worth at once"
    after = bed.counters()
    assert after["error_indications_withheld"] > before["error_indications_withheld"]
    assert bed.stats()["totals"]["balanced"]


def test_teid_0_and_error_indications_themselves_draw_nothing(bed):
    quiet_second(bed)
    bed.n3.send(bed.to_gnb(bed.gpdu(0)))
    bed.n3.send(bed.to_gnb(GTP_U_Header(gtp_type=26, teid=0, S=1) / b"\x10\0\0"))
    assert not [f for f in bed.n3.frames(0.5) if message_of(f, 26) or message_of(f, 31)]
    assert bed.counters()["malformed"] >= 1


def test_a_released_teid_is_silent_for_its_time(bed):
    quiet_second(bed)
    added = bed.gnb.control.call("bearer.add", upf=LINK.upf_ipv4, ul_teid=0x3001)["first"]["id"]
    bed.gnb.control.call("bearer.release", id=added)
    bed.n3.send(bed.to_gnb(bed.gpdu(added)))
    assert not [f for f in bed.n3.frames(0.5) if message_of(f, 26)]
    assert bed.drops("teid_released") == 1
    time.sleep(2)
    bed.n3.send(bed.to_gnb(bed.gpdu(added)))
    bed.n3.expect("Error Indication", lambda f: message_of(f, 26))
    assert bed.drops("teid_released") == 1


def uplink_reaches_the_upf(bed: GtpuBed, sn: int) -> bool:
    bed.air.send(bed.uplink(sn=sn))
    return bool([f for f in bed.n3.frames(0.4, lambda f: message_of(f, 255)) if message_of(f, 255)])


def stop_the_uplink(bed: GtpuBed, builder: str, sn: int) -> int:
    """Error Indications for the first bearer, which sends from that SN on, until it stops; how many that took."""
    indication = GTP_U_Header(gtp_type=26, teid=0, S=1) / GTPErrorIndication(
        IE_list=[IE_TEIDI(TEIDI=0x1001), IE_GSNAddress(length=4, ipv4_address=LINK.upf_ipv4)]
    )
    octets = bytes.fromhex("361a0014000000000000004001086800" + "1000001001" + "8500040a640002")
    said = 0

    def stopped() -> bool:
        nonlocal said
        bed.n3.send(bed.to_gnb(indication if builder == "scapy" else octets))
        said += 1
        bed.air.send(bed.uplink(sn=sn + said))
        play_upf(bed, 0.15)
        return bed.bearer()["uplink_stopped"]

    wait_until("the bearer to stop", stopped)
    return said


@pytest.mark.parametrize("builder", ["scapy", "octets"])
def test_error_indications_that_go_on_stop_the_uplink_until_a_modify(bed, builder):
    answer_arp(bed)
    assert uplink_reaches_the_upf(bed, 0)
    before = bed.bearer()["error_indications"]
    said = stop_the_uplink(bed, builder, 0)
    assert said >= 2
    drops = bed.drops("uplink_stopped")
    bed.air.send(bed.uplink(sn=said + 1))  # at once: the stop lasts a second
    wait_until("the drop", lambda: bed.drops("uplink_stopped") == drops + 1)
    wait_until("all to be counted", lambda: bed.bearer()["error_indications"] == before + said)
    assert not bed.bearer(1)["uplink_stopped"]
    assert "does not know TEID 0x00001001" in bed.gnb.process.log.read_text()
    bed.gnb.control.call("bearer.modify", id=bed.ids[0], qfi=9)
    assert not bed.bearer()["uplink_stopped"]
    assert uplink_reaches_the_upf(bed, said + 2)


@pytest.mark.nightly
def test_an_uplink_goes_on_also_if_its_worker_hung_when_its_stop_was_over(bed):
    answer_arp(bed)
    said = stop_the_uplink(bed, "octets", 1000)
    with silent_worker(bed.gnb.process):
        time.sleep(4)  # the stop of 1 s ends, and the worker is told for 2 s at most
    sns = itertools.count(1000 + said + 1)
    wait_until("uplink packets", lambda: uplink_reaches_the_upf(bed, next(sns)), 20, [bed.gnb.process])
    bed.gnb.control.call("bearer.modify", id=bed.ids[0], qfi=9)  # active again


def answer_arp(bed: GtpuBed):
    """The kernel of the namespace answers ARP; the gNB knows the UPF's MAC address once it has asked."""
    wait_until("the UPF's MAC address", lambda: peer(bed, LINK.upf_ipv4)["mac"] is not None)


def test_an_error_indication_that_names_nobody_changes_nothing(bed):
    before = bed.counters()["error_indications_unmatched"]
    bed.n3.send(bed.to_gnb(bytes.fromhex("321a00100000000000000000" + "1000009999" + "8500040a640002")))
    wait_until("the count", lambda: bed.counters()["error_indications_unmatched"] == before + 1)
    assert not bed.bearer()["uplink_stopped"]


def test_an_error_indication_of_another_host_changes_nothing(bed):
    before = bed.counters()["error_indications_unmatched"]
    frame = bed.to_gnb(bytes.fromhex("321a00100000000000000000" + "1000001001" + "8500040a640002"))
    frame[IP].src = "10.100.0.77"
    bed.n3.send(frame)
    wait_until("the count", lambda: bed.counters()["error_indications_unmatched"] == before + 1)
    assert not bed.bearer()["uplink_stopped"]


def test_end_markers_are_counted_at_their_bearer(bed):
    marker = GTPUEndMarker()
    marker["GTPUHdr"]["TEID"].set_val(bed.ids[0])
    bed.n3.send(bed.to_gnb(marker.to_bytes()))
    # with a PDU Session Container, as a UPF may send it
    bed.n3.send(
        bed.to_gnb(bytes.fromhex("34fe0008") + bed.ids[0].to_bytes(4, "big") + bytes.fromhex("0000008501000900"))
    )
    bed.n3.send(bed.to_gnb(bytes.fromhex("30fe0000") + UNKNOWN.to_bytes(4, "big")))
    wait_until("the count", lambda: bed.bearer()["end_markers"] == 2)
    wait_until("the other count", lambda: bed.counters()["end_markers_unmatched"] == 1)
    assert not [f for f in bed.n3.frames(0.3) if message_of(f, 26)], "an End Marker is never answered"


def chain(teid: int, kind: int) -> bytes:
    """A G-PDU with an extension header of that type in front of the container."""
    tail = bytes([kind]) + bytes([1, 0, 0, PSC]) + bytes([1, 0, 9, 0]) + b"\x45" + bytes(30)
    return struct.pack("!BBHIHB", 0x34, 255, 3 + len(tail), teid, 0, 0) + tail


@pytest.mark.parametrize("kind", [0x05, 0x45])
def test_an_unknown_extension_header_that_need_not_be_known_is_skipped(bed, kind):
    bed.n3.send(bed.to_gnb(chain(bed.ids[0], kind)))
    frame = bed.air.expect("air frame", lambda f: f[12:14] == b"\x88\xb5")
    assert frame.endswith(b"\x45" + bytes(30))


@pytest.mark.parametrize("kind", [0x86, 0xC5])
def test_one_that_must_be_known_draws_the_list_of_those_that_are(bed, kind):
    quiet_second(bed)
    bed.n3.send(bed.to_gnb(chain(bed.ids[0], kind)))
    frame = bed.n3.expect("notification", lambda f: message_of(f, 31))
    message = pycrate(message_in(frame))
    types = [v.get_val() for v in message["GTPUIEExtHdrList"]["SupportedExtHdr"]]
    assert types == [0x20, 0x40, 0x81, 0x82, 0x83, 0x84, 0x85, 0xC0]
    assert bed.drops("gtpu_extension_unknown_required") >= 1
    before = bed.counters()["extension_notifications_received"]
    bed.n3.send(bed.to_gnb(message_in(frame)))  # the gNB's own message back to it
    wait_until("the count", lambda: bed.counters()["extension_notifications_received"] == before + 1)
    assert "supports the extension headers" in bed.gnb.process.log.read_text()

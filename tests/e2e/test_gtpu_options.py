"""What a bearer or a port may ask for on N3: a PDU Session Container, G-PDUs in order, time stamps of QoS monitoring,
checksums. Frames by scapy; what the gNB sends is read by pycrate and scapy."""

from __future__ import annotations

import random
import re
import struct
import time
from contextlib import ExitStack

import configs
import pytest
from gtpu_bed import INNER, LINK, GtpuBed, message_in, message_of
from instance import Instance
from namespaces import AirLink, Network
from paths import own, splitplane
from processes import Processes, run, wait_until
from wire import Wire

from pycrate_mobile.TS38415_PDUSess import PDUSessInfo  # noqa: E402  isort: skip
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer  # noqa: E402  isort: skip
from scapy.layers.inet import IP, UDP  # noqa: E402  isort: skip
from scapy.layers.l2 import Ether  # noqa: E402  isort: skip
from scapy.packet import Raw  # noqa: E402  isort: skip

TIMER_S = 1.0  # long enough to look at what waits, on a busy machine too
PLAIN, STRICT, ORDERED = range(3)
NTP_SECONDS = 2208988800  # from 1900 to 1970


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "gtpu-options"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [
        configs.bearer(1, upf=LINK.upf_ipv4, shard=1),
        configs.bearer(2, upf=LINK.upf_ipv4, shard=2, require_psc=True),
        configs.bearer(3, upf=LINK.upf_ipv6, shard=3, n3_reorder={"window": 32, "timer_ms": int(TIMER_S * 1000)}),
    ]
    with GtpuBed(folder, "gtpuo", bearers, port={"checksum": "software"}) as made:
        wait_until("both MAC addresses", lambda: all(p["mac"] for p in made.gnb.control.call("peer.list")["peers"]))
        yield made
        last = made.gnb.finish()
        assert last["totals"]["balanced"] and last["totals"]["held"] == 0


def in_air(bed: GtpuBed, count: int = 1) -> list[bytes]:
    """So many, and what comes beside them."""
    found = bed.air.gather("frame on the air", in_the_air, count) + bed.air.frames(0.3)
    return [f for f in found if in_the_air(f)]


def in_the_air(frame: bytes) -> bool:
    return frame[12:14] == b"\x88\xb5"


def test_a_g_pdu_without_a_container_goes_to_the_bearers_flow_or_is_dropped(bed):
    for number in (PLAIN, STRICT):
        bed.n3.send(bed.to_gnb(GTP_U_Header(teid=bed.ids[number], gtp_type=255) / Raw(INNER)))
    found = in_air(bed)
    assert len(found) == 1 and found[0].endswith(bytes([9]) + INNER), "QFI 9, the bearer's own, in the SDAP header"
    assert bed.drops("psc_missing") == 1
    down = bed.bearer(STRICT)["downlink"]
    assert (down["received"], down["transmitted"], down["dropped"]) == (1, 0, 1)
    bed.n3.send(bed.to_gnb(bed.gpdu(bed.ids[STRICT])))
    assert len(in_air(bed)) == 1


def numbered(bed: GtpuBed, sn: int) -> bytes:
    inner = bytes(IP(src="10.200.0.1", dst="10.45.0.4") / UDP(sport=1, dport=2) / struct.pack("!H", sn))
    head = GTP_U_Header(teid=bed.ids[ORDERED], gtp_type=255, S=1, seq=sn)
    return bytes(bed.to_gnb(head / GTPPDUSessionContainer(type=0, QFI=9) / Raw(inner), v6=True))


def numbers(frames: list[bytes]) -> list[int]:
    return [struct.unpack("!H", frame[-2:])[0] for frame in frames]


def test_numbered_g_pdus_leave_in_order_and_what_waits_is_held(bed):
    source, order = random.Random(1), []
    for block in range(65400, 65400 + 400, 8):  # over the wrap
        part = [(block + i) % 65536 for i in range(8)]
        source.shuffle(part)
        order += part
    order.remove(65400)
    bed.n3.send(numbered(bed, 65400), *[numbered(bed, sn) for sn in order])
    found = bed.air.gather("400 packets", in_the_air, 400)
    assert numbers([f for f in found if in_the_air(f)]) == [(65400 + i) % 65536 for i in range(400)]
    last = (65400 + 400) % 65536
    begin = time.monotonic()
    bed.n3.send(numbered(bed, last + 1), numbered(bed, last + 2), numbered(bed, last - 1))
    wait_until("the two to be held", lambda: bed.bearer(ORDERED)["downlink"]["held"] == 2)
    stats = bed.stats()
    assert stats["totals"]["held"] == 2 and all(w["balanced"] for w in stats["workers"])
    assert bed.drops("n3_sn_old") == 1, "delivered already"
    found = bed.air.gather("what the timer lets go", in_the_air, 2)
    assert time.monotonic() - begin >= TIMER_S
    assert numbers([f for f in found if in_the_air(f)]) == [last + 1, last + 2]
    down = bed.bearer(ORDERED)["downlink"]
    assert (down["received"], down["transmitted"], down["held"], down["dropped"]) == (403, 402, 0, 1)
    assert bed.stats()["workers"][0]["reorder_given_up"] == 1


def test_a_released_bearer_gives_out_what_it_held(bed):
    added = bed.gnb.control.call(
        "bearer.add", upf=LINK.upf_ipv6, ul_teid=0x3003, n3_reorder={"window": 8, "timer_ms": 1000}
    )["first"]["id"]
    before = bed.ids[ORDERED]
    bed.ids[ORDERED] = added
    frames = [numbered(bed, sn) for sn in (1, 3, 5)]
    bed.ids[ORDERED] = before
    bed.n3.send(*frames)
    assert numbers(in_air(bed)) == [1]
    bed.gnb.control.call("bearer.release", id=added)
    assert numbers(in_air(bed, 2)) == [3, 5]
    assert bed.stats()["totals"]["held"] == 0


def container(frame: bytes):
    """The UL PDU Session Container of a G-PDU, as pycrate reads it: extension header 0x85 begins at octet 12."""
    message = message_in(frame)
    assert message[11] == 0x85
    info = PDUSessInfo()
    octets = message[13 : 12 + 4 * message[12] - 1]
    info.from_bytes(octets)
    return info["Info"].get_alt()


@pytest.mark.parametrize("number", [PLAIN, ORDERED], ids=["ipv4", "ipv6"])
def test_a_time_stamp_comes_back_in_the_next_uplink_packet_of_its_flow(bed, number):
    bed.n3.frames(0.1)
    sent = 0x0102030405060708
    stamped = GTPPDUSessionContainer(type=0, QMP=1, QFI=9, dlSendTime=sent)
    before = time.time()
    bed.n3.send(
        bed.to_gnb(GTP_U_Header(teid=bed.ids[number], gtp_type=255) / stamped / Raw(INNER), v6=number == ORDERED)
    )
    assert len(in_air(bed)) == 1
    bed.air.send(*[bed.uplink(number, sn=sn, qfi=qfi) for sn, qfi in ((0, 8), (1, 9), (2, 9))])
    found = bed.n3.gather("G-PDU", lambda f: bool(message_of(f, 255)), 3)
    after = time.time()
    frames = [f for f in found + bed.n3.frames(0.3) if message_of(f, 255)]
    assert [container(f)["QFI"].get_val() for f in frames] == [8, 9, 9]
    assert [container(f)["QMP"].get_val() for f in frames] == [0, 1, 0]
    answer = container(frames[1])
    assert answer["DLSndTSRep"].get_val() == sent
    received, uplink = (answer[name].get_val() / 2**32 - NTP_SECONDS for name in ("DLRcvTS", "ULSndTS"))
    assert before - 0.01 <= received <= uplink <= after + 0.01
    # scapy agrees about the container, and about the lengths around it: the inner packet is whole
    read = GTP_U_Header(message_in(frames[1]))[GTPPDUSessionContainer]
    assert (read.QMP, read.dlSendTimeRpt, read.QFI) == (1, sent, 9)
    assert message_in(frames[1]).endswith(INNER)
    assert bed.stats()["workers"][0]["qos_monitored"] >= 1


@pytest.mark.parametrize("v6", [False, True], ids=["ipv4", "ipv6"])
def test_wrong_checksums_are_dropped_by_reason(bed, v6):
    good = bytearray(bytes(bed.to_gnb(bed.gpdu(bed.ids[ORDERED if v6 else PLAIN]), v6=v6)))
    before = {reason: bed.drops(reason) for reason in ("ipv4_bad_checksum", "udp_bad_checksum")}
    wrong_udp = bytearray(good)
    wrong_udp[-1] ^= 1
    frames = [bytes(good), bytes(wrong_udp)]
    if not v6:
        wrong_ip = bytearray(good)
        wrong_ip[14 + 8] ^= 1  # TTL
        without = bytearray(good)
        without[14 + 20 + 6 : 14 + 20 + 8] = b"\0\0"
        frames += [bytes(wrong_ip), bytes(without)]
    bed.n3.send(*frames)
    assert len(in_air(bed, 1 if v6 else 2)) == (1 if v6 else 2), (
        "the good one, and over IPv4 the one without a UDP checksum"
    )
    assert bed.drops("udp_bad_checksum") == before["udp_bad_checksum"] + 1
    assert bed.drops("ipv4_bad_checksum") == before["ipv4_bad_checksum"] + (0 if v6 else 1)


def test_a_device_that_verifies_is_asked_to_without_a_word(folder):
    """DPDK's tap driver verifies on receive and says so by the offload flags, as a card does."""
    with Network("gtput") as network, ExitStack() as stack:
        processes = Processes(folder)
        stack.callback(processes.stop_all)
        tree = configs.one_worker("gtput", [configs.bearer(1, upf=LINK.upf_ipv4, shard=1)])
        tree["ports"]["n3"] = {"device": "net_tap0,iface=n3tap"}
        gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", tree), network.gnb)
        assert "checksums: offload" in gnb.process.log.read_text()
        mac = re.search(r"port n3: \S+ \(([0-9a-f:]+)\)", gnb.process.log.read_text())[1]
        n3, air = Wire(network.gnb, "n3tap"), Wire(network.ue, AirLink().ue_interface)
        gpdu = GTP_U_Header(teid=configs.identity(1), gtp_type=255) / GTPPDUSessionContainer(type=0, QFI=9) / Raw(INNER)
        frame = Ether(src="02:00:00:00:00:02", dst=mac) / IP(src=LINK.upf_ipv4, dst=LINK.gnb_ipv4)
        good = bytes(frame / UDP(sport=2152, dport=2152) / gpdu)
        wrong_udp, wrong_ip = bytearray(good), bytearray(good)
        wrong_udp[-1] ^= 1
        wrong_ip[14 + 8] ^= 1
        n3.send(good, bytes(wrong_udp), bytes(wrong_ip))
        assert len([f for f in air.gather("frame", in_the_air, 1) + air.frames(0.5) if in_the_air(f)]) == 1
        drops = gnb.control.stats()["workers"][0]["drops"]
        assert (drops["udp_bad_checksum"], drops["ipv4_bad_checksum"]) == (1, 1)
        assert gnb.finish()["totals"]["balanced"]


def test_a_device_that_cannot_verify_refuses_offload(bed):
    tree = configs.one_worker("gtpuoff", [])
    tree["ports"]["n3"] = {"device": "net_null0", "checksum": "offload"}
    tree["ports"]["air"] = {"device": "net_null1"}
    path = configs.write(bed.folder, "offload", tree)
    done = run([splitplane(), "run", path, "--duration", "1"], check=False)
    assert done.returncode == 1
    assert "port n3: checksum: device 'net_null0' verifies none; allowed: software, off" in done.stderr

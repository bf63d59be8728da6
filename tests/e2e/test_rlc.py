"""RLC AM over an air that loses, doubles and delays: real TCP arrives whole in both directions, nothing of it is lost
above RLC, and both ends' counters say what it took."""

from __future__ import annotations

import socket
import time

import air_views
import configs
import pytest
from capture import Capture
from instance import Instance
from judge import RLC, RLC_FIELDS, judge, number
from namespaces import N3Link
from paths import own
from processes import PATIENCE, wait_until
from rlc_bed import RlcBed
from ue import configure_ue, has_addresses, tun_name
from upf import SERVER_IPV4
from wire import SO_RCVBUFFORCE, socket_in

LINK = N3Link()
AM = {"t_poll_retransmit_ms": 20, "t_reassembly_ms": 5, "t_status_prohibit_ms": 2}
BEARERS = [
    configs.bearer(1, upf=LINK.upf_ipv4, shard=1, rlc="am18", pdcp_sn=18, am=AM),
    configs.bearer(2, upf=LINK.upf_ipv4, shard=2, rlc="am12", pdcp_sn=12, am=AM),
    configs.bearer(3, upf=LINK.upf_ipv4, shard=3, rlc="um12", pdcp_sn=18),
    configs.bearer(4, upf=LINK.upf_ipv4, shard=4, rlc="am18", pdcp_sn=18, am={**AM, "max_retx": 3}),
]
AM18, AM12, UM, IMPATIENT = (b["ue_ipv4"] for b in BEARERS)
AIRS = {
    "5 %": {"loss_percent": 5},
    "20 %": {"loss_percent": 20},
    "bursts": {"loss_percent": 10, "burst_length": 8},
    "everything": {"loss_percent": 5, "duplicate_percent": 2, "delay_us": 2000, "jitter_us": 1000},
}


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "rlc"
    folder.mkdir(parents=True, exist_ok=True)
    tree = configs.one_worker("rlc", BEARERS)
    tree["workers"]["w0"]["baas"] = "inline"
    with RlcBed(folder, "rlc", tree) as made:
        made.wait_for_neighbours()
        yield made


@pytest.mark.parametrize("air", AIRS.values(), ids=AIRS)
@pytest.mark.parametrize("ue", [AM18, AM12], ids=["am18", "am12"])
def test_files_arrive_equal_over_a_bad_air(bed, ue, air):
    bed.set_air(**air)
    before = bed.am(1 if ue == AM18 else 2)
    size = 1_500_000
    file = bed.web.make("over-a-bad-air", size)
    down, up = bed.web.download(ue, file), bed.web.upload(ue, file)
    assert (down.equal, down.bytes, up.equal, up.bytes) == (True, size, True, size)
    bed.settle()
    bed.assert_right()
    after = bed.am(1 if ue == AM18 else 2)
    for end in (0, 1):
        assert after[end]["retransmitted"] > before[end]["retransmitted"]
        assert after[end]["holes_reported"] > before[end]["holes_reported"]
        assert after[end]["max_retx"] == 0
        if "jitter_us" not in air:  # a STATUS that another one overtook is refused, as it must be
            assert after[end]["status_malformed"] == before[end]["status_malformed"]


def datagrams(
    bed: RlcBed, ue: str, count: int, downlink: bool = False, quiet_s: float = 1.5
) -> tuple[list[int], float]:
    """Numbers of the datagrams that came from the UE to the server or back until all had come or none came for so long,
    and how long after the last was sent."""
    ends = [(bed.network.ue, ue), (bed.network.core, SERVER_IPV4)]
    (sender_at, source), (receiver_at, target) = reversed(ends) if downlink else ends
    sender = socket_in(sender_at, socket.AF_INET, socket.SOCK_DGRAM)
    receiver = socket_in(receiver_at, socket.AF_INET, socket.SOCK_DGRAM)
    with sender, receiver:
        receiver.bind((target, 0))
        receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        receiver.settimeout(quiet_s)
        sender.bind((source, 0))
        for number_sent in range(count):
            sender.sendto(number_sent.to_bytes(4, "big"), receiver.getsockname())
            time.sleep(0.0005)
        numbers, sent, last = [], time.monotonic(), 0.0
        try:
            while len(numbers) < count:
                numbers.append(int.from_bytes(receiver.recv(64), "big"))
                last = time.monotonic() - sent
        except TimeoutError:
            pass
        return numbers, last


@pytest.mark.parametrize("downlink", [False, True], ids=["uplink", "downlink"])
@pytest.mark.parametrize("ue", [AM18, AM12], ids=["am18", "am12"])
def test_no_datagram_is_lost_or_doubled_by_am(bed, ue, downlink):
    bed.set_air(loss_percent=20)
    numbers, _ = datagrams(bed, ue, 400, downlink, quiet_s=PATIENCE)
    assert sorted(numbers) == list(range(400))
    bed.settle()
    bed.assert_right()


@pytest.mark.parametrize("downlink", [False, True], ids=["uplink", "downlink"])
def test_um_loses_what_the_air_loses_and_waits_for_nothing(bed, downlink):
    bed.set_air(loss_percent=20)
    numbers, last = datagrams(bed, UM, 400, downlink)
    assert 240 < len(numbers) < 380 and numbers == sorted(set(numbers))
    assert last < 1
    bed.settle()


STATUS_FIELDS = ("rlc-nr.am.ack-sn", "rlc-nr.am.nack-sn")


def test_tshark_reads_every_pdu_of_a_lossy_run(bed):
    """Both ends' PDUs as they left them: every number is there, what came twice was retransmitted, and each STATUS
    that a counter names is one that tshark reads."""
    before = bed.am(1)
    capture = Capture(bed.processes, bed.network.ue, "ue-air", bed.folder / "lossy.pcapng", octets=0)
    bed.set_air(loss_percent=10)
    file = bed.web.make("captured", 500_000)
    assert bed.web.download(AM18, file).equal and bed.web.upload(AM18, file).equal
    bed.settle()
    assert capture.stop() == 0
    after = bed.am(1)
    path, _, ues = air_views.translate(bed.folder / "lossy.pcapng", bed.folder)
    seen = judge(path, RLC_FIELDS + STATUS_FIELDS, RLC)
    wrong = [text for text in seen.complaints if not text.startswith("Status PDU reports NACK")]
    assert not wrong, seen
    rows = [row for row in seen.rows if row["rlc-nr.ueid"] == str(ues[configs.identity(1)])]
    # What the UE side sends passes its air before the capture: of that, 10 % were never here.
    down = [number(row["rlc-nr.am.sn"]) for row in rows if (row["rlc-nr.direction"], row["rlc-nr.am.dc"]) == ("1", "1")]
    new, again = (after[0][key] - before[0][key] for key in ("tx_next", "retransmitted"))
    assert set(down) == {sn % (1 << 18) for sn in range(before[0]["tx_next"], after[0]["tx_next"])}
    assert len(down) == new + again and again > 20
    status = [row for row in rows if (row["rlc-nr.direction"], row["rlc-nr.am.dc"]) == ("1", "0")]
    assert len(status) == after[0]["status_sent"] - before[0]["status_sent"] > 5
    assert any(row["rlc-nr.am.nack-sn"] for row in status)
    last = max(number(row["rlc-nr.am.ack-sn"]) for row in status)
    assert last == after[0]["rx_next"] % (1 << 18)


def test_reestablishment_loses_nothing_and_numbers_begin_anew(bed):
    """RLC begins with number 0 again on the gNB; the UE side does the same when it starts again, and PDCP counts on."""
    bed.set_air()
    assert bed.ping(AM12, 50) == 50
    before = bed.gnb.control.call("bearer.show", id=configs.identity(2))
    assert before["rlc_am"]["tx_next"] > 0
    ue = bed.ues[0]
    ue.finish()
    tun = tun_name(ue.config)
    bed.ues[0] = Instance(bed.processes, "ue-again", "ue", ue.config, bed.network.ue)
    configure_ue(bed.network, bed.ues[0], bed.bearers())
    wait_until("the addresses", lambda: has_addresses(bed.network, tun, BEARERS[1]))
    assert bed.ping(AM12, 5) == 5
    bed.settle()
    after = bed.gnb.control.call("bearer.show", id=configs.identity(2))
    assert after["rlc_am"]["tx_next"] < before["rlc_am"]["tx_next"]
    assert after["pdcp_tx_next"] >= before["pdcp_tx_next"] + 5
    for shard in (1, 2):
        gnb, ue = bed.am(shard)
        assert (ue["rx_next"], gnb["rx_next"]) == (gnb["tx_next"], ue["tx_next"])
    bed.assert_accounted_for()


def test_reestablishment_of_a_live_pair_loses_no_packet(bed):
    """Both ends begin anew while packets flow over a bad air; what was not acknowledged is sent again."""
    bed.set_air(loss_percent=20, delay_us=20_000)
    before = [end["epoch"] for end in bed.am(1)]
    assert before[0] == before[1]
    sender = bed.processes.start(
        "reestablish-ping",
        ["ping", "-q", "-I", AM18, "-c", "300", "-i", "0.01", "-W", "30", SERVER_IPV4],
        bed.network.ue,
    )
    time.sleep(0.5)
    epoch = bed.gnb.control.call("bearer.reestablish", id=configs.identity(1))["epoch"]
    wait_until("the UE side to follow", lambda: [end["epoch"] for end in bed.am(1)] == [epoch, epoch])
    assert epoch != before[0]
    assert sender.wait() == 0
    bed.settle()
    text = sender.log.read_text()
    assert "300 packets transmitted, 300 received" in text, text
    bed.assert_accounted_for()


def test_after_a_radio_link_failure_the_bearer_is_reestablished(bed):
    bed.set_air(loss_percent=100)
    before = bed.am(4)[0]["epoch"]
    datagrams(bed, IMPATIENT, 5, downlink=True)
    wait_until("the gNB to give up", lambda: bed.gave_up() > 0)
    bed.set_air()
    wait_until("the UE side to ask for a new beginning", lambda: not bed.am(4)[0]["failed"])
    wait_until("both to be in one epoch", lambda: len({end["epoch"] for end in bed.am(4)}) == 1)
    assert bed.am(4)[0]["epoch"] != before
    # A busy machine is a slow peer, which so impatient a bearer gives up once more.
    wait_until("every packet to pass", lambda: bed.ping(IMPATIENT, 10) == 10)
    assert bed.ping(AM12, 10) == 10
    bed.assert_accounted_for()


def test_a_ue_that_answers_no_more_takes_nothing_from_the_others():
    """Its SDUs fill the worker's copies; when they have failed, the others go on."""
    folder = own("e2e") / "rlc-hog"
    folder.mkdir(parents=True, exist_ok=True)
    hog = {**AM, "max_retx": 3, "max_unacked": 131072}
    bearers = [
        configs.bearer(1, upf=LINK.upf_ipv4, shard=1, rlc="am18", pdcp_sn=18, am=hog),
        configs.bearer(2, upf=LINK.upf_ipv4, shard=2, rlc="am18", pdcp_sn=18, am=AM),
    ]
    tree = configs.one_worker("hog", bearers)
    tree["workers"]["w0"] |= {"baas": "inline", "max_copies": 1024}
    with RlcBed(folder, "hog", tree) as bed:
        bed.wait_for_neighbours()
        bed.set_air(loss_percent=100)
        datagrams(bed, AM18, 1500, downlink=True)
        stats = bed.gnb.control.stats()["workers"][0]
        assert stats["drops"].get("rlc_window_full", 0) > 100
        wait_until("the gNB to give up", lambda: bed.gave_up() > 0)
        bed.set_air()
        assert bed.ping(AM12, 10) == 10
        wait_until(
            "a new beginning", lambda: len({end["epoch"] for end in bed.am(1)}) == 1 and not bed.am(1)[0]["failed"]
        )
        # A busy machine is a slow peer, which so impatient a bearer gives up once more.
        wait_until("every packet to pass", lambda: bed.ping(AM18, 10) == 10)

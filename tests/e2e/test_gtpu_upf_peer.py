"""Every GTP-U message in both directions between the gNB and a UPF whose GTP-U is go-gtp's: echo and restart, G-PDUs,
End Marker, Error Indication, extension headers and their notification."""

from __future__ import annotations

import socket
import time

import configs
import gtpu
import pytest
from gtpu_bed import LINK, GtpuBed
from paths import own
from processes import wait_until
from upf import SERVER_IPV4, Upf, tunnels_of
from wire import socket_in

INTERVAL_S = 1


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "gtpu-peer"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [configs.bearer(n, upf=LINK.upf_ipv6 if n == 3 else LINK.upf_ipv4, shard=n) for n in (1, 2, 3)]
    options = {"echo": {"interval_s": INTERVAL_S, "timeout_s": 1, "retries": 1}, "released_teid_silence_s": 1}
    with GtpuBed(folder, "gtpup", bearers, upf_sockets=False, **options) as made:
        made.upf = start_upf(made, recovery=3)
        wait_until("both paths", lambda: all(p["state"] == "up" for p in peers(made)))
        yield made
        assert made.gnb.finish()["totals"]["balanced"]


def start_upf(bed: GtpuBed, recovery: int) -> Upf:
    tunnels = tunnels_of(bed.gnb.control.bearers(), bed.network.n3)
    return Upf(bed.network, bed.processes, bed.folder, tunnels, recovery=recovery)


def peers(bed: GtpuBed) -> list[dict]:
    found = bed.gnb.control.call("peer.list")["peers"]
    assert len(found) == 2
    return found


def send_up(bed: GtpuBed, number: int, sn: int):
    inner = gtpu.packet(b"up", f"10.45.0.{number + 2}", SERVER_IPV4)
    bed.air.send(bed.uplink(number, sn=sn, inner=inner))


def uplink_packets(bed: GtpuBed, number: int) -> int:
    teid = 0x1001 + number
    return next((t["ul"]["packets"] for t in bed.upf.stats()["tunnels"] if t["ul_teid"] == teid), 0)


def send_down(bed: GtpuBed, number: int):
    made = socket_in(bed.network.core, socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((SERVER_IPV4, 0))
    made.sendto(b"down", (f"10.45.0.{number + 2}", 40001))
    made.close()


def test_echo_in_both_directions_over_both_families(bed):
    assert all(p["restart_counter"] == 3 and p["restarts"] == 0 for p in peers(bed))
    totals = bed.upf.stats()["totals"]
    assert totals["echo_requests"] >= 2 and totals["malformed"] == 0
    wait_until(
        "the gNB's answers to the UPF",
        lambda: all(p["echo_received"] >= 1 for p in bed.upf.stats()["peers"].values()),
    )


def test_a_restart_is_seen_within_the_interval(bed):
    bed.upf.stop()
    begin = time.monotonic()
    bed.upf = start_upf(bed, recovery=4)
    wait_until("the restart", lambda: all(p["restarts"] == 1 for p in peers(bed)))
    took = time.monotonic() - begin
    # a request is due every interval, or repeated after T3 when the UPF was not there yet
    assert took < 10, f"{took} s: not by the interval of {INTERVAL_S} s but by the default of 60 s"
    assert all((p["state"], p["restart_counter"]) == ("up", 4) for p in peers(bed))
    assert bed.gnb.process.log.read_text().count("another restart counter") == 2


def test_g_pdus_pass_both_ways(bed):
    for number in range(3):
        send_up(bed, number, 0)
        wait_until("the packet", lambda n=number: uplink_packets(bed, n) == 1)
        send_down(bed, number)
        frame = bed.air.expect("air frame", lambda f: f[12:14] == b"\x88\xb5" and f.endswith(b"down"))
        assert int.from_bytes(frame[18:22], "big") == bed.ids[number]


def send_until_stopped(bed: GtpuBed, number: int):
    """The UPF says it for every packet, and answers Echo Requests."""
    counts = iter(range(1, 50))

    def stopped() -> bool:
        send_up(bed, number, next(counts))
        time.sleep(0.12)
        return bed.bearer(number)["uplink_stopped"]

    wait_until("the Error Indications to be believed", stopped)


def test_end_marker_and_error_indication_of_the_upf(bed):
    everything = tunnels_of(bed.gnb.control.bearers(), bed.network.n3)
    bed.upf.reload(everything[1:])
    wait_until("the End Marker", lambda: bed.bearer()["end_markers"] == 1)
    send_until_stopped(bed, 0)
    send_up(bed, 0, 50)
    wait_until("the drop", lambda: bed.drops("uplink_stopped") >= 1)
    assert bed.upf.stats()["totals"]["error_indications_sent"] >= 2
    bed.upf.reload(everything)
    bed.gnb.control.call("bearer.modify", id=bed.ids[0], ul_teid=0x1001)
    send_up(bed, 0, 51)
    wait_until("the packet", lambda: uplink_packets(bed, 0) == 1)
    assert not bed.bearer()["uplink_stopped"]


def test_an_error_indication_over_ipv6_finds_its_bearer(bed):
    everything = tunnels_of(bed.gnb.control.bearers(), bed.network.n3)
    bed.upf.reload(everything[:2])
    send_until_stopped(bed, 2)
    bed.upf.reload(everything)
    bed.gnb.control.call("bearer.modify", id=bed.ids[2], qfi=9)


def test_the_gnb_tells_the_upf_of_an_unknown_teid_and_of_extension_headers(bed):
    gone = bed.ids[1]
    bed.gnb.control.call("bearer.release", id=gone)
    send_down(bed, 1)
    time.sleep(1.3)
    assert bed.drops("teid_released") == 1
    assert bed.upf.stats()["totals"]["error_indications_received"] == 0, "just released: silent"
    send_down(bed, 1)
    wait_until("the Error Indication", lambda: bed.upf.stats()["totals"]["error_indications_received"] == 1)
    assert bed.upf.stats()["totals"]["last_error_teid"] == gone
    before = bed.bearer()["downlink"]["transmitted"]
    bed.upf.probe()  # to each of the gNB's two addresses
    wait_until("the notifications", lambda: bed.upf.stats()["totals"]["extension_notifications"] == 2)
    wait_until("those of the UPF", lambda: bed.counters()["extension_notifications_received"] == 2)
    assert bed.drops("gtpu_extension_unknown_required") == 2
    assert bed.bearer()["downlink"]["transmitted"] == before + 1, "a header that need not be known is skipped"
    assert bed.upf.stats()["totals"]["malformed"] == 0

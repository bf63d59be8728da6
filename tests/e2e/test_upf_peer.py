"""The judge judged: upf-peer against a gNB made of plain sockets and struct, over IPv4 and IPv6, no splitplane."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import subprocess
import time

import gtpu
import pytest
from namespaces import Network, run
from processes import PATIENCE, wait_until
from upf import SERVER_IPV4, SERVER_IPV6, Tunnel, Upf

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def socket_in(netns: str, family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    """A UDP socket of this process that lives in another namespace."""
    with open("/proc/self/ns/net") as home, open(f"/run/netns/{netns}") as there:
        assert LIBC.setns(there.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            made = socket.socket(family, socket.SOCK_DGRAM)
        finally:
            assert LIBC.setns(home.fileno(), CLONE_NEWNET) == 0
    made.bind((address, port))
    made.settimeout(PATIENCE)
    return made


class Gnb:
    """The gNB's end of one N3 address."""

    def __init__(self, network: Network, own: str, upf: str):
        family = socket.AF_INET6 if ":" in own else socket.AF_INET
        self.socket, self.upf = socket_in(network.gnb, family, own, 2152), (upf, 2152)

    def send(self, data: bytes):
        self.socket.sendto(data, self.upf)

    def expect(self, kind: int) -> dict:
        """The next message of a kind; the peer's own echoes in between are passed over."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = gtpu.parse(self.socket.recv(65535))
            if found["kind"] == kind:
                return found
        raise AssertionError(f"no message of type {kind}")


@pytest.fixture
def setup(folder, processes):
    with Network("peer") as network:
        link = network.n3[0]
        run(["sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/gnb-n3/disable_ipv6"], netns=network.gnb)
        run(["ip", "-n", network.gnb, "addr", "add", f"{link.gnb_ipv4}/24", "dev", "gnb-n3"])
        run(["ip", "-n", network.gnb, "addr", "add", f"{link.gnb_ipv6}/64", "dev", "gnb-n3", "nodad"])
        tunnels = [
            Tunnel(
                0x04000000 + i,
                0x1001 + i,
                link.gnb_ipv4 if i % 2 == 0 else link.gnb_ipv6,
                link.upf_ipv4 if i % 2 == 0 else link.upf_ipv6,
                9 + i % 3,
                f"10.45.0.{2 + i}",
                f"fd00:45::{2 + i:x}",
            )
            for i in range(8)
        ]
        gnb4 = Gnb(network, link.gnb_ipv4, link.upf_ipv4)
        gnb6 = Gnb(network, link.gnb_ipv6, link.upf_ipv6)
        yield network, Upf(network, processes, folder, tunnels), tunnels, gnb4, gnb6
        gnb4.socket.close()
        gnb6.socket.close()


def test_both_directions_both_families(setup):
    network, upf, tunnels, gnb4, gnb6 = setup
    server4 = socket_in(network.core, socket.AF_INET, SERVER_IPV4, 40002)
    server6 = socket_in(network.core, socket.AF_INET6, SERVER_IPV6, 40002)
    for index, tunnel in enumerate(tunnels):
        gnb = gnb4 if index % 2 == 0 else gnb6
        for ue, far, server in ((tunnel.ue_ipv4, SERVER_IPV4, server4), (tunnel.ue_ipv6, SERVER_IPV6, server6)):
            gnb.send(gtpu.gpdu(tunnel.ul_teid, gtpu.packet(b"up", ue, far), tunnel.qfi, pdu_type=1))
            data, back = server.recvfrom(100)
            assert (data, back[0]) == (b"up", ue)
            server.sendto(b"down", back)
            found = gnb.expect(255)
            assert found["teid"] == tunnel.dl_teid and found["psc"] == bytes([0x00, tunnel.qfi])
            assert found["payload"][-4:] == b"down"
    # the peer counts a packet after it has sent it on
    wait_until("the last packet to be counted", lambda: upf.stats()["totals"]["dl_packets"] >= 16)
    stats = upf.stats()
    assert stats["totals"]["ul_packets"] == stats["totals"]["dl_packets"] == 16
    assert stats["totals"]["ul_refused"] == stats["totals"]["dl_send_errors"] == 0
    assert stats["kernel"]["udp4_in_csum_errors"] == 0 and stats["tunnels_configured"] == 8
    assert all(t["ul"]["packets"] == t["dl"]["packets"] == 2 for t in stats["tunnels"]) and len(stats["tunnels"]) == 8


def test_wrong_uplink_is_counted_and_not_delivered(setup):
    network, upf, tunnels, gnb4, _ = setup
    server = socket_in(network.core, socket.AF_INET, SERVER_IPV4, 40002)
    tunnel = tunnels[0]
    good = gtpu.packet(b"x", tunnel.ue_ipv4, SERVER_IPV4)
    spoofed = gtpu.packet(b"x", "10.45.0.200", SERVER_IPV4)
    gnb4.send(gtpu.message(255, tunnel.ul_teid, good))
    gnb4.send(gtpu.gpdu(tunnel.ul_teid, good, tunnel.qfi, pdu_type=0))
    gnb4.send(gtpu.gpdu(tunnel.ul_teid, good, tunnel.qfi + 1, pdu_type=1))
    gnb4.send(gtpu.gpdu(tunnel.ul_teid, spoofed, tunnel.qfi, pdu_type=1))
    gnb4.send(gtpu.gpdu(tunnels[1].ul_teid, good, tunnels[1].qfi, pdu_type=1))  # a tunnel of the IPv6 address
    gnb4.send(gtpu.gpdu(tunnel.ul_teid, good, tunnel.qfi, pdu_type=1)[:-3])  # length beyond the datagram
    gnb4.send(b"\x34\xff\x00")
    gnb4.send(gtpu.gpdu(0x9999, good, 9, pdu_type=1))
    indication = gnb4.expect(26)
    assert indication["teid"] == 0
    assert indication["payload"] == struct.pack("!BIBH4s", 16, 0x9999, 133, 4, socket.inet_aton("10.100.0.2"))
    stats = upf.stats()
    first = next(t for t in stats["tunnels"] if t["ul_teid"] == tunnel.ul_teid)["ul"]
    assert [first[k] for k in ("no_psc", "wrong_pdu_type", "wrong_qfi", "wrong_source", "packets")] == [1, 1, 1, 1, 0]
    assert next(t for t in stats["tunnels"] if t["ul_teid"] == tunnels[1].ul_teid)["ul"]["wrong_peer"] == 1
    assert [stats["totals"][k] for k in ("ul_refused", "malformed", "not_gtp", "unknown_teid")] == [5, 1, 1, 1]
    server.settimeout(0.3)
    with pytest.raises(TimeoutError):
        server.recv(100)


def test_echo_and_end_marker(setup):
    _, upf, tunnels, gnb4, gnb6 = setup
    for gnb in (gnb4, gnb6):
        gnb.send(gtpu.message(1, 0, sequence=0x1234))
        answer = gnb.expect(2)
        assert (answer["sequence"], answer["payload"]) == (0x1234, b"\x0e\x00")
        request = gnb.expect(1)
        gnb.send(gtpu.message(2, 0, b"\x0e\x00", sequence=request["sequence"]))
    gnb4.send(gtpu.message(254, tunnels[0].ul_teid))
    upf.reload(tunnels[2:])
    assert gnb4.expect(254)["teid"] == tunnels[0].dl_teid
    assert gnb6.expect(254)["teid"] == tunnels[1].dl_teid
    stats = upf.stats()
    assert all(peer["echo_received"] >= 1 for peer in stats["peers"].values()) and len(stats["peers"]) == 2
    assert [stats["totals"][k] for k in ("end_markers_received", "end_markers_sent", "echo_requests")] == [1, 2, 2]
    assert stats["tunnels_configured"] == 6


def test_order_and_no_loss_of_20000_packets(setup):
    network, upf, tunnels, gnb4, _ = setup
    server = socket_in(network.core, socket.AF_INET, SERVER_IPV4, 40002)
    server.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    tunnel, count = tunnels[0], 20000
    start = time.monotonic()
    for number in range(count):
        gnb4.send(
            gtpu.gpdu(
                tunnel.ul_teid,
                gtpu.packet(struct.pack("!I", number) + bytes(60), tunnel.ue_ipv4, SERVER_IPV4),
                tunnel.qfi,
                pdu_type=1,
            )
        )
    seen = [struct.unpack_from("!I", server.recv(100))[0] for _ in range(count)]
    print(f"{count / (time.monotonic() - start):.0f} packets a second, the sender included")
    assert seen == list(range(count))
    assert upf.stop()["totals"]["ul_packets"] == count


def test_bad_mapping_is_one_clear_line(setup, tmp_path):
    network, upf, *_ = setup
    bad = tmp_path / "bad.json"
    bad.write_text('[{"dl_teid": 1, "ul_teid": 1, "gnb": "10.100.0.1", "upf": "10.9.9.9", "qfi": 9}]')
    done = subprocess.run(
        ["ip", "netns", "exec", network.gnb, str(upf.process.command[4]), "-n3", "10.100.0.1", "-tunnels", str(bad)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    upf.mapping.write_text("{")
    upf.process.signal(1)
    wait_until("the refusal", lambda: "reload refused" in upf.process.log.read_text())
    assert upf.stats()["tunnels_configured"] == 8

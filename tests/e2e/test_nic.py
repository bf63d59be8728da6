"""`splitplane card` as a process of its own: programs on real interfaces, VFs over virtio_user and vhost to a host
process, bearers over the control socket, and what happens when a process is killed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import configs
import pytest
from card_files import N3, VF_AIR, VF_N3, gnb_card, l2fwd, wire_pair
from instance import Instance
from namespaces import Network
from paths import splitplane
from processes import PATIENCE, Failure, run, wait_until
from wire import Wire

from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer  # isort: skip
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

HERE, THERE = "02:aa:00:00:00:01", "02:aa:00:00:00:02"
ID = configs.identity(1)


@pytest.fixture(scope="module")
def network():
    with Network("nic", n3=(N3, VF_N3, VF_AIR)) as made:
        yield made


def start(processes, folder: Path, name: str, tree: dict, network: Network, command: str = "card") -> Instance:
    return Instance(processes, name, command, configs.write(folder, name, tree), network.gnb)


@pytest.fixture
def wires(network):
    open_ones: list[Wire] = []

    def connect(namespace: str, interface: str) -> Wire:
        open_ones.append(Wire(namespace, interface))
        return open_ones[-1]

    yield connect
    for wire in open_ones:
        wire.close()


def connected(card: Instance, host: Instance):
    """Until the card's VFs and the host's port have their links; `serving` says less, as either may come first."""
    said = "port vfs: connected to its host"
    wait_until("the card to connect its VFs", lambda: said in card.process.log.read_text(), processes=[card.process])
    wait_until("the host's port to have its link", lambda: host.control.stats()["ports"][0]["link_up"] is True)


def numbered(n: int, size: int = 200) -> bytes:
    return bytes(Ether(dst=THERE, src=HERE, type=0x88B6) / Raw(n.to_bytes(4, "big") * (size // 4)))


def number_of(frame: bytes) -> int | None:
    return int.from_bytes(frame[14:18], "big") if frame[12:14] == b"\x88\xb6" else None


def exchange(wire: Wire, count: int, first: int = 0, seconds: float = PATIENCE) -> dict[int, bytes]:
    """Sends numbered frames and returns those that came back until all have, by number."""
    for n in range(first, first + count):
        wire.send(numbered(n))
        time.sleep(0.0002)
    missing = set(range(first, first + count))

    def all_came(frame: bytes) -> bool:
        missing.discard(number_of(frame))
        return not missing

    return {number: frame for frame in wire.frames(seconds, all_came) if (number := number_of(frame)) is not None}


def settle(wire: Wire, frames: int, first: int):
    """Until all of a few frames come back: a VF opens one direction after the other, and what falls between is lost
    and counted."""
    deadline = time.monotonic() + PATIENCE
    while len(exchange(wire, frames, first, 1)) < frames:
        assert time.monotonic() < deadline, "the VFs did not open"
        first += frames


def assert_balanced(stats: dict):
    totals = stats["totals"]
    assert totals["balanced"], totals
    gone = totals["transmitted"] + totals["dropped"] + totals["consumed"] + totals["held"]
    assert totals["received"] + totals.get("clones", 0) == gone, totals


def test_l2fwd_on_the_card_sends_back_with_swapped_addresses(network, processes, folder, wires):
    card = start(processes, folder, "l2fwd", l2fwd("l2fwd"), network)
    wire = wires(network.core, N3.upf_interface)
    back = exchange(wire, 200)
    assert sorted(back) == list(range(200))
    for n, frame in back.items():
        sent = numbered(n)
        assert frame == sent[6:12] + sent[:6] + sent[12:]
    shown = card.control.call("card.show")
    assert (shown["name"], shown["program"], shown["bearers"]) == ("card0", "l2fwd", 0)
    rows = {row["name"]: row for row in shown["ports"]}
    assert set(rows) == {"n3", "air"}  # it has no VF
    assert rows["n3"]["in"] >= 200 and rows["n3"]["out"] == rows["n3"]["in"] and rows["air"]["out"] == rows["air"]["in"]
    assert_balanced(card.finish())


@pytest.fixture
def sockets(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("s")  # short enough for a socket


def test_p4wire_spreads_over_the_vfs_and_the_host_answers_through_them(network, processes, folder, wires, sockets):
    host_tree, card_tree = wire_pair("wire", 3, sockets)
    host = start(processes, folder, "host", host_tree, network, "run")
    card = start(processes, folder, "card", card_tree, network)
    connected(card, host)
    wire = wires(network.core, N3.upf_interface)
    back = exchange(wire, 300)
    assert sorted(back) == list(range(300))
    assert all(frame[:12] == numbered(n)[6:12] + numbered(n)[:6] for n, frame in back.items())
    rows = {row["name"]: row for row in card.control.call("card.show")["ports"]}
    out = [rows[f"vfs/{i}"]["out"] for i in range(3)]
    assert max(out) - min(out) <= 1 and sum(out) == rows["n3"]["in"]
    assert [worker["received"] for worker in host.control.stats()["workers"]] == out
    for instance in (card, host):  # the CPU time of the loops' threads, while they run and after their end
        running, ended = instance.control.stats(), instance.finish()
        assert_balanced(ended)
        for loop, last in zip(running["workers"], ended["workers"], strict=True):
            assert 0 < loop["cpu_cycles"] <= last["cpu_cycles"]


def test_a_killed_card_starts_again_at_once_and_the_host_goes_on(network, processes, folder, wires, sockets):
    host_tree, card_tree = wire_pair("kill", 2, sockets)
    host = start(processes, folder, "host", host_tree, network, "run")
    first = start(processes, folder, "first", card_tree, network)
    connected(first, host)
    wire = wires(network.core, N3.upf_interface)
    assert len(exchange(wire, 50)) == 50
    boot = first.control.call("card.show")["boot"]
    for again in range(2):
        first.process.signal(signal.SIGKILL)
        first.process.wait()
        first = start(processes, folder, f"again{again}", card_tree, network)
        settle(wire, 8, 10_000 * (again + 1))
        assert len(exchange(wire, 50, 100 * (again + 1))) == 50
    assert first.control.call("card.show")["boot"] != boot
    assert_balanced(first.finish())
    assert_balanced(host.finish())


def test_a_card_whose_host_has_ended_ends_well(network, processes, folder, sockets):
    host_tree, card_tree = wire_pair("alone", 2, sockets)
    host = start(processes, folder, "host", host_tree, network, "run")
    card = start(processes, folder, "card", card_tree, network)
    assert_balanced(host.finish())
    assert_balanced(card.finish())  # demands exit code 0
    dpdk = Path("/var/run/dpdk") / configs.prefix(card_tree["file_prefix"])
    assert not dpdk.exists() and not list(Path("/dev/hugepages").glob(f"{dpdk.name}map*"))


def test_a_killed_host_leaves_no_socket_in_the_way_of_the_next(network, processes, folder, sockets):
    tree, _ = wire_pair("left", 1, sockets)
    first = start(processes, folder, "first", tree, network, "run")
    first.process.signal(signal.SIGKILL)
    first.process.wait()
    assert (sockets / "vf").is_socket()
    second = start(processes, folder, "second", tree, network, "run")
    assert f"removed {sockets}/vf, which an earlier run left" in second.process.log.read_text()
    assert_balanced(second.finish())


def test_a_card_says_once_that_its_host_is_gone_and_stays(network, processes, folder, sockets):
    host_tree, card_tree = wire_pair("gone", 2, sockets)
    host = start(processes, folder, "host", host_tree, network, "run")
    card = start(processes, folder, "card", card_tree, network)
    gone = "port vfs: its host is gone; it is connected again when the host is back"
    connected(card, host)
    assert gone not in card.process.log.read_text()
    host.process.signal(signal.SIGKILL)
    host.process.wait()
    wait_until("the card to say so", lambda: gone in card.process.log.read_text(), processes=[card.process])
    time.sleep(1)  # DPDK's own lines may follow
    said = card.process.log.read_text()
    assert said.count(gone) == 1
    time.sleep(2.2)  # two more looks, which neither we nor DPDK say anything about
    assert card.process.log.read_text() == said
    assert_balanced(card.finish())


@pytest.mark.parametrize("hugepages", ["auto", "never"])
def test_vfs_work_with_and_without_hugepages(network, processes, folder, wires, sockets, hugepages):
    trees = wire_pair(f"mem-{hugepages}", 2, sockets)
    for tree in trees:
        tree["memory"] = configs.SMALL_MEMORY | {"hugepages": hugepages}
    host = start(processes, folder, "host", trees[0], network, "run")
    card = start(processes, folder, "card", trees[1], network)
    connected(card, host)
    assert len(exchange(wires(network.core, N3.upf_interface), 50)) == 50
    assert_balanced(card.finish())
    assert_balanced(host.finish())


def bearer(**more) -> dict:
    return {
        "id": ID, "teid": ID, "place": "card", "rlc": "am18", "pdcp_sn": 18, "sdap_dl": True, "sdap_ul": True,
        "poll_pdu": 0, "qfi": 9, "n3_ipv4": N3.gnb_ipv4, "air_dst": "02:00:00:00:00:0a", "air_src": "02:00:00:00:00:0b",
        "vf_n3": 0, "vf_air": 1, "ul_teid": 0x1001, "peer": 0, "next_count": 7, "lease": 4096, **more,
    }  # fmt: skip


def inner(size: int = 100) -> bytes:
    return bytes(IP(src="10.200.0.1", dst="10.45.0.2") / UDP(sport=9, dport=9) / Raw(bytes(size)))


def gpdu(teid: int, sdu: bytes) -> bytes:
    gtpu = GTP_U_Header(teid=teid, E=1, next_ex=0x85) / GTPPDUSessionContainer(type=0, QFI=5) / Raw(sdu)
    frame = Ether(dst=THERE, src=HERE) / IP(src=N3.upf_ipv4, dst=N3.gnb_ipv4) / UDP(sport=2152, dport=2152, chksum=0)
    return bytes(frame / gtpu)


def test_a_bearer_is_served_on_the_card_and_the_rest_goes_to_the_host_unchanged(network, processes, folder, wires):
    card = start(processes, folder, "gnb", gnb_card("gnb"), network)
    core, air = wires(network.core, N3.upf_interface), wires(network.ue, "ue-air")
    host = wires(network.core, VF_N3.upf_interface)
    assert card.control.call("card.install", bearers=[bearer()]) == {"installed": 1}
    sdu = inner()
    core.send(gpdu(ID, sdu))
    frame = air.expect("PDU of the bearer", lambda f: f[12:14] == b"\x88\xb5")
    assert frame[:12].hex(":") == "02:00:00:00:00:0a:02:00:00:00:00:0b"
    length = (7 + len(sdu)).to_bytes(2, "big")
    assert frame[14:24] == bytes.fromhex("20de0000") + ID.to_bytes(4, "big") + length
    # AM data PDU with SN 0 of 18 bits, PDCP data PDU with SN 7 of 18 bits, QFI 5, the SDU (TS 38.322 6.2.2.4, 38.323)
    assert frame[24:27].hex() == "800000" and frame[27:30].hex() == "800007" and frame[30] == 5
    assert frame[31:] == sdu
    assert card.control.call("card.numbers", ids=[ID]) == [[ID, 8, 1, 0, 1, 0, 0, 0, 7 + 4096, len(sdu), 0, 0]]

    unknown = gpdu(ID + 1, sdu)
    core.send(unknown)
    assert host.expect("frame of an unknown TEID", lambda f: f[12:14] == b"\x08\x00") == unknown
    question = bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src=HERE) / ARP(pdst=N3.gnb_ipv4, psrc=N3.upf_ipv4))
    core.send(question)
    assert host.expect("ARP", lambda f: f[12:14] == b"\x08\x06")[: len(question)] == question
    answer = numbered(5)
    host.send(answer)
    assert core.expect("frame of the host", lambda f: number_of(f) == 5) == answer

    shown = card.control.call("card.show")
    assert shown["punts"]["teid_unknown"] == 1 and shown["punts"]["arp"] >= 1 and not shown["drops"]
    text = run([splitplane(), "ctl", "--config", card.config, "card"]).stdout
    assert "gnb-mat" in text and "no entry for this TEID" in text
    assert_balanced(card.finish())


def test_uplink_is_encapsulated_once_the_peer_is_known(network, processes, folder, wires):
    card = start(processes, folder, "uplink", gnb_card("uplink"), network)
    core, air = wires(network.core, N3.upf_interface), wires(network.ue, "ue-air")
    host = wires(network.core, VF_AIR.upf_interface)
    card.control.call("card.install", bearers=[bearer()])
    sdu = bytes(IP(src="10.45.0.2", dst="10.200.0.1") / UDP(sport=9, dport=9) / Raw(bytes(80)))
    # airhdr {version 2, uplink AM 18 PDCP 18 SDAP, bearer, length}, RLC and PDCP with SN 0, QFI 5: src/wire/airhdr.h
    length = (7 + len(sdu)).to_bytes(2, "big")
    headers = bytes.fromhex("205e0000") + ID.to_bytes(4, "big") + length + bytes.fromhex("800000" + "800000" + "85")
    pdu = bytes(Ether(dst="02:00:00:00:00:0b", src="02:00:00:00:00:0a", type=0x88B5) / Raw(headers + sdu))
    air.send(pdu)
    assert host.expect("PDU without a peer", lambda f: f[12:14] == b"\x88\xb5") == pdu
    peer = {"number": 0, "dst": HERE, "src": THERE, "from": N3.gnb_ipv4, "to": N3.upf_ipv4, "max_payload": 1500}
    card.control.call("card.peer", **peer)
    air.send(pdu)
    frame = core.expect("G-PDU", lambda f: f[12:14] == b"\x08\x00" and f[23] == 17)
    packet = Ether(frame)
    assert (packet.src, packet.dst) == (THERE, HERE)
    assert (packet[IP].src, packet[IP].dst, packet[GTP_U_Header].teid) == (N3.gnb_ipv4, N3.upf_ipv4, 0x1001)
    assert frame.endswith(sdu)
    card.control.call("card.peer_gone", number=0)
    air.send(pdu)
    assert host.expect("PDU without a peer again", lambda f: f[12:14] == b"\x88\xb5") == pdu
    assert card.control.call("card.show")["punts"]["peer_unresolved"] == 2
    assert_balanced(card.finish())


def test_what_the_card_refuses_changes_nothing_on_it(network, processes, folder):
    card = start(processes, folder, "refuse", gnb_card("refuse"), network)
    call = card.control.call
    with pytest.raises(Failure, match="(?i)teid"):  # the second has the first's TEID
        call("card.install", bearers=[bearer(), bearer(id=ID + 1)])
    assert call("card.numbers", after=0) == []
    call("card.install", bearers=[bearer()])
    for method, params in (
        ("card.remove", {"ids": [ID, ID + 5]}),
        ("card.lease", {"leases": [[ID, 1], [ID + 5, 1]]}),
        ("card.numbers", {"ids": [ID + 5]}),
        ("card.install", {"bearers": [bearer(epoch=1), bearer(id=ID + 2, teid=ID + 2, vf_n3=9)]}),
    ):
        with pytest.raises(Failure):
            call(method, **params)
    assert [row[0] for row in call("card.numbers", after=0)] == [ID]
    assert call("card.remove", ids=[ID]) == {"removed": 1}
    assert call("card.numbers", after=0) == []
    assert_balanced(card.finish())


def test_the_policy_is_shown_and_switched_and_metrics_tell_the_same(network, processes, folder):
    port = 9470 + os.getpid() % 500
    tree = l2fwd("power", metrics={"listen": f"127.0.0.1:{port}"})
    card = start(processes, folder, "power", tree, network)
    assert [w["name"] for w in card.control.call("power.show")["workers"]] == ["card0"]
    card.control.call("power.set", worker="card0", kind="budget", latency_us=100)
    assert card.control.call("power.show")["workers"][0]["policy"]["kind"] == "budget"
    with pytest.raises(Failure, match="there is no 'w0'; allowed: card0"):
        card.control.call("power.set", worker="w0", kind="busy")
    text = run(["curl", "-s", f"http://127.0.0.1:{port}/metrics"], netns=network.gnb).stdout
    assert 'splitplane_card_in_packets_total{card="card0",port="n3"}' in text
    assert 'splitplane_worker_policy_info{worker="card0",kind="budget"} 1' in text
    assert_balanced(card.finish())

"""What happens to ports from outside while `run` is on: an interface that goes down or gets a smaller MTU, another
process that took the fanout group; signals that come twice, too few open files, DPDK's lines in the log."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import configs
import pytest
from gtpu_bed import INNER, LINK, GtpuBed
from namespaces import AirLink, Network
from paths import splitplane
from processes import PATIENCE, run, wait_until
from wire import socket_in

AIR, N3 = AirLink().gnb_interface, LINK.gnb_interface
SOL_PACKET, PACKET_FANOUT = 263, 18
HASH, DEFRAG, ROLLOVER = 0, 0x8000, 0x1000  # as DPDK's driver asks for them


@pytest.fixture(scope="module")
def bed(tmp_path_factory):
    with GtpuBed(tmp_path_factory.mktemp("ports"), "ports", [configs.bearer(1, upf=LINK.upf_ipv4, shard=1)]) as made:
        wait_until("the UPF's MAC address", lambda: made.gnb.control.call("peer.list")["peers"][0]["mac"])
        yield made
        assert made.gnb.finish()["totals"]["balanced"]


def port(bed: GtpuBed, name: str) -> dict:
    return next(row for row in bed.stats()["ports"] if row["name"] == name)


def log(bed: GtpuBed) -> str:
    return bed.gnb.process.log.read_text()


def settled(bed: GtpuBed, of_port: str, key: str, more: int, action) -> int:
    """How much a port's counter rose by an action, once it rose by `more` at least or two seconds are over."""
    before = port(bed, of_port)[key]
    action()
    end = time.monotonic() + 2
    while port(bed, of_port)[key] - before < more and time.monotonic() < end:
        time.sleep(0.02)
    return port(bed, of_port)[key] - before


@pytest.mark.parametrize(("which", "interface"), [("n3", N3), ("air", AIR)])
def test_an_mtu_that_shrinks_under_a_port_is_seen_and_longer_packets_are_dropped(bed, which, interface):
    numbers = iter(range(100 if which == "n3" else 200, 100000))
    inner = INNER + bytes(900)

    def send(n: int = 5):
        if which == "n3":
            bed.air.send(*[bed.uplink(sn=next(numbers), inner=inner) for _ in range(n)])
        else:
            teid = bed.ids[0]
            gpdu = bed.gpdu(teid)
            gpdu.lastlayer().load = inner
            bed.n3.send(*[bed.to_gnb(gpdu) for _ in range(n)])

    def mtu(octets: int):
        run(["ip", "-n", bed.network.gnb, "link", "set", interface, "mtu", octets])
        wait_until(f"MTU {octets} to be seen", lambda: port(bed, which)["mtu"] == octets)

    assert settled(bed, which, "workers_transmitted", 5, send) >= 5
    mtu(700)
    small = f"port {which}: interface {interface} has an MTU of 700 now, below the port's 1600"
    wait_until("the log", lambda: small in log(bed))  # a thread of its own writes it
    dropped = bed.drops("above_mtu")
    way = "uplink" if which == "n3" else "downlink"  # the port's Echo Requests may pass meanwhile
    passed = bed.bearer()[way]["transmitted"]
    send()
    wait_until("the drops", lambda: bed.drops("above_mtu") == dropped + 5)
    assert bed.bearer()[way]["transmitted"] == passed
    mtu(1600)
    wait_until("the log", lambda: f"port {which}: interface {interface} has an MTU of 1600 again" in log(bed))
    assert settled(bed, which, "workers_transmitted", 5, send) >= 5


def test_an_interface_that_goes_down_is_logged_within_a_second(bed):
    def shown(up: bool):
        wait_until(f"link_up to be {up}", lambda: port(bed, "n3")["link_up"] is up)

    shown(True)
    said = len(log(bed))
    begin = time.monotonic()
    run(["ip", "-n", bed.network.gnb, "link", "set", N3, "down"])
    wait_until("the log to say so", lambda: f"port n3: interface {N3} is down" in log(bed)[said:])
    assert time.monotonic() - begin < 5, "a second, and what the test itself takes on a busy machine"
    shown(False)
    said = len(log(bed))
    run(["ip", "-n", bed.network.gnb, "link", "set", N3, "up"])
    wait_until("the log to say so", lambda: f"port n3: interface {N3} is up" in log(bed)[said:])
    shown(True)


def start(folder: Path, network: Network, name: str, *before: str, **more) -> subprocess.Popen:
    """With SIGHUP and SIGINT as a terminal has them: under nohup and in the background of a script they are ignored."""
    path = configs.write(folder, name, configs.one_worker(name, [configs.bearer(1, upf=LINK.upf_ipv4)]))
    return subprocess.Popen(
        ["env", "--default-signal=HUP,INT", "ip", "netns", "exec", network.gnb]
        + [*before, str(splitplane()), "run", str(path)],
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def until_serving(child: subprocess.Popen) -> str:
    """What it said until it served, or until its end."""
    too_late = threading.Timer(PATIENCE, child.kill)
    too_late.start()
    try:
        said = ""
        for line in child.stderr:
            said += line
            if "serving" in line:
                break
        return said
    finally:
        too_late.cancel()


def last_words(child: subprocess.Popen) -> str:
    """What it said since then; it has ended."""
    try:
        return child.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        child.kill()
        raise


def traces(name: str) -> list[Path]:
    places = [Path("/run/splitplane"), Path("/var/run/dpdk"), Path("/dev/hugepages")]
    return [p for place in places if place.is_dir() for p in place.iterdir() if configs.prefix(name) in p.name]


@pytest.fixture(scope="module")
def network():
    with Network("portsb") as made:
        yield made


def test_a_fanout_group_that_another_process_has_is_not_in_the_way(network, folder):
    """DPDK numbers the group by process and interface: here another socket of the namespace has that number already,
    for another interface, as a second instance may."""
    child = start(folder, network, "fan", "sh", "-c", 'read go; exec "$@"', "sh", stdin=subprocess.PIPE)
    blockers = []
    try:
        for interface in (N3, AIR):
            index = int(run(["cat", f"/sys/class/net/{interface}/ifindex"], netns=network.gnb).stdout)
            blocker = socket_in(network.gnb, socket.AF_PACKET, socket.SOCK_RAW)
            blocker.bind(("lo", 3))
            group = (child.pid ^ index) & 0xFFFF | (HASH | DEFRAG | ROLLOVER) << 16
            blocker.setsockopt(SOL_PACKET, PACKET_FANOUT, struct.pack("I", group))
            blockers.append(blocker)
        child.stdin.write("go\n")
        child.stdin.flush()
        said = until_serving(child)
        assert "serving" in said, said
        child.send_signal(signal.SIGTERM)
        assert "every packet is accounted for" in last_words(child)
        assert child.wait(PATIENCE) == 0
    finally:
        child.kill()
        child.wait()
        for blocker in blockers:
            blocker.close()


@pytest.mark.parametrize("numbers", [(signal.SIGTERM,) * 3, (signal.SIGINT,) * 3, (signal.SIGHUP,) * 2])
def test_a_signal_ends_with_the_account_however_often_it_comes(network, folder, numbers):
    child = start(folder, network, "sig")
    try:
        until_serving(child)
        for number in numbers:
            child.send_signal(number)
            time.sleep(0.01)
        assert "every packet is accounted for" in last_words(child)
        assert child.wait(PATIENCE) == 0
        assert not traces("sig")
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("files", [32, 64])
def test_too_few_open_files_are_a_clear_error(network, folder, files):
    child = start(folder, network, "files", "prlimit", f"--nofile={files}:{files}")
    said = last_words(child)
    assert child.wait(PATIENCE) == 2, said
    assert "PANIC" not in said and len(said.strip().splitlines()) == 1
    assert re.search(rf"needs up to \d+ open files, and {files} are allowed.*ulimit -n", said), said
    assert not traces("files")


def test_as_many_open_files_as_the_error_asks_for_are_enough(network, folder):
    child = start(folder, network, "few", "prlimit", "--nofile=32:32")
    need = int(re.search(r"ulimit -n (\d+)", last_words(child)).group(1))
    child.wait(PATIENCE)
    child = start(folder, network, "few", "prlimit", f"--nofile={need}:{need}")
    try:
        until_serving(child)
        child.send_signal(signal.SIGTERM)
        assert "every packet is accounted for" in last_words(child)
        assert child.wait(PATIENCE) == 0
    finally:
        child.kill()
        child.wait()


def test_dpdks_lines_have_time_level_and_port(network, folder):
    """DPDK is made to complain: the frames of a ring do not fit its blocks."""
    tree = configs.one_worker("lines", [configs.bearer(1, upf=LINK.upf_ipv4)])
    tree["ports"]["air"]["device"] = f"net_af_packet1,iface={AIR},framesz=2048,blocksz=3000"
    path = configs.write(folder, "lines", tree)
    done = subprocess.run(
        ["ip", "netns", "exec", network.gnb, str(splitplane()), "run", str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode != 0
    lines = done.stderr.strip().splitlines()
    form = re.compile(r"\d\d:\d\d:\d\d\.\d{3} (info|warning|error|debug) .+")
    assert lines and all(form.fullmatch(line) for line in lines), done.stderr
    assert re.search(r"error port air: .*net_af_packet1: could not set PACKET_RX_RING", done.stderr), done.stderr


def test_nothing_of_this_file_is_left(network):
    assert [pid for pid in run(["ip", "netns", "pids", network.gnb]).stdout.split() if int(pid) != os.getpid()] == []

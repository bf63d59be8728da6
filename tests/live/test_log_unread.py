"""A log pipe that nobody reads: the control plane goes on, and the program ends when it is told to."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import signal
import socket
import struct
import subprocess
import time

import pytest
from instance import Control, control_path
from live_gnb import LiveGnb
from paths import splitplane
from processes import PATIENCE, run, wait_until

PIPE_BYTES = 4096
CLAIMS = 3000
GNB, STRANGER = "10.100.9.1", "10.100.9.2"


def fill_log(control: Control, times: int):
    """Requests that log a line each: taps of a file that cannot be."""
    for number in range(times):
        with contextlib.suppress(Exception):
            control.call(
                "tap.on", port="n3", file=f"/no/such/folder/{'x' * 200}{number}", name=f"t{number % 7}", buffers=127
            )


@pytest.fixture
def unread(folder, processes):
    """A gNB whose standard output and error are a small pipe that nobody reads."""
    gnb = LiveGnb(folder, processes)
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    child = subprocess.Popen([splitplane(), "run", gnb.config], stdout=writer, stderr=writer, stdin=subprocess.DEVNULL)
    os.close(writer)
    control = Control(control_path(gnb.config))
    try:
        wait_until("the control socket", control.answers)
        yield child, control, reader
    finally:
        child.kill()
        child.wait()
        os.close(reader)


def test_an_unread_pipe_stops_neither_requests_nor_the_end(unread):
    child, control, reader = unread
    fill_log(control, 200)  # 60 kB of lines, 15 times what the pipe holds
    assert control.call("ping")["process"] == child.pid
    before = control.stats()["workers"][0]["received"]
    wait_until("packets to pass", lambda: control.stats()["workers"][0]["received"] > before)
    child.send_signal(signal.SIGTERM)
    assert child.wait(PATIENCE) == 0
    assert len(os.read(reader, 65536)) <= PIPE_BYTES, "the pipe was full: nothing could be written"


def test_who_reads_late_gets_the_end_of_the_log_and_the_account(unread):
    child, control, reader = unread
    fill_log(control, 200)
    child.send_signal(signal.SIGTERM)
    text = b""
    while chunk := os.read(reader, 65536):
        text += chunk
    assert child.wait(PATIENCE) == 0
    assert b"every packet is accounted for" in text
    assert b"more lines like this one" in text


def claim(ip: str, mac: bytes, about: str, my_mac: bytes) -> bytes:
    """An ARP request in which a stranger says that `ip` is at `mac`."""
    ethernet = my_mac + mac + b"\x08\x06"
    return ethernet + struct.pack(
        "!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, mac, socket.inet_aton(ip), bytes(6), socket.inet_aton(about)
    )


def test_arp_claims_of_a_stranger_leave_few_lines(folder, processes):
    """Each claim moves the UPF's address to another MAC address, which is worth a line as such."""
    name = f"splog-{os.getpid() % 100000}"
    run(["ip", "netns", "add", name])
    try:
        run(["ip", "link", "add", "log0", "type", "veth", "peer", "name", "log1"], netns=name)
        for interface in ("log0", "log1"):
            run(["ip", "link", "set", interface, "up"], netns=name)
        gnb = LiveGnb(
            folder,
            processes,
            ports={"n3": {"device": "net_af_packet0,iface=log0"}, "air": {"device": "net_null0,no-rx=1"}},
            n3=[{"port": "n3", "ipv4": GNB}],
            bearers=[{"count": 256, "upf": STRANGER, "ul_teid": 1, "ue_ipv4": "10.45.0.2"}],
        )
        log = folder / "claims.log"
        with log.open("wb") as output:
            child = subprocess.Popen(
                ["ip", "netns", "exec", name, splitplane(), "run", gnb.config],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
            )
        control = Control(control_path(gnb.config))
        try:
            wait_until("the control socket", control.answers)
            dice = random.Random(13)
            frames = [claim(STRANGER, b"\x02" + dice.randbytes(5), GNB, b"\xff" * 6).hex() for _ in range(CLAIMS)]
            sender = (
                "import socket,sys,time\ns=socket.socket(socket.AF_PACKET,socket.SOCK_RAW)\ns.bind(('log1',0))\n"
                "for line in sys.stdin:\n s.send(bytes.fromhex(line))\n time.sleep(0.001)\n"
            )
            subprocess.run(
                ["ip", "netns", "exec", name, "python3", "-c", sender], input="\n".join(frames), text=True, check=True
            )
            wait_until("the claims to be read", lambda: control.stats()["workers"][0]["received"] >= CLAIMS // 2)
            time.sleep(0.5)
            child.send_signal(signal.SIGTERM)
            assert child.wait(PATIENCE) == 0
        finally:
            child.kill()
            child.wait()
        assert len(log.read_text().splitlines()) < 120, log.read_text()[-2000:]
    finally:
        run(["ip", "netns", "del", name])

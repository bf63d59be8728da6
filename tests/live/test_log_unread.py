"""A log pipe that nobody reads: the control plane goes on, and the program ends when it is told to."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import select
import signal
import socket
import struct
import subprocess
import termios

import pytest
from instance import Control, control_path
from live_gnb import LiveGnb
from paths import splitplane
from processes import PATIENCE, run, wait_until

PIPE_BYTES = 4096
CLAIMS = 3000
GNB, STRANGER = "10.100.9.1", "10.100.9.2"


def fill_log(control: Control, times: int):
    """Requests that log lines: taps of a file that cannot be, each of a shape of its own, so that none is folded."""
    for number in range(times):
        with contextlib.suppress(Exception):
            control.call(
                "tap.on", port="n3", file=f"/no/such/{word(number)}/{'x' * 200}", name=f"t{number % 7}", buffers=127
            )


def word(number: int) -> str:
    """Letters only: words that differ in digits are one shape to who folds the log."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:06}")


def octets_in(reader: int) -> int:
    return struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0]


def has_room(reader: int) -> bool:
    """Whether poll() lets the writer write. A pipe of one page says no from its first octets on."""
    writer = os.open(f"/proc/self/fd/{reader}", os.O_WRONLY | os.O_NONBLOCK)
    try:
        look = select.poll()
        look.register(writer, select.POLLOUT)
        return bool(look.poll(0))
    finally:
        os.close(writer)


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
    fill_log(control, 60)  # two lines each: 30 kB, 7 times what the pipe holds
    assert control.call("ping")["process"] == child.pid
    before = control.stats()["workers"][0]["received"]
    wait_until("packets to pass", lambda: control.stats()["workers"][0]["received"] > before)
    wait_until("the pipe to be full", lambda: not has_room(reader))
    held = octets_in(reader)
    child.send_signal(signal.SIGTERM)
    assert child.wait(PATIENCE) == 0
    text = os.read(reader, 65536)
    assert 0 < held == len(text) <= PIPE_BYTES, "the pipe was full: nothing could be written after that"
    assert b"every packet is accounted for" not in text


def test_who_reads_late_gets_the_end_of_the_log_and_the_account(unread):
    child, control, reader = unread
    fill_log(control, 60)
    wait_until("the pipe to be full", lambda: not has_room(reader))
    child.send_signal(signal.SIGTERM)
    text = b""
    while chunk := os.read(reader, 65536):
        text += chunk
    assert child.wait(PATIENCE) == 0
    assert b"every packet is accounted for" in text
    assert all(word(number).encode() in text for number in range(60)), "30 kB have room in the queue"


def claim(ip: str, mac: bytes, about: str, my_mac: bytes) -> bytes:
    """An ARP request in which a stranger says that `ip` is at `mac`."""
    ethernet = my_mac + mac + b"\x08\x06"
    return ethernet + struct.pack(
        "!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, mac, socket.inet_aton(ip), bytes(6), socket.inet_aton(about)
    )


def refused_claims(control: Control) -> int:
    return control.stats()["gtpu"][0]["neighbor_claims_refused"]


def test_arp_claims_of_a_stranger_leave_few_lines(folder, processes):
    """Each claim says that the UPF is at another MAC address. The UPF answers the question that follows, and the claim
    is refused, which is worth a line. The claims behind it are not looked at for a while."""
    name = f"splog-{os.getpid() % 100000}"
    run(["ip", "netns", "add", name])
    try:
        run(["ip", "link", "add", "log0", "type", "veth", "peer", "name", "log1"], netns=name)
        for interface in ("log0", "log1"):
            run(["ip", "link", "set", interface, "up"], netns=name)
        run(["ip", "address", "add", f"{STRANGER}/24", "dev", "log1"], netns=name)
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
            wait_until("the UPF to be found", lambda: f"{STRANGER} is at" in log.read_text())
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
            wait_until("a claim to be refused", lambda: refused_claims(control) > 0)
            child.send_signal(signal.SIGTERM)
            assert child.wait(PATIENCE) == 0
        finally:
            child.kill()
            child.wait()
        assert "it is not believed" in log.read_text()
        assert len(log.read_text().splitlines()) < 120, log.read_text()[-2000:]
    finally:
        run(["ip", "netns", "del", name])

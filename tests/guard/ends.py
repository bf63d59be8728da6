"""Real Linux TCP at both ends: sockets of this process that live in the client's namespace, curl, iperf3, wrk."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import struct
import time
from dataclasses import dataclass

from bed import BANNER_PORT, CLIENT_IPV4, IPERF_PORT, SERVER_IPV4, WEB_PORT, Bed
from processes import run, wait_until
from web_server import BANNER, content
from wire import socket_in

TCP_MAXSEG, TCP_WINDOW_CLAMP, TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ = 2, 10, 19, 20, 21
SEND_QUEUE, REPAIR_OFF_NO_PROBE = 2, -1
MSG_FASTOPEN = 0x20000000
BLOCK = 1 << 18
FILE_BYTES = 20_000_000
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Shape:
    """What a connection is like; what it does not say is as the kernel has it."""

    isn: int | None = None  # the client's first sequence number
    mss: int = 0
    clamp: int = 0  # of the client's window, which decides the scale it announces


class Link:
    """One connection of the client, closed on exit."""

    def __init__(
        self,
        bed: Bed,
        source: str = CLIENT_IPV4,
        server: str = SERVER_IPV4,
        port: int = WEB_PORT,
        *,
        shape: Shape = Shape(),
        netns: str = "",
        patience_s: float = PATIENCE_S,
        connect: bool = True,
    ):
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        self.socket = socket_in(netns or bed.client, family, socket.SOCK_STREAM)
        self.socket.settimeout(patience_s)
        self.peer = (server, port)
        tcp = socket.IPPROTO_TCP
        if shape.mss:
            self.socket.setsockopt(tcp, TCP_MAXSEG, shape.mss)
        if shape.clamp:
            self.socket.setsockopt(tcp, TCP_WINDOW_CLAMP, shape.clamp)
        if shape.isn is not None:
            # The kernel takes the number that the send queue already has.
            self.socket.setsockopt(tcp, TCP_REPAIR, 1)
            self.socket.setsockopt(tcp, TCP_REPAIR_QUEUE, SEND_QUEUE)
            self.socket.setsockopt(tcp, TCP_QUEUE_SEQ, struct.pack("I", shape.isn))
            self.socket.setsockopt(tcp, TCP_REPAIR, struct.pack("i", REPAIR_OFF_NO_PROBE))
        self.socket.bind((source, 0))
        self.connect_s = 0.0
        if connect:
            begin = time.monotonic()
            self.socket.connect(self.peer)
            self.connect_s = time.monotonic() - begin

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_):
        self.socket.close()

    def get(self, size: int) -> bool:
        """Whether every octet came, and as it is."""
        self.socket.sendall(b"GET /%d HTTP/1.1\r\n\r\n" % size)
        return self.got(size)

    def got(self, size: int) -> bool:
        digest, head, left = hashlib.sha256(), b"", size
        while b"\r\n\r\n" not in head:
            block = self.socket.recv(BLOCK)
            if not block:
                return False
            head += block
        rest = head.partition(b"\r\n\r\n")[2]
        digest.update(rest)
        left -= len(rest)
        while left > 0:
            block = self.socket.recv(BLOCK)
            if not block:
                return False
            digest.update(block)
            left -= len(block)
        return left == 0 and digest.digest() == hashlib.sha256(content(size)).digest()

    def put(self, size: int) -> bool:
        """Whether the server has the same SHA-256."""
        data = content(size)
        self.socket.sendall(b"PUT /x HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size)
        self.socket.sendall(data)
        answer = b""
        while len(answer.partition(b"\r\n\r\n")[2]) < 64:
            block = self.socket.recv(BLOCK)
            if not block:
                return False
            answer += block
        return answer.endswith(hashlib.sha256(data).hexdigest().encode())

    def line(self, text: bytes) -> bytes:
        """Says a line to the server that speaks first, and returns what comes back."""
        self.socket.sendall(text + b"\n")
        return self.until_newline()

    def until_newline(self) -> bytes:
        got = b""
        while not got.endswith(b"\n"):
            block = self.socket.recv(1)
            if not block:
                break
            got += block
        return got.strip()

    def all(self) -> bytes:
        got = bytearray()
        while block := self.socket.recv(BLOCK):
            got += block
        return bytes(got)


def speak(bed: Bed, source: str = CLIENT_IPV4, **rest) -> Link:
    """A connection to the server that speaks first, its banner read."""
    link = Link(bed, source, port=BANNER_PORT, **rest)
    banner = link.until_newline()
    assert banner == BANNER.strip(), banner
    return link


def curl(bed: Bed, source: str, size: int = 64, server: str = SERVER_IPV4, patience_s: float = 10) -> dict:
    """What curl says of one request: `ok`, `http_code`, `time_connect`, `time_total`."""
    host = f"[{server}]" if ":" in server else server
    words = ["curl", "--silent", "--output", "/dev/null", "--max-time", patience_s, "--interface", source]
    done = run([*words, "--write-out", "%{json}", f"http://{host}:{WEB_PORT}/{size}"], netns=bed.client, check=False)
    found = json.loads(done.stdout)
    return found | {"ok": done.returncode == 0 and found["http_code"] == 200 and found["size_download"] == size}


def iperf(bed: Bed, seconds: float, *, reverse: bool, port: int = IPERF_PORT, server: str = SERVER_IPV4) -> float:
    """Mbit/s that the receiver counted; 0: it did not come to that."""
    listener = bed.processes.start("iperf3", ["iperf3", "-s", "-1", "-p", port, "-i", "0"], bed.server)
    wait_until("iperf3", lambda: f":{port}" in run(["ss", "-Hltn"], netns=bed.server).stdout, processes=[listener])
    try:
        words = ["iperf3", "-c", server, "-p", port, "-t", f"{seconds:g}", "-J", *(["-R"] if reverse else [])]
        done = run(words, netns=bed.client, check=False, timeout=seconds + 30)
        found = json.loads(done.stdout)
        if "error" in found:
            return 0.0
        return found["end"]["sum_received"]["bits_per_second"] * 1e-6
    finally:
        bed.processes.stop(listener)


@dataclass(frozen=True)
class Wrk:
    requests_per_second: float
    errors: int  # connections that failed, timeouts, answers that were none


def wrk(bed: Bed, seconds: int, connections: int = 20, server: str = SERVER_IPV4) -> Wrk:
    """Each request on a connection of its own."""
    words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "3s", "-H", "Connection: close"]
    text = run([*words, f"http://{server}:{WEB_PORT}/64"], netns=bed.client, timeout=seconds + 30).stdout
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    count = sum(map(int, errors.groups())) if errors else 0
    return Wrk(float(rate.group(1)) if rate else 0.0, count + (int(wrong.group(1)) if wrong else 0))


def drop_some(bed: Bed, netns: str, percent: int) -> None:
    """From now on the host drops so many of the TCP segments that come to it; 0: none, and no other rule either."""
    run(["nft", "flush", "ruleset"], netns=netns)
    if percent:
        drop(bed, netns, f"meta l4proto tcp numgen random mod 100 < {percent} counter drop")


def drop_from_port(bed: Bed, port: int) -> None:
    """The server's host drops what comes from this port."""
    drop(bed, bed.server, f"tcp sport {port} counter drop")


def drop_first_syns(bed: Bed) -> None:
    """The server's host drops the first SYN of each source."""
    seen = "set seen { type ipv4_addr; flags dynamic; size 65535; }"
    drop(bed, bed.server, "tcp flags & (syn | ack) == syn ip saddr != @seen add @seen { ip saddr } counter drop", seen)


def drop(bed: Bed, netns: str, rule: str, sets: str = "") -> None:
    """Until drop_some(..., 0)."""
    path = bed.folder / "drop.nft"
    path.write_text(
        f"table inet drops {{\n {sets}\n chain arrives {{\n type filter hook input priority 0;\n {rule}\n }}\n}}\n"
    )
    run(["nft", "-f", path], netns=netns)

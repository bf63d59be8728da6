#!/usr/bin/env python3
"""A small UPF for a first look at a gNB: one GTP-U tunnel between a TUN device and UDP port 2152.

It is made to be read. It needs Python 3.11, root and the program `ip`, and no other package. What it does:
- an IP packet that the kernel routes to the UE leaves as a G-PDU with a PDU Session Container (TS 29.281, TS 38.415);
- a G-PDU with our TEID gives its IP packet to the kernel; another TEID is answered by an Error Indication;
- an Echo Request is answered, and one is sent every five seconds.

Example, beside config/minimal.yaml (docs/guide/first-hour.md):
  ip netns exec core python3 tools/upf.py --n3 10.100.0.2 --gnb 10.100.0.1 --ue 10.45.0.2 \\
      --dl-teid 0x04000000 --ul-teid 0x1001
"""

from __future__ import annotations

import argparse
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import Counter

GTPU_PORT = 2152
ECHO_REQUEST, ECHO_RESPONSE, ERROR_INDICATION, END_MARKER, G_PDU = 1, 2, 26, 254, 255
PDU_SESSION_CONTAINER = 0x85
SO_RCVBUFFORCE = 33  # of Linux; this module has no name for it
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def g_pdu(teid: int, qfi: int, packet: bytes) -> bytes:
    """GTP-U header with the E flag, a downlink PDU Session Container with the QFI, and the T-PDU.

    octet 1 0x34 (version 1, GTP, E)   2 message type   3-4 length behind octet 8   5-8 TEID
    9-10 sequence number (unused)      11 N-PDU number (unused)      12 type of the next extension header
    13 its length in units of 4        14 PDU type 0 (downlink)      15 QFI      16 no further extension header
    """
    extension = bytes((1, 0x00, qfi & 0x3F, 0))
    options = struct.pack("!HBB", 0, 0, PDU_SESSION_CONTAINER)
    return struct.pack("!BBHI", 0x34, G_PDU, len(options + extension + packet), teid) + options + extension + packet


def message(kind: int, sequence_number: int, elements: bytes) -> bytes:
    """A message about the path, with the S flag and TEID 0."""
    return struct.pack("!BBHIHBB", 0x32, kind, 4 + len(elements), 0, sequence_number, 0, 0) + elements


def recovery() -> bytes:
    """The element that an Echo Response must have; its restart counter is not used in GTP-U."""
    return bytes((14, 0))


def error_indication(teid: int, address: str) -> bytes:
    """Says that nobody here has this TEID: elements TEID Data I (16) and GTP-U Peer Address (133)."""
    return message(
        ERROR_INDICATION, 0, struct.pack("!BI", 16, teid) + struct.pack("!BH", 133, 4) + socket.inet_aton(address)
    )


def payload_of(datagram: bytes) -> bytes | None:
    """What stands behind the GTP-U header and its extension headers; None if they are not whole."""
    flags, _, length = struct.unpack_from("!BBH", datagram)
    end = 8 + length
    if flags >> 5 != 1 or end > len(datagram):
        return None
    at = 8
    if flags & 0x07:  # any of E, S, PN: four octets more, the last one the type of the first extension header
        at += 4
        following = datagram[at - 1] if at <= end else 0
        while flags & 0x04 and following != 0:
            if at >= end or datagram[at] == 0 or at + 4 * datagram[at] > end:
                return None
            at += 4 * datagram[at]
            following = datagram[at - 1]
    return datagram[at:end] if at <= end else None


def open_tun(name: str) -> int:
    """A device of the kernel whose packets this program reads and writes."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


def ip(*words: str):
    subprocess.run(["ip", *words], check=True)


class Upf:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.counts: Counter[str] = Counter()
        self.gnb = (options.gnb, GTPU_PORT)
        self.path = "unknown"
        self.unanswered = 0
        self.sequence_number = 0
        self.n3 = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.n3.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)  # bursts of TCP wait here for this process
        self.n3.bind((options.n3, GTPU_PORT))
        self.n3.setblocking(False)
        self.tun = open_tun(options.tun)
        ip("addr", "add", f"{options.server}/32", "dev", options.tun)
        ip("link", "set", options.tun, "mtu", "1400", "up")
        ip("route", "replace", f"{options.ue}/32", "dev", options.tun)

    def send(self, datagram: bytes, to: tuple[str, int]):
        try:
            self.n3.sendto(datagram, to)
        except OSError as error:  # nobody answers ARP, or a full queue
            self.counts[f"not sent ({error.strerror})"] += 1

    def downlink(self):
        """From the kernel to the gNB."""
        packet = os.read(self.tun, 65535)
        if packet[0] >> 4 != 4:
            return  # the kernel's own IPv6 messages on a new interface
        self.counts["downlink"] += 1
        self.send(g_pdu(self.options.dl_teid, self.options.qfi, packet), self.gnb)

    def uplink(self):
        """From the gNB: to the kernel, or answered."""
        datagram, sender = self.n3.recvfrom(65535)
        payload = payload_of(datagram) if len(datagram) >= 8 else None
        if payload is None:
            self.counts["malformed"] += 1
            return
        kind, teid = datagram[1], int.from_bytes(datagram[4:8])
        if kind == G_PDU and teid == self.options.ul_teid:
            self.counts["uplink"] += 1
            os.write(self.tun, payload)
        elif kind == G_PDU:
            self.counts["unknown TEID"] += 1
            self.send(error_indication(teid, self.options.n3), sender)
        elif kind == ECHO_REQUEST:
            self.counts["Echo Requests"] += 1
            self.send(message(ECHO_RESPONSE, int.from_bytes(datagram[8:10]), recovery()), sender)
        elif kind == ECHO_RESPONSE:
            self.unanswered = 0
            self.say_path("up")
        elif kind == ERROR_INDICATION:
            self.counts["Error Indications"] += 1
            if self.counts["Error Indications"] == 1:
                print("the gNB does not know the TEID that we send to (Error Indication)", flush=True)

    def say_path(self, state: str):
        if state != self.path:
            print(f"the path to {self.options.gnb} is {state}", flush=True)
        self.path = state

    def ask(self):
        if self.unanswered >= 2:
            self.say_path("down: no Echo Response")
        self.unanswered += 1
        self.sequence_number = (self.sequence_number + 1) & 0xFFFF
        self.send(message(ECHO_REQUEST, self.sequence_number, b""), self.gnb)

    def serve(self):
        print(f"UPF at {self.options.n3}: {self.options.ue} behind TEID {self.options.dl_teid:#010x}", flush=True)
        next_question = 0.0
        while True:
            if time.monotonic() >= next_question:
                next_question = time.monotonic() + 5
                self.ask()
            readable, _, _ = select.select([self.tun, self.n3], [], [], next_question - time.monotonic())
            for source, serve in ((self.tun, self.downlink), (self.n3, self.uplink)):
                if source not in readable:
                    continue
                try:
                    for _ in range(64):
                        serve()
                except BlockingIOError:
                    pass  # that was all
                except ConnectionRefusedError:
                    self.counts["refused by the gNB's host"] += 1


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], epilog="See docs/guide/first-hour.md, and the example in this file's head"
    )

    def number(text: str) -> int:
        return int(text, 0)

    parser.add_argument("--n3", required=True, help="our N3 address, which an interface here has")
    parser.add_argument("--gnb", required=True, help="the gNB's N3 address")
    parser.add_argument("--ue", required=True, help="the UE's IPv4 address")
    parser.add_argument("--dl-teid", required=True, type=number, help="TEID at the gNB: the bearer's identity")
    parser.add_argument("--ul-teid", required=True, type=number, help="TEID here: ul_teid of the bearer")
    parser.add_argument("--qfi", type=number, default=9, help="QoS flow of downlink packets (default 9)")
    parser.add_argument(
        "--server", default="10.200.0.1", help="address behind the UPF, for servers (default 10.200.0.1)"
    )
    parser.add_argument("--tun", default="upf0", help="name of the TUN device (default upf0)")
    return parser.parse_args()


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        upf = Upf(read_options())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"upf: {error}", file=sys.stderr)
        return 1
    try:
        upf.serve()
    except KeyboardInterrupt:
        print("; ".join(f"{what} {count}" for what, count in sorted(upf.counts.items())) or "no packets")
    return 0


if __name__ == "__main__":
    sys.exit(main())

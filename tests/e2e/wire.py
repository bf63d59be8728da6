"""A network interface of a namespace as a wire: scapy frames in, scapy frames out, whole frames with their octets."""

from __future__ import annotations

import ctypes
import logging
import os
import socket
import time
from collections.abc import Callable

from processes import PATIENCE, fail_after_a_crash

logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.layers.l2 import Ether  # noqa: E402

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
ETH_P_ALL = 3
SO_RCVBUFFORCE = 33


def socket_in(netns: str, *kind: int) -> socket.socket:
    """A socket of this process that lives in another namespace."""
    with open("/proc/self/ns/net") as home, open(f"/run/netns/{netns}") as there:
        assert LIBC.setns(there.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            return socket.socket(*kind)
        finally:
            assert LIBC.setns(home.fileno(), CLONE_NEWNET) == 0


class Wire:
    def __init__(self, netns: str, interface: str):
        self.socket = socket_in(netns, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.bind((interface, ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)  # for what comes while nobody reads
        self.seen: list[bytes] = []  # every frame that arrived here

    def close(self):
        self.socket.close()

    def send(self, *frames: bytes | Ether):
        """From one CPU: the kernel keeps the order of what each of them sends, and none between them."""
        mine = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(mine)})
        try:
            for frame in frames:
                self.socket.send(bytes(frame))
        finally:
            os.sched_setaffinity(0, mine)

    def frames(self, seconds: float, enough: Callable[[bytes], bool] = lambda _: False) -> list[bytes]:
        """What arrives within that time, or until a frame is enough."""
        end, found = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                octets, address = self.socket.recvfrom(65535)
            except TimeoutError:
                break
            if address[2] == socket.PACKET_OUTGOING:
                continue
            found.append(octets)
            if enough(octets):
                break
        self.seen += found
        return found

    def expect(self, what: str, wanted: Callable[[bytes], bool]) -> bytes:
        """The next frame of a kind, however long it takes on a busy machine."""
        return self.gather(what, wanted, 1)[-1]

    def gather(self, what: str, wanted: Callable[[bytes], bool], count: int) -> list[bytes]:
        """Reads until so many frames of a kind have come; returns all that came."""
        end, found = time.monotonic() + PATIENCE, []
        while count > 0:
            some = self.frames(1, wanted)
            found += some
            count -= bool(some) and wanted(some[-1])
            fail_after_a_crash(what)
            assert time.monotonic() < end, f"no {what} within {PATIENCE:g} s; {len(found)} other frames"
        return found

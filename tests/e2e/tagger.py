"""A port of a switch that is untagged on one side and in a VLAN on the other: kernels without VLAN interfaces take part
in a tagged N3 with their own TCP."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading

from namespaces import LINK_MTU, N3Link, Network
from processes import run
from wire import ETH_P_ALL, SO_RCVBUFFORCE, socket_in

SOL_PACKET, PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 263, 8, 0x10
TYPE_VLAN = b"\x81\x00"


class Tagger:
    """Stands in the core's namespace between the UPF's interface, which it makes anew, and the wire to the gNB."""

    def __init__(self, network: Network, link: N3Link, vlan: int):
        self.network, self.link, self.vlan = network, link, vlan
        self.tagged = {"down": 0, "up": 0}  # frames that went on with the tag, and that came with it
        self.wrong = 0  # frames from the gNB that had another tag, or none
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._carry, daemon=True)

    def __enter__(self) -> Tagger:
        core, upf = self.network.core, self.link.upf_interface
        mac = run(["cat", f"/sys/class/net/{upf}/address"], netns=core).stdout.strip()
        for command in (
            ["link", "set", upf, "down"],
            ["addr", "flush", "dev", upf],
            ["link", "set", upf, "name", "wire"],
            ["link", "add", upf, "address", mac, "type", "veth", "peer", "name", "plain"],
        ):
            run(["ip", "-n", core, *command])
        for interface in ("wire", "plain"):
            run(["sh", "-c", f"echo 1 > /proc/sys/net/ipv6/conf/{interface}/disable_ipv6"], netns=core)
        for interface in (upf, "plain"):
            off = ["tx", "off", "rx", "off", "gso", "off", "gro", "off", "tso", "off"]
            run(["ethtool", "-K", interface, *off], netns=core)
        for interface in (upf, "plain", "wire"):
            run(["ip", "-n", core, "link", "set", interface, "mtu", LINK_MTU, "up"])
        run(["ip", "-n", core, "addr", "add", f"{self.link.upf_ipv4}/24", "dev", upf])
        run(["ip", "-n", core, "addr", "add", f"{self.link.upf_ipv6}/64", "dev", upf, "nodad"])
        self.plain, self.wire = self._socket("plain"), self._socket("wire")
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.plain.close()
        self.wire.close()

    def _socket(self, interface: str) -> socket.socket:
        made = socket_in(self.network.core, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        made.bind((interface, ETH_P_ALL))
        made.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        made.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        made.setblocking(False)
        return made

    def _carry(self):
        tag = TYPE_VLAN + self.vlan.to_bytes(2, "big")
        with selectors.DefaultSelector() as ready:
            for side in (self.plain, self.wire):
                ready.register(side, selectors.EVENT_READ)
            while not self.ended.is_set():
                for key, _ in ready.select(0.1):
                    for octets, vlan in received(key.fileobj):
                        if key.fileobj is self.plain:
                            self.tagged["down"] += 1
                            send(self.wire, octets[:12] + tag + octets[12:])
                        elif vlan == self.vlan:
                            self.tagged["up"] += 1
                            send(self.plain, octets)
                        else:
                            self.wrong += 1


def received(side: socket.socket, most: int = 64) -> list[tuple[bytes, int | None]]:
    """Frames without their tag, and its VLAN."""
    frames = []
    while len(frames) < most:
        try:
            octets, more, _, address = side.recvmsg(65535, 256)
        except BlockingIOError:
            break
        if address[2] == socket.PACKET_OUTGOING:
            continue
        status, tci = struct.unpack_from("=I12xH", more[0][2]) if more else (0, 0)
        frames.append((octets, tci & 0xFFF if status & TP_STATUS_VLAN_VALID else None))
    return frames


def send(side: socket.socket, octets: bytes):
    with contextlib.suppress(BlockingIOError):  # a full queue: TCP sends it again
        side.send(octets)

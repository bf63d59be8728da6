"""A gNB between two wires that the test itself holds: N3 without a UPF, the air without a UE. scapy and pycrate build
what goes in and read what comes out."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import configs
from instance import Instance
from namespaces import AirLink, N3Link, Network
from processes import Processes, run
from wire import Wire, socket_in

from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer  # noqa: E402  isort: skip
from scapy.layers.inet import IP, UDP  # noqa: E402  isort: skip
from scapy.layers.inet6 import IPv6  # noqa: E402  isort: skip
from scapy.layers.l2 import Ether  # noqa: E402  isort: skip
from scapy.packet import Packet, Raw  # noqa: E402  isort: skip

LINK = N3Link()
INNER = bytes(IP(src="10.200.0.1", dst="10.45.0.2") / UDP(sport=40001, dport=40002) / b"payload")


class GtpuBed:
    """`n3` are members of the N3 entry beside the addresses, `port` of its port. `upf_sockets`: nobody else holds the
    UPF's GTP-U port."""

    def __init__(
        self,
        folder: Path,
        name: str,
        bearers: list[dict],
        upf_sockets: bool = True,
        port: dict | None = None,
        **n3: object,
    ):
        self.folder, self.with_sockets = folder, upf_sockets
        self.network, self.processes = Network(name), Processes(folder)
        self.tree = configs.one_worker(name, bearers)
        self.tree["n3"][0] |= n3
        self.tree["ports"]["n3"] |= port or {}

    def __enter__(self) -> GtpuBed:
        self.network.__enter__()
        try:
            self.prepare()
            # the kernel of this namespace answers ARP for the UPF; its bound port keeps it from answering by ICMP
            self.upf_sockets = []
            wanted = ((socket.AF_INET, LINK.upf_ipv4), (socket.AF_INET6, LINK.upf_ipv6)) if self.with_sockets else ()
            for family, address in wanted:
                self.upf_sockets.append(socket_in(self.network.core, family, socket.SOCK_DGRAM))
                self.upf_sockets[-1].bind((address, 2152))
            self.n3 = Wire(self.network.core, LINK.upf_interface)
            self.air = Wire(self.network.ue, AirLink().ue_interface)
            self.gnb = Instance(
                self.processes, "gnb", "run", configs.write(self.folder, "gnb", self.tree), self.network.gnb
            )
        except BaseException:
            self.__exit__()
            raise
        self.upf_mac = self.mac(self.network.core, LINK.upf_interface)
        self.gnb_mac = self.mac(self.network.gnb, LINK.gnb_interface)
        self.ids = [bearer["id"] for bearer in self.gnb.control.bearers()]
        return self

    def __exit__(self, *_):
        self.processes.stop_all()
        self.network.__exit__()

    def prepare(self):
        """What the wires get before anybody uses them, for tests that need more."""

    @staticmethod
    def mac(netns: str, interface: str) -> str:
        return run(["cat", f"/sys/class/net/{interface}/address"], netns=netns).stdout.strip()

    def to_gnb(self, message: bytes | Packet, *, v6: bool = False, source_port: int = 2152, **ethernet: str) -> Ether:
        """A frame of the UPF around a GTP-U message, with scapy's checksums."""
        head = Ether(**{"src": self.upf_mac, "dst": self.gnb_mac} | ethernet)
        ip = IPv6(src=LINK.upf_ipv6, dst=LINK.gnb_ipv6) if v6 else IP(src=LINK.upf_ipv4, dst=LINK.gnb_ipv4)
        payload = message if isinstance(message, Packet) else Raw(message)
        return head / ip / UDP(sport=source_port, dport=2152) / payload

    def gpdu(self, teid: int, qfi: int = 9, **more: int) -> Packet:
        return GTP_U_Header(teid=teid, gtp_type=255, **more) / GTPPDUSessionContainer(type=0, QFI=qfi) / Raw(INNER)

    def stats(self) -> dict:
        return self.gnb.control.stats()

    def drops(self, reason: str) -> int:
        return self.stats()["workers"][0]["drops"].get(reason, 0)

    def counters(self) -> dict[str, int]:
        return self.stats()["gtpu"][0]

    def bearer(self, number: int = 0) -> dict:
        return self.gnb.control.call("bearer.show", id=self.ids[number])

    def uplink(self, number: int = 0, sn: int = 0, qfi: int = 9, inner: bytes = INNER) -> bytes:
        """The air frame of one uplink packet of an am18 bearer with PDCP SN 18 and SDAP (formats.md 9)."""
        rlc = (0x80 << 16 | sn).to_bytes(3, "big")
        pdcp = (0x80 << 16 | sn).to_bytes(3, "big")
        pdu = rlc + pdcp + bytes([0x80 | qfi]) + inner
        airhdr = bytes([0x20, 0x5E, 0, 0]) + self.ids[number].to_bytes(4, "big") + len(pdu).to_bytes(2, "big")
        return bytes.fromhex("ffffffffffff020000000099") + b"\x88\xb5" + airhdr + pdu


def error_indication(teid: int, upf: str = LINK.upf_ipv4) -> bytes:
    """An Error Indication for a G-PDU to that TEID at that address (IPv4)."""
    return bytes.fromhex("321a00100000000000000000" + "10") + teid.to_bytes(4, "big") + b"\x85\0\x04" + inet(upf)


def inet(address: str) -> bytes:
    return socket.inet_aton(address)


def play_upf(bed: GtpuBed, seconds: float, *, indicates: bool = False) -> list[bytes]:
    """A UPF on the wire for a while: answers Echo Requests over IPv4, and with `indicates` every G-PDU with an Error
    Indication. Returns the G-PDUs."""
    end, gpdus = time.monotonic() + seconds, []
    while (left := end - time.monotonic()) > 0:
        for frame in bed.n3.frames(min(left, 0.05), lambda f: message_of(f, 1) or message_of(f, 255)):
            if frame[12:14] == b"\x08\x00" and message_of(frame, 1):
                sequence = message_in(frame)[8:10]
                bed.n3.send(bed.to_gnb(bytes.fromhex("3202000600000000") + sequence + bytes.fromhex("00000e00")))
            elif message_of(frame, 255):
                gpdus.append(frame)
                if indicates:
                    bed.n3.send(bed.to_gnb(error_indication(int.from_bytes(message_in(frame)[4:8], "big"))))
    return gpdus


def message_of(frame: bytes, kind: int) -> bool:
    """Whether the frame holds a GTP-U message of that type."""
    udp = Ether(frame).getlayer(UDP)
    octets = bytes(udp.payload) if udp else b""
    return len(octets) >= 8 and udp.dport == 2152 and octets[1] == kind


def message_in(frame: bytes) -> bytes:
    """The octets of the GTP-U message: the UDP payload by its length field."""
    udp = Ether(frame)[UDP]
    return bytes(udp.payload)[: udp.len - 8]

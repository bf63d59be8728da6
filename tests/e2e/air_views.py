"""Translates frames of the header-mode air link (EtherType 0x88B5, airhdr, RLC PDU) into what Wireshark can open: each
RLC PDU in the `rlc-nr` UDP framing (RLC fields), and its PDCP PDU in the `pdcp-nr` framing with the SDAP tag (PDCP SN,
QFI, inner IP). Written with struct only: it does not share code with the gNB, so it checks the gNB's airhdr as well.

Usage: python3 air_views.py CAPTURE FOLDER   writes FOLDER/air-rlc.pcap and FOLDER/air-pdcp.pcap
Open:  tshark -r FOLDER/air-rlc.pcap --enable-heuristic rlc_nr_udp
       tshark -r FOLDER/air-pdcp.pcap --enable-heuristic pdcp_nr_udp
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pcap

ETHER_TYPE = 0x88B5
UPLINK, DOWNLINK = 0, 1
TM, UM, AM = 0, 1, 2
TSHARK_MODE = {TM: 1, UM: 2, AM: 4}


@dataclass(frozen=True)
class AirPdu:
    """One frame, taken apart. `pdu` may be cut by the capture; `missing` says by how many octets."""

    time_us: int
    direction: int
    mode: int
    rlc_sn_bits: int
    pdcp_sn_bits: int
    sdap: bool
    bearer: int
    pdu: bytes
    missing: int
    epoch: int = 0

    def rlc_header_bytes(self) -> int:
        """Octets in front of the PDCP PDU for a complete SDU, 0 for a control PDU or a segment (TS 38.322 6.2.2)."""
        if self.mode == TM:
            return 0
        if self.mode == UM:
            return 1 if self.pdu[0] & 0xC0 == 0 else 0
        complete = self.pdu[0] & 0x80 and self.pdu[0] & 0x30 == 0
        return (2 if self.rlc_sn_bits == 12 else 3) if complete else 0

    def is_complete_data(self) -> bool:
        return self.mode == TM or self.rlc_header_bytes() > 0

    def rlc_sn(self) -> int | None:
        if self.mode != AM or not self.pdu[0] & 0x80:
            return None
        if self.rlc_sn_bits == 12:
            return struct.unpack_from("!H", self.pdu)[0] & 0xFFF
        return int.from_bytes(self.pdu[:3], "big") & 0x3FFFF

    def pdcp_sn(self) -> int:
        at = self.rlc_header_bytes()
        if self.pdcp_sn_bits == 12:
            return struct.unpack_from("!H", self.pdu, at)[0] & 0xFFF
        return int.from_bytes(self.pdu[at : at + 3], "big") & 0x3FFFF

    def inner(self) -> bytes:
        """The IP packet inside."""
        return self.pdu[self.rlc_header_bytes() + (2 if self.pdcp_sn_bits == 12 else 3) + self.sdap :]


def parse(frame: pcap.Frame) -> AirPdu | None:
    """None for a frame of another EtherType; ValueError for a header that is not as defined."""
    data = frame.data
    if len(data) < 14 or struct.unpack_from("!H", data, 12)[0] != ETHER_TYPE:
        return None
    if len(data) < 25:
        raise ValueError(f"frame of {len(data)} octets holds no airhdr and PDU")
    version_kind, modes, _, epoch, bearer, length = struct.unpack_from("!BBBBIH", data, 14)
    mode, rlc_units = modes >> 5 & 3, modes >> 3 & 3
    if version_kind != 0x20 or mode == 3 or modes & 1 or not 0 < length <= frame.length - 24:
        raise ValueError(f"airhdr {data[14:24].hex()} in a frame of {frame.length} octets")
    pdu = data[24 : 24 + length]
    return AirPdu(
        frame.time_us,
        modes >> 7,
        mode,
        rlc_units * 6,
        18 if modes & 4 else 12,
        bool(modes & 2),
        bearer,
        pdu,
        length - len(pdu),
        epoch,
    )


def read(path: Path) -> Iterator[AirPdu]:
    for frame in pcap.read(path):
        pdu = parse(frame)
        if pdu:
            yield pdu


def _wrap(air: AirPdu, head: bytes, pdu: bytes) -> pcap.Frame:
    """Ethernet, IPv4 and UDP around it; a capture that was cut stays marked as cut."""
    payload = head + pdu
    size = len(payload) + air.missing
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + size, 1, 0, 64, 17, 0, b"\x7f\0\0\1", b"\x7f\0\0\2")
    total = sum(struct.unpack("!10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack("!H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + ip[12:]
    frame = b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0" + ip + struct.pack("!HHHH", 9999, 9999, 8 + size, 0) + payload
    return pcap.Frame(air.time_us, frame, len(frame) + air.missing)


def views(pdus: Iterator[AirPdu]) -> tuple[list[pcap.Frame], list[pcap.Frame], dict[int, int]]:
    """Frames of the rlc-nr view and of the pdcp-nr view, and the UE number in them of each bearer."""
    rlc, pdcp, ues = [], [], {}
    for air in pdus:
        ue = ues.setdefault(air.bearer, len(ues) + 1)
        head = b"rlc-nr" + struct.pack(
            "!BBBBBHBBBBB", TSHARK_MODE[air.mode], air.rlc_sn_bits, 2, air.direction, 3, ue, 4, 5, 5, 1, 1
        )
        rlc.append(_wrap(air, head, air.pdu))
        if air.is_complete_data():
            tag = struct.pack("!BB", 0x10, 1 << air.direction) if air.sdap else b""
            head = b"pdcp-nr" + struct.pack("!BBBBBBBBBBH", 2, 2, air.pdcp_sn_bits, 3, air.direction, 4, 1, 5, 1, 6, ue)
            pdcp.append(_wrap(air, head + tag + b"\x01", air.pdu[air.rlc_header_bytes() :]))
    return rlc, pdcp, ues


def translate(capture: Path, folder: Path) -> tuple[Path, Path, dict[int, int]]:
    rlc, pdcp, ues = views(read(capture))
    paths = folder / f"{capture.stem}-rlc.pcap", folder / f"{capture.stem}-pdcp.pcap"
    pcap.write(paths[0], rlc)
    pcap.write(paths[1], pdcp)
    return *paths, ues


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for written in translate(Path(sys.argv[1]), Path(sys.argv[2]))[:2]:
        print(written)

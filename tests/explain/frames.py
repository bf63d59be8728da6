"""Frames for `splitplane explain` with config/demo.yaml: made by struct and scapy, not by our encoders."""

from __future__ import annotations

import struct

import gtpu

UPF, GNB = "10.100.0.2", "10.100.0.1"
GNB_V6, UPF_V6 = "fd00:100::1", "fd00:100::2"
UE, SERVER = "10.45.0.2", "10.200.0.1"
FIRST = 0x04000000  # instance 1, shard 0, index 0: the first bearer of config/demo.yaml (am18, PDCP 18, QFI 9)
ON_CARD = 0x04040000  # the second, shard 1: on card0
UM12 = 0x04140000  # the sixth, shard 5: um12, PDCP 12, QFI 5
ETHER = bytes.fromhex("020000000001020000000002")
INNER = gtpu.packet(b"hello", SERVER, UE)


def n3(teid: int, payload: bytes = INNER, qfi: int = 9, to: str = GNB) -> bytes:
    udp = gtpu.udp(gtpu.gpdu(teid, payload, qfi), UPF, to, 2152, 2152)
    return ETHER + b"\x08\x00" + gtpu.ipv4(udp, UPF, to)


def n3_v6(teid: int) -> bytes:
    """The same over IPv6."""
    udp = gtpu.udp(gtpu.gpdu(teid, INNER, 9), UPF_V6, GNB_V6, 2152, 2152)
    return ETHER + b"\x86\xdd" + gtpu.ipv6(udp, UPF_V6, GNB_V6)


def with_ip_options(frame: bytes) -> bytes:
    """Four NOPs behind the outer IPv4 header, lengths and checksum right."""
    head = bytes([0x46]) + frame[15:16] + struct.pack("!H", struct.unpack_from("!H", frame, 16)[0] + 4)
    head += frame[18:24] + bytes(2) + frame[26:34] + b"\1\1\1\1"
    return frame[:14] + head[:10] + struct.pack("!H", gtpu.checksum(head)) + head[12:] + frame[34:]


def path_message(kind: int, sequence: int = 7) -> bytes:
    udp = gtpu.udp(gtpu.message(kind, 0, sequence=sequence), UPF, GNB, 2152, 2152)
    return ETHER + b"\x08\x00" + gtpu.ipv4(udp, UPF, GNB)


def arp_request() -> bytes:
    body = struct.pack("!HHBBH6s4s6s4s", 1, 0x800, 6, 4, 1, b"\x02\0\0\0\0\x02", _v4(UPF), bytes(6), _v4(GNB))
    return b"\xff" * 6 + b"\x02\0\0\0\0\x02" + b"\x08\x06" + body


def _v4(address: str) -> bytes:
    return bytes(int(part) for part in address.split("."))


def air(bearer: int, pdu: bytes, modes: int) -> bytes:
    return ETHER + b"\x88\xb5" + struct.pack("!BBHIH", 0x20, modes, 0, bearer, len(pdu)) + pdu


AM18_UP = 0b0_10_11_1_1_0  # uplink, AM, 18-bit SN, PDCP 18, SDAP


def am18_up(rlc_sn: int, pdcp_sn: int, qfi: int = 9, payload: bytes = INNER) -> bytes:
    rlc = (0x800000 | rlc_sn).to_bytes(3)
    pdcp = (0x800000 | pdcp_sn).to_bytes(3)
    return air(FIRST, rlc + pdcp + bytes([0x80 | qfi]) + payload, AM18_UP)

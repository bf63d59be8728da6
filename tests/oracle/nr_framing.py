"""Pcap files, Wireshark's UDP framings for MAC-NR, RLC-NR and PDCP-NR, and one tshark run that returns fields."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

HEURISTICS = [word for layer in ("mac", "rlc", "pdcp") for word in ("--enable-heuristic", f"{layer}_nr_udp")]
FRAMING_PORT = 9999
GTPU_PORT = 2152


def _checksum(octets: bytes) -> int:
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def in_udp(payload: bytes, port: int = FRAMING_PORT) -> bytes:
    """An Ethernet frame 10.0.0.1 > 10.0.0.2 around a UDP payload; the UDP checksum is left out."""
    udp = struct.pack("!HHHH", port, port, 8 + len(payload), 0) + payload
    ip = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    )
    ip = ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:]
    return bytes.fromhex("0200000000020200000000010800") + ip + udp


def mac_nr(pdu: bytes, direction: int, ue: int = 1) -> bytes:
    """radioType FDD, rntiType C-RNTI; tags RNTI, UEId, HARQ id."""
    return b"mac-nr" + bytes([1, direction, 3, 2]) + struct.pack("!HBH", 0x4601, 3, ue) + bytes([6, 0, 1]) + pdu


def rlc_nr(pdu: bytes, mode: str, sn_bits: int, direction: int, ue: int) -> bytes:
    code = {"tm": 1, "um": 2, "am": 4}[mode]
    return b"rlc-nr" + bytes([code, sn_bits, 2, direction, 3]) + struct.pack("!H", ue) + bytes([4, 5, 5, 1, 1]) + pdu


def pdcp_nr(
    pdu: bytes, sn_bits: int, direction: int, ue: int, sdap: int, bearer_id: int = 1, mac_i: bool = False
) -> bytes:
    """User plane; `sdap` is the bit mask of tag 0x10 (1 UL, 2 DL), `mac_i` says that one follows the data."""
    tags = bytes([2, 2, sn_bits, 3, direction, 4, 1, 5, bearer_id, 6]) + struct.pack("!H", ue)
    tags += (b"\x0f" if mac_i else b"") + (bytes([0x10, sdap]) if sdap else b"")
    return b"pdcp-nr" + tags + b"\x01" + pdu


def write_pcap(path: Path, frames: list[bytes]) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            seconds, microseconds = divmod(number * 1000, 1_000_000)
            file.write(struct.pack("<IIII", 1_700_000_000 + seconds, microseconds, len(frame), len(frame)) + frame)


def dissect(path: Path, frames: list[bytes], fields: list[str], options: list[str]) -> list[dict[str, str]]:
    """Fields of every frame in one tshark run; several values of a field are joined with commas, as tshark does."""
    write_pcap(path, frames)
    command = ["tshark", "-n", "-r", str(path), *options, "-T", "fields", "-E", "separator=|", "-E", "occurrence=a"]
    command += ["-E", "aggregator=,"] + [word for field in fields for word in ("-e", field)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    complaints = [line for line in run.stderr.splitlines() if line and "Running as user" not in line]
    assert run.returncode == 0 and not complaints, complaints
    rows = [dict(zip(fields, line.split("|"), strict=True)) for line in run.stdout.splitlines()]
    assert len(rows) == len(frames)
    return rows

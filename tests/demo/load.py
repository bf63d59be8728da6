"""Generated load: one downlink G-PDU for each of 65,536 bearers, in a seeded random order, as a pcap that DPDK's pcap
driver replays without end.

Usage: python3 load.py CONFIG PCAP
"""

from __future__ import annotations

import ipaddress
import random
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

FRAME_BYTES = 128
SHARDS, INDEX_BITS = 256, 18  # src/ran/bearer_config.h: TEID = instance (6) | shard (8) | index (18)
SEED = 20240229
GTP_PORT = 2152


@dataclass(frozen=True)
class Target:
    """What the packets are addressed to; from the configuration of the gNB that will receive them."""

    instance: int
    bearers: int
    gnb: str
    upf: str
    qfi: int


def target(config: Path) -> Target:
    tree = yaml.safe_load(config.read_text())
    group = tree["bearers"][0]
    return Target(tree.get("instance", 1), group["count"], tree["n3"][0]["ipv4"], group["upf"], group.get("qfi", 9))


def teids(to: Target) -> list[int]:
    """Every shard's first bearers, in random order: the identities that the gNB gives out when it spreads a group."""
    per_shard, rest = divmod(to.bearers, SHARDS)
    if rest:
        raise ValueError(f"{to.bearers} bearers are not spread evenly over {SHARDS} shards")
    found = [to.instance << 26 | shard << INDEX_BITS | index for shard in range(SHARDS) for index in range(per_shard)]
    random.Random(SEED).shuffle(found)
    return found


def _sum16(data: bytes) -> int:
    return sum(struct.unpack(f"!{len(data) // 2}H", data))


def _fold(total: int) -> int:
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frames(to: Target) -> list[bytes]:
    """Frames of 128 octets with right checksums; only the TEID and what follows from it differ."""
    source, destination = ipaddress.IPv4Address(to.upf).packed, ipaddress.IPv4Address(to.gnb).packed
    inner_size = FRAME_BYTES - 14 - 20 - 8 - 16
    inner_payload = bytes(range(inner_size - 28))
    inner_udp = struct.pack("!HHHH", 40001, 40002, inner_size - 20, 0) + inner_payload
    inner_ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, inner_size, 1, 0, 64, 17, 0, b"\x0a\xc8\0\1", b"\x0a\x2d\0\2")
    inner = inner_ip[:10] + struct.pack("!H", _fold(_sum16(inner_ip))) + inner_ip[12:] + inner_udp
    gtp_size = 8 + len(inner)  # what follows the eight octets that every GTP-U header has
    gtp_tail = bytes([0, 0, 0, 0x85, 1, 0x00, to.qfi, 0]) + inner
    udp_size = 16 + gtp_size
    udp_head = struct.pack("!HHH", GTP_PORT, GTP_PORT, udp_size)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + udp_size, 0, 0, 64, 17, 0, source, destination)
    ip = ip[:10] + struct.pack("!H", _fold(_sum16(ip))) + ip[12:]
    ethernet = b"\x02pcap\x00" + b"\x02\0\0\0\0\x02" + b"\x08\0"
    gtp_head = struct.pack("!BBH", 0x34, 255, gtp_size)
    constant = _sum16(source + destination) + 17 + udp_size + _sum16(udp_head) + _sum16(gtp_head) + _sum16(gtp_tail)
    made = []
    for teid in teids(to):
        check = _fold(constant + (teid >> 16) + (teid & 0xFFFF)) or 0xFFFF
        made.append(
            b"".join((ethernet, ip, udp_head, struct.pack("!H", check), gtp_head, struct.pack("!I", teid), gtp_tail))
        )
    assert all(len(frame) == FRAME_BYTES for frame in made)
    return made


def write(config: Path, path: Path) -> int:
    """Writes the pcap and returns how many packets it holds."""
    made = frames(target(config))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(made):
            out.write(struct.pack("<IIII", 1700000000, number, FRAME_BYTES, FRAME_BYTES) + frame)
    return len(made)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(write(Path(sys.argv[1]), Path(sys.argv[2])), "packets")

"""A running `splitplane guard` under a flood, without namespaces: DPDK replays SYNs of many addresses without end."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path

from instance import Instance
from paths import ROOT
from processes import Processes

sys.path[:0] = [str(ROOT / "tests" / "e2e")]

import pcap  # noqa: E402

SERVER = "10.70.0.2"
PORT = 8000
SOURCES = 512


def _checksum(octets: bytes) -> int:
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def syn(source: int, port: int = PORT) -> bytes:
    """A SYN of the client 192.0.2.`source`, or of 10.`source`.x.y for larger numbers."""
    client = bytes([172, 16 + (source >> 16 & 15), source >> 8 & 255, source & 255])
    server = bytes(map(int, SERVER.split(".")))
    tcp = struct.pack("!HHIIBBHHH", 40000, port, 1000 + source, 0, 0x50, 2, 64240, 0, 0)
    pseudo = client + server + struct.pack("!HH", 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", _checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0) + client + server
    ip = ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:]
    return bytes.fromhex("020000000002020000000001") + b"\x08\x00" + ip + tcp


class LiveGuard:
    """`splitplane guard` whose client side replays SYNs; what it sends to either side is swallowed."""

    def __init__(self, folder: Path, processes: Processes, metrics_port: int, **keys):
        self.processes, self.metrics_port = processes, metrics_port
        self.prefix = f"sp-live-{os.getpid()}-{folder.name[-12:]}"
        self.config = folder / "guard.yaml"
        flood = folder / "syns.pcap"
        pcap.write(flood, [syn(source) for source in range(SOURCES)])
        tree = {
            "file_prefix": self.prefix,
            "memory": {"megabytes": 96, "mbufs": 4095, "hugepages": "never"},
            "metrics": {"listen": f"127.0.0.1:{metrics_port}"},
            "ports": {
                "outside": {"device": f"net_pcap0,rx_pcap={flood},infinite_rx=1"},
                "inside": {"device": "net_null0,no-rx=1"},
            },
            "guard": {
                "client": "outside",
                "server": "inside",
                "policy": "yield",
                "sources": {"entries": 4096},
                "flows": {"entries": 4096},
                "servers": [
                    {"name": "web", "address": SERVER, "ports": PORT, "mode": "proxy", "hold_seconds": 1},
                    {"name": "rest", "address": "10.70.0.0/24", "mode": "observe"},
                ],
                **keys,
            },
        }
        self.config.write_text(json.dumps(tree, indent=2) + "\n")
        self.instance: Instance | None = None

    def start(self) -> Instance:
        self.instance = Instance(self.processes, "guard", "guard", self.config)
        return self.instance

    def stop(self) -> int:
        assert self.instance is not None
        return self.instance.stop()

    def call(self, method: str, **params) -> dict:
        assert self.instance is not None
        return self.instance.control.call(method, **params)

    def server(self, name: str) -> dict:
        return next(row for row in self.call("guard.show")["servers"] if row["name"] == name)

"""The pair of processes of tests/power with a guard as the device: SYNs of 64 K sources over vhost, and its answers
come back to the generator's sink. Its other port leads nowhere."""

from __future__ import annotations

import ipaddress
import random
import struct
from pathlib import Path

from pair import DEVICE_CORE, MEMORY, Measured, Pair, Sent
from segments import SYN, option_octets, write

SERVER, PORT = "10.77.0.2", 80
SOURCES = 1 << 16
ETHERNET, SNAP, PCAP = 1, 65535, 0xA1B2C3D4
MOST_PER_SECOND = 1_000_000_000


class FloodedPair(Pair):
    """A guard in `mode`, always armed."""

    command = "guard"

    def __init__(self, folder: Path, name: str, mode: str, policy: object = "busy", slow_clock: float = 1):
        super().__init__(folder, name, policy)
        self.mode, self.slow_clock = mode, slow_clock

    def device_tree(self) -> dict:
        server = {"name": "web", "address": SERVER, "ports": PORT, "mode": self.mode, "arm": "always"}
        section = {
            "client": "p",
            "server": "q",
            "core": DEVICE_CORE,
            "policy": self.policy,
            "replies_per_second": MOST_PER_SECOND,
            "servers": [server],
        }
        if self.slow_clock != 1:
            section["slow_clock"] = self.slow_clock
        return {
            "file_prefix": f"sp-dev-{self.name}",
            "memory": MEMORY,
            "ports": {
                "p": {"device": f"net_vhost0,iface={self.socket},queues=1"},
                "q": {"device": "net_null0,no-rx=1"},
            },
            "guard": section,
        }

    def syns(self) -> Path:
        """The capture that is sent again and again."""
        path = self.folder / "syns.pcap"
        if not path.exists():
            write_syns(path)
        return path

    def flooded(self, rate: int, seconds: float, arrivals: object = "poisson", seed: int = 1) -> tuple[Sent, Measured]:
        gen = {"replay": str(self.syns()), "rate": rate, "arrivals": arrivals, "seed": seed}
        return self._watched(gen, seconds, stamped=False)

    def unwatched_flood(self, rate: int, seconds: float, seed: int = 1) -> Sent:
        """No look at the device meanwhile: for what is lost."""
        gen = {"replay": str(self.syns()), "rate": rate, "arrivals": "constant", "seed": seed}
        return self._results(*self._start("gen", gen, "--duration", str(seconds)), stamped=False)


def write_syns(path: Path, count: int = SOURCES, seed: int = 1) -> None:
    """SYNs as Linux sends them, each from another address; all have one time, so that a replay needs a rate."""
    chance = random.Random(seed)
    options = option_octets(mss=1460, scale=7, sack=True, stamps=(1, 0))
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", PCAP, 2, 4, 0, 0, SNAP, ETHERNET))
        for number in range(count):
            source = str(ipaddress.IPv4Address((45 << 24) + number * 251 % (1 << 24)))
            ports = (1024 + chance.getrandbits(15), SERVER, PORT)
            frame = write(source, *ports, SYN, sequence=chance.getrandbits(32), options=options)
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)

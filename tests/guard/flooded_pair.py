"""The pair of processes of tests/power with a guard as the device: SYNs of 64 K sources over vhost, and its answers
come back to the generator's sink. Its other port leads to a sink that is stopped: nothing comes from there, and
the guard can sleep on it as on the first."""

from __future__ import annotations

import ipaddress
import os
import random
import signal
import struct
from pathlib import Path

from pair import DEVICE_CORE, RING, Measured, Pair, Sent
from paths import splitplane
from processes import wait_until
from segments import SYN, option_octets, write

SERVER, PORT = "10.77.0.2", 80
SOURCES = 1 << 16
ETHERNET, SNAP, PCAP = 1, 65535, 0xA1B2C3D4
MEMORY = {"hugepages": "never", "megabytes": 160, "mbufs": 16383}
MOST_PER_SECOND = 1_000_000_000


class FloodedPair(Pair):
    """A guard in `mode`, always armed."""

    command = "guard"

    def __init__(self, folder: Path, name: str, mode: str, policy: object = "busy", slow_clock: float = 1):
        super().__init__(folder, name, policy)
        self.mode, self.slow_clock = mode, slow_clock

    def __enter__(self) -> FloodedPair:
        super().__enter__()
        tree = self.traffic_tree(None)
        tree["file_prefix"] = f"sp-far-{self.name}"
        tree["ports"] = {"p": {"device": f"net_virtio_user0,path={self.socket}-q,queue_size={RING}"}}
        words = [splitplane(), "sink", self._write("far", tree), "--duration", "3600"]
        self.far = self.processes.start("far", words)
        wait_until("the guard's ports", self._up, processes=[self.far, self.device.process])
        os.kill(self.far.child.pid, signal.SIGSTOP)
        return self

    def __exit__(self, *_) -> None:
        os.kill(self.far.child.pid, signal.SIGCONT)
        super().__exit__()

    def _up(self) -> bool:
        return any(port["name"] == "q" and port["link_up"] for port in self.device.control.stats()["ports"])

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
                "q": {"device": f"net_vhost1,iface={self.socket}-q,queues=1"},
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

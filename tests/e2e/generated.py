"""`splitplane gen` towards a gNB or a card over memif, and `splitplane sink` over a capture of what came out."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import configs
from paths import splitplane
from processes import PATIENCE, Processes

MEMORY = {"hugepages": "never", "megabytes": 64, "mbufs": 8191}
QFI = 9


def memif(role: str, socket: Path, number: int = 0) -> str:
    return f"net_memif{number},id=0,role={role},socket={socket},socket-abstract=no"


def to_bearers(bearers: list[dict]) -> list[dict]:
    """A flow to each of these bearers, as `bearer.list` gives them."""
    return [{"id": b["id"], "upf": b["upf"], "qfi": QFI, "ue_ipv4": b["ue_ipv4"]} for b in bearers]


class Generator:
    """Runs until it is stopped."""

    def __init__(
        self, processes: Processes, folder: Path, name: str, socket: Path, flows: list[dict], rate: int, gnb_ipv4: str
    ):
        tree = {
            "file_prefix": configs.prefix(name),
            "memory": MEMORY,
            "ports": {"p": {"device": memif("client", socket)}},
            "gen": {
                "port": "p",
                "core": (os.cpu_count() or 1) - 1,
                "rate": rate,
                "arrivals": "poisson",
                "sizes": 80,
                "gnb_ipv4": gnb_ipv4,
                "bearers": flows,
            },
        }
        self.results = folder / f"{name}.json"
        self.results.unlink(missing_ok=True)
        file = configs.write(folder, name, tree)
        self.process = processes.start(name, [splitplane(), "gen", file, "--json", self.results])

    def stop(self) -> dict:
        self.process.signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        return json.loads(self.results.read_text())["gen"]


def sink(processes: Processes, folder: Path, name: str, capture: Path, flows: int) -> dict:
    """What the sink says of the capture."""
    tree = {
        "file_prefix": configs.prefix(name),
        "memory": MEMORY,
        "ports": {"p": {"device": f"net_pcap0,rx_pcap={capture}"}},
        "sink": {"port": "p", "core": (os.cpu_count() or 1) - 1, "flows": flows, "idle_s": 1},
    }
    file, results = configs.write(folder, name, tree), folder / f"{name}.json"
    results.unlink(missing_ok=True)
    processes.start(name, [splitplane(), "sink", file, "--json", results]).wait(PATIENCE)
    return json.loads(results.read_text())["sink"]

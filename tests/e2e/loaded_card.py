"""A generator, a card and its host, without acknowledgements: what the card sends is counted, or kept in a file."""

from __future__ import annotations

import os
import time
from pathlib import Path

import configs
from card import wait_for_card
from generated import Generator, memif, sink, to_bearers
from instance import Instance
from processes import Processes

RATE = int(os.environ.get("SPLITPLANE_MOVES_RATE", "50000"))
BEARERS = 16
UPF = "10.100.0.2"


class LoadedCard:
    """A generator, the card and the host, without acknowledgements: there is no UE on the air. Without `captures` the
    card's air port takes frames and forgets them. `trees`: the bearers, instead of so many on the card; `of_host` and
    `of_card`: more keys of the host's file, and of the card's section."""

    def __init__(
        self,
        folder: Path,
        processes: Processes,
        socket: Path,
        *,
        bearers: int = BEARERS,
        captures: bool = True,
        trees: list[dict] | None = None,
        of_host: dict | None = None,
        of_card: dict | None = None,
    ):
        self.folder, self.processes, self.socket = folder, processes, socket
        name = f"ml{os.getpid() % 1000}"
        self.capture = folder / "air.pcap"
        self.capture.unlink(missing_ok=True)
        self.count = bearers
        trees = trees or [
            configs.bearer(n, upf=UPF, shard=n, rlc=("am18", "am12")[n % 2], pdcp_sn=(18, 12)[n // 2 % 2], card="card0")
            for n in range(1, bearers + 1)
        ]
        host = configs.behind_a_card(name, trees) | {"journal": str(folder / "journal")}
        host |= {"memory": {"megabytes": 400, "mbufs": 32767}} | (of_host or {})
        host["workers"]["w0"]["features"] = "mat"
        del host["ports"]["vf-copies"], host["workers"]["copies"], host["cards"]["card0"]["copies"]
        host["cards"]["card0"]["vfs"] = ["vf-n3", "vf-air"]
        nic = configs.nic(name, features="mat")
        del nic["ports"]["vf-copies"]
        nic["card"] |= {"vfs": ["vf-n3", "vf-air"]} | (of_card or {})
        nic["ports"]["n3"] = {"device": memif("server", socket), "mtu": configs.LINK_MTU}
        air = f"net_pcap0,tx_pcap={self.capture}" if captures else "net_null0"
        nic["ports"]["air"] = {"device": air, "mtu": configs.LINK_MTU}
        self.gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", host))
        self.card = Instance(processes, "nic", "card", configs.write(folder, "nic", nic))
        wait_for_card(self.gnb, self.card)

    moves_seen: tuple[int, int] | None = None  # how many had moved at first, and in which period

    def ids(self) -> list[int]:
        return [configs.identity(n) for n in range(1, self.count + 1)]

    def start_generator(self, rate: int = RATE, flows: list[dict] | None = None):
        """To each bearer in turn, or to these."""
        flows = flows or to_bearers(self.gnb.control.bearers())
        self.gen = Generator(self.processes, self.folder, "gen-moves", self.socket, flows, rate, "10.100.0.1")

    def stop_generator(self) -> dict:
        return self.gen.stop()

    def sent(self) -> tuple[set[int], dict[int, int]]:
        """The bearers that live on the card, and what was sent of each bearer since the start."""
        bearers = self.gnb.control.bearers()
        of = {b["id"]: b["downlink"]["transmitted"] for b in bearers}
        return {b["id"] for b in bearers if b.get("card")}, of

    def share(self, seconds: float) -> float:
        """Of the packets that are sent meanwhile: how many were of bearers on the card. None of them moves."""
        _, before = self.sent()
        time.sleep(seconds)
        on_card, after = self.sent()
        grown = {bearer: after[bearer] - before[bearer] for bearer in after}
        return sum(grown[bearer] for bearer in on_card) / max(sum(grown.values()), 1)

    def settled(self) -> bool:
        """Nothing has moved for three periods since `moves_seen` was set to None."""
        row = self.gnb.control.call("place.show")["moves"]
        moved = row["to_card"] + row["to_host"]
        if self.moves_seen is None or moved != self.moves_seen[0]:
            self.moves_seen = moved, row["decisions"]
        return row["decisions"] >= self.moves_seen[1] + 3

    def sink(self, flows: int = 0) -> dict:
        return sink(self.processes, self.folder, "sink-moves", self.capture, flows or self.count)

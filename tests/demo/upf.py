"""The UPF of the demo: upf-peer in the core namespace, its tunnels, routes to the UEs, and what it counted."""

from __future__ import annotations

import ipaddress
import json
import signal
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from namespaces import N3Link, Network, interface_exists
from paths import upf_peer
from processes import Process, Processes, run, wait_until

SERVER_IPV4 = "10.200.0.1"  # where the servers behind the UPF listen
SERVER_IPV6 = "fd00:200::1"


@dataclass(frozen=True)
class Flow:
    """A QoS flow of a tunnel: packets from and to this port of the servers. Its downlink has RQI."""

    port: int
    qfi: int


@dataclass(frozen=True)
class Tunnel:
    """One entry of the peer's mapping file."""

    dl_teid: int
    ul_teid: int
    gnb: str
    upf: str
    qfi: int
    ue_ipv4: str = ""
    ue_ipv6: str = ""
    flows: tuple[Flow, ...] = ()


def tunnels_of(bearers: list[dict], links: tuple[N3Link, ...]) -> list[Tunnel]:
    """The tunnels of a gNB's bearers: the link is the one whose UPF address the bearer names."""
    gnb = {link.upf_ipv4: link.gnb_ipv4 for link in links} | {link.upf_ipv6: link.gnb_ipv6 for link in links}
    return [
        Tunnel(
            bearer.get("dl_teid", bearer["id"]),
            bearer["ul_teid"],
            gnb[bearer["upf"]],
            bearer["upf"],
            bearer["qfi"],
            bearer.get("ue_ipv4", ""),
            bearer.get("ue_ipv6", ""),
        )
        for bearer in bearers
    ]


def prefixes(addresses: Iterable[str]) -> list[str]:
    """The fewest routes that reach these addresses and none between them."""
    found = [ipaddress.ip_network(address) for address in addresses if address]
    return [
        str(net)
        for version in (4, 6)
        for net in ipaddress.collapse_addresses(net for net in found if net.version == version)
    ]


class Upf:
    def __init__(
        self,
        network: Network,
        processes: Processes,
        folder: Path,
        tunnels: list[Tunnel],
        mtu: int = 1500,
        recovery: int = 0,
    ):
        self.network, self.processes, self.mtu = network, processes, mtu
        self.mapping, self.stats_file = folder / "tunnels.json", folder / "upf-stats.json"
        self.stats_file.unlink(missing_ok=True)
        self.routes: set[str] = set()
        self._write(tunnels)
        own = [address for link in network.n3 for address in (link.upf_ipv4, link.upf_ipv6)]
        files = ["-tunnels", self.mapping, "-stats", self.stats_file]
        self.process: Process = processes.start(
            "upf",
            [upf_peer(), "-n3", ",".join(own), *files, "-echo", "500ms", "-recovery", recovery],
            network.core,
        )
        wait_until(
            "the TUN device of the UPF", lambda: interface_exists(network.core, "upf0"), processes=[self.process]
        )
        ip = ["ip", "-n", network.core]
        run([*ip, "addr", "add", f"{SERVER_IPV4}/32", "dev", "upf0"])
        run([*ip, "addr", "add", f"{SERVER_IPV6}/128", "dev", "upf0", "nodad"])
        run([*ip, "link", "set", "upf0", "mtu", mtu, "txqueuelen", "4000", "up"])
        self._route(tunnels)

    def _write(self, tunnels: list[Tunnel]):
        self.mapping.write_text(json.dumps([asdict(tunnel) for tunnel in tunnels]))

    def _route(self, tunnels: list[Tunnel]):
        for prefix in prefixes([address for tunnel in tunnels for address in (tunnel.ue_ipv4, tunnel.ue_ipv6)]):
            if prefix not in self.routes:
                self.routes.add(prefix)
                run(["ip", "-n", self.network.core, "route", "replace", prefix, "dev", "upf0"])

    def reload(self, tunnels: list[Tunnel]):
        """Replaces the tunnels while it runs; those that are gone get an End Marker."""
        self._write(tunnels)
        self._route(tunnels)
        before = self.process.log.read_text().count("reload")
        self.process.signal(signal.SIGHUP)
        wait_until(
            "the UPF to reload its tunnels",
            lambda: self.process.log.read_text().count("reload") > before,
            processes=[self.process],
        )

    def probe(self):
        """Sends each gNB extension headers that it knows and that it does not know."""
        self.process.signal(signal.SIGUSR2)

    def stats(self) -> dict:
        """Its counters now, or the last ones when it has ended."""
        if self.process.poll() is None:
            self.stats_file.unlink(missing_ok=True)
            self.process.signal(signal.SIGUSR1)
            wait_until("the UPF's statistics", self.stats_file.exists, processes=[self.process])
        return json.loads(self.stats_file.read_text())

    def stop(self) -> dict:
        self.processes.stop(self.process)
        return json.loads(self.stats_file.read_text())

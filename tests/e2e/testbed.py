"""A whole path in namespaces: UPF peer and servers, the gNB under test, one UE side per air link."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import configs
from checks import Checks, check_balance, check_bearers, check_ports, check_upf, check_workers
from instance import Instance
from namespaces import AirLink, N3Link, Network
from processes import PATIENCE, Processes, run, wait_until
from traffic import Web
from ue import configure_ue, tun_name
from upf import SERVER_IPV4, SERVER_IPV6, Tunnel, Upf, tunnels_of


class Testbed:
    """Everything started on entry and removed on exit. `config` is the gNB's; bearers of shard >= `split` belong to the
    second UE when there are two air links."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    def __init__(
        self,
        folder: Path,
        name: str,
        config: dict,
        n3: tuple[N3Link, ...] = (N3Link(),),
        air: tuple[AirLink, ...] = (AirLink(),),
        split: int = 256,
    ):
        self.folder, self.name, self.tree, self.split = folder, name, config, split
        self.network = Network(name, n3, air)
        self.processes = Processes(folder)
        self.stack = ExitStack()

    def __enter__(self) -> Testbed:
        with self.stack:
            self.stack.enter_context(self.network)
            self.prepare_network()
            self.stack.callback(self.processes.stop_all)
            config = configs.write(self.folder, "gnb", self.tree)
            self.gnb = Instance(self.processes, "gnb", "run", config, self.network.gnb)
            self.put_in_front()
            self.ues = [self._ue(number, link) for number, link in enumerate(self.network.air)]
            self.upf = Upf(self.network, self.processes, self.folder, self.tunnels())
            self.web = Web(self.network, self.processes, self.folder)
            wait_until(
                "the gNB to answer Echo Requests on all its addresses",
                self._echoed,
                processes=[self.upf.process, self.gnb.process, *[ue.process for ue in self.ues]],
            )
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def prepare_network(self):
        """What stands on the wires, for tests that have something there."""

    def put_in_front(self):
        """What stands between the wires and the gNB, for tests that have something there."""

    def ue_tree(self, tree: dict) -> dict:
        """The configuration of a UE side, for tests that want another."""
        return tree

    def _ue(self, number: int, link: AirLink) -> Instance:
        tree = self.ue_tree(configs.ue(f"{self.name}-ue{number}", self.name, link, f"splitue{number}"))
        ue = Instance(
            self.processes, f"ue{number}", "ue", configs.write(self.folder, f"ue{number}", tree), self.network.ue
        )
        configure_ue(self.network, ue, [b for b in self.bearers() if (b["shard"] >= self.split) == (number > 0)])
        if number > 0:  # two ways to the servers: the source address decides
            self._route_by_source(number, tun_name(ue.config))
        return ue

    def _route_by_source(self, number: int, tun: str):
        ip = ["ip", "-n", self.network.ue]
        for family, server, bits in (("-4", SERVER_IPV4, 32), ("-6", SERVER_IPV6, 128)):
            other = "splitue0"
            run([*ip, family, "route", "replace", f"{server}/{bits}", "dev", other])
            run([*ip, family, "route", "replace", f"{server}/{bits}", "dev", tun, "table", str(100 + number)])
            for bearer in self.bearers():
                address = bearer.get("ue_ipv4" if family == "-4" else "ue_ipv6")
                if address and bearer["shard"] >= self.split:
                    run([*ip, family, "rule", "add", "from", address, "lookup", str(100 + number)])

    def _echoed(self) -> bool:
        peers = self.upf.stats()["peers"]
        return bool(peers) and all(peer["echo_received"] for peer in peers.values())

    def wait_for_neighbours(self):
        """Until the gNB knows the MAC address of every UPF: before, uplink packets are dropped (`peer_unresolved`)."""
        upfs = {bearer["upf"] for bearer in self.bearers()}
        wait_until("the gNB to know the MAC address of every UPF", lambda: upfs <= self._resolved())

    def wait_for_the_last_packets(self):
        """Until what is on its way has arrived: the bearers' counters stand still and say the same as the UPF's."""
        last = None

        def still() -> bool:
            nonlocal last
            before, last = last, [(bearer["downlink"], bearer["uplink"]) for bearer in self.bearers()]
            upf = self.upf.stats()["totals"]
            down = sum(down["received"] for down, _ in last)
            up = sum(up["transmitted"] for _, up in last)
            return before == last and (upf["dl_packets"], upf["ul_packets"]) == (down, up)

        wait_until("the last packets to arrive", still)

    def _resolved(self) -> set[str]:
        return {peer["name"] for peer in self.gnb.control.call("peer.list")["peers"] if peer["mac"]}

    def bearers(self) -> list[dict]:
        return self.gnb.control.bearers()

    def tunnels(self) -> list[Tunnel]:
        return tunnels_of(self.bearers(), self.network.n3)

    def ping(self, ue_address: str, count: int = 10, interval: float = 0.02, wait_s: int = 10) -> int:
        """Echo requests from a UE to the server; returns how many were answered, the last within `wait_s`."""
        server = SERVER_IPV6 if ":" in ue_address else SERVER_IPV4
        done = run(
            ["ping", "-q", "-n", "-I", ue_address, "-c", count, "-i", interval, "-W", wait_s, server],
            netns=self.network.ue,
            check=False,
            timeout=count * interval + PATIENCE,
        )
        line = next((line for line in done.stdout.splitlines() if "transmitted" in line), "")
        assert line, done.stderr
        return int(line.split(",")[1].split()[0])

    def assert_accounted(self) -> dict[str, dict[str, int]]:
        """What was received went somewhere, everywhere, and the UPF found nothing wrong; returns the sums."""
        checks = Checks()
        sums = check_bearers(checks, "gNB", self.bearers())
        for instance in (self.gnb, *self.ues):
            check_workers(checks, instance.process.name, instance.control.stats())
        check_upf(checks, self.upf.stats())
        assert_passed(checks)
        return sums

    def finish(self) -> dict:
        """Ends UE sides and gNB, and demands that their last counters add up, per port too; returns the gNB's."""
        checks = Checks()
        last = {f"UE {number}": ue.finish() for number, ue in enumerate(self.ues)} | {"gNB": self.gnb.finish()}
        for who, stats in last.items():
            check_balance(checks, who, stats)
            check_ports(checks, who, stats)
        assert_passed(checks)
        return last["gNB"]


def assert_passed(checks: Checks):
    assert checks.passed, "\n".join(f"{c.name}: {c.measured}" for c in checks.done if not c.passed)

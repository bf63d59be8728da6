"""The bed of the guard's tests: clients, whatever stands in the middle, and a server, in network namespaces.

client                        guard                         server
  cl0 10.77.0.1/24      ---- out0 (no kernel addresses) in0 ---- sv0 10.77.0.2/24
      fd00:77::1/64                                              fd00:77::2/64
  and 10.78.0.0/16, fd00:78::/32: every address of them is the client's, so each connection may come from a new one

With `narrow_client` or `narrow_server` there is one more namespace behind that end, over a link of a smaller MTU; the
end is its router, which says so by ICMP.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from namespaces import N3Link, quiet, remove_stale, require_root
from processes import Process, Processes, run, undisturbed, wait_until
from tagger import Tagger

HERE = Path(__file__).resolve().parent
CLIENT_IPV4, SERVER_IPV4 = "10.77.0.1", "10.77.0.2"
CLIENT_IPV6, SERVER_IPV6 = "fd00:77::1", "fd00:77::2"
CROWD_IPV4, CROWD_IPV6 = "10.78.0.0/16", "fd00:78::/32"
FAR_CLIENT_IPV4, FAR_SERVER_IPV4 = "10.76.0.2", "10.79.0.2"
WEB_PORT, BANNER_PORT, CLOSED_PORT, IPERF_PORT = 8080, 2525, 81, 5201
TRAFFIC_CORE, GUARD_CORE = 0, 1
BACKLOG = 4096  # as Linux has it; the kernel lets SYNs have three quarters of it while it makes no cookies
SMALL_BACKLOG = 256
MTU = 1500


def crowd_ipv4(number: int) -> str:
    """An address of the client that nothing else uses; number from 0."""
    return f"10.78.{1 + number // 250}.{1 + number % 250}"


def crowd_ipv6(number: int) -> str:
    """The same, each in a /64 of its own."""
    return f"fd00:78:{1 + number:x}::1"


@dataclass
class Bed:
    """Namespaces and the server, from entry to exit. The middle is not the bed's: see middles.py."""

    folder: Path
    suffix: str = ""
    vlan: int = 0  # of what is on the wires to the guard
    narrow_client: int = 0  # MTU of a link behind the client; 0: none
    narrow_server: int = 0
    backlog: int = BACKLOG
    server_cookies: bool = False  # the kernel's own, of the server
    client: str = field(init=False)
    guard: str = field(init=False)
    server: str = field(init=False)
    far_client: str = field(init=False)
    far_server: str = field(init=False)

    def __post_init__(self):
        tag = f"{os.getpid()}{'-' + self.suffix if self.suffix else ''}"
        self.client, self.guard = f"sp-client-{tag}", f"sp-guard-{tag}"
        self.server, self.far_client = f"sp-server-{tag}", f"sp-farclient-{tag}"
        self.far_server = f"sp-farserver-{tag}"
        self.namespaces = [self.client, self.guard, self.server]
        self.namespaces += [self.far_client] if self.narrow_client else []
        self.namespaces += [self.far_server] if self.narrow_server else []
        self.folder.mkdir(parents=True, exist_ok=True)
        self.processes = Processes(self.folder)
        self.stack = ExitStack()
        self.client_wire, self.server_wire = ("wire", "wire") if self.vlan else ("cl0", "sv0")

    def __enter__(self) -> Bed:
        require_root()
        remove_stale()
        with self.stack:
            self.stack.callback(self._remove)
            for name in self.namespaces:
                run(["ip", "netns", "add", name])
                run(["ip", "-n", name, "link", "set", "lo", "up"])
            self._join(self.client, "cl0", "out0")
            self._join(self.server, "sv0", "in0")
            self._end(self.client, "cl0", CLIENT_IPV4, CLIENT_IPV6)
            self._end(self.server, "sv0", SERVER_IPV4, SERVER_IPV6)
            self.neighbors()
            self.sysctl(self.client, "net.ipv6.ip_nonlocal_bind", 1)  # a local route is not enough for IPv6
            for crowd in (CROWD_IPV4, CROWD_IPV6):
                run(["ip", "-n", self.client, "route", "add", "local", crowd, "dev", "lo"])
            # Answers to whatever a flood says it comes from go where the flood came from.
            run(["ip", "-n", self.server, "route", "add", "default", "via", CLIENT_IPV4])
            run(["ip", "-n", self.server, "-6", "route", "add", "default", "via", CLIENT_IPV6])
            self.sysctl(self.server, "net.ipv4.tcp_syncookies", 1 if self.server_cookies else 0)
            self.sysctl(self.server, "net.ipv4.tcp_max_syn_backlog", self.backlog)
            self.sysctl(self.server, "net.core.somaxconn", self.backlog)
            if self.narrow_client:
                self._behind(self.client, self.far_client, "10.76.0", self.narrow_client)
                run(["ip", "-n", self.server, "route", "add", "10.76.0.0/24", "via", CLIENT_IPV4])
            if self.narrow_server:
                self._behind(self.server, self.far_server, "10.79.0", self.narrow_server)
                run(["ip", "-n", self.client, "route", "add", "10.79.0.0/24", "via", SERVER_IPV4])
            self.stack.callback(self.processes.stop_all)
            self.web = self.serve(self.server, SERVER_IPV4, SERVER_IPV6)
            if self.narrow_server:
                self.serve(self.far_server, FAR_SERVER_IPV4)
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        with undisturbed():
            self.stack.close()

    def _remove(self):
        for name in self.namespaces:
            run(["ip", "netns", "del", name], check=False)

    def _join(self, end: str, ends_name: str, guards_name: str):
        names = ["ip", "link", "add", ends_name, "netns", end, "type", "veth"]
        run([*names, "peer", "name", guards_name, "netns", self.guard])
        quiet(self.guard, guards_name)
        for name, interface in ((end, ends_name), (self.guard, guards_name)):
            plain(name, interface)
            run(["ip", "-n", name, "link", "set", interface, "up"])

    def _end(self, name: str, interface: str, ipv4: str, ipv6: str):
        self.sysctl(name, "net.ipv4.conf.all.rp_filter", 0)
        self.sysctl(name, "net.ipv4.conf.default.rp_filter", 0)
        run(["ip", "-n", name, "addr", "add", f"{ipv4}/24", "dev", interface])
        run(["ip", "-n", name, "addr", "add", f"{ipv6}/64", "dev", interface, "nodad"])
        if self.vlan:
            end = SimpleNamespace(core=name)
            link = N3Link(upf_interface=interface, upf_ipv4=ipv4, upf_ipv6=ipv6)
            self.stack.enter_context(Tagger(end, link, self.vlan))
            for each in (interface, "plain", "wire"):
                run(["ip", "-n", name, "link", "set", each, "mtu", MTU])

    def _behind(self, router: str, host: str, net: str, mtu: int):
        """A host at .2 behind `router`, which is .1; only the router's end of the link is narrow, so that the host
        announces the usual MSS and the router has to say what does not fit."""
        run(["ip", "link", "add", "far0", "netns", router, "type", "veth", "peer", "name", "eth0", "netns", host])
        for name, link, address in ((router, "far0", f"{net}.1/24"), (host, "eth0", f"{net}.2/24")):
            plain(name, link)
            run(["ip", "-n", name, "addr", "add", address, "dev", link])
            run(["ip", "-n", name, "link", "set", link, "up"])
        run(["ip", "-n", router, "link", "set", "far0", "mtu", mtu])
        run(["ip", "-n", host, "route", "add", "default", "via", f"{net}.1"])
        self.sysctl(router, "net.ipv4.ip_forward", 1)

    def mac(self, netns: str, interface: str) -> str:
        return run(["cat", f"/sys/class/net/{interface}/address"], netns=netns).stdout.strip()

    def neighbors(self, of_server: str = "", of_client: str = ""):
        """The MAC address that each end has for the other, not to be asked for: a flood must not decide about ARP."""
        of_server = of_server or self.mac(self.server, "sv0")
        of_client = of_client or self.mac(self.client, "cl0")
        for name, interface, addresses, mac in (
            (self.client, "cl0", (SERVER_IPV4, SERVER_IPV6), of_server),
            (self.server, "sv0", (CLIENT_IPV4, CLIENT_IPV6), of_client),
        ):
            for address in addresses:
                run(
                    ["ip", "-n", name, "neigh", "replace", address, "lladdr", mac, "dev", interface, "nud", "permanent"]
                )

    def sysctl(self, netns: str, name: str, value: object) -> None:
        run(["sysctl", "-qw", f"{name}={value}"], netns=netns)

    def serve(self, netns: str, *addresses: str) -> Process:
        words = [sys.executable, HERE / "web_server.py", "--backlog", self.backlog, "--web", WEB_PORT]
        server = self.processes.start(f"web-{netns}", [*words, "--banner", BANNER_PORT, *addresses], netns)

        def listening() -> bool:
            return len(run(["ss", "-Hltn"], netns=netns).stdout.splitlines()) >= 2 * len(addresses)

        wait_until("the web server", listening, processes=[server])
        return server

    def fresh_server(self) -> None:
        """The server anew: what an earlier flood left half open is gone with its socket."""
        self.processes.stop(self.web)
        self.web = self.serve(self.server, SERVER_IPV4, SERVER_IPV6)

    def half_open(self) -> int:
        """Connections that the server has in SYN-RECEIVED."""
        return len(run(["ss", "-Htn", "state", "syn-recv"], netns=self.server).stdout.splitlines())

    def counters(self, netns: str = "") -> dict[str, int]:
        """Of the kernel's TCP, the server's unless said: /proc/net/netstat and /proc/net/snmp."""
        text = run(["cat", "/proc/net/netstat", "/proc/net/snmp"], netns=netns or self.server).stdout
        lines, found = text.splitlines(), {}
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            found |= dict(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
        return found

    def received(self, netns: str, interface: str) -> int:
        path = f"/sys/class/net/{interface}/statistics/rx_packets"
        return int(run(["cat", path], netns=netns).stdout)


def plain(netns: str, interface: str):
    """No offload: what passes has the checksums and the sizes of a wire."""
    off = ["tx", "rx", "gso", "gro", "tso", "txvlan", "rxvlan"]
    words = ["ethtool", "-K", interface, *(word for name in off for word in (name, "off"))]
    run(words, netns=netns, check=False)  # a feature that is fixed says so, and the others are set

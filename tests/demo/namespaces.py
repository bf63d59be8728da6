"""The network of the demo: namespaces core, gNB and UE, joined by veth pairs.

core                         gNB                            UE
  upf-n3 10.100.0.2/24  ---- gnb-n3   (no kernel addresses:
         fd00:100::2/64               splitplane answers)
                             gnb-air ---------------------- ue-air
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from dataclasses import dataclass, field

from processes import Failure, run, undisturbed, wait_until

LINK_MTU = 1600  # an inner packet of 1500 octets and up to 64 octets of outer IPv6, UDP and GTP-U
STALE = re.compile(r"^sp-(?:core|gnb|ue|client|guard|server|farclient|farserver)-(\d+)(?:-\w+)?$")


@dataclass(frozen=True)
class N3Link:
    """One N3 veth pair: interface names and addresses of both ends. Those of the gNB are not the kernel's."""

    upf_interface: str = "upf-n3"
    gnb_interface: str = "gnb-n3"
    upf_ipv4: str = "10.100.0.2"
    upf_ipv6: str = "fd00:100::2"
    gnb_ipv4: str = "10.100.0.1"
    gnb_ipv6: str = "fd00:100::1"


@dataclass(frozen=True)
class AirLink:
    """The wire between gNB and UE side. With addresses of the kernel it carries nFAPI; without, frames of the air."""

    gnb_interface: str = "gnb-air"
    ue_interface: str = "ue-air"
    gnb_ipv4: str = ""
    ue_ipv4: str = ""


@dataclass
class Network:
    """Creates the namespaces on entry and removes them on exit; `suffix` tells several of one process apart."""

    suffix: str = ""
    n3: tuple[N3Link, ...] = (N3Link(),)
    air: tuple[AirLink, ...] = (AirLink(),)
    core: str = field(init=False)
    gnb: str = field(init=False)
    ue: str = field(init=False)

    def __post_init__(self):
        tag = f"{os.getpid()}{'-' + self.suffix if self.suffix else ''}"
        self.core, self.gnb, self.ue = f"sp-core-{tag}", f"sp-gnb-{tag}", f"sp-ue-{tag}"

    def __enter__(self) -> Network:
        require_root()
        remove_stale()
        try:
            for name in (self.core, self.gnb, self.ue):
                run(["ip", "netns", "add", name])
                run(["ip", "-n", name, "link", "set", "lo", "up"])
            for link in self.n3:
                self._join(self.core, link.upf_interface, self.gnb, link.gnb_interface)
                run(["ip", "-n", self.core, "addr", "add", f"{link.upf_ipv4}/24", "dev", link.upf_interface])
                run(["ip", "-n", self.core, "addr", "add", f"{link.upf_ipv6}/64", "dev", link.upf_interface, "nodad"])
            for link in self.air:
                self._join(self.gnb, link.gnb_interface, self.ue, link.ue_interface)
                quiet(self.ue, link.ue_interface)
                for name, interface, address in (
                    (self.gnb, link.gnb_interface, link.gnb_ipv4),
                    (self.ue, link.ue_interface, link.ue_ipv4),
                ):
                    if address:
                        run(["ip", "-n", name, "addr", "add", f"{address}/24", "dev", interface])
            for name in (self.core, self.ue):  # the TUN devices carry IPv6 without duplicate address detection
                run(["sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad"], netns=name)
        except BaseException:
            self.remove()
            raise
        return self

    def _join(self, left: str, left_name: str, right: str, right_name: str):
        run(["ip", "link", "add", left_name, "netns", left, "type", "veth", "peer", "name", right_name, "netns", right])
        for name, interface in ((left, left_name), (right, right_name)):
            if name == self.gnb:
                quiet(name, interface)
            # a veth leaves checksums and segmentation to a card that is not there: without this, what DPDK and
            # dumpcap see has no UDP checksum
            run(
                ["ethtool", "-K", interface, "tx", "off", "rx", "off", "gso", "off", "gro", "off", "tso", "off"],
                netns=name,
            )
            run(["ip", "-n", name, "link", "set", interface, "mtu", LINK_MTU, "up"])

    def remove(self):
        with undisturbed():
            for name in (self.core, self.gnb, self.ue):
                run(["ip", "netns", "del", name], check=False)

    def __exit__(self, *_):
        self.remove()


def quiet(netns: str, interface: str):
    """No IPv6 of the kernel on this interface: no router solicitations, no address of its own."""
    run(["sh", "-c", f"echo 1 > /proc/sys/net/ipv6/conf/{interface}/disable_ipv6"], netns=netns)


def interface_exists(netns: str, interface: str) -> bool:
    return run(["ip", "-n", netns, "link", "show", interface], check=False).returncode == 0


def interface_counters(netns: str, interface: str) -> dict[str, int]:
    """Packets and octets of an interface, as the kernel counts them."""
    base = f"/sys/class/net/{interface}/statistics"
    names = ("rx_packets", "rx_bytes", "rx_dropped", "tx_packets", "tx_bytes", "tx_dropped")
    text = run(["sh", "-c", " ".join(["cat"] + [f"{base}/{name}" for name in names])], netns=netns).stdout.split()
    return dict(zip(names, map(int, text), strict=True))


def require_root():
    if os.geteuid() != 0:
        raise Failure("network namespaces need root: run this as root or with sudo")


def remove_stale():
    """Removes namespaces of earlier runs whose process is gone, and what still runs in them."""
    for line in run(["ip", "netns", "list"], check=False).stdout.splitlines():
        name = line.split()[0] if line.split() else ""
        match = STALE.match(name)
        if match and not os.path.exists(f"/proc/{match.group(1)}"):
            print(
                f"removing {name} and what runs in it: left by process {match.group(1)}, which is gone", file=sys.stderr
            )
            for pid in inside(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            wait_until(f"the processes in {name} to end", lambda name=name: not inside(name))
            run(["ip", "netns", "del", name], check=False)


def inside(netns: str) -> list[int]:
    """The processes in a namespace."""
    return [int(pid) for pid in run(["ip", "netns", "pids", netns], check=False).stdout.split()]

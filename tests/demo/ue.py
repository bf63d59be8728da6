"""The UE side's kernel: addresses and routes of the TUN device that `splitplane ue` made."""

from __future__ import annotations

from pathlib import Path

import yaml
from instance import Instance
from namespaces import Network, interface_exists
from processes import run, wait_until
from upf import SERVER_IPV4, SERVER_IPV6

MTU = 1500


def tun_name(config: Path) -> str:
    return yaml.safe_load(config.read_text())["ue"].get("tun", "splitue0")


def configure_ue(network: Network, ue: Instance, bearers: list[dict], mtu: int = MTU):
    """Gives the TUN device the addresses of the bearers' UEs and a route to the servers behind the UPF."""
    tun, ip = tun_name(ue.config), ["ip", "-n", network.ue]
    wait_until(f"the UE's TUN device {tun}", lambda: interface_exists(network.ue, tun), processes=[ue.process])
    run([*ip, "link", "set", tun, "mtu", mtu, "txqueuelen", "4000", "up"])
    for bearer in bearers:
        add_address(network, tun, bearer)
    run([*ip, "route", "replace", f"{SERVER_IPV4}/32", "dev", tun])
    run([*ip, "-6", "route", "replace", f"{SERVER_IPV6}/128", "dev", tun])


def add_address(network: Network, tun: str, bearer: dict):
    for address, bits, option in ((bearer.get("ue_ipv4"), 32, []), (bearer.get("ue_ipv6"), 128, ["nodad"])):
        if address:
            run(["ip", "-n", network.ue, "addr", "replace", f"{address}/{bits}", "dev", tun, *option])

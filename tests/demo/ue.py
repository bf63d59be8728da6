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
    """Waits for the addresses that the UE side gives its TUN device, and adds routes to the servers behind the UPF."""
    tun, ip = tun_name(ue.config), ["ip", "-n", network.ue]
    wait_until(f"the UE's TUN device {tun}", lambda: interface_exists(network.ue, tun), processes=[ue.process])
    run([*ip, "link", "set", tun, "mtu", mtu, "txqueuelen", "4000", "up"])
    for bearer in bearers:
        wait_until(f"{tun} to have the addresses of {bearer['id']}", lambda b=bearer: has_addresses(network, tun, b))
    run([*ip, "route", "replace", f"{SERVER_IPV4}/32", "dev", tun])
    run([*ip, "-6", "route", "replace", f"{SERVER_IPV6}/128", "dev", tun])


def has_addresses(network: Network, tun: str, bearer: dict) -> bool:
    """All addresses of the bearer's UE are on the TUN device."""
    there = run(["ip", "-n", network.ue, "-o", "addr", "show", "dev", tun]).stdout
    return all(f" {bearer[key]}/" in there for key in ("ue_ipv4", "ue_ipv6") if bearer.get(key))

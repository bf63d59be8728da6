"""Configurations of the end-to-end tests, written as JSON, which is YAML."""

from __future__ import annotations

import json
import os
from pathlib import Path

from namespaces import LINK_MTU, AirLink, N3Link

INSTANCE = 1
SMALL_MEMORY = {"megabytes": 288, "mbufs": 16383}


def prefix(name: str) -> str:
    """A DPDK file prefix that no other run has."""
    return f"sp-e2e-{os.getpid()}-{name}"


def control(name: str) -> str:
    return f"/run/splitplane/{prefix(name)}.sock"


def write(folder: Path, name: str, tree: dict) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(tree, indent=2) + "\n")
    return path


def port_entry(device: str, queues: int, argument: str) -> dict:
    """A device with so many queue pairs, which its driver calls `argument`."""
    pairs = f",{argument}={queues}" if queues > 1 else ""
    return {"device": device + pairs, "mtu": LINK_MTU, "rx_queues": queues, "tx_queues": queues}


def af_packet(interface: str, number: int, queues: int = 1, more: str = "") -> dict:
    device = f"net_af_packet{number},iface={interface},framecnt=8192,framesz=2048,blocksz=65536{more}"
    return port_entry(device, queues, "qpairs")


def n3_entry(port: str, link: N3Link) -> dict:
    return {"port": port, "ipv4": link.gnb_ipv4, "ipv6": link.gnb_ipv6}


def gnb(name: str, **sections) -> dict:
    """A gNB's configuration: what all have in common, and the sections of this one."""
    return {"file_prefix": prefix(name), "instance": INSTANCE, "max_bearers": 65536, "memory": SMALL_MEMORY, **sections}


def one_worker(name: str, bearers: list[dict], link: N3Link | None = None, air: AirLink | None = None) -> dict:
    link, air = link or N3Link(), air or AirLink()
    return gnb(
        name,
        ports={"n3": af_packet(link.gnb_interface, 0), "air": af_packet(air.gnb_interface, 1)},
        n3=[n3_entry("n3", link)],
        air=[{"port": "air"}],
        workers={"w0": {"core": 0, "function": "gnb", "n3": "n3", "air": "air", "policy": "yield"}},
        bearers=bearers,
    )


def vhost(name: str, port: str, number: int, queues: int = 1) -> dict:
    """A card's VFs at their host's end."""
    return port_entry(f"eth_vhost{number},iface={vf_socket(name, port)}", queues, "queues")


def virtio_user(name: str, port: str, number: int, queues: int = 1) -> dict:
    """The same VFs at the card's end."""
    return port_entry(f"net_virtio_user{number},path={vf_socket(name, port)},queue_size=1024", queues, "queues")


def vf_socket(name: str, port: str) -> str:
    return f"/run/splitplane/{prefix(name)}-{port}.sock"


VFS = ("vf-n3", "vf-air", "vf-copies")


def behind_a_card(name: str, bearers: list[dict], queues: int = 1, **sections) -> dict:
    """A gNB whose wires are a card's: a worker for each pair of queues, and one for the copies."""
    counts = {"vf-n3": queues, "vf-air": queues, "vf-copies": 1}
    share = 256 // queues
    workers = {
        f"w{i}": {
            "core": 0,
            "function": "gnb",
            "n3": "vf-n3",
            "air": "vf-air",
            "queue": i,
            "shards": f"{i * share}-{(i + 1) * share - 1}",
            "policy": "yield",
        }
        for i in range(queues)
    }
    workers["copies"] = {"core": 0, "function": "copies", "rx": "vf-copies", "policy": "yield"}
    tree = gnb(
        name,
        ports={port: vhost(name, port, number, counts[port]) for number, port in enumerate(VFS)},
        n3=[n3_entry("vf-n3", N3Link())],
        air=[{"port": "vf-air"}],
        workers=workers,
        cards={
            "card0": {
                "control": control(f"{name}-nic"),
                "vfs": list(VFS),
                "n3": "vf-n3",
                "air": "vf-air",
                "copies": "vf-copies",
            }
        },
        bearers=bearers,
    )
    for key, value in sections.items():
        tree[key] = {**tree[key], **value} if isinstance(value, dict) else [*tree[key], *value]
    return tree | {"memory": {"megabytes": 480, "mbufs": 16383}}


def nic(name: str, queues: int = 1, **card) -> dict:
    """The card itself, in front of that gNB."""
    counts = {"vf-n3": queues, "vf-air": queues, "vf-copies": 1}
    link, air = N3Link(), AirLink()
    ports = {"n3": af_packet(link.gnb_interface, 0), "air": af_packet(air.gnb_interface, 1)}
    ports |= {port: virtio_user(name, port, number, counts[port]) for number, port in enumerate(VFS)}
    card = card if "cores" in card else {"core": 1, **card}
    return {
        "file_prefix": prefix(f"{name}-nic"),
        "memory": {"megabytes": 288, "mbufs": 16383},
        "ports": ports,
        "card": {"program": "gnb", "policy": "yield", "n3": "n3", "air": "air", "vfs": list(VFS), **card},
    }


def ue(name: str, gnb_name: str, air: AirLink | None = None, tun: str = "splitue0") -> dict:
    air = air or AirLink()
    return {
        "file_prefix": prefix(name),
        "memory": SMALL_MEMORY,
        # with qdisc_bypass=0 a capture on this interface sees what is sent too
        "ports": {"air": af_packet(air.ue_interface, 0, more=",qdisc_bypass=0")},
        "ue": {"port": "air", "tun": tun, "gnb_control": control(gnb_name), "core": 1, "policy": "yield"},
    }


def bearer(number: int, *, upf: str, shard: int | None = None, **more) -> dict:
    """The bearer of UE `number`: its addresses and uplink TEID follow from the number."""
    tree = {
        "upf": upf,
        "ul_teid": 0x1000 + number,
        "ue_ipv4": f"10.45.0.{number + 1}",
        "ue_ipv6": f"fd00:45::{number + 1:x}",
        **more,
    }
    return tree | ({"shard": shard} if shard is not None else {})


def identity(shard: int, index: int = 0) -> int:
    """The identity (downlink TEID) of the index-th bearer of a shard: src/ran/bearer_config.h."""
    return INSTANCE << 26 | shard << 18 | index

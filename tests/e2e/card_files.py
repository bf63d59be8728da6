"""Configurations of cards, and of hosts behind them, for the end-to-end tests."""

from __future__ import annotations

from pathlib import Path

import configs
from namespaces import N3Link

N3 = N3Link()
# Two more veth pairs of the core are the host's side of two VFs, where a test plays the host.
VF_N3 = N3Link("host-n3", "vf-n3", "10.98.0.2", "fd00:98::2", "10.98.0.1", "fd00:98::1")
VF_AIR = N3Link("host-air", "vf-air", "10.99.0.2", "fd00:99::2", "10.99.0.1", "fd00:99::1")


def card_file(name: str, ports: dict, card: dict, **more) -> dict:
    card = {"core": 0, "policy": "yield", **card}
    return {"file_prefix": configs.prefix(name), "memory": configs.SMALL_MEMORY, "ports": ports, "card": card, **more}


def physical() -> dict:
    return {"n3": configs.af_packet(N3.gnb_interface, 0), "air": configs.af_packet("gnb-air", 1)}


def l2fwd(name: str, **more) -> dict:
    return card_file(name, physical(), {"program": "l2fwd", "n3": "n3", "air": "air"}, **more)


def wire_pair(name: str, vfs: int, socket_folder: Path) -> tuple[dict, dict]:
    """P4Wire on the card, and l2fwd on the host with a worker for each VF."""
    socket = socket_folder / "vf"
    queues = {"rx_queues": vfs, "tx_queues": vfs, "mtu": 1600}
    host = {
        "file_prefix": configs.prefix(f"{name}-host"),
        "memory": configs.SMALL_MEMORY,
        "ports": {"vfs": {"device": f"net_vhost0,iface={socket},queues={vfs}", **queues}},
        "workers": {
            f"w{i}": {"core": 1, "function": "l2fwd", "rx": "vfs", "tx": "vfs", "queue": i, "policy": "yield"}
            for i in range(vfs)
        },
    }
    ports = {
        "n3": configs.af_packet(N3.gnb_interface, 0),
        "vfs": {"device": f"net_virtio_user0,path={socket},queues={vfs}", **queues},
    }
    card = {"program": "p4wire", "n3": "n3", "vfs": ["vfs"], "wire": {"n3": "spread", "vfs": "n3"}}
    return host, card_file(f"{name}-nic", ports, card)


def gnb_card(name: str, **more) -> dict:
    ports = {
        **physical(),
        "vf-n3": configs.af_packet(VF_N3.gnb_interface, 2),
        "vf-air": configs.af_packet(VF_AIR.gnb_interface, 3),
    }
    card = {"program": "gnb", "features": "mat", "n3": "n3", "air": "air", "vfs": ["vf-n3", "vf-air"]}
    return card_file(name, ports, card, **more)

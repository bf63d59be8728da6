"""The gNB that the tests of the live view look at: 256 bearers, one worker, generated downlink load."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import load
from instance import Instance
from processes import Processes

BEARERS = 256
METRICS_BEARERS = 3


def free_port() -> int:
    """A TCP port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class LiveGnb:
    """`splitplane run` on a pcap that DPDK replays without end; `start` may be called again after `stop`."""

    def __init__(self, folder: Path, processes: Processes, metrics_port: int = 0, **more):
        self.processes, self.metrics_port = processes, metrics_port
        self.prefix = f"sp-live-{os.getpid()}-{folder.name[-12:]}"
        self.config = folder / "gnb.yaml"
        pcap = folder / "load.pcap"
        tree = {
            "file_prefix": self.prefix,
            "max_bearers": 1024,
            "memory": {"megabytes": 96, "mbufs": 8191, "hugepages": "never"},
            "ports": {
                "n3": {"device": f"net_pcap0,rx_pcap={pcap},infinite_rx=1"},
                "air": {"device": "net_null0,no-rx=1"},
            },
            "n3": [{"port": "n3", "ipv4": "10.100.0.1"}],
            "air": [{"port": "air"}],
            "workers": {"w0": {"function": "gnb", "core": 0, "n3": "n3", "air": "air", "policy": "yield"}},
            "bearers": [{"count": BEARERS, "upf": "10.100.0.2", "ul_teid": 0x1001, "ue_ipv4": "10.45.0.2"}],
            **more,
        }
        if metrics_port:
            tree["metrics"] = {"listen": f"127.0.0.1:{metrics_port}", "bearers": METRICS_BEARERS}
        self.config.write_text(json.dumps(tree, indent=2) + "\n")
        load.write(self.config, pcap)
        self.instance: Instance | None = None

    def start(self) -> Instance:
        self.instance = Instance(self.processes, "gnb", "run", self.config)
        return self.instance

    def stop(self) -> int:
        assert self.instance is not None
        return self.instance.stop()

    @property
    def socket(self) -> Path:
        assert self.instance is not None
        return self.instance.control.path

    def stats(self) -> dict:
        assert self.instance is not None
        return self.instance.control.stats()

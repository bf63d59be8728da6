"""Floods, always bounded in time: hping3 from random or real sources, and frames of our own where hping3 has no way
(IPv6, VLAN, anything that is written octet by octet)."""

from __future__ import annotations

import re
import signal
import time

from bed import SERVER_IPV4, TRAFFIC_CORE, WEB_PORT, Bed
from processes import Process

FLAGS = {
    "syn": ["-S"],
    "ack": ["-A"],
    "rst": ["-R"],
    "syn-ack": ["-S", "-A"],
    "fin": ["-F"],
    "none": [],
    "all": ["-S", "-A", "-F", "-R", "-P", "-U"],
}
LONGEST_S = 60


class Flood:
    """From construction until stop(), or until `seconds` are over. `pause_us` None: as fast as it can."""

    def __init__(
        self,
        bed: Bed,
        kind: str = "syn",
        *,
        seconds: float,
        pause_us: int | None = None,
        source: str = "",
        server: str = SERVER_IPV4,
        port: int = WEB_PORT,
        netns: str = "",
    ):
        self.bed = bed
        pace = ["--flood"] if pause_us is None else ["-i", f"u{pause_us}"]
        where = ["-a", source] if source else ["--rand-source"]
        bound = ["timeout", "--signal=INT", f"{min(seconds, LONGEST_S):g}"]
        words = [*bound, "taskset", "-c", TRAFFIC_CORE, "hping3", "-q", *FLAGS[kind], "-p", port, *where, *pace, server]
        self.begin = time.monotonic()
        self.process: Process = bed.processes.start(f"hping3-{kind}", words, netns or bed.client)

    def stop(self) -> int:
        """How many packets it sent."""
        self.process.signal(signal.SIGINT)
        self.process.wait()
        self.seconds = time.monotonic() - self.begin
        self.bed.processes.stop(self.process)
        said = re.search(r"(\d+) packets transmitted", self.process.log.read_text(errors="replace"))
        return int(said.group(1)) if said else 0

    def __enter__(self) -> Flood:
        return self

    def __exit__(self, *_):
        self.sent = self.stop()

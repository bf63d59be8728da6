"""Captures with dumpcap, bounded in packets and octets per packet so that they stay quick to open."""

from __future__ import annotations

import re
import time
from pathlib import Path

from processes import Process, Processes, wait_until


class Capture:
    def __init__(
        self, processes: Processes, netns: str, interface: str, path: Path, *, octets: int = 200, packets: int = 60000
    ):
        path.unlink(missing_ok=True)
        self.path, self.processes = path, processes
        self.process: Process = processes.start(
            f"dumpcap-{interface}",
            ["dumpcap", "-q", "-i", interface, "-w", path, "-s", octets, "-c", packets, "-B", "64"],
            netns,
        )
        wait_until(
            f"the capture on {interface}", lambda: "File:" in self.process.log.read_text(), processes=[self.process]
        )

    def stop(self) -> int:
        """Ends it and returns how many packets the kernel could not hand over."""
        time.sleep(0.3)  # what lies in the kernel's buffer is read first
        self.processes.stop(self.process)
        dropped = re.search(r"received/dropped on interface .*?: (\d+)/(\d+)", self.process.log.read_text())
        return int(dropped.group(2)) if dropped else 0

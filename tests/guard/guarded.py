"""`splitplane guard` in the middle of a bed: its configuration, its control socket, its death and return."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

import configs
from bed import (
    BANNER_PORT,
    CLOSED_PORT,
    FAR_SERVER_IPV4,
    GUARD_CORE,
    IPERF_PORT,
    SERVER_IPV4,
    SERVER_IPV6,
    WEB_PORT,
    Bed,
)
from instance import Instance
from processes import wait_until

SERVERS = {
    "web": {"address": SERVER_IPV4, "ports": WEB_PORT},
    "web6": {"address": SERVER_IPV6, "ports": WEB_PORT},
    "banner": {"address": SERVER_IPV4, "ports": BANNER_PORT},
    "iperf": {"address": SERVER_IPV4, "ports": IPERF_PORT},
    "far": {"address": FAR_SERVER_IPV4},
    "closed": {"address": SERVER_IPV4, "ports": CLOSED_PORT},  # where no process listens
}
# Small enough to arm and disarm within seconds.
QUICK = {"arm_syns_per_second": 500, "disarm_syns_per_second": 100, "hold_seconds": 1, "rearm_seconds": 1}
MEMORY = {"hugepages": "never", "megabytes": 160, "mbufs": 16383}


class Guard:
    """From entry to exit. `state`: tables and keys lie in a file, so that start() after kill() goes on with them."""

    name = "guard"

    def __init__(
        self,
        bed: Bed,
        mode: str = "auth",
        arm: str = "auto",
        *,
        policy: object = "yield",
        state: bool = False,
        servers: dict[str, dict] | None = None,
        each: dict | None = None,
        **settings: object,
    ):
        self.bed, self.state = bed, state
        self.label = f"guard-{bed.suffix or 'g'}"
        self.state_file = Path(f"/run/splitplane/{configs.prefix(self.label)}.state")
        section = {"client": "out", "server": "in", "core": GUARD_CORE, "policy": policy, **settings}
        if state:
            section["state_file"] = str(self.state_file)
        common = {"mode": mode, "arm": arm, **(each or {})}
        section["servers"] = [{"name": name, **keys, **common} for name, keys in (servers or SERVERS).items()]
        self.tree = {
            "file_prefix": configs.prefix(self.label),
            "memory": MEMORY,
            "ports": {"out": port("out0", 0), "in": port("in0", 1)},
            "guard": section,
        }
        self.names = list(servers or SERVERS)

    def __enter__(self) -> Guard:
        self.state_file.unlink(missing_ok=True)
        self.start()
        self.bed.neighbors()
        return self

    def __exit__(self, *_):
        self.instance.stop()
        self.state_file.unlink(missing_ok=True)

    def start(self) -> None:
        config = configs.write(self.bed.folder, self.label, self.tree)
        self.instance = Instance(self.bed.processes, self.label, "guard", config, self.bed.guard)
        self.control = self.instance.control
        self.pid = self.instance.process.child.pid

    def kill(self) -> None:
        """As a crash: kill -9."""
        self.instance.process.signal(signal.SIGKILL)
        self.instance.process.wait()
        self.bed.processes.stop(self.instance.process)

    def set(self, name: str = "", **changes: object) -> None:
        """Of one server, or of all."""
        for each in [name] if name else self.names:
            self.control.call("guard.set", name=each, **changes)

    def rotate(self) -> None:
        """New cookie keys."""
        self.control.call("guard.rotate")

    def show(self) -> dict:
        return self.control.call("guard.show")

    def servers(self) -> dict[str, dict]:
        """By name: counters, and whether it is armed."""
        return {row["name"]: row for row in self.show()["servers"]}

    def armed(self, name: str = "web") -> bool:
        return bool(self.servers()[name]["armed"])

    def wait_armed(self, wanted: bool, name: str = "web") -> float:
        """Seconds until it was so."""
        begin = time.monotonic()
        wait_until(
            f"server {name} to be {'armed' if wanted else 'idle'}",
            lambda: self.armed(name) == wanted,
            processes=[self.instance.process],
        )
        return time.monotonic() - begin

    def workers(self) -> list[dict]:
        return self.control.stats()["workers"]

    def outcomes(self) -> dict[str, Counter]:
        """Of all workers, what became of the packets from each side; an outcome that did not happen is 0."""
        return outcomes_of(self.workers())

    def alive(self) -> bool:
        return self.instance.process.poll() is None and self.control.process() == self.pid


def outcomes_of(workers: list[dict]) -> dict[str, Counter]:
    found = {side: Counter() for side in ("from_clients", "from_servers")}
    for worker in workers:
        for side, counts in found.items():
            counts.update(worker[side])
    return found


def port(interface: str, number: int) -> dict:
    device = f"net_af_packet{number},iface={interface},framecnt=8192,framesz=2048,blocksz=65536"
    return {"device": device}


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

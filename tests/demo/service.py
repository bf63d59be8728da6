"""The buffering service of the demo's gNB: started beside it, killed once, and what both say of it afterwards."""

from __future__ import annotations

import signal
from pathlib import Path

import yaml
from checks import Checks
from instance import Instance
from paths import splitplane
from processes import Processes, run, wait_until

HUGEPAGE_MB = 2


def free_hugepages_mb() -> int:
    pages = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
    return int(pages.read_text()) * HUGEPAGE_MB if pages.exists() else 0


def with_windows(say, config: Path, target: Path) -> Path:
    """The configuration itself; without hugepages, which two processes need to share memory, one with the windows in
    the gNB."""
    tree = yaml.safe_load(config.read_text())
    if free_hugepages_mb() >= tree["memory"]["megabytes"]:
        return config
    say("no hugepages: `splitplane baas` cannot share the gNB's memory, so its workers keep the windows (baas: inline)")
    for worker in tree["workers"].values():
        if worker.get("baas") == "process":
            worker["baas"] = "inline"
    del tree["baas"]
    target.write_text(yaml.safe_dump(tree, sort_keys=False))
    return target


class Service:
    def __init__(self, processes: Processes, gnb: Instance, netns: str):
        self.processes, self.gnb, self.netns, self.number = processes, gnb, netns, 0
        self.start()

    def start(self, through: tuple = ()):
        """Starts a service, `through` a program that becomes it, and waits until the gNB says that it serves."""
        self.number += 1
        words = [*through, splitplane(), "baas", self.gnb.config]
        self.process = self.processes.start(f"baas{self.number}", words, self.netns)
        wait_until("the buffering service to serve", self.serves, processes=[self.process, self.gnb.process])

    def serves(self) -> bool:
        row = self.gnb.control.call("baas.show")
        return row["state"] == "serves" and row["process"] == self.process.child.pid

    def kill(self):
        self.process.child.send_signal(signal.SIGKILL)
        self.process.child.wait()

    def kill_and_start(self):
        self.kill()
        self.start()

    def check(self, checks: Checks) -> str:
        """What `splitplane ctl baas` says, for the summary."""
        row = self.gnb.control.call("baas.show")
        worker = row["workers"][0]
        checks.add(
            "buffering service: killed once, another one serves, nothing is left behind",
            f"{row['begun']} begun, {row['ended']} ended, {worker['told']} copies told, {worker['told_again']} of them "
            f"again, {worker['held']} held",
            (row["state"], row["begun"], row["ended"], worker["held"]) == ("serves", 2, 1, 0),
        )
        return run([splitplane(), "ctl", "--config", self.gnb.config, "baas"]).stdout

"""A testbed whose gNB leaves its copies to `splitplane baas`, which can be killed and started again at any time."""

from __future__ import annotations

import signal
import time

import configs
from instance import Control, Instance
from paths import splitplane
from processes import wait_until
from rlc_bed import RlcBed


class BaasBed(RlcBed):
    def put_in_front(self):
        self.service_number = 0
        self.start_service()

    def start_service(self, through: tuple = ()):
        """Starts a service, `through` a program that becomes it, and waits until the gNB says that it serves."""
        self.service_number += 1
        self.service = self.processes.start(
            f"baas{self.service_number}",
            [*through, splitplane(), "baas", self.gnb.config],
            self.network.gnb,
        )
        wait_until("the buffering service to serve", self.serves, processes=[self.service, self.gnb.process])

    def serves(self) -> bool:
        row = self.gnb.control.call("baas.show")
        return row["state"] == "serves" and row["process"] == self.service.child.pid

    def kill_service(self):
        self.service.child.send_signal(signal.SIGKILL)
        self.service.child.wait()

    def loops(self) -> list[dict]:
        return [row["baas"] for row in Control(configs.control(f"{self.name}-baas")).stats()["workers"]]

    def restart_gnb(self, kill: bool) -> float:
        """Ends the gNB and starts it again; returns how long it took until the same service serves the new one."""
        if kill:
            self.gnb.process.child.send_signal(signal.SIGKILL)
            self.gnb.process.child.wait()
        else:
            self.gnb.stop()
        self.gnb = Instance(self.processes, "gnb", "run", self.gnb.config, self.network.gnb, fresh=False)
        up = time.monotonic()
        wait_until("the buffering service to serve the new gNB", self.serves, processes=[self.service])
        return time.monotonic() - up

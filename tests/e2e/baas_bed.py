"""A testbed whose gNB leaves its copies to `splitplane baas`, which can be killed and started again at any time."""

from __future__ import annotations

import signal
import socket
import time

import configs
from instance import Control, Instance
from processes import wait_until
from rlc_bed import RlcBed
from service import Service
from testbed import Testbed
from upf import SERVER_IPV4
from wire import socket_in


class BaasBed(RlcBed):
    def put_in_front(self):
        self.service = Service(self.processes, self.gnb, self.network.gnb)

    def start_service(self, through: tuple = ()):
        self.service.gnb = self.gnb  # another one may run meanwhile
        self.service.start(through)

    def serves(self) -> bool:
        return self.service.serves()

    def kill_service(self):
        self.service.kill()

    def loops(self) -> list[dict]:
        return [row["baas"] for row in Control(configs.control(f"{self.name}-baas")).stats()["workers"]]

    def kill_gnb(self):
        self.gnb.process.child.send_signal(signal.SIGKILL)
        self.gnb.process.child.wait()

    def start_gnb(self):
        self.gnb = Instance(self.processes, "gnb", "run", self.gnb.config, self.network.gnb, fresh=False)

    def restart_gnb(self, kill: bool) -> float:
        """Ends the gNB and starts it again; returns how long it took until the same service serves the new one."""
        if kill:
            self.kill_gnb()
        else:
            self.gnb.stop()
        self.start_gnb()
        up = time.monotonic()
        wait_until("the buffering service to serve the new gNB", self.serves, processes=[self.service.process])
        return time.monotonic() - up


def transfer(bed: Testbed, ue: str, name: str, size: int = 1_500_000):
    """A file to the UE and one from it, which arrive equal."""
    file = bed.web.make(name, size)
    down, up = bed.web.download(ue, file), bed.web.upload(ue, file)
    assert (down.equal, down.bytes, up.equal, up.bytes) == (True, size, True, size)


def flood(netns: str, target: str, count: int, octets: int = 100):
    """UDP packets from the core network to a UE, paced."""
    with socket_in(netns, socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind((SERVER_IPV4, 0))
        for number in range(count):
            sender.sendto(bytes(octets), (target, 9))
            if number % 50 == 49:
                time.sleep(0.002)
    time.sleep(0.3)

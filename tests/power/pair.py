"""Two processes: traffic (generator and sink on net_virtio_user) and the device under test (`splitplane run` with one
l2fwd worker on net_vhost), the pair of virtual devices that can be asked, armed and slept on like a NIC.

The device's worker has core 1; generator and sink share core 0. A full ring of the device loses packets, as a NIC's
would: the generator gives up what is refused.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from instance import Instance
from meter import Spent, first_of_all, spent, thread_of
from paths import splitplane
from processes import Failure, Process, Processes, run, wait_until

TRAFFIC_CORE, DEVICE_CORE = 0, 1
RING = 1024
WORKER, WORKER_THREAD = "w0", "rte-worker-1"
MEMORY = {"hugepages": "never", "megabytes": 96, "mbufs": 16383}
POLICIES = ("busy", "yield", "paper", "l3fwd", "budget")
WARM_S, AFTER_S = 0.15, 0.1  # of the traffic that is not measured, at its begin and end


@dataclass(frozen=True)
class Sent:
    """What became of the packets of one run of the generator; times in us from the intended send time."""

    offered: int  # to the device
    unsent: int  # due, but the generator had no time left: its own weakness
    refused: int  # the device's ring was full
    dropped: int  # taken by the device, and not seen again
    odd: int  # twice, out of order
    rate: float
    lateness_p99: float  # of the generator itself
    p50: float
    p99: float
    p99_9: float
    most: float

    @property
    def lost(self) -> int:
        return self.refused + self.dropped


@dataclass(frozen=True)
class Measured:
    """What the device did between two looks at it."""

    spent: Spent
    counters: dict[str, int]  # of the worker, grown in that time

    @property
    def cpu(self) -> float:
        """Percent of its core that the worker's thread used, interrupts on its idle core included."""
        return self.spent.share(self.spent.thread + self.spent.idle_irq)

    @property
    def process_cpu(self) -> float:
        return self.spent.share(self.spent.process)

    def per_second(self, counter: str) -> float:
        return self.counters.get(counter, 0) * 1e9 / self.spent.at


class Pair:
    """The device runs from entry to exit; each run of traffic is a process of its own."""

    command = "run"  # of the device

    def __init__(self, folder: Path, name: str, policy: object = "busy", **worker: object):
        self.folder, self.name = folder, f"{name}-{os.getpid()}"
        self.policy, self.worker = policy, worker
        self.stack = ExitStack()
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Pair:
        with self.stack:
            # A socket's path has little room, and a test's folder may lie deep.
            place = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="sp-")))
            self.socket = place / "vhost"
            self.processes = Processes(self.folder)
            self.stack.callback(self.processes.stop_all)
            self.config = self._write("device", self.device_tree())
            self.device = Instance(self.processes, "device", self.command, self.config)
            self.pid = self.device.process.child.pid
            self.worker_name = self.device.control.stats()["workers"][0]["name"]
            self.tid = thread_of(self.pid, WORKER_THREAD)
            if self.tid == 0:
                raise Failure(f"the device has no thread {WORKER_THREAD}")
            first_of_all(self.pid)
            first_of_all(os.getpid())  # who looks at two cores that poll needs a share of one
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self.stack.close()

    def device_tree(self) -> dict:
        return {
            "file_prefix": f"sp-dev-{self.name}",
            "memory": MEMORY,
            "ports": {"p": {"device": f"net_vhost0,iface={self.socket},queues=1"}},
            "workers": {
                WORKER: {
                    "function": "l2fwd",
                    "core": DEVICE_CORE,
                    "rx": "p",
                    "tx": "p",
                    "policy": self.policy,
                    **self.worker,
                }
            },
        }

    def traffic_tree(self, gen: dict | None) -> dict:
        tree = {
            "file_prefix": f"sp-gen-{self.name}",
            "memory": MEMORY,
            "ports": {"p": {"device": f"net_virtio_user0,path={self.socket},queue_size={RING}"}},
            "sink": {"port": "p", "core": TRAFFIC_CORE},
        }
        if gen is not None:
            tree["gen"] = {"port": "p", "core": TRAFFIC_CORE, "on_refusal": "give_up", **gen}
        return tree

    @staticmethod
    def _stamped(rate: int, seed: int, arrivals: object) -> dict:
        bearers = {"id": 0x04000000, "count": 16, "upf": "10.100.0.2", "qfi": 5, "ue_ipv4": "10.45.0.2"}
        return {
            "rate": rate,
            "arrivals": arrivals,
            "sizes": 128,
            "seed": seed,
            "gnb_ipv4": "10.100.0.1",
            "bearers": [bearers],
        }

    def use(self, policy: str) -> None:
        """Switches the running worker, to the policy's default settings."""
        run([splitplane(), "power", "set", self.config, self.worker_name, policy])

    def counters(self) -> dict[str, int]:
        """Of the worker: all that it counts, and its cycles as `busy`, `idle`, `asleep`."""
        worker = self.device.control.stats()["workers"][0]
        return {key: value for key, value in {**worker, **worker["cycles"]}.items() if type(value) is int}

    def measure(self, seconds: float) -> Measured:
        counted, before = self.counters(), spent(self.pid, self.tid, DEVICE_CORE)
        time.sleep(seconds)
        after, now = spent(self.pid, self.tid, DEVICE_CORE), self.counters()
        return Measured(after - before, {key: now[key] - counted.get(key, 0) for key in now})

    def traffic(
        self,
        rate: int,
        seconds: float,
        seed: int = 1,
        arrivals: object = "poisson",
        during: Callable[[Pair], None] | None = None,
        after_s: float = AFTER_S,
    ) -> tuple[Sent, Measured]:
        """`seconds` are measured; `during` is called after that, with traffic still flowing for `after_s`."""
        return self._watched(self._stamped(rate, seed, arrivals), seconds, during, after_s)

    def _watched(
        self,
        gen: dict,
        seconds: float,
        during: Callable[[Pair], None] | None = None,
        after_s: float = AFTER_S,
        stamped: bool = True,
    ) -> tuple[Sent, Measured]:
        whole = WARM_S + seconds + after_s
        before = self.counters()["received"]
        process, results = self._start("gen", gen, "--duration", str(whole))
        wait_until("the first packets", lambda: self.counters()["received"] > before, processes=[process])
        time.sleep(WARM_S)
        measured = self.measure(seconds)
        if during is not None:
            during(self)
            if process.poll() is not None:
                raise Failure(f"the traffic ended before what was to be done during it\n{process.tail()}")
        return self._results(process, results, stamped), measured

    def unwatched(self, rate: int, seconds: float, seed: int = 1, arrivals: object = "constant") -> Sent:
        """Traffic that nobody disturbs by looking at the device: for what is lost."""
        return self._results(*self._start("gen", self._stamped(rate, seed, arrivals), "--duration", str(seconds)))

    def replay(self, capture: Path, packets: int) -> Sent:
        """A capture once, in its own time. Its packets carry no stamps: no latency, nothing about order."""
        return self._results(*self._start("gen", {"replay": str(capture), "packets": packets}), stamped=False)

    def idle(self, seconds: float) -> Measured:
        """A peer is connected and sends nothing."""
        process, _ = self._start("sink", None)
        try:
            time.sleep(0.6)  # the sink has started, and the policy has settled
            if process.poll() is not None:
                raise Failure(f"the sink ended\n{process.tail()}")
            return self.measure(seconds)
        finally:
            self.processes.stop(process)

    def _start(self, command: str, gen: dict | None, *options: str) -> tuple[Process, Path]:
        results = self.folder / f"{command}.json"
        results.unlink(missing_ok=True)
        config = self._write(command, self.traffic_tree(gen))
        process = self.processes.start(command, [splitplane(), command, config, "--json", results, *options])
        first_of_all(process.child.pid)  # at once: its threads inherit it
        return process, results

    def _results(self, process: Process, results: Path, stamped: bool = True) -> Sent:
        try:
            code = process.wait()
        finally:
            self.processes.stop(process)
        if code != 0:
            raise Failure(f"the generator ended with exit code {code}\n{process.tail()}")
        found = json.loads(results.read_text())
        gen, sink = found["gen"], found["sink"]
        latency = sink["latency_ns"]
        return Sent(
            offered=gen["sent"] + gen["refused"],
            unsent=gen["unsent"],
            refused=gen["refused"],
            dropped=gen["sent"] - sink["unique" if stamped else "frames"],
            odd=sink["duplicates"] + sink["reordered"],
            rate=gen["rate"],
            lateness_p99=gen["lateness_ns"]["p99"] / 1e3,
            p50=latency["p50"] / 1e3,
            p99=latency["p99"] / 1e3,
            p99_9=latency["p99_9"] / 1e3,
            most=latency["max"] / 1e3,
        )

    def _write(self, name: str, tree: dict) -> Path:
        path = self.folder / f"{name}.yaml"
        path.write_text(json.dumps(tree, indent=1) + "\n")
        return path

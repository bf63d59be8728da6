"""Two workers that share a core while there is little load, and do not when there is more: judged by real TCP, and by
`splitplane sink` under generated load. SPLITPLANE_PARKS makes it long."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import configs
import pytest
from generated import Generator, memif, sink, to_bearers
from instance import Control, Instance
from paths import own, splitplane
from processes import Failure, Processes, run, wait_until
from service import Service
from silent_worker import silent_worker
from test_two_workers import AIRS, LINKS, by_address, by_dispatcher
from testbed import Testbed

PARKS = int(os.environ.get("SPLITPLANE_PARKS", "20"))
MEASURES = "SPLITPLANE_PARKS" in os.environ  # else only whether it happens
FILE_BYTES = 3_000_000
LOW, HIGH = 10_000, int(os.environ.get("SPLITPLANE_PARK_RATE", "300000"))  # packets a second
WORKERS = {"w0": ("10.100.0", 3), "w1": ("10.101.0", 130)}  # N3 network and shard
EACH = 8  # bearers of a worker


def hosts(control: Control) -> dict[str, str]:
    return {row["worker"]: row["host"] for row in control.call("place.show")["workers"]}


def states(control: Control) -> dict[str, str]:
    return {row["worker"]: row["state"] for row in control.call("place.show")["workers"]}


def park(control: Control, worker: str, on: str):
    """Again, if a worker gets no CPU time on a busy machine."""

    def is_parked() -> bool:
        try:
            control.call("place.park", worker=worker, on=on)
        except Failure as silent:
            assert "does not answer" in str(silent)
            return False
        return True

    wait_until(f"{worker} to be parked", is_parked)


def wake(control: Control, worker: str):
    """As park(). One that came too late for its answer is at home all the same."""

    def is_home() -> bool:
        try:
            control.call("place.wake", worker=worker)
        except Failure as refused:
            assert "does not answer" in str(refused) or "is not parked" in str(refused)
            return "is not parked" in str(refused)
        return True

    wait_until(f"{worker} to be at home", is_home)


class Parking:
    """Parks and wakes w1, or w0, again and again."""

    def __init__(self, path: str):
        self.control, self.stop, self.changes = Control(path), threading.Event(), 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        draw = random.Random(4)
        while not self.stop.is_set():
            worker, other = draw.sample(sorted(WORKERS), 2)
            park(self.control, worker, other)
            time.sleep(draw.random() * 0.03)
            wake(self.control, worker)
            time.sleep(draw.random() * 0.03)
            self.changes += 2

    def end(self) -> int:
        self.stop.set()
        self.thread.join()
        return self.changes


def with_service() -> dict:
    tree = by_address()
    for worker in tree["workers"].values():
        worker["baas"] = "process"
    for bearer in tree["bearers"]:
        bearer["rlc"] = "am18"
    return tree | {"baas": {"cores": [1]}}


@pytest.mark.parametrize(
    ("name", "tree", "links", "airs", "split"),
    [
        ("pa", by_address, LINKS, AIRS, 128),
        ("pd", lambda: by_dispatcher("pd"), LINKS[:1], AIRS[:1], 256),
        ("pb", with_service, LINKS, AIRS, 128),
    ],
    ids=["by_n3_address", "by_dispatcher", "with_the_service"],
)
def test_files_arrive_equal_while_workers_are_parked_and_woken(name, tree, links, airs, split):
    folder = own("e2e") / f"parked-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    made = tree() | {"file_prefix": configs.prefix(name)}
    with Testbed(folder, name, made, links, airs, split) as bed:
        if "baas" in made:
            Service(bed.processes, bed.gnb, bed.network.gnb)
        file = bed.web.make("file", FILE_BYTES)
        parking = Parking(bed.gnb.control.path)
        try:
            while parking.changes < PARKS and parking.thread.is_alive():
                for bearer in bed.bearers():
                    down, up = bed.web.download(bearer["ue_ipv4"], file), bed.web.upload(bearer["ue_ipv6"], file)
                    assert (down.equal, up.equal) == (True, True)
        finally:
            changes = parking.end()
        assert changes >= PARKS, "the thread that parks has ended"
        row = bed.gnb.control.call("place.show")["cores"]
        assert row["parked"] == row["woken"] == changes / 2
        park(bed.gnb.control, "w1", "w0")
        last: list[int] = []

        def sleeps() -> bool:
            last.append(next(w["cpu_cycles"] for w in bed.gnb.control.stats()["workers"] if w["name"] == "w1"))
            return len(last) > 5 and len(set(last[-6:])) == 1

        wait_until("the thread of w1 to sleep", sleeps)
        cpu = {w["name"]: w["cpu_cycles"] for w in bed.gnb.control.stats()["workers"]}
        assert bed.web.download(bed.bearers()[1]["ue_ipv4"], file).equal, "a bearer of the parked worker"
        after = {w["name"]: w for w in bed.gnb.control.stats()["workers"]}
        assert after["w1"]["host"] == "w0" and after["w1"]["cpu_cycles"] == cpu["w1"], "its own thread sleeps"
        assert after["w0"]["cpu_cycles"] > cpu["w0"]
        bed.assert_accounted()
        bed.finish()  # ends a gNB with a parked worker


class TwoWorkers:
    """Each with an N3 port to a generator and an air port that is a file."""

    def __init__(self, folder: Path, processes: Processes, sockets: Path):
        self.folder, self.processes = folder, processes
        self.sockets = {name: sockets / name for name in WORKERS}
        self.captures = {name: folder / f"air-{name}.pcap" for name in WORKERS}
        ports, n3, air, workers, bearers = {}, [], [], {}, []
        for core, (name, (network, shard)) in enumerate(WORKERS.items()):
            self.captures[name].unlink(missing_ok=True)
            ports[f"n3-{name}"] = {"device": memif("server", self.sockets[name], core), "mtu": configs.LINK_MTU}
            ports[f"air-{name}"] = {"device": f"net_pcap{core},tx_pcap={self.captures[name]}", "mtu": configs.LINK_MTU}
            n3.append({"port": f"n3-{name}", "ipv4": f"{network}.1"})
            air.append({"port": f"air-{name}"})
            half = {"shards": "0-127"} if core == 0 else {"shards": "128-255"}
            workers[name] = half | {
                "core": core % (os.cpu_count() or 1),
                "function": "gnb",
                "n3": f"n3-{name}",
                "air": f"air-{name}",
                "features": "mat",
                "policy": "yield",
            }
            bearers += [configs.bearer(1 + n + EACH * core, upf=f"{network}.2", shard=shard) for n in range(EACH)]
        memory = {"hugepages": "auto", "megabytes": 400, "mbufs": 32767}
        tree = configs.gnb("cons", ports=ports, n3=n3, air=air, workers=workers, bearers=bearers, memory=memory)
        self.gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", tree))
        self.sent = dict.fromkeys(WORKERS, 0)

    def generator(self, worker: str, rate: int) -> Generator:
        """One for each worker, since each numbers its flows from 0."""
        upf = f"{WORKERS[worker][0]}.2"
        bearers = [b for b in self.gnb.control.bearers() if b["upf"] == upf]
        return Generator(
            self.processes,
            self.folder,
            f"gen-{worker}",
            self.sockets[worker],
            to_bearers(bearers),
            rate,
            f"{WORKERS[worker][0]}.1",
        )

    def stop(self, worker: str, generator: Generator):
        self.sent[worker] += generator.stop()["sent"]

    def received(self, worker: str) -> int:
        return next(w["received"] for w in self.gnb.control.stats()["workers"] if w["name"] == worker)

    def busy(self, seconds: float) -> float:
        """Percent of one core that the packets of both workers take."""
        before = self.gnb.control.stats()
        begin = time.monotonic()
        time.sleep(seconds)
        after = self.gnb.control.stats()
        elapsed = (time.monotonic() - begin) * after["tsc_hz"]
        spent = [sum(w["cycles"]["busy"] for w in stats["workers"]) for stats in (before, after)]
        return 100 * (spent[1] - spent[0]) / elapsed

    def is_parked(self) -> bool:
        return any(hosts(self.gnb.control).values())


def test_cores_follow_the_load_and_nothing_is_lost(folder, processes, tmp_path_factory):
    bed = TwoWorkers(folder, processes, tmp_path_factory.mktemp("s"))
    control = bed.gnb.control
    steady = bed.generator("w0", LOW)
    wait_until("packets to pass", lambda: bed.received("w0") > 100)

    # What the machine needs for little load and for more, which bounds are between.
    more = bed.generator("w1", HIGH)
    wait_until("more packets to pass", lambda: bed.received("w1") > 1000)
    high = max(bed.busy(1.0) for _ in range(2))
    more.process.signal(signal.SIGSTOP)
    low = min(bed.busy(1.0) for _ in range(3))  # other programs only add to it
    assert high > 2 * low, (high, low)
    fill = max(round(low + (high - low) / 3), 1)
    bound = max(round(low + (high - low) / 2), fill + 1)
    calm = 0.5
    control.call(
        "place.set",
        consolidate=True,
        consolidate_fill=fill,
        consolidate_busy=bound,
        consolidate_calm_ms=int(1000 * calm),
    )
    begin = time.monotonic()
    wait_until("one core to sleep", bed.is_parked)
    first_park = time.monotonic() - begin

    before = bed.received("w1")
    more.process.signal(signal.SIGCONT)
    wait_until("more packets to pass", lambda: bed.received("w1") > before)
    begin = time.monotonic()
    wait_until("the core to be back", lambda: not bed.is_parked())
    react = time.monotonic() - begin
    time.sleep(1)
    assert not bed.is_parked(), "as long as the load lasts"
    bed.stop("w1", more)
    begin = time.monotonic()
    wait_until("one core to sleep again", bed.is_parked)
    again = time.monotonic() - begin

    # By hand, with load on both, and more often.
    control.call("place.set", consolidate=False)
    wait_until("all to be at home", lambda: not bed.is_parked())
    cores = control.call("place.show")["cores"]
    changes = PARKS
    for _ in range(changes):
        park(control, "w0", "w1")
        time.sleep(0.01)
        wake(control, "w0")
        time.sleep(0.01)
    bed.stop("w0", steady)
    wait_until("nothing to wait", lambda: all(w["held"] == 0 for w in control.stats()["workers"]))
    time.sleep(0.3)
    workers = control.stats()["workers"]
    longest = control.call("place.show")["cores"]["longest_us"]
    bed.gnb.finish()
    seen = {name: sink(processes, folder, f"sink-{name}", bed.captures[name], EACH) for name in WORKERS}
    bad = {key: sum(one[key] for one in seen.values()) for key in ("lost", "duplicates", "reordered", "too_old")}
    unique = sum(one["unique"] for one in seen.values())
    values = {
        "low_busy": low,
        "high_busy": high,
        "fill": fill,
        "bound": bound,
        "calm_s": calm,
        "first_park_s": first_park,
        "react_s": react,
        "again_s": again,
        "changes": 2 * changes + cores["parked"] + cores["woken"],
        "longest_us": longest,
        "sent": sum(bed.sent.values()),
        "unique": unique,
        **bad,
    }
    (folder / "figures.json").write_text(json.dumps(values))
    print(values)
    assert unique == sum(bed.sent.values())
    assert not any(bad.values()), bad
    assert all(w["balanced"] and not w["drops"] for w in workers)
    # Each stall of a generator that is longer than the calm parks once more.
    assert cores["parked"] == cores["woken"] >= 2
    if MEASURES:
        # The look is ten times a second; the rest is this shared machine.
        assert cores["parked"] == 2 and react < 2 and again < calm + 2


def test_a_guest_whose_host_hangs_is_stuck_until_the_host_goes_on(folder, processes, tmp_path_factory):
    bed = TwoWorkers(folder, processes, tmp_path_factory.mktemp("s"))
    control = bed.gnb.control
    steady = bed.generator("w1", LOW)
    wait_until("packets to pass", lambda: bed.received("w1") > 100)
    park(control, "w1", "w0")
    wait_until("it to be parked", lambda: states(control) == {"w0": "runs", "w1": "parked"})
    with silent_worker(bed.gnb.process, 0):
        wait_until("both to be stuck", lambda: states(control) == {"w0": "stuck", "w1": "stuck"}, 10)
        assert hosts(control) == {"w0": "", "w1": "w0"}
        with pytest.raises(Exception, match="worker w0 does not answer; it keeps the loop of w1"):
            control.call("place.wake", worker="w1")
    wait_until("its host to go on", lambda: states(control) == {"w0": "runs", "w1": "parked"}, 10)
    before = bed.received("w1")
    wait_until("packets to pass again", lambda: bed.received("w1") > before)
    wake(control, "w1")
    wait_until("both to run", lambda: states(control) == {"w0": "runs", "w1": "runs"})
    before = bed.received("w1")
    wait_until("packets to pass by its own core", lambda: bed.received("w1") > before)
    steady.stop()
    assert all(w["balanced"] for w in control.stats()["workers"])
    bed.gnb.finish()


def test_what_is_wrong_with_a_park_is_said_and_changes_nothing(folder, processes, tmp_path_factory):
    bed = TwoWorkers(folder, processes, tmp_path_factory.mktemp("s"))
    control = bed.gnb.control
    for worker, on, said in (
        ("w9", "w0", "worker: there is no 'w9'; allowed: w0, w1"),
        ("w1", "w9", "on: there is no 'w9'; allowed: w0, w1"),
        ("w1", "w1", "worker w1 cannot be its own host; allowed: another worker"),
    ):
        with pytest.raises(Exception, match=said):
            control.call("place.park", worker=worker, on=on)
    with pytest.raises(Exception, match="worker w1 is not parked"):
        control.call("place.wake", worker="w1")
    park(control, "w1", "w0")
    for worker, on, said in (
        ("w1", "w0", "worker w1 is parked already, on w0"),
        ("w0", "w1", "worker w1 is parked itself; allowed: w0, on whose core it is"),
    ):
        with pytest.raises(Exception, match=said):
            control.call("place.park", worker=worker, on=on)
    assert hosts(control) == {"w0": "", "w1": "w0"}
    control.call("place.set", consolidate=True, consolidate_calm_ms=3_600_000)
    with pytest.raises(Exception, match="cores follow the load") as refused:
        control.call("place.wake", worker="w1")
    advice = re.search("allowed: after `(.*)`", str(refused.value))[1].split()
    said = run([splitplane(), advice[0], "--config", bed.gnb.config, *advice[1:]]).stdout
    assert said == "consolidate is now false\n"
    wait_until("it to be at home", lambda: hosts(control) == {"w0": "", "w1": ""})
    with pytest.raises(Exception, match="consolidate_fill: 90 is not below consolidate_busy, 85"):
        control.call("place.set", consolidate_fill=90)
    bed.gnb.finish()

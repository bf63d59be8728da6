"""Bearers and their numbers survive `splitplane run`: killed under traffic no COUNT is seen twice on the air, what was
added comes back and what was released does not, and a disk that refuses stops numbering before it repeats.

SPLITPLANE_RUN_KILLS says how often the instance is killed under traffic (make accept: more)."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import struct
import subprocess
import threading
import time
from pathlib import Path

import configs
import gtpu
import pytest
from instance import Instance
from namespaces import AirLink, N3Link, Network
from paths import splitplane
from processes import Failure, Processes, run, wait_until
from wire import Wire

LINK, AIR = N3Link(), AirLink()
KILLS = int(os.environ.get("SPLITPLANE_RUN_KILLS", "3"))
SHARDS = {1: 18, 2: 12, 3: 18, 4: 12}  # of the bearers, and their PDCP SN's bits
MANY = 65536


class Air:
    """Reads the UE side of the air, and knows each bearer's COUNT as a receiver does: by its SN, and the last one."""

    def __init__(self, netns: str):
        self.wire = Wire(netns, AIR.ue_interface)
        self.counts: dict[int, int] = {}
        self.epochs: dict[int, list[int]] = {}
        self.seen = 0
        self.faults: list[str] = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self):
        self.wire.socket.settimeout(0.05)
        while not self.stop.is_set():
            try:
                frame = self.wire.socket.recv(2048)
            except TimeoutError:
                continue
            if frame[12:14] == b"\x88\xb5":
                self._take(frame)

    def _take(self, frame: bytes):
        modes, _, epoch, bearer = struct.unpack_from("!BBBI", frame, 15)
        bits = 18 if modes & 4 else 12
        octets = frame[24 + 3 :]  # behind RLC AM with 18 bits
        sn = int.from_bytes(octets[:3], "big") & 0x3FFFF if bits == 18 else int.from_bytes(octets[:2], "big") & 0xFFF
        last = self.counts.get(bearer, -1)
        step = (sn - last) % (1 << bits)
        if step == 0 or step >= 1 << bits - 1:
            self.faults.append(f"bearer {bearer:#x}: SN {sn} after COUNT {last}")
        self.counts[bearer] = last + step
        self.seen += 1
        if epoch not in self.epochs.setdefault(bearer, []):
            self.epochs[bearer].append(epoch)

    def close(self):
        self.stop.set()
        self.thread.join()
        self.wire.close()


class Load:
    """Downlink packets for bearers in turn, as long as it lasts."""

    def __init__(self, netns: str, teids: list[int], pause: float = 0.001):
        self.wire = Wire(netns, LINK.upf_interface)
        self.frames = [self._frame(teid) for teid in teids]
        self.pause, self.stop = pause, threading.Event()
        self.thread = threading.Thread(target=self._send)
        self.thread.start()

    @staticmethod
    def _frame(teid: int) -> bytes:
        inner = gtpu.ipv4(struct.pack("!HHHH", 40001, 40002, 12, 0) + bytes(4), "10.46.0.1", "10.45.0.2")
        udp = gtpu.gpdu(teid, inner, 9)
        outer = gtpu.ipv4(struct.pack("!HHHH", 2152, 2152, 8 + len(udp), 0) + udp, LINK.upf_ipv4, LINK.gnb_ipv4)
        return b"\xff" * 6 + b"\x02\0\0\0\0\x02" + b"\x08\x00" + outer

    def _send(self):
        while not self.stop.is_set():
            for frame in self.frames * 8:
                with contextlib.suppress(OSError):  # nobody is there for a moment
                    self.wire.socket.send(frame)
            time.sleep(self.pause)

    def close(self):
        self.stop.set()
        self.thread.join()
        self.wire.close()


def bearers() -> list[dict]:
    return [
        {"upf": LINK.upf_ipv4, "ul_teid": 0x1000 + shard, "shard": shard, "pdcp_sn": bits, "rlc": "am18"}
        for shard, bits in SHARDS.items()
    ]


class Bed:
    """A gNB between two wires that is started again and again with the same configuration."""

    def __init__(self, folder: Path, name: str, **more):
        self.folder, self.processes, self.network = folder, Processes(folder), Network(name)
        self.tree = configs.one_worker(name, bearers(), LINK, AIR) | {"journal": str(folder / f"{name}.journal")} | more
        self.tree["n3"][0]["peer_mac"] = "02:00:00:00:00:02"
        self.stack = contextlib.ExitStack()

    def __enter__(self) -> Bed:
        with self.stack:
            self.stack.enter_context(self.network)
            self.stack.callback(self.processes.stop_all)
            self.start(fresh=True)
            self.air = Air(self.network.ue)
            self.stack.callback(self.air.close)
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def start(self, *, fresh: bool = False):
        config = configs.write(self.folder, "gnb", self.tree)
        self.gnb = Instance(self.processes, "gnb", "run", config, self.network.gnb, fresh=fresh)

    def kill(self):
        self.gnb.process.signal(signal.SIGKILL)
        self.gnb.process.wait(10)
        self.processes.stop(self.gnb.process)

    def load(self, teids: list[int]) -> Load:
        load = Load(self.network.core, teids)
        self.stack.callback(load.close)
        return load

    def wait_for_frames(self, more: int = 200):
        wanted = self.air.seen + more
        wait_until("frames on the air", lambda: self.air.seen >= wanted, 20, [self.gnb.process])

    def next_counts(self) -> dict[int, int]:
        """A worker that gets no core for a second, right behind its start on a busy machine, is asked again."""
        found: list[dict] = []

        def answered() -> bool:
            try:
                found[:] = self.gnb.control.bearers()
            except Failure as refusal:
                if "does not answer" not in str(refusal):
                    raise
                return False
            return True

        wait_until("the worker to tell its bearers", answered, processes=[self.gnb.process])
        return {bearer["id"]: bearer["pdcp_tx_next"] for bearer in found}

    def last_counts(self) -> dict[int, int]:
        """Once the load has ended: what the kernel still held for the gNB is numbered, too."""
        readings = [self.next_counts()]

        def at_rest() -> bool:
            time.sleep(0.3)
            readings.append(self.next_counts())
            return readings[-1] == readings[-2]

        wait_until("the numbers to stand still", at_rest, processes=[self.gnb.process])
        return readings[-1]


IDS = [configs.identity(shard) for shard in SHARDS]


@contextlib.contextmanager
def disk_in_memory(place: Path, size: str):
    place.mkdir(exist_ok=True)
    run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place])
    try:
        yield place
    finally:
        run(["umount", "-l", place], check=False)


@pytest.fixture
def quick(folder):
    """A disk that answers at once: leases grow with the time that it takes, and the air's reader knows a COUNT only
    while less than half of the 12-bit SN space is skipped."""
    with disk_in_memory(folder / "quick", "16m") as place:
        yield place


def test_killed_under_traffic_no_count_is_seen_twice(folder, quick):
    chance = random.Random(28)
    with Bed(folder, "jk", journal=str(quick / "gnb.journal")) as bed:
        bed.load(IDS)
        for _ in range(KILLS):
            bed.wait_for_frames()
            time.sleep(chance.uniform(0, 0.3))
            before = dict(bed.air.counts)
            bed.kill()
            bed.start()
            for bearer, count in bed.next_counts().items():
                assert count > before[bearer], "the next run goes on behind what the air has seen"
        bed.wait_for_frames(1000)
        assert bed.air.faults == []
        assert sorted(bed.air.counts) == sorted(IDS)
        assert all(len(epochs) == KILLS + 1 for epochs in bed.air.epochs.values()), "RLC began anew each time"
        assert bed.gnb.control.stats()["journal"]["state"] == "written"


def test_a_clean_stop_leaves_exact_numbers(folder):
    with Bed(folder, "jc") as bed:
        load = bed.load(IDS)
        bed.wait_for_frames()
        load.close()
        before = bed.last_counts()
        assert all(count > 0 for count in before.values())
        bed.gnb.finish()
        bed.start()
        assert bed.next_counts() == before


@pytest.mark.nightly
def test_crashes_and_clean_stops_without_a_packet_are_no_step_that_a_receiver_takes_for_one_backwards(folder, quick):
    with Bed(folder, "jb", journal=str(quick / "gnb.journal")) as bed:
        load = bed.load(IDS)
        bed.wait_for_frames()
        load.close()
        before = bed.last_counts()
        for crash in range(3):
            bed.kill()
            bed.start()
            if crash < 2:
                bed.gnb.finish()
                bed.start()
        assert all(count > before[bearer] for bearer, count in bed.next_counts().items())
        bed.load(IDS)
        bed.wait_for_frames()
        assert bed.air.faults == []


def test_what_was_added_comes_back_and_what_was_released_does_not(folder):
    with Bed(folder, "ja") as bed:
        call = bed.gnb.control.call
        added = call("bearer.add", upf=LINK.upf_ipv4, ul_teid=0x2001, shard=9, qfi=5)["first"]["id"]
        gone = call("bearer.add", upf=LINK.upf_ipv4, ul_teid=0x2002, shard=9)["first"]["id"]
        call("bearer.release", id=gone)
        call("bearer.release", id=IDS[0])
        call("bearer.modify", id=added, qfi=6)
        call("bearer.modify", id=IDS[1], qfi=7)
        bed.kill()
        bed.tree["bearers"] = bearers()[:3]
        bed.start()
        found = {bearer["id"]: bearer for bearer in bed.gnb.control.bearers()}
        assert sorted(found) == sorted([IDS[1], IDS[2], added])
        assert found[added]["qfi"] == 6 and found[added]["ul_teid"] == 0x2001
        assert found[IDS[1]]["qfi"] == 9, "the configuration has its parameters"
        again = bed.gnb.control.call("bearer.add", upf=LINK.upf_ipv4, ul_teid=0x1001, shard=1)
        assert again["existed"] == 0, "one that the configuration names may be added again"
        bed.gnb.control.call("bearer.release", id=again["first"]["id"])
        bed.kill()
        bed.start()
        assert sorted(bearer["id"] for bearer in bed.gnb.control.bearers()) == sorted([IDS[1], IDS[2], added])
        bed.kill()
        bed.start(fresh=True)
        assert sorted(bearer["id"] for bearer in bed.gnb.control.bearers()) == sorted(IDS[:3])


@pytest.fixture
def tiny(folder):
    """A disk of 64 KiB."""
    with disk_in_memory(folder / "tiny", "64k") as place:
        yield place


def test_a_full_disk_stops_numbering_before_it_repeats(folder, tiny):
    with Bed(folder, "jf", journal=str(tiny / "gnb.journal")) as bed:
        bed.load(IDS)
        bed.wait_for_frames()
        filler = tiny / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass

        def dropped() -> int:
            return bed.gnb.control.stats()["workers"][0]["drops"].get("count_lease_ended", 0)

        def refused() -> bool:
            return bed.gnb.control.stats()["journal"]["state"] == "refused"

        wait_until("the disk to refuse", refused, 60, [bed.gnb.process])
        before = dropped()  # a lease may have ended before, where the control thread had no core in time
        wait_until("a lease to end", lambda: dropped() > before, 60, [bed.gnb.process])
        stats = bed.gnb.control.stats()["journal"]
        assert stats["state"] == "refused" and "No space left" in stats["reason"] and stats["failures"] > 0
        assert "No space left" in bed.gnb.process.log.read_text(errors="replace")
        bed.kill()  # with a torn journal
        filler.unlink()
        bed.start()
        bed.wait_for_frames()
        assert bed.air.faults == []


def test_a_journal_that_cannot_be_trusted_is_refused(folder):
    with Bed(folder, "jd") as bed:
        bed.gnb.finish()
        journal = Path(bed.tree["journal"])
        good = journal.read_bytes()

        def start(*more: str) -> subprocess.CompletedProcess:
            return run(
                [splitplane(), "run", bed.gnb.config, "--duration", "0.2", *more],
                netns=bed.network.gnb,
                check=False,
                timeout=30,
            )

        damaged = bytearray(good)
        damaged[-20] ^= 1
        for octets, words in ((bytes(damaged), "is damaged"), (b"old", "is no journal")):
            journal.write_bytes(octets)
            done = start()
            assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr
            assert journal.read_bytes() == octets, "what is refused is not touched"
        journal.write_bytes(good)
        bed.tree["instance"] = 2
        configs.write(folder, "gnb", bed.tree)
        done = start()
        assert done.returncode == 1 and "instance 1" in done.stderr
        journal.write_bytes(bytes(damaged))
        assert start("--fresh").returncode == 0


def test_65536_bearers_are_back_within_seconds(folder):
    tree = configs.gnb(
        "jm",
        journal=str(folder / "many.journal"),
        ports={"n3": {"device": "net_null0,no-rx=1"}, "air": {"device": "net_null1,no-rx=1"}},
        n3=[{"port": "n3", "ipv4": LINK.gnb_ipv4}],
        air=[{"port": "air"}],
        workers={"w0": {"core": 0, "function": "gnb", "n3": "n3", "air": "air", "policy": "yield"}},
        bearers=[{"count": MANY, "upf": LINK.upf_ipv4, "ul_teid": 1}],
    )
    config, processes = configs.write(folder, "many", tree), Processes(folder)
    try:
        began = time.monotonic()
        gnb = Instance(processes, "many", "run", config, timeout=120)
        added = time.monotonic() - began
        gnb.process.signal(signal.SIGKILL)
        gnb.process.wait(10)
        processes.stop(gnb.process)
        began = time.monotonic()
        gnb = Instance(processes, "many-again", "run", config, fresh=False, timeout=120)
        back = time.monotonic() - began
        assert gnb.control.stats()["bearers"] == MANY
        size = gnb.control.stats()["journal"]["octets"]
        print(f"{MANY} bearers with DPDK's start: new in {added:.2f} s, back in {back:.2f} s, {size} octets")
        assert back < 3 * added + 20
        assert gnb.stop() == 0
    finally:
        processes.stop_all()

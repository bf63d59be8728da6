"""A drill: one end of a virtual port leaves, by SIGTERM or by SIGKILL, while the other one sends and receives at full
speed. Whoever stays must stay, and end with its account. For both ends of each kind of port that needs no hardware.

SPLITPLANE_EXITS says how often each end leaves (2 unless told: a few seconds a kind); half of that are kills. The table
goes to standard output: pytest -s."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import configs
import pytest
from instance import Control
from paths import splitplane
from processes import Failure, run

EXITS = int(os.environ.get("SPLITPLANE_EXITS", "2"))
PATIENCE_S = 30  # of whoever waits for traffic, on a machine that does other things too
MEMORY = {"hugepages": "never", "megabytes": 64, "mbufs": 8191}  # AF_XDP fills its ring with 4,096 at once
SHARED = {"hugepages": "auto", "megabytes": 64, "mbufs": 8191}  # vhost needs memory that has a file
AF_XDP = 44  # which Python 3.11 has no name for
ACCEPTS = "00010000"  # __SO_ACCEPTCON among a socket's flags
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}


@dataclass(frozen=True)
class Kind:
    """`stays` and `leaves` are devices; `again`: the end that stays takes the next one in."""

    name: str
    stays: str
    leaves: str
    again: bool = True
    stays_first: bool = True  # who listens, or makes the interface
    veth: bool = False
    shared: bool = False
    waits: bool = False  # it is not ready before the other end has come


MEMIF = "net_memif0,id=0,role={},socket={{socket}},socket-abstract=no"
VHOST = "net_vhost0,iface={socket},queues=1"
USER = "net_virtio_user0,path={socket},queue_size=256"
PACKET = "net_af_packet0,iface={},framecnt=512,framesz=2048,blocksz=65536"
XDP = "net_af_xdp0,iface={}"
TAP = "net_tap0,iface=tap0"
KINDS = [
    Kind("memif server", MEMIF.format("server"), MEMIF.format("client")),
    Kind("memif client", MEMIF.format("client"), MEMIF.format("server"), again=False, stays_first=False),
    Kind("vhost", VHOST, USER, shared=True),
    Kind("virtio_user", USER, VHOST, again=False, stays_first=False, shared=True),
    Kind("virtio_user server", USER + ",server=1", VHOST + ",client=1", shared=True, waits=True),
    Kind("vhost client", VHOST + ",client=1", USER + ",server=1", stays_first=False, shared=True),
    Kind("af_packet", PACKET.format("left"), PACKET.format("right"), veth=True),
    Kind("af_xdp", XDP.format("left"), PACKET.format("right"), veth=True),
    Kind("af_packet at af_xdp", PACKET.format("left"), XDP.format("right"), veth=True),
    Kind("tap", TAP, PACKET.format("tap0")),
    Kind("af_packet at tap", PACKET.format("tap0"), TAP, again=False, stays_first=False),
]


def no_af_xdp() -> str:
    """Why this kernel makes no AF_XDP socket; empty: it does."""
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW, 0).close()
    except OSError as error:
        return f"SKIPPED: this kernel makes no AF_XDP socket: {error.strerror}"
    return ""


@dataclass
class Tally:
    exits: int = 0
    kills: int = 0
    crashes: int = 0

    def row(self, name: str) -> str:
        return f"{name:22} {self.exits:6} exits {self.kills:6} kills {self.crashes:4} crashes"


class Bench:
    """Two processes and what lies between them."""

    def __init__(self, folder: Path, kind: Kind):
        self.folder, self.kind, self.tally = folder, kind, Tally()
        self.netns = f"sp-core-{os.getpid()}-exits"
        self.socket = Path(f"/run/splitplane/exits-{os.getpid()}.sock")
        self.memory = SHARED if kind.shared else MEMORY
        self.children: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> Bench:
        self.socket.parent.mkdir(mode=0o700, exist_ok=True)
        run(["ip", "netns", "add", self.netns])
        if self.kind.veth:
            run(["ip", "-n", self.netns, "link", "add", "left", "type", "veth", "peer", "name", "right"])
            for name in ("left", "right"):
                run(["ip", "-n", self.netns, "link", "set", name, "mtu", 1500, "up"])
        return self

    def __exit__(self, *_):
        for child in self.children.values():
            child.kill()
            child.wait()
        self.socket.unlink(missing_ok=True)
        run(["ip", "netns", "del", self.netns], check=False)

    def start(self, who: str, tree: dict, command: str, *options: str):
        tree |= {"file_prefix": configs.prefix(f"x-{who}"), "memory": self.memory}
        path = configs.write(self.folder, who, tree)
        with (self.folder / f"{who}.log").open("a") as log:
            self.children[who] = subprocess.Popen(
                ["ip", "netns", "exec", self.netns, str(splitplane()), command, str(path), *options],
                stdout=log,
                stderr=log,
            )

    def start_staying(self):
        """Sends back what it receives."""
        device = self.kind.stays.format(socket=self.socket)
        worker = {"core": 0, "function": "l2fwd", "rx": "p", "tx": "p", "policy": "busy"}
        self.start("stays", {"ports": {"p": {"device": device}}, "workers": {"w": worker}}, "run")
        self.control = Control(Path(f"/run/splitplane/{configs.prefix('x-stays')}.sock"))
        if self.kind.waits:
            self.wait_for("the socket", lambda: self.listens("stays"), "stays")
            self.start_leaving()
        self.wait_for("whoever stays to serve", self.control.answers, "stays")
        if self.kind.stays.startswith("net_tap"):
            run(["ip", "-n", self.netns, "link", "set", "tap0", "up"])

    def start_leaving(self):
        device = self.kind.leaves.format(socket=self.socket)
        bearer = {"id": 0x04000000, "upf": "10.100.0.2", "ue_ipv4": "10.45.0.2"}
        gen = {"port": "p", "core": 1, "rate": 200000, "gnb_ipv4": "10.100.0.1", "bearers": [bearer]}
        self.start("leaves", {"ports": {"p": {"device": device}}, "gen": gen}, "gen", "--sink", "--quiet")
        if self.kind.leaves.startswith("net_tap"):
            self.wait_for("the tap", self.tap_is_up, "leaves")
        elif not self.kind.stays_first:
            self.wait_for("the socket", lambda: self.listens("leaves"), "leaves")

    def listens(self, who: str) -> bool:
        rows = Path(f"/proc/{self.children[who].pid}/net/unix").read_text().splitlines()
        return any(row.endswith(f" {self.socket}") and row.split()[3] == ACCEPTS for row in rows)

    def tap_is_up(self) -> bool:
        return run(["ip", "-n", self.netns, "link", "set", "tap0", "up"], check=False).returncode == 0

    def wait_for(self, what: str, ready: Callable[[], bool], who: str):
        end = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(OSError, Failure, ValueError):
                if ready():
                    return
            if self.children[who].poll() is not None:
                raise Failure(f"{who} ended with {self.children[who].returncode}, no {what}\n{self.tail(who)}")
            if time.monotonic() > end:
                raise Failure(f"no {what} in {PATIENCE_S} s\n{self.tail('stays')}\n{self.tail('leaves')}")
            time.sleep(0.01)

    def tail(self, who: str) -> str:
        log = self.folder / f"{who}.log"
        return f"--- {log}\n" + ("\n".join(log.read_text().splitlines()[-8:]) if log.exists() else "(none)")

    def received(self) -> int:
        return self.control.stats()["ports"][0]["workers_received"]

    def end(self, who: str, number: int) -> bool:
        """True if it ended as it should."""
        child = self.children.pop(who)
        child.send_signal(number)
        try:
            code = child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            raise Failure(f"{who} did not end in {PATIENCE_S} s\n{self.tail(who)}") from None
        self.tally.crashes += -code in CRASHES
        return code == (-signal.SIGKILL if number == signal.SIGKILL else 0)

    def round(self, number: int):
        """Both are there and exchange packets; then one leaves, and the other one is still there."""
        if self.kind.again and "stays" in self.children:
            self.start_leaving()
        elif self.kind.stays_first:
            self.start_staying()
            if not self.kind.waits:
                self.start_leaving()
        else:
            self.start_leaving()
            self.start_staying()
        before = self.received()
        self.wait_for("traffic", lambda: self.received() > before + 64, "stays")
        if number == signal.SIGKILL:
            self.tally.kills += 1
        else:
            self.tally.exits += 1
        assert self.end("leaves", number), f"{signal.Signals(number).name}: {self.tail('leaves')}"
        time.sleep(0.02)  # in which whoever stays sees that
        code = self.children["stays"].poll()
        if code is not None:
            self.tally.crashes += -code in CRASHES
            raise Failure(f"whoever stays ended with {code}\n{self.tail('stays')}")
        if not self.kind.again:
            assert self.end("stays", signal.SIGTERM), self.tail("stays")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name.replace(" ", "-"))
def test_one_end_leaves_and_the_other_one_stays(kind, folder):
    if XDP.split(",")[0] in kind.stays + kind.leaves and (reason := no_af_xdp()):
        print(f"{kind.name:22} {reason}", flush=True)
        pytest.skip(reason)
    for log in folder.glob("*.log"):
        log.unlink()
    with Bench(folder, kind) as bench:
        try:
            for turn in range(EXITS):
                bench.round(signal.SIGKILL if turn % 2 else signal.SIGTERM)
            if "stays" in bench.children:
                assert bench.end("stays", signal.SIGTERM), bench.tail("stays")
        finally:
            print(bench.tally.row(kind.name), flush=True)
    assert bench.tally.crashes == 0


def test_a_ring_goes_with_its_process(folder):
    """Both ends of a ring are in one process."""
    tally = Tally()
    bearer = {"id": 0x04000000, "upf": "10.100.0.2", "ue_ipv4": "10.45.0.2"}
    gen = {"port": "p", "core": 1, "rate": 200000, "gnb_ipv4": "10.100.0.1", "bearers": [bearer]}
    tree = {"file_prefix": configs.prefix("x-ring"), "memory": MEMORY, "ports": {"p": {"device": "net_ring0"}}}
    path = configs.write(folder, "ring", tree | {"gen": gen, "sink": {"port": "p", "core": 1}})
    for turn in range(EXITS):
        child = subprocess.Popen(
            [str(splitplane()), "gen", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        child.stderr.readline()  # of the progress
        number = signal.SIGKILL if turn % 2 else signal.SIGTERM
        child.send_signal(number)
        child.stderr.close()
        code = child.wait(PATIENCE_S)
        tally.crashes += -code in CRASHES
        tally.exits += number == signal.SIGTERM
        tally.kills += number == signal.SIGKILL
        assert code in (0, -signal.SIGKILL), code
    print(tally.row("ring"), flush=True)
    assert tally.crashes == 0

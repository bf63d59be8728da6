"""A host and its card that end and start again in any order, under real TCP: downloads all the time, and a ping each
10 ms that says for how long nothing passed."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import configs
from card_bed import CardBed
from namespaces import N3Link
from paths import splitplane
from processes import Process, run, wait_until
from upf import SERVER_IPV4

LINK = N3Link()
HOST, CARD = "host", "card"
# What ends, in this order, and what starts, in that order.
ORDERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "host": ((HOST,), (HOST,)),
    "card": ((CARD,), (CARD,)),
    **{
        f"both, {ends[0]} ends first, {starts[0]} starts first": (ends, starts)
        for ends, starts in itertools.product(itertools.permutations((HOST, CARD)), repeat=2)
    },
}


TAIL = 200_000  # octets: some 25 s of a ping each 10 ms


def answers(log: Path) -> list[float]:
    """The times of the last ones."""
    with log.open("rb") as file:
        file.seek(max(file.seek(0, 2) - TAIL, 0))
        text = file.read().decode(errors="replace")
    return [float(at) for at in re.findall(r"^\[([\d.]+)\].* icmp_seq=\d+ ttl", text, re.MULTILINE)]


def stacks(process: Process) -> str:
    """Of all threads of a process: gdb's, or what the kernel tells."""
    pid = process.child.pid
    try:
        done = subprocess.run(
            ["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode == 0:
            return f"{process.name}: gdb, thread apply all bt\n{done.stdout}"
        why = done.stderr.strip()
    except (FileNotFoundError, subprocess.TimeoutExpired) as missing:
        why = str(missing)
    lines = [f"{process.name}: no stacks by gdb ({why}); what the kernel tells:"]
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        for file in ("comm", "status", "wchan", "stack", "syscall"):
            try:
                text = (task / file).read_text()
            except OSError as refused:
                text = str(refused)
            if file == "status":
                text = next((line for line in text.splitlines() if line.startswith("State")), "")
            lines.append(f"  {task.name} {file}: {text.strip()}")
    return "\n".join(lines)


def numbers_survive() -> bool:
    """Whether a run goes on where the one before it was."""
    return "--fresh" in run([splitplane(), "run", "--help"]).stdout


@dataclass
class Restart:
    order: str
    down: float  # from the last start's "serving" to the first answer
    gap: float  # from the first end to the first answer


class RestartBed(CardBed):
    """`config`: configs.behind_a_card's, as shipped: the card connects its VFs, and connects them again."""

    def __init__(self, folder: Path, name: str, bearers: list[dict] | None = None):
        bearers = bearers or [
            configs.bearer(1, upf=LINK.upf_ipv4, shard=1, card="card0"),
            configs.bearer(2, upf=LINK.upf_ipv4, shard=2, rlc="um12", pdcp_sn=12),
        ]
        super().__init__(folder, name, configs.behind_a_card(name, bearers))
        self.runs = 0

    def __enter__(self) -> RestartBed:
        super().__enter__()
        self.wait_for_neighbours()
        # The host numbers its bearers anew, and the UE side must not wait for TCP's back-off of up to two minutes.
        for netns in (self.network.core, self.network.ue):
            run(["sysctl", "-qw", "net.ipv4.tcp_rto_max_ms=1000"], netns=netns, check=False)
        return self

    def end(self, who: str, how: int = signal.SIGKILL):
        process = (self.gnb if who == HOST else self.card).process
        process.signal(how)
        process.wait()
        self.processes.stop(process)

    def start(self, who: str):
        self.runs += 1
        if who == CARD:
            self.start_card()
        else:
            self.start_host()

    def ping_all_the_time(self, address: str) -> Process:
        command = ["ping", "-n", "-D", "-I", address, "-i", "0.01", SERVER_IPV4]
        return self.processes.start(f"ping-{address}", command, self.network.ue)

    def download_all_the_time(self, address: str) -> Process:
        """TCP: one connection after the other, each of 2 MB; a line a download."""
        self.web.make("restart.bin", 2_000_000)
        url = f"http://{SERVER_IPV4}:8080/restart.bin"
        loop = (
            f"while :; do curl -s --interface {address} --max-time 30 -o /dev/null -w '%{{http_code}} "
            f"%{{size_download}}\\n' {url}; sleep 0.01; done"
        )
        return self.processes.start(f"curl-{address}", ["sh", "-c", loop], self.network.ue)

    def followed(self, ends: tuple[str, ...], pings: dict[str, Process]) -> dict[str, Process]:
        """Of bearers whose UE side can follow. A run without a journal numbers what was the host's from 0 again, which
        the UE side takes for old until it is behind where it was; what is the card's goes on with the card."""
        if HOST not in ends or numbers_survive():
            return pings
        return {a: ping for a, ping in pings.items() if a in self.on_the_card and CARD not in ends}

    def restart(self, order: str, pings: dict[str, Process], limit: float, how: int = signal.SIGKILL) -> Restart:
        """Until every ping is answered again; stacks of both are dumped where that takes longer than `limit` after the
        last start."""
        ends, starts = ORDERS[order]
        pings = self.followed(ends, pings)
        began = time.time()
        for who in ends:
            self.end(who, how)
        for who in starts:
            self.start(who)
        serving = time.time()
        self.wait_for_traffic(serving, pings, limit)
        now = time.time()
        back = max((next(at for at in answers(p.log) if at > serving) for p in pings.values()), default=now)
        done = Restart(order, back - serving, back - began)
        if done.down > 2:
            self.keep_logs(f"slow-{self.runs}")
        return done

    def wait_for_traffic(self, since: float, pings: dict[str, Process], limit: float):
        """A packet each way through the host's VFs, and an answer to every ping."""
        sent = self.upf.stats()["totals"]["ul_packets"]

        def back() -> bool:
            if not all(any(at > since for at in answers(ping.log)) for ping in pings.values()):
                return False
            worker = self.gnb.control.stats()["workers"][0]
            both_ways = worker["transmitted_air"] > 0 and worker["transmitted_n3"] > 0
            return both_ways and self.upf.stats()["totals"]["ul_packets"] > sent

        try:
            wait_until("traffic on every bearer", back, limit, [self.gnb.process, self.card.process])
        except Exception:
            self.dump()
            raise

    def keep_logs(self, name: str):
        """The next start writes them anew."""
        for process in (self.gnb.process, self.card.process):
            shutil.copy(process.log, self.folder / f"{name}-{process.log.name}")
        text = json.dumps({"gNB": self.gnb.control.stats(), "card": self.card.control.stats()}, indent=1)
        (self.folder / f"{name}.json").write_text(text + "\n")

    def start_host_and_kill_it(self, after: float):
        config = configs.write(self.folder, "gnb", self.tree)
        command = [splitplane(), "run", config]
        process = self.processes.start("gnb-short", command, self.network.gnb)
        time.sleep(after)
        process.signal(signal.SIGKILL)
        process.wait()
        self.processes.stop(process)

    def dump(self):
        text = "\n\n".join(stacks(one.process) for one in (self.gnb, self.card))
        (self.folder / f"stacks-{self.runs}.txt").write_text(text + "\n")

    def follow(self, count: int, orders: list[str], limit: float, rest: Callable[[], float]) -> list[Restart]:
        """`count` restarts of each order, shuffled, while every bearer pings and downloads."""
        addresses = [bearer["ue_ipv4"] for bearer in self.bearers()]
        self.on_the_card = {bearer["ue_ipv4"] for bearer in self.on_card()}
        pings = {address: self.ping_all_the_time(address) for address in addresses}
        loads = [self.download_all_the_time(address) for address in addresses]
        wait_until("traffic", lambda: all(len(answers(ping.log)) > 20 for ping in pings.values()), 20)
        todo = [order for order in orders for _ in range(count)]
        random.Random(13).shuffle(todo)
        done = []
        for order in todo:
            done.append(self.restart(order, pings, limit))
            time.sleep(rest())
        for process in (*pings.values(), *loads):
            self.processes.stop(process)
        self.downloads = sum(load.log.read_text().count("200 2000000") for load in loads)
        return done

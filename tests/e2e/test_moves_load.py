"""Bearers that move between worker and card, one after the other, while 50,000 packets a second pass and the control
thread has other work. The card's air port is a file, so each frame is seen in its order: `splitplane sink` and tshark
judge it. SPLITPLANE_MOVES makes it long."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import defaultdict
from pathlib import Path

import air_views
import configs
import pytest
from card import wait_for_card
from instance import Control, Instance
from judge import PDCP, PDCP_FIELDS, RLC, RLC_FIELDS, judge, number
from paths import splitplane
from processes import PATIENCE, wait_until

MOVES = int(os.environ.get("SPLITPLANE_MOVES", "40"))  # each way
RATE = int(os.environ.get("SPLITPLANE_MOVES_RATE", "50000"))
BEARERS = 16
UPF = "10.100.0.2"


class LoadedCard:
    """A generator, the card and the host, without acknowledgements: there is no UE on the air. Without `captures` the
    card's air port takes frames and forgets them."""

    def __init__(self, folder: Path, processes, socket: Path, *, bearers: int = BEARERS, captures: bool = True):
        self.folder, self.processes, self.socket = folder, processes, socket
        name = f"ml{os.getpid() % 1000}"
        self.capture = folder / "air.pcap"
        self.capture.unlink(missing_ok=True)
        self.count = bearers
        trees = [
            configs.bearer(n, upf=UPF, shard=n, rlc=("am18", "am12")[n % 2], pdcp_sn=(18, 12)[n // 2 % 2], card="card0")
            for n in range(1, bearers + 1)
        ]
        host = configs.behind_a_card(name, trees) | {"journal": str(folder / "journal")}
        host["memory"] = {"megabytes": 400, "mbufs": 32767}
        host["workers"]["w0"]["features"] = "mat"
        del host["ports"]["vf-copies"], host["workers"]["copies"], host["cards"]["card0"]["copies"]
        host["cards"]["card0"]["vfs"] = ["vf-n3", "vf-air"]
        nic = configs.nic(name, features="mat")
        del nic["ports"]["vf-copies"]
        nic["card"]["vfs"] = ["vf-n3", "vf-air"]
        nic["ports"]["n3"] = {"device": self.memif("server"), "mtu": configs.LINK_MTU}
        air = f"net_pcap0,tx_pcap={self.capture}" if captures else "net_null0"
        nic["ports"]["air"] = {"device": air, "mtu": configs.LINK_MTU}
        self.gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", host))
        self.card = Instance(processes, "nic", "card", configs.write(folder, "nic", nic))
        wait_for_card(self.gnb, self.card)

    def memif(self, role: str) -> str:
        return f"net_memif0,id=0,role={role},socket={self.socket},socket-abstract=no"

    def ids(self) -> list[int]:
        return [configs.identity(n) for n in range(1, self.count + 1)]

    def start_generator(self, rate: int = RATE):
        tree = {
            "file_prefix": configs.prefix("gen-moves"),
            "memory": {"hugepages": "never", "megabytes": 64, "mbufs": 8191},
            "ports": {"p": {"device": self.memif("client")}},
            "gen": {
                "port": "p",
                "core": 1,
                "rate": rate,
                "arrivals": "poisson",
                "sizes": 80,
                "gnb_ipv4": "10.100.0.1",
                "bearers": [
                    {"id": b["id"], "upf": UPF, "qfi": 9, "ue_ipv4": b["ue_ipv4"]} for b in self.gnb.control.bearers()
                ],
            },
        }
        file = configs.write(self.folder, "gen", tree)
        self.results = self.folder / "gen.json"
        self.results.unlink(missing_ok=True)
        self.gen = self.processes.start("gen", [splitplane(), "gen", file, "--json", self.results])

    def stop_generator(self) -> dict:
        self.gen.signal(signal.SIGINT)
        self.gen.wait(PATIENCE)
        return json.loads(self.results.read_text())["gen"]

    def sent(self) -> tuple[set[int], dict[int, int]]:
        """The bearers that live on the card, and what was sent of each bearer since the start."""
        bearers = self.gnb.control.bearers()
        of = {b["id"]: b["downlink"]["transmitted"] for b in bearers}
        return {b["id"] for b in bearers if b.get("card")}, of

    def share(self, seconds: float) -> float:
        """Of the packets that are sent meanwhile: how many were of bearers on the card. None of them moves."""
        _, before = self.sent()
        time.sleep(seconds)
        on_card, after = self.sent()
        grown = {bearer: after[bearer] - before[bearer] for bearer in after}
        return sum(grown[bearer] for bearer in on_card) / max(sum(grown.values()), 1)

    def settled(self) -> bool:
        """Nothing has moved for three periods."""
        row = self.gnb.control.call("place.show")["moves"]
        seen = row["to_card"] + row["to_host"], row["decisions"]
        if seen[0] != getattr(self, "moves_seen", (None, 0))[0]:
            self.moves_seen = seen
        return row["decisions"] >= self.moves_seen[1] + 3

    def sink(self) -> dict:
        """What the sink says of the capture."""
        tree = {
            "file_prefix": configs.prefix("sink-moves"),
            "memory": {"hugepages": "never", "megabytes": 64, "mbufs": 8191},
            "ports": {"p": {"device": f"net_pcap0,rx_pcap={self.capture}"}},
            "sink": {"port": "p", "core": 1, "flows": self.count, "idle_s": 1},
        }
        file, results = configs.write(self.folder, "sink", tree), self.folder / "sink.json"
        results.unlink(missing_ok=True)
        sink = self.processes.start("sink", [splitplane(), "sink", file, "--json", results])
        sink.wait(PATIENCE)
        return json.loads(results.read_text())["sink"]


class Hammer:
    """Asks the gNB other things, and changes other bearers, as fast as it answers."""

    def __init__(self, gnb: Instance):
        self.gnb, self.stop, self.calls = gnb, threading.Event(), 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        control = Control(self.gnb.control.path)
        other = configs.bearer(100, upf=UPF, shard=100, rlc="am18", pdcp_sn=18)
        while not self.stop.is_set():
            added = control.call("bearer.add", **other)["first"]["id"]
            control.call("bearer.list")
            control.call("card.show")
            control.call("bearer.release", id=added)
            self.calls += 4

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        self.stop.set()
        self.thread.join()


@pytest.fixture
def loaded(folder, processes, tmp_path_factory) -> LoadedCard:
    return LoadedCard(folder, processes, tmp_path_factory.mktemp("s") / "m")


def steps_by_one(sns: list[int], bits: int) -> bool:
    return all((b - a) % (1 << bits) == 1 for a, b in zip(sns, sns[1:], strict=False))


def test_moves_under_load_lose_double_and_reorder_nothing(loaded):
    draw = random.Random(18)
    places = dict.fromkeys(loaded.ids(), "card0")
    totals = {"moved": 0, "with_packets": 0, "packets": 0}
    holds, failed = [], []
    loaded.start_generator()
    wait_until("packets to pass", lambda: loaded.gnb.control.bearers()[0]["downlink"]["transmitted"] > 100)
    with Hammer(loaded.gnb) as hammer:
        begin = time.monotonic()
        for _ in range(2 * MOVES):
            bearer = draw.choice(loaded.ids())
            to = "host" if places[bearer] == "card0" else "card0"
            done = loaded.gnb.control.call("place.move", ids=[bearer], to=to)
            if done["moved"] == 0:
                failed.append(done["stayed"][0]["why"])
                continue
            places[bearer] = to
            holds.append(done["longest_hold_us"])
            for key in totals:
                totals[key] += done[key]
        seconds = time.monotonic() - begin
    sent = loaded.stop_generator()
    wait_until("nothing to wait", lambda: loaded.gnb.control.stats()["workers"][0]["held"] == 0)
    time.sleep(0.3)
    worker = loaded.gnb.control.stats()["workers"][0]
    bearers = loaded.gnb.control.bearers()
    card = loaded.card.finish()["cards"][0]
    loaded.gnb.finish()
    seen = loaded.sink()
    print(
        f"{totals['moved']} moves ({len(failed)} failed: {set(failed)}) in {seconds:.1f} s, "
        f"{totals['with_packets']} with packets in flight, "
        f"{totals['packets']} of them; held for {sorted(holds)[len(holds) // 2]} us, {max(holds)} at most; "
        f"{hammer.calls} other calls; {sent['sent']} sent, {sent['rate']:.0f} a second; "
        f"worker drops {worker['drops']}, card {card['drops']}"
    )
    print({key: seen[key] for key in ("unique", "lost", "duplicates", "reordered", "too_old", "flows_hit")})
    assert seen["unique"] == sent["sent"]
    assert (seen["lost"], seen["duplicates"], seen["reordered"], seen["too_old"]) == (0, 0, 0, 0)
    assert worker["drops"] == {} and worker["balanced"]
    assert totals["moved"] >= 1.9 * MOVES and totals["with_packets"] >= totals["moved"] / 2
    assert sum(b["downlink"]["transmitted"] for b in bearers) == sent["sent"], "each counted once, where it was sent"

    rlc, pdcp, ues = air_views.translate(loaded.capture, loaded.folder)
    assert len(ues) == BEARERS
    for capture, fields, options, name, bits in (
        (rlc, RLC_FIELDS, RLC, "rlc-nr.am.sn", lambda n: (18, 12)[n % 2]),
        (pdcp, PDCP_FIELDS, PDCP, "pdcp-nr.seq-num", lambda n: (18, 12)[n // 2 % 2]),
    ):
        verdict = judge(capture, fields, options)
        assert len(verdict.rows) == sent["sent"]
        assert not verdict.complaints, verdict
        ue_field = name.split(".")[0] + ".ueid"
        sns = defaultdict(list)
        for row in verdict.rows:
            sns[number(row[ue_field])].append(number(row[name]))
        for n, bearer in enumerate(loaded.ids(), start=1):
            assert steps_by_one(sns[ues[bearer]], bits(n)), f"{name} of bearer {n}"


RATIOS = [int(r) for r in os.environ.get("SPLITPLANE_RATIOS", "50,0,100,20").split(",")]


@pytest.mark.parametrize("of", ["bearers", "load"])
def test_the_share_on_the_card_is_the_one_that_was_asked_for(folder, processes, tmp_path_factory, of):
    """Nothing is lost on the way there, although dozens of bearers move at once."""
    bed = LoadedCard(folder, processes, tmp_path_factory.mktemp("s") / "m", bearers=100)
    bed.gnb.control.call("place.set", period_ms=100, load_ms=1000, min_stay_ms=0, most_moves_per_second=2000)
    bed.start_generator(20_000)
    wait_until("packets to pass", lambda: bed.gnb.control.bearers()[0]["downlink"]["transmitted"] > 10)
    shares = {}
    for ratio in RATIOS:
        bed.gnb.control.call("place.set", mode="ratio", ratio=ratio, ratio_of=of)
        wait_until("the bearers to have moved", bed.settled, timeout=20)
        shares[ratio] = 100 * bed.share(1.0)
    sent = bed.stop_generator()
    wait_until("nothing to wait", lambda: bed.gnb.control.stats()["workers"][0]["held"] == 0)
    time.sleep(0.3)
    row = bed.gnb.control.stats()["placement"]
    bed.card.finish()
    bed.gnb.finish()
    seen = bed.sink()
    print(f"ratio of {of}: " + ", ".join(f"{asked} -> {got:.1f} %" for asked, got in shares.items()), row)
    assert all(abs(asked - got) < 2 for asked, got in shares.items()), shares
    assert (seen["unique"], seen["lost"], seen["duplicates"], seen["reordered"]) == (sent["sent"], 0, 0, 0)
    assert row["failed"] == 0 and row["to_card"] > 0 < row["to_host"]

"""What may happen in the middle of a move: the card dies or hangs, its host dies, the client that asked goes away. The
bearer is alive on one side afterwards, the move is counted, and by the air no number was used twice."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time

import configs
import pytest
from capture import Capture
from card import wait_for_card
from card_bed import used_numbers
from instance import Control
from paths import own
from processes import Failure, wait_until
from test_card_baas import AM, LINK, CardBaasBed
from upf import SERVER_IPV4

BEARERS = [
    configs.bearer(1, upf=LINK.upf_ipv4, shard=1, rlc="am18", pdcp_sn=18, am=AM, card="card0"),
    configs.bearer(2, upf=LINK.upf_ipv4, shard=2, rlc="am12", pdcp_sn=12, am=AM),
]
FAULTS = int(os.environ.get("SPLITPLANE_MOVE_FAULTS", "4"))


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "mf"
    folder.mkdir(parents=True, exist_ok=True)
    with CardBaasBed(folder, "mf", "inline", BEARERS) as made:
        made.wait_for_neighbours()
        yield made


class OnAir:
    """Both bearers have packets all the time. At the end their numbers are read off the air."""

    def __init__(self, bed: CardBaasBed, least: int = 300):
        self.bed, self.least = bed, least

    def __enter__(self):
        file = self.bed.folder / "air.pcapng"
        self.capture = Capture(self.bed.processes, self.bed.network.ue, "ue-air", file, octets=128, packets=1_000_000)
        self.pings = [
            self.bed.processes.start(
                f"ping-{b['shard']}",
                ["ping", "-q", "-n", "-I", b["ue_ipv4"], "-i", "0.002", SERVER_IPV4],
                self.bed.network.ue,
            )
            for b in BEARERS
        ]
        return self

    def __exit__(self, failed, *_):
        for ping in self.pings:
            self.bed.processes.stop(ping)
        self.capture.stop()
        if failed:
            return
        numbers = used_numbers(self.capture.path)
        for n in (1, 2):
            of = numbers[configs.identity(n)]
            assert not of.complaints, "\n".join([f"{len(of.complaints)} numbers", *of.complaints[:10]])
            assert len(of.sdus) > self.least, f"bearer {n} sent only {len(of.sdus)} SDUs"


class Mover:
    """Moves both bearers to and fro, as fast as the host answers, whatever it answers."""

    def __init__(self, bed: CardBaasBed):
        self.bed, self.stop, self.moved, self.stayed = bed, threading.Event(), 0, []
        self.thread = threading.Thread(target=self.run)

    def run(self):
        control = Control(self.bed.gnb.control.path)
        while not self.stop.is_set():
            for to in ("card0", "host"):
                try:
                    done = control.call("place.move", ids=[configs.identity(1), configs.identity(2)], to=to)
                except (Failure, OSError, ValueError):  # the gNB has died, maybe in the middle of its answer
                    time.sleep(0.01)
                    continue
                self.moved += done["moved"]
                self.stayed += [one["why"] for one in done["stayed"]]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        self.stop.set()
        self.thread.join()


def transfer(bed: CardBaasBed, size: int = 300_000):
    for bearer in BEARERS:
        file = bed.web.make("after-a-fault", size)
        down = bed.web.download(bearer["ue_ipv4"], file)
        assert (down.equal, down.bytes) == (True, size), down
        up = bed.web.upload(bearer["ue_ipv4"], file)
        assert (up.equal, up.bytes) == (True, size), up


def assert_alive_on_one_side(bed: CardBaasBed):
    """Each bearer passes traffic, and where the host says that it lives it has just sent that."""
    bed.set_air()
    before = {n: bed.gnb.control.call("bearer.show", id=configs.identity(n)) for n in (1, 2)}
    transfer(bed)
    for n in (1, 2):
        # Of a card that did not answer in time the last numbers are shown for a moment.
        wait_until(
            "its numbers to say so",
            lambda n=n: (
                bed.gnb.control.call("bearer.show", id=configs.identity(n))["pdcp_tx_next"]
                > before[n]["pdcp_tx_next"] + 100
            ),
        )
        after = bed.gnb.control.call("bearer.show", id=configs.identity(n))
        assert after.get("card") == before[n].get("card")
        gnb, end = bed.am(n)
        assert gnb["epoch"] == end["epoch"] and not gnb["failed"]


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_the_card_dies_or_hangs_in_the_middle(bed, how):
    draw = random.Random(how)
    with OnAir(bed):
        with Mover(bed) as mover:
            for _ in range(FAULTS):
                wait_until("bearers to move", lambda n=mover.moved: mover.moved > n + 3, timeout=20)
                time.sleep(draw.uniform(0, 0.02))
                if how == "killed":
                    bed.kill_card()
                    time.sleep(draw.uniform(0, 0.3))
                    bed.start_card()
                    wait_for_card(bed.gnb, bed.card)
                else:
                    bed.card.process.signal(signal.SIGSTOP)
                    time.sleep(1.5)  # longer than a move may last, and than a host waits for a card
                    bed.card.process.signal(signal.SIGCONT)
        wait_for_card(bed.gnb, bed.card)
        assert_alive_on_one_side(bed)
    row = bed.gnb.control.stats()["placement"]
    print(f"{how}: {mover.moved} moved, {len(mover.stayed)} stayed: {sorted(set(mover.stayed))}; {row}")
    assert mover.moved > FAULTS and row["failed"] > 0


def test_the_client_that_asked_goes_away(bed):
    """The move is the gNB's: it goes on without who asked for it."""
    for to in ("card0", "host", "card0"):

        def moved(to: str = to) -> bool:
            """Asks again only if the move is given up for want of time."""
            failed = bed.gnb.control.stats()["placement"]["failed"]
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(bed.gnb.control.path))
                client.sendall(
                    b'{"id": 1, "method": "place.move", "params": {"ids": [%d], "to": "%s"}}\n'
                    % (configs.identity(2), to.encode())
                )
            for _ in range(40):
                if (bed.gnb.control.call("bearer.show", id=configs.identity(2)).get("card") or "host") == to:
                    return True
                time.sleep(0.05)
            assert bed.gnb.control.stats()["placement"]["failed"] > failed, "it went away with its client"
            return False

        wait_until("the bearer to have moved", moved)
    assert_alive_on_one_side(bed)


@pytest.mark.nightly
def test_the_gnb_dies_in_the_middle_and_no_count_is_used_twice(bed):
    highest = {}
    draw = random.Random(7)
    with OnAir(bed):
        for _ in range(FAULTS):
            with Mover(bed) as mover:
                wait_until("bearers to move", lambda m=mover: m.moved > 3, timeout=20)
                time.sleep(draw.uniform(0, 0.02))
                for n in (1, 2):
                    shown = bed.gnb.control.call("bearer.show", id=configs.identity(n))
                    highest[n] = max(highest.get(n, 0), shown["pdcp_tx_next"])
                bed.gnb.process.signal(signal.SIGKILL)
                bed.gnb.process.wait()
            bed.processes.stop(bed.gnb.process)
            bed.start_host()
            wait_for_card(bed.gnb, bed.card)
            bed.wait_for_neighbours()
            for n in (1, 2):
                shown = bed.gnb.control.call("bearer.show", id=configs.identity(n))
                assert shown["pdcp_tx_next"] >= highest[n], "COUNTs go on behind those that were given out"
            assert_alive_on_one_side(bed)

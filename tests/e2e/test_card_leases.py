"""A burst to a 12-bit bearer on a card after silence: leases are renewed in time, and no packet is dropped for want of
one."""

from __future__ import annotations

import json
import os
import struct
import time
from pathlib import Path

import configs
import pcap
import pytest
from card import wait_for_card
from card_bed import Numbers, numbers_on_air
from instance import Instance
from paths import splitplane
from processes import PATIENCE, wait_until

RATE, PACKETS, SILENCE_S = 200_000, 20_000, 3
UPF = "10.100.0.2"
STAMP_MAGIC = b"SPtG"


class Burst:
    """A generator, the card and the host. The card's air port is a file, so each frame is seen in its order."""

    def __init__(self, folder: Path, processes, socket: Path, journal: Path):
        self.folder, self.processes, self.socket = folder, processes, socket
        name = f"cl{os.getpid() % 1000}"
        self.capture = folder / "air.pcap"
        bearers = [configs.bearer(1, upf=UPF, rlc="am18", pdcp_sn=12, card="card0")]
        host = configs.behind_a_card(name, bearers) | {"journal": str(journal)}
        # Room for the whole burst: a journal that takes 20 ms a lease lets 90,000 packets/s pass.
        host["memory"] = {"megabytes": 640, "mbufs": 49151}
        nic = configs.nic(name)
        nic["ports"]["n3"] = {"device": self.memif("server"), "mtu": configs.LINK_MTU}
        nic["ports"]["air"] = {"device": f"net_pcap0,tx_pcap={self.capture}", "mtu": configs.LINK_MTU}
        self.gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", host))
        self.card = Instance(processes, "nic", "card", configs.write(folder, "nic", nic))
        wait_for_card(self.gnb, self.card)

    def memif(self, role: str) -> str:
        return f"net_memif0,id=0,role={role},socket={self.socket},socket-abstract=no"

    def bearer(self) -> dict:
        return self.gnb.control.bearers()[0]

    def send(self, packets: int) -> float:
        """Returns the rate reached."""
        bearer = self.bearer()
        tree = {
            "file_prefix": configs.prefix(f"gen-{packets}"),
            "memory": {"hugepages": "never", "megabytes": 64, "mbufs": 8191},
            "ports": {"p": {"device": self.memif("client")}},
            "gen": {
                "port": "p",
                "core": 0,
                "rate": RATE,
                "packets": packets,
                "sizes": 100,
                "gnb_ipv4": "10.100.0.1",
                "bearers": [{"id": bearer["id"], "upf": UPF, "qfi": 9, "ue_ipv4": bearer["ue_ipv4"]}],
            },
        }
        file = configs.write(self.folder, f"gen-{packets}", tree)
        results = self.folder / f"gen-{packets}.json"
        gen = self.processes.start("gen", [splitplane(), "gen", file, "--json", results])
        assert gen.wait(PATIENCE) == 0
        sent = json.loads(results.read_text())["gen"]
        assert sent["sent"] == packets
        return sent["rate"]

    def wait_until_idle(self):
        """Until the card has numbered nothing for half a second."""
        last = [-1] * 5

        def still() -> bool:
            time.sleep(0.1)
            last.append(self.numbers()[1])
            return len(set(last[-5:])) == 1

        wait_until("the last packet to be numbered", still)

    def numbers(self) -> list[int]:
        """The card's own row. A host whose card does not answer in time shows what it heard before."""
        return self.card.control.call("card.numbers", after=0)[0]

    def wait_for(self, numbered: int):
        wait_until("all packets to be numbered", lambda: self.bearer()["pdcp_tx_next"] == numbered)


@pytest.fixture
def burst(folder, processes, tmp_path_factory) -> Burst:
    sockets = tmp_path_factory.mktemp("s")
    return Burst(folder, processes, sockets / "m", folder / "journal")


def test_a_12_bit_burst_after_silence_loses_nothing_for_want_of_a_lease(burst):
    burst.send(100)
    burst.wait_for(100)
    time.sleep(SILENCE_S)
    rate = burst.send(PACKETS)
    burst.wait_until_idle()
    wait_until("the card to serve the bearer by itself", lambda: burst.numbers()[3] == 0)
    worker = burst.gnb.control.stats()["workers"][0]
    assert worker["balanced"] and worker["held"] == 0
    assert not worker["drops"].keys() & {"count_lease_ended", "count_exhausted", "tx_full"}, worker["drops"]
    card = burst.card.finish()["cards"][0]
    burst.gnb.finish()
    assert not card["drops"].get("lease_exhausted"), card["drops"]
    # Where programs share a core, a VF may be full while its worker does not run. That is no matter of leases.
    full = sum(port["tx_full"] for port in card["ports"] if port["name"] == "vf-n3")
    print(f"{rate:.0f} packets/s, {worker['returned']} of {PACKETS} by way of the host, {full} lost at a full VF")
    (numbers,) = numbers_on_air(burst.capture).values()
    assert in_sequence(numbers, 100 + PACKETS - full)
    order = orders(burst.capture)
    assert len(order) == PACKETS - full and order == sorted(order)


def in_sequence(numbers: Numbers, packets: int) -> bool:
    counts = numbers.counts()
    return counts == list(range(packets)) and [rlc for _, rlc, _ in numbers.sent] == counts


def orders(capture: Path) -> list[int]:
    """The generator's numbers of the second run (src/traffic/stamp.h), in the order of the air."""
    found = []
    for frame in pcap.read(capture):
        at = frame.data.find(STAMP_MAGIC)
        assert at > 0
        found.append(struct.unpack_from(">I4xQ", frame.data, at + 8))  # run, sequence number
    last = found[-1][0]
    return [sequence for run, sequence in found if run == last]

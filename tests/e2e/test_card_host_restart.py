"""A host that is started again before a card that lives on: VFs whose card listens (`server=1`), so that each end may
go and come back."""

from __future__ import annotations

import signal

import configs
from capture import Capture
from card import wait_for_card
from card_bed import CardBed, numbers_on_air
from instance import Instance
from namespaces import N3Link
from paths import own
from processes import wait_until

LINK = N3Link()


class LivingCardBed(CardBed):
    def __init__(self, folder, name: str, config: dict):
        super().__init__(folder, name, config)
        for tree, more in ((self.tree, "client=1"), (self.nic_tree, "server=1")):
            for port in configs.VFS:
                tree["ports"][port]["device"] += f",{more}"

    def restart_host(self):
        self.gnb.process.signal(signal.SIGKILL)
        self.gnb.process.wait()
        self.processes.stop(self.gnb.process)
        config = configs.write(self.folder, "gnb", self.tree)
        self.gnb = Instance(self.processes, "gnb-again", "run", config, self.network.gnb)
        wait_for_card(self.gnb, self.card)
        self.wait_for_neighbours()

    def restart_card(self):
        self.kill_card()
        wait_until("the gNB to miss it", lambda: self.state()["state"] == "away", processes=[self.gnb.process])
        self.start_card()
        wait_for_card(self.gnb, self.card)

    def pings(self, address: str):
        """The UE side and the neighbours may have to find each other again."""
        wait_until("the bearer to serve", lambda: self.ping(address, 1, wait_s=1) == 1)
        assert self.ping(address) == 10


def test_numbers_and_epoch_go_on_over_a_restart_of_the_host():
    folder = own("e2e") / "card-host-restart"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [configs.bearer(number, upf=LINK.upf_ipv4, shard=number, card="card0") for number in (1, 2)]
    with LivingCardBed(folder, "chr", configs.behind_a_card("chr", bearers)) as bed:
        bed.wait_for_neighbours()
        capture = Capture(bed.processes, bed.network.ue, "ue-air", folder / "air.pcapng", octets=64)
        served = bed.on_card()[0]
        bed.pings(served["ue_ipv4"])
        bed.restart_card()
        bed.pings(served["ue_ipv4"])
        before = bed.on_card()
        assert [bearer["on_card"]["epoch"] for bearer in before] == [1, 1]

        bed.restart_host()
        after = bed.on_card()
        for key in ("pdcp_tx_next", "rlc_tx_next"):
            assert [bearer[key] for bearer in after] == [bearer[key] for bearer in before], key
        assert [bearer["on_card"]["epoch"] for bearer in after] == [1, 1]
        bed.pings(served["ue_ipv4"])

        bed.restart_card()
        assert [bearer["on_card"]["epoch"] for bearer in bed.on_card()] == [2, 2], "one that no run has used"
        bed.pings(served["ue_ipv4"])
        capture.stop()
        numbers = numbers_on_air(folder / "air.pcapng")[served["id"]]
        assert len(set(numbers.counts())) == len(numbers.counts()) > 30, "no COUNT twice"
        assert [epoch for epoch, _, _ in numbers.runs()] == [0, 1, 2]
        for _, rlc, _ in numbers.runs():
            assert rlc == list(range(len(rlc))), "RLC begins at 0, without a gap"

"""A host that is started again before a card that lives on, each of them in every order, and a host that is cut off."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import struct
import time
from dataclasses import asdict
from pathlib import Path

import configs
import pytest
from capture import Capture
from card import wait_for_card
from card_bed import CardBed, numbers_on_air
from card_restarts import ORDERS, RestartBed, numbers_survive
from namespaces import N3Link
from paths import own
from processes import run, wait_until

LINK = N3Link()


class LivingCardBed(CardBed):
    def restart_host(self):
        self.gnb.process.signal(signal.SIGKILL)
        self.gnb.process.wait()
        self.processes.stop(self.gnb.process)
        self.start_host()
        wait_for_card(self.gnb, self.card)
        self.wait_for_neighbours()

    def restart_card(self):
        self.kill_card()
        wait_until("the gNB to miss it", lambda: self.state()["state"] == "away", processes=[self.gnb.process])
        self.start_card()
        wait_for_card(self.gnb, self.card)

    def numbers_on_card(self) -> list[tuple[int, int, int]]:
        """(COUNT, RLC number, epoch) of each bearer, as the card says it, once the host says the same. A host whose
        card does not answer within its patience shows what it heard before."""
        said: list[tuple[int, int, int]] = []

        def same() -> bool:
            said[:] = [(row[1], row[2], row[6]) for row in self.card.control.call("card.numbers", after=0)]
            return said == [(b["pdcp_tx_next"], b["rlc_tx_next"], b["on_card"]["epoch"]) for b in self.on_card()]

        wait_until("the host to show the card's numbers", same, processes=[self.gnb.process])
        return said

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
        before = bed.numbers_on_card()
        assert [epoch for _, _, epoch in before] == [1, 1]

        bed.restart_host()
        assert bed.numbers_on_card() == before
        bed.pings(served["ue_ipv4"])

        bed.restart_card()
        assert [epoch for _, _, epoch in bed.numbers_on_card()] == [2, 2], "one that no run has used"
        bed.pings(served["ue_ipv4"])
        capture.stop()
        numbers = numbers_on_air(folder / "air.pcapng")[served["id"]]
        assert len(set(numbers.counts())) == len(numbers.counts()) > 30, "no COUNT twice"
        assert [epoch for epoch, _, _ in numbers.runs()] == [0, 1, 2]
        for _, rlc, _ in numbers.runs():
            assert rlc == list(range(len(rlc))), "RLC begins at 0, without a gap"


# 50 for `make accept PART=mended`; each takes about 3 s.
RESTARTS = int(os.environ.get("SPLITPLANE_CARD_RESTARTS", "1"))
# Two seconds on a machine that does nothing else; in `make test` only whether it comes back by itself.
BACK_S = 2 if "SPLITPLANE_CARD_RESTARTS" in os.environ else 10


@pytest.mark.nightly
def test_traffic_comes_back_by_itself_whichever_side_is_restarted_in_whichever_order():
    folder = own("e2e") / "card-restarts"
    folder.mkdir(parents=True, exist_ok=True)
    with RestartBed(folder, "crs") as bed:
        done = bed.follow(RESTARTS, list(ORDERS), limit=30, rest=lambda: 0.2)
        worst = max(restart.down for restart in done)
        (folder / "restarts.json").write_text(json.dumps([asdict(restart) for restart in done], indent=1))
        print(f"{len(done)} restarts, {bed.downloads} downloads; back after {worst:.2f} s at most")
        assert bed.downloads > 0
        assert worst < BACK_S, sorted(done, key=lambda restart: -restart.down)[:5]
        for bearer in bed.bearers() if numbers_survive() else ():
            file = bed.web.make("after.bin", 1_000_000)
            assert bed.web.download(bearer["ue_ipv4"], file).equal


@pytest.mark.nightly
def test_a_card_that_answers_while_its_vfs_have_no_other_end_is_cut_off():
    """The card's process lives and answers, and its VFs lead to nobody: as after the restart of a host whose card does
    not connect again."""
    folder = own("e2e") / "card-cut-off"
    folder.mkdir(parents=True, exist_ok=True)
    bearers = [configs.bearer(1, upf=LINK.upf_ipv4, shard=1, card="card0")]
    # In a namespace of its own the port is free.
    tree = configs.behind_a_card("cco", bearers) | {"metrics": {"listen": "127.0.0.1:19464"}}
    with CardBed(folder, "cco", tree) as bed:
        bed.wait_for_neighbours()
        assert bed.ping(bed.on_card()[0]["ue_ipv4"]) == 10
        before = bed.card.control.call("card.show")
        assert metric(bed, "splitplane_card_link_up") == 1
        # The host's sockets stand elsewhere now: the card finds no host.
        bed.gnb.process.signal(signal.SIGKILL)
        bed.gnb.process.wait()
        bed.processes.stop(bed.gnb.process)
        for port in configs.VFS:
            device = tree["ports"][port]["device"]
            tree["ports"][port]["device"] = device.replace(".sock", "-elsewhere.sock")
        bed.start_host()
        wait_until("it to be cut off", lambda: bed.state()["state"] == "cut off", 5, [bed.gnb.process])
        state = bed.state()
        assert "vf-n3, vf-air, vf-copies are not connected" in state["reason"]
        assert (state["waiting"], state["installed"], state["removed"]) == (1, 0, 0)
        assert bed.card.control.call("card.show")["bearers"] == before["bearers"] == 1, "it keeps what it has"
        assert metric(bed, "splitplane_card_link_up") == 0
        assert metric(bed, "splitplane_card_link_cut_off") == 1
        wait_until("the log to say so", lambda: "card card0 is cut off" in bed.gnb.process.log.read_text(), 5)
        assert bed.card.control.call("card.show")["waiting_vfs"] == list(configs.VFS)


def metric(bed: CardBed, name: str) -> int:
    done = run(["curl", "-s", "http://127.0.0.1:19464/metrics"], netns=bed.network.gnb)
    return int(re.search(rf'^{name}{{card="card0"}} (\d+)$', done.stdout, re.MULTILINE)[1])


# 1,000 for `make accept PART=mended`.
KILLS = int(os.environ.get("SPLITPLANE_HOST_KILLS", "3"))


@pytest.mark.nightly
def test_a_host_that_is_killed_again_and_again_under_load_leaves_no_vf_behind():
    """Kills at random moments, also while the card connects: what hung once in 130 kills with a card that listened."""
    folder = own("e2e") / "card-host-kills"
    folder.mkdir(parents=True, exist_ok=True)
    moments = random.Random(7)
    with RestartBed(folder, "chk") as bed:
        bed.on_the_card = {bearer["ue_ipv4"] for bearer in bed.on_card()}
        pings = {b["ue_ipv4"]: bed.ping_all_the_time(b["ue_ipv4"]) for b in bed.bearers()}
        loads = [bed.download_all_the_time(address) for address in pings]
        longest, kills = 0.0, 0
        for kill in range((KILLS * 2 + 2) // 3):  # each second time twice
            if kill % 2:  # while it starts, too
                bed.end("host")
                bed.start_host_and_kill_it(moments.uniform(0.1, 0.9))
                bed.start("host")
                began = time.time()
                bed.wait_for_traffic(began, bed.followed(("host",), pings), 45)
                longest = max(longest, time.time() - began)
            else:
                longest = max(longest, bed.restart("host", pings, 45).down)
            kills += 1 + kill % 2
            (folder / "kills.txt").write_text(f"{kills} kills, back after {longest:.2f} s at most\n")
            time.sleep(moments.uniform(0, 0.5))
        print((folder / "kills.txt").read_text().strip())
        for process in (*pings.values(), *loads):
            bed.processes.stop(process)


def test_a_host_that_ends_while_it_is_connected_to_does_no_harm():
    """What made the card that listened deaf for good (DPDK 22.11's virtio_user with server=1): the first message of a
    new session finds the host gone. Here hosts of a few milliseconds, and then one that stays."""
    folder = own("e2e") / "card-short-hosts"
    folder.mkdir(parents=True, exist_ok=True)
    with RestartBed(folder, "csh") as bed:
        address = bed.on_card()[0]["ue_ipv4"]
        for _ in range(3):
            bed.end("host")
            for port in configs.VFS:
                short_host(Path(configs.vf_socket("csh", port)))
            bed.start("host")
            # The card alone serves it first; then this host finds the UPF.
            wait_until("the bearer to serve", lambda: bed.ping(address) == 10, 20)


def short_host(path: Path):
    """Takes a connection of the card, answers its first question, and ends before the second."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen(4)
        server.settimeout(5)
        for _ in range(2):  # the question whether somebody is there, and the device's session
            client, _ = server.accept()
            with client:
                client.recv(12)
                client.sendall(struct.pack("<IIIQ", 1, 5, 8, 1 << 32 | 1 << 30))

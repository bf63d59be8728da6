"""A card with fewer entries than its host has bearers, before a whole path: those that find no entry pass in both
directions by the punt VFs, also while they move to the card and back."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import configs
from card_bed import CardBed
from namespaces import N3Link
from paths import own
from processes import wait_until

LINK = N3Link()
BEARERS, ENTRIES = 8, 3
FILE_BYTES = 500_000
MOVES = 10


class SmallCardBed(CardBed):
    """Without a port for copies, so that bearers may move."""

    def __init__(self, folder: Path, name: str):
        trees = [configs.bearer(number, upf=LINK.upf_ipv4, shard=number) for number in range(1, BEARERS + 1)]
        host, vfs = configs.behind_a_card(name, trees), ["vf-n3", "vf-air"]
        host["workers"]["w0"]["features"] = "mat"
        del host["ports"]["vf-copies"], host["workers"]["copies"], host["cards"]["card0"]["copies"]
        host["cards"]["card0"]["vfs"] = vfs
        super().__init__(folder, name, host, nic={"features": "mat", "max_bearers": ENTRIES, "vfs": vfs})
        del self.nic_tree["ports"]["vf-copies"]


def move(bed: CardBed, bearer: dict, to: str):
    done = bed.gnb.control.call("place.move", ids=[bearer["id"]], to=to)
    assert (done["moved"], done["stayed"]) == (1, []), done


def transfer(bed: CardBed, bearers: list[dict], file):
    """Both ways, by each of them."""
    for bearer in bearers:
        assert bed.ping(bearer["ue_ipv4"]) == bed.ping(bearer["ue_ipv6"]) == 10, bearer
        down, up = bed.web.download(bearer["ue_ipv4"], file), bed.web.upload(bearer["ue_ipv6"], file)
        assert (down.equal, up.equal) == (True, True), bearer
    bed.wait_for_the_last_packets()


def test_bearers_without_an_entry_pass_in_both_directions_and_while_they_move():
    folder = own("e2e") / "absent-bearers"
    folder.mkdir(parents=True, exist_ok=True)
    with SmallCardBed(folder, "cab") as bed:
        bed.wait_for_neighbours()
        state = bed.state()
        assert (state["bearers"], state["absent"], state["waiting"]) == (BEARERS, BEARERS - ENTRIES, 0)
        file = bed.web.make("absent.bin", FILE_BYTES)
        absent = bed.bearers()[ENTRIES:]  # the first bearers have the entries
        transfer(bed, absent, file)
        # Each packet of theirs is of no entry, and so is each STATUS PDU of their UEs.
        punts = bed.card.control.call("card.show")["punts"]
        absent, control = bed.bearers()[ENTRIES:], bed.gnb.control.stats()["workers"][0]["rlc_control"]
        assert punts["teid_unknown"] == sum(b["downlink"]["received"] for b in absent)
        assert punts["bearer_unknown"] == sum(b["uplink"]["received"] for b in absent) + control
        assert min(b["uplink"]["transmitted"] for b in absent) > FILE_BYTES // 1500
        transfer(bed, bed.bearers()[:ENTRIES], file)
        after = bed.card.control.call("card.show")["punts"]
        assert [after[reason] - punts[reason] for reason in ("teid_unknown", "bearer_unknown")] == [0, 0]
        sums, upf = bed.assert_accounted(), bed.upf.stats()["totals"]
        assert upf["dl_packets"] == sums["downlink"]["received"]
        assert upf["ul_packets"] == sums["uplink"]["transmitted"]

        for bearer in absent:
            moves = 0
            with ThreadPoolExecutor(2) as pool:
                down, up = (pool.submit(way, bearer["ue_ipv4"], file) for way in (bed.web.download, bed.web.upload))
                for to in itertools.cycle(["card0", "host"]):
                    if to == "card0" and moves >= MOVES and down.done() and up.done():
                        break
                    move(bed, bearer, to)
                    moves += 1
                    time.sleep(0.005)
                assert (down.result().equal, up.result().equal) == (True, True), bearer
            # Its entry stays as the way to its worker, until another one needs it.
            wait_until("nothing to wait", lambda: bed.state()["waiting"] == 0)
            assert bed.card.control.call("card.show")["bearers"] == ENTRIES
        bed.wait_for_the_last_packets()
        sums, upf, state = bed.assert_accounted(), bed.upf.stats()["totals"], bed.state()
        assert upf["ul_packets"] == sums["uplink"]["transmitted"]
        assert (state["refused"], state["failures"], state["connects"]) == (0, 0, 1)
        assert bed.gnb.control.call("place.show")["moves"]["failed"] == 0

        # One that is absent goes right after it came.
        gone = bed.bearers()[0]
        move(bed, absent[0], "card0")
        assert bed.gnb.control.call("bearer.release", id=gone["id"])["existed"]
        assert bed.ping(absent[0]["ue_ipv4"]) == bed.ping(absent[-1]["ue_ipv4"]) == 10
        assert bed.state()["bearers"] == BEARERS - 1
        bed.finish()

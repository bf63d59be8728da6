"""A card of two cores: each bearer is one core's, frames and what becomes of them cross between the cores, and all adds
up over both, also after the card was killed."""

from __future__ import annotations

import configs
import pytest
from capture import Capture
from card import served_by
from card_bed import CardBed, numbers_on_air
from namespaces import AirLink, N3Link
from paths import own
from processes import wait_until

LINK = N3Link()
FILE_BYTES = 500_000


@pytest.mark.nightly
def test_two_cores_of_a_card_serve_the_bearers_of_one():
    bearers = [
        configs.bearer(1, upf=LINK.upf_ipv4, count=8, card="card0"),
        configs.bearer(20, upf=LINK.upf_ipv4, count=2),
    ]
    folder = own("e2e") / "card-cores"
    folder.mkdir(parents=True, exist_ok=True)
    with CardBed(folder, "cco", configs.behind_a_card("cco", bearers), nic={"cores": [0, 1]}) as bed:
        bed.wait_for_neighbours()
        capture = Capture(bed.processes, bed.network.ue, AirLink().ue_interface, folder / "air.pcapng", octets=64)
        file = bed.web.make("cores.bin", FILE_BYTES)
        for number, bearer in enumerate(bed.bearers()):
            ue = bearer["ue_ipv6" if number % 2 else "ue_ipv4"]
            assert bed.web.download(ue, file).equal and bed.web.upload(ue, file).equal, bearer
        bed.wait_for_the_last_packets()
        bed.assert_accounted()

        stats = bed.card.control.stats()
        workers = {worker["name"]: worker for worker in stats["workers"]}
        assert list(workers) == ["card0.0", "card0.1"] and all(worker["balanced"] for worker in workers.values())
        assert all(worker["dispatched"] > 500 for worker in workers.values()), "each hands frames to the other"
        assert (stats["totals"]["held"], stats["bearers"]) == (0, 10)
        power = bed.card.control.call
        power("power.set", worker="card0", kind="budget")  # the card's name: every loop
        power("power.set", worker="card0.1", kind="yield")
        kinds = {row["name"]: row["policy"]["kind"] for row in power("power.show")["workers"]}
        assert kinds == {"card0.0": "budget", "card0.1": "yield"}
        assert bed.ping(bed.on_card()[0]["ue_ipv4"]) == 10, "a core that sleeps is woken by the other"
        served = served_by(bed.card)
        on_card = bed.on_card()
        assert served == sum(b["downlink"]["transmitted"] + b["uplink"]["transmitted"] for b in on_card)

        boot = bed.card.control.call("card.show")["boot"]
        bed.kill_card()
        wait_until("the gNB to miss its card", lambda: bed.state()["state"] == "away")
        bed.start_card()
        wait_until("them to be installed again", lambda: bed.state()["state"] == "up" and not bed.state()["waiting"])
        assert bed.card.control.call("card.show")["boot"] != boot
        bed.wait_for_neighbours()
        for bearer in bed.bearers():
            assert bed.ping(bearer["ue_ipv4"]) == 10
        capture.stop()
        air = numbers_on_air(folder / "air.pcapng")
        for bearer in on_card:
            counts = air[bearer["id"]].counts()
            assert len(counts) > FILE_BYTES // 1500 and counts == sorted(set(counts)), "in order, none twice"
        bed.finish(("returned_wrong",))

"""Secured bearers whose windows are in the buffering service. They get new keys while the air loses PDUs and while the
service is killed. Python, which shares no code with the gNB, deciphers what crosses the air."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import air_views
import configs
import pytest
from baas_bed import BaasBed
from paths import own
from test_rlc import datagrams
from test_secured import BEARERS, Rekeyed, SecuredBed, write_keys


class SecuredBaasBed(SecuredBed, BaasBed):
    pass


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "secured-baas"
    folder.mkdir(parents=True, exist_ok=True)
    tree = configs.one_worker("secured-baas", BEARERS)
    tree["workers"]["w0"]["baas"] = "process"
    tree["baas"] = {"cores": [1]}
    tree["key_file"] = str(write_keys(folder / "gnb.keys"))
    with SecuredBaasBed(folder, "secured-baas", tree) as made:
        made.wait_for_neighbours()
        yield made


@pytest.mark.parametrize("shard", [9, 10], ids=["am18", "am12"])
def test_new_keys_and_kills_of_the_service_lose_nothing(bed, shard):
    ue = BEARERS[shard - 1]["ue_ipv4"]
    bed.settle()
    rekeyed = Rekeyed(bed, shard, f"baas-{shard}")
    bed.set_air(loss_percent=5, delay_us=2000, jitter_us=1000)
    with ThreadPoolExecutor() as pool:
        ways = [pool.submit(datagrams, bed, ue, 3000, downlink, 30) for downlink in (False, True)]
        for pause in (0.2, 0.1, 0.3):
            time.sleep(pause)
            bed.kill_service()
            rekeyed.again()  # without a service: frames in the ledger are protected again before it is told of them
            bed.start_service()
            rekeyed.again()
        for way in ways:
            assert way.result()[0] == list(range(3000)), "each came once, and in order"
    rekeyed.again(wait=True)
    assert bed.ping(ue, 20) == 20
    bed.settle()
    found = rekeyed.judge()
    assert len({one.key for one in found}) >= 3
    for direction in (air_views.UPLINK, air_views.DOWNLINK):
        counts = {one.count for one in found if one.direction == direction}
        assert counts == set(range(min(counts), max(counts) + 1)), "COUNTs go on, and none is missing"
    row = bed.gnb.control.call("baas.show")
    assert row["ended"] >= 3 and row["workers"][0]["told_again"] > 0
    bed.assert_accounted_for()

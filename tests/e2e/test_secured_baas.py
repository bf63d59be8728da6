"""Secured bearers whose windows are in the buffering service. They get new keys while the air loses PDUs and while the
service is killed. Python, which shares no code with the gNB, deciphers what crosses the air."""

from __future__ import annotations

import time

import configs
import pytest
from baas_bed import BaasBed
from paths import own
from test_secured import BEARERS, Rekeyed, SecuredBed, under_rekeys, write_keys


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


@pytest.mark.parametrize("shard", [pytest.param(9, marks=pytest.mark.nightly), 10], ids=["am18", "am12"])
def test_new_keys_and_kills_of_the_service_lose_nothing(bed, shard):
    def change(rekeyed: Rekeyed) -> None:
        for pause in (0.2, 0.1, 0.3):
            time.sleep(pause)
            bed.kill_service()
            rekeyed.again()  # without a service: frames in the ledger are protected again before it is told of them
            bed.start_service()
            rekeyed.again()

    _, found = under_rekeys(bed, shard, "baas", 5, change)
    assert len({one.key for one in found}) >= 3
    row = bed.gnb.control.call("baas.show")
    assert row["ended"] >= 3 and row["workers"][0]["told_again"] > 0
    bed.assert_accounted_for()

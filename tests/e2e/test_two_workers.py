"""Two workers: each with an N3 address of its own for its shards, and both behind a dispatching worker."""

from __future__ import annotations

import configs
import pytest
from namespaces import AirLink, N3Link
from paths import OUT
from testbed import Testbed

LINKS = (N3Link(), N3Link("upf-n3b", "gnb-n3b", "10.101.0.2", "fd00:101::2", "10.101.0.1", "fd00:101::1"))
AIRS = (AirLink(), AirLink("gnb-airb", "ue-airb"))
FILE_BYTES = 3_000_000


def by_address() -> dict:
    return configs.gnb(
        "2a",
        ports={
            "n3a": configs.af_packet("gnb-n3", 0),
            "n3b": configs.af_packet("gnb-n3b", 1),
            "aira": configs.af_packet("gnb-air", 2),
            "airb": configs.af_packet("gnb-airb", 3),
        },
        n3=[configs.n3_entry("n3a", LINKS[0]), configs.n3_entry("n3b", LINKS[1])],
        air=[{"port": "aira"}, {"port": "airb"}],
        workers={
            "w0": {"core": 0, "function": "gnb", "n3": "n3a", "air": "aira", "shards": "0-127", "policy": "yield"},
            "w1": {"core": 1, "function": "gnb", "n3": "n3b", "air": "airb", "shards": "128-255", "policy": "yield"},
        },
        bearers=[
            configs.bearer(1, upf=LINKS[0].upf_ipv4, shard=3),
            configs.bearer(2, upf=LINKS[1].upf_ipv6, shard=130),
        ],
    )


def by_dispatcher(name: str = "2d") -> dict:
    worker = {"function": "gnb", "n3": "n3", "air": "air", "policy": "yield"}
    return configs.gnb(
        name,
        ports={"n3": configs.af_packet("gnb-n3", 0, 2), "air": configs.af_packet("gnb-air", 1, 2)},
        n3=[configs.n3_entry("n3", LINKS[0])],
        air=[{"port": "air"}],
        workers={
            "d": {"core": 0, "function": "dispatch", "n3": "n3", "air": "air", "to": ["w0", "w1"], "policy": "yield"},
            "w0": worker | {"core": 0, "queue": 0, "shards": "0-127"},
            "w1": worker | {"core": 1, "queue": 1, "shards": "128-255"},
        },
        bearers=[
            configs.bearer(1, upf=LINKS[0].upf_ipv4, shard=3),
            configs.bearer(2, upf=LINKS[0].upf_ipv6, shard=130),
        ],
    )


CASES = {
    "by_n3_address": ("2a", by_address, LINKS, AIRS, 128),
    "by_dispatcher": ("2d", by_dispatcher, LINKS[:1], AIRS[:1], 256),
}


@pytest.mark.parametrize("case", CASES)
def test_both_workers_carry_their_own_shards(case):
    name, config, links, airs, split = CASES[case]
    folder = OUT / "e2e" / case
    folder.mkdir(parents=True, exist_ok=True)
    with Testbed(folder, name, config(), links, airs, split) as bed:
        file = bed.web.make("file", FILE_BYTES)
        for bearer in bed.bearers():
            for address in ("ue_ipv4", "ue_ipv6"):
                down, up = bed.web.download(bearer[address], file), bed.web.upload(bearer[address], file)
                assert (down.equal, up.equal, down.bytes, up.bytes) == (True, True, FILE_BYTES, FILE_BYTES)
        sums = bed.assert_accounted()
        assert sums["downlink"]["bytes"] > 4 * FILE_BYTES and sums["uplink"]["bytes"] > 4 * FILE_BYTES
        bearers = bed.bearers()
        workers = {
            worker["name"]: {stage["name"]: stage["packets"] for stage in worker["stages"]}
            for worker in bed.finish()["workers"]
        }
        for bearer, worker in zip(bearers, ("w0", "w1"), strict=True):
            assert workers[worker]["dl_headers"] == bearer["downlink"]["transmitted"] > 1000
            assert workers[worker]["ul_encap"] == bearer["uplink"]["transmitted"] > 1000

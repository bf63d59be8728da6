"""Bearers that are found by a key of somebody else's choosing: real traffic by foreign TEIDs and by UE addresses, keys
that collide, a table that is full."""

from __future__ import annotations

from dataclasses import replace

import configs
import pytest
from namespaces import N3Link
from paths import own
from processes import Failure
from testbed import Testbed
from upf import Tunnel, tunnels_of

FILE_BYTES = 500_000
LINK = N3Link()
FOREIGN = 0xDEAD0000


def bearers(**of_first) -> list[dict]:
    return [
        configs.bearer(1, upf=LINK.upf_ipv4, shard=1, **of_first),
        configs.bearer(2, upf=LINK.upf_ipv6, shard=2, rlc="um12", pdcp_sn=12),
    ]


class AnyTeid(Testbed):
    """The UPF sends to TEIDs that no bearer has."""

    def tunnels(self) -> list[Tunnel]:
        found = tunnels_of(self.bearers(), self.network.n3)
        return [replace(tunnel, dl_teid=FOREIGN + number) for number, tunnel in enumerate(found)]


def started(kind: type[Testbed], name: str, tree: dict) -> Testbed:
    folder = own("e2e") / name
    folder.mkdir(parents=True, exist_ok=True)
    return kind(folder, name, tree)


def files_arrive(bed: Testbed):
    for number, bearer in enumerate(bed.bearers()):
        for address in (bearer["ue_ipv4"], bearer["ue_ipv6"]):
            file = bed.web.make(f"file-{number}", FILE_BYTES)
            assert bed.web.download(address, file).equal and bed.web.upload(address, file).equal
    bed.assert_accounted()


def keys_of(bed: Testbed, worker: int = 0) -> dict:
    return bed.gnb.control.stats()["workers"][worker]["keys"]


def add(bed: Testbed, number: int, **more) -> dict:
    params = configs.bearer(number, upf=LINK.upf_ipv4, **more)
    return bed.gnb.control.call("bearer.add", **params)["first"]


def test_traffic_by_a_foreign_teid_beside_one_of_ours():
    tree = configs.one_worker("fteid", bearers(dl_teid=FOREIGN)) | {"foreign_teids": 8}
    with started(Testbed, "fteid", tree) as bed:
        files_arrive(bed)
        assert keys_of(bed)["dl_teid"]["entries"] == 1
        with pytest.raises(Failure, match=f"dl_teid: {FOREIGN:#x} is in use by bearer"):
            add(bed, 3, dl_teid=FOREIGN)
        first = add(bed, 3, dl_teid=FOREIGN + 1)
        with pytest.raises(Failure, match="dl_teid: .* is in use by bearer"):
            add(bed, 4, dl_teid=first["id"])
        # Until the table is full: the bearer is refused, counted, and what is there goes on.
        with pytest.raises(Failure, match="its table of keys is full"):
            for number in range(5, 100):
                add(bed, number, dl_teid=FOREIGN + number)
        full = keys_of(bed)["dl_teid"]
        assert full["refused"] >= 1 and 8 <= full["entries"] <= full["slots"]
        assert len(bed.bearers()) == full["entries"] + 1, "the refused bearer is not there"
        assert bed.gnb.control.call("bearer.release", id=first["id"])["existed"]
        assert keys_of(bed)["dl_teid"]["entries"] == full["entries"] - 1
        files = bed.web.make("again", FILE_BYTES)
        assert bed.web.download(bed.bearers()[0]["ue_ipv4"], files).equal
        bed.finish()


def test_traffic_by_ue_address_whatever_the_teid():
    tree = configs.one_worker("fue", bearers()) | {"lookup": "ue_address"}
    with started(AnyTeid, "fue", tree) as bed:
        files_arrive(bed)
        assert (keys_of(bed)["ue_ipv4"]["entries"], keys_of(bed)["ue_ipv6"]["entries"]) == (2, 2)
        with pytest.raises(Failure, match="ue_ipv4: 10.45.0.2 holds a UE address that bearer"):
            add(bed, 3, ue_ipv4="10.45.0.2")
        bed.finish()


def test_a_dispatching_worker_finds_foreign_keys_too():
    tree = configs.gnb(
        "fdisp",
        foreign_teids=8,
        ports={"n3": configs.af_packet(LINK.gnb_interface, 0, 2), "air": configs.af_packet("gnb-air", 1, 2)},
        n3=[configs.n3_entry("n3", LINK)],
        air=[{"port": "air"}],
        workers={
            "d": {"core": 0, "function": "dispatch", "n3": "n3", "air": "air", "to": ["w0", "w1"], "policy": "yield"},
            "w0": {"core": 0, "function": "gnb", "n3": "n3", "air": "air", "shards": "0-1", "policy": "yield"},
            "w1": {
                "core": 1,
                "function": "gnb",
                "n3": "n3",
                "air": "air",
                "queue": 1,
                "shards": "2-255",
                "policy": "yield",
            },
        },
        bearers=bearers(dl_teid=FOREIGN | 2 << 18),  # looks like the other worker's shard
    )
    with started(Testbed, "fdisp", tree) as bed:
        files_arrive(bed)
        bed.finish()

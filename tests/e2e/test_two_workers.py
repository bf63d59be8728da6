"""Two workers: each with an N3 address of its own for its shards, and both behind a dispatching worker."""

from __future__ import annotations

import time
from contextlib import ExitStack

import configs
import pytest
from gtpu_bed import INNER, GtpuBed, message_of
from instance import Instance
from namespaces import AirLink, N3Link, Network
from paths import own
from processes import Processes
from testbed import Testbed
from wire import Wire

from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer  # noqa: E402  isort: skip
from scapy.layers.inet import IP, UDP  # noqa: E402  isort: skip
from scapy.layers.l2 import Ether  # noqa: E402  isort: skip
from scapy.packet import Raw  # noqa: E402  isort: skip

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
    folder = own("e2e") / case
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


def test_a_released_teid_is_silent_as_long_as_its_own_n3_interface_says(folder):
    tree = by_address()
    tree["file_prefix"], tree["bearers"] = configs.prefix("2s"), []
    tree["n3"][0]["released_teid_silence_s"], tree["n3"][1]["released_teid_silence_s"] = 60, 3
    with Network("2s", LINKS, AIRS) as network, ExitStack() as stack:
        processes = Processes(folder)
        stack.callback(processes.stop_all)
        control = Instance(processes, "gnb", "run", configs.write(folder, "gnb", tree), network.gnb).control
        upf = LINKS[1].upf_ipv4
        wire = Wire(network.core, LINKS[1].upf_interface)
        ethernet = Ether(
            src=GtpuBed.mac(network.core, LINKS[1].upf_interface), dst=GtpuBed.mac(network.gnb, LINKS[1].gnb_interface)
        )
        first = control.call("bearer.add", upf=LINKS[0].upf_ipv4, ul_teid=0x5001, shard=5)["first"]["id"]
        teid = control.call("bearer.add", upf=upf, ul_teid=0x5002, shard=131)["first"]["id"]
        for bearer in (first, teid):  # the one with the long silence goes first
            control.call("bearer.release", id=bearer)
        gpdu = GTP_U_Header(teid=teid, gtp_type=255) / GTPPDUSessionContainer(type=0, QFI=9) / Raw(INNER)
        frame = ethernet / IP(src=upf, dst=LINKS[1].gnb_ipv4) / UDP(sport=2152, dport=2152) / gpdu
        wire.send(bytes(frame))
        assert not [f for f in wire.frames(0.4) if message_of(f, 26)]
        time.sleep(3.5)
        wire.send(bytes(frame))
        wire.expect("Error Indication", lambda f: message_of(f, 26))
        drops = control.stats()["workers"][1]["drops"]
        assert (drops["teid_released"], drops["teid_unknown"]) == (1, 1)

"""Bearers added, changed and released by `splitplane ctl` while packets of another bearer flow without a loss."""

from __future__ import annotations

import json
import re
import signal

import configs
import pytest
from namespaces import N3Link
from paths import own, splitplane
from processes import run, wait_until
from testbed import Testbed
from ue import has_addresses, tun_name
from upf import SERVER_IPV4

LINK = N3Link()
FIRST = configs.bearer(1, upf=LINK.upf_ipv4, shard=1)


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "control"
    folder.mkdir(parents=True, exist_ok=True)
    with Testbed(folder, "ct", configs.one_worker("ct", [FIRST])) as made:
        made.wait_for_neighbours()
        yield made


def ctl(bed: Testbed, *words: object, code: int = 0) -> dict:
    """`splitplane ctl --config ... --json`; what it printed, or its one error line."""
    done = run([splitplane(), "ctl", "--config", bed.gnb.config, "--json", *words], check=False)
    assert done.returncode == code, done.stderr
    if code:
        assert len(done.stderr.strip().splitlines()) == 1 and not done.stdout
        return {"error": done.stderr.strip()}
    return json.loads(done.stdout)


class Steady:
    """A ping of the first bearer's UE every 5 ms, while the test does other things."""

    def __init__(self, bed: Testbed, address: str):
        self.bed = bed
        self.process = bed.processes.start(
            "steady-ping", ["ping", "-n", "-I", address, "-i", "0.005", SERVER_IPV4], bed.network.ue
        )

    def lost(self) -> tuple[int, int]:
        """Ends it; how many were sent up to the last one answered, and how many of these were not answered. Those that
        are on their way at the end say nothing."""
        self.process.signal(signal.SIGINT)
        self.process.wait()
        self.bed.processes.stop(self.process)
        answered = {int(number) for number in re.findall(r"icmp_seq=(\d+) ttl", self.process.log.read_text())}
        return max(answered, default=0), max(answered, default=0) - len(answered)


def test_add_modify_release_while_traffic_flows(bed):
    steady = Steady(bed, FIRST["ue_ipv4"])
    second = configs.bearer(7, upf=LINK.upf_ipv6)
    words = [
        "bearer",
        "add",
        "--upf",
        second["upf"],
        "--ul-teid",
        hex(second["ul_teid"]),
        "--ue-ipv4",
        second["ue_ipv4"],
        "--ue-ipv6",
        second["ue_ipv6"],
        "--shard",
        200,
        "--qfi",
        9,
    ]
    added = ctl(bed, *words)["first"]
    assert added["id"] == configs.identity(200) and added["shard"] == 200
    assert ctl(bed, *words)["first"]["id"] == added["id"]  # the same once more is no second bearer
    assert [bearer["id"] for bearer in bed.bearers()] == [configs.identity(1), added["id"]]

    bed.upf.reload(bed.tunnels())
    tun = tun_name(bed.ues[0].config)
    wait_until("the UE side to know the new bearer", lambda: has_addresses(bed.network, tun, second))
    bed.wait_for_neighbours()
    assert bed.ping(second["ue_ipv4"]) == bed.ping(second["ue_ipv6"]) == 10

    assert ctl(bed, "bearer", "modify", added["id"], "--qfi", 5)["qfi"] == 5
    follow_qfi(bed, added["id"], 5)
    assert bed.ping(second["ue_ipv4"], 5, wait_s=1) == 0  # the UPF, which still expects QFI 9, counts and drops
    assert tunnel(bed, second)["ul"]["wrong_qfi"] == 5
    bed.upf.reload(bed.tunnels())
    assert bed.ping(second["ue_ipv4"]) == 10
    assert tunnel(bed, second)["ul"]["wrong_qfi"] == 5

    shown = ctl(bed, "bearer", "show", added["id"])
    for way in ("downlink", "uplink"):
        assert shown[way]["received"] == shown[way]["transmitted"] >= 30

    assert ctl(bed, "bearer", "release", added["id"]) == {"id": added["id"], "existed": True}
    assert ctl(bed, "bearer", "release", added["id"]) == {"id": added["id"], "existed": False}
    assert "error" in ctl(bed, "bearer", "show", added["id"], code=2)
    wait_until("the UE side to forget the bearer", lambda: not has_addresses(bed.network, tun, second))
    sent, lost = steady.lost()
    assert sent > 200 and lost == 0, f"{lost} of {sent} pings of the untouched bearer lost"


def test_a_downlink_packet_to_a_released_bearer_is_dropped_by_reason(bed):
    before = drops(bed, "teid_released")
    third = configs.bearer(8, upf=LINK.upf_ipv4)
    added = ctl(
        bed, "bearer", "add", "--upf", third["upf"], "--ul-teid", third["ul_teid"], "--ue-ipv4", third["ue_ipv4"]
    )
    bed.upf.reload(bed.tunnels())
    ctl(bed, "bearer", "release", added["first"]["id"])
    run(
        ["ping", "-q", "-c", "5", "-i", "0.02", "-W", "0.2", "-I", SERVER_IPV4, third["ue_ipv4"]],
        netns=bed.network.core,
        check=False,
    )
    wait_until("all five to be dropped", lambda: drops(bed, "teid_released") >= before + 5)
    assert drops(bed, "teid_released") == before + 5
    stats = bed.gnb.control.stats()
    assert stats["totals"]["balanced"] is True


def test_bad_requests_are_one_line_and_change_nothing(bed):
    before = [bearer["id"] for bearer in bed.bearers()]
    assert "error" in ctl(bed, "bearer", "modify", 1, "--qfi", 5, code=2)
    assert "error" in ctl(bed, "bearer", "add", "--upf", "10.100.0.2", "--ul-teid", 99, "--rlc", "am13", code=2)
    assert "error" in ctl(bed, "bearer", "add", "--upf", "10.100.0.2", "--ul-teid", 99, "--shrad", 1, code=2)
    assert [bearer["id"] for bearer in bed.bearers()] == before


def follow_qfi(bed: Testbed, bearer_id: int, qfi: int):
    """Waits until the UE side has learned a change: the QFI of the uplink is what it writes into SDAP."""
    control = bed.ues[0].control
    wait_until("the UE side to follow", lambda: control.call("bearer.show", id=bearer_id)["qfi"] == qfi)


def tunnel(bed: Testbed, bearer: dict) -> dict:
    return next(t for t in bed.upf.stats()["tunnels"] if t["ul_teid"] == bearer["ul_teid"])


def drops(bed: Testbed, reason: str) -> int:
    return sum(worker["drops"].get(reason, 0) for worker in bed.gnb.control.stats()["workers"])

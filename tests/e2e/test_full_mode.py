"""Full mode over the whole path: N3, gNB worker, nFAPI over UDP, emulated PHY and its UEs, TUN device, and back. The
air loses transport blocks and DCIs. A second reader deciphers what crossed it (tests/oracle/full_mode)."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import configs
import pytest
from checks import Checks
from full_path import FullPath, blocks, read_air
from generated import MEMORY, to_bearers
from paths import splitplane
from processes import run, wait_until
from testbed import assert_passed
from traffic import iperf, iperf_udp

AM, UM = 0, 1  # places in the list of bearers
LOSS, DCI_LOSS = 5, 1
UES = 300
FILE_BYTES = 20_000_000


def bed(folder: Path, phy: dict, **more) -> FullPath:
    return FullPath(folder, "full", phy, prefix=configs.prefix("full"), **more)


@pytest.fixture
def path(folder):
    with bed(folder, {"seed": 11, "downlink": {}, "uplink": {}}) as made:
        yield made


def address(path: FullPath, which: int) -> str:
    return path.bearers[which]["ue_ipv4"]


def assert_both_ways(path: FullPath, size: int, name: str):
    """A file each way, over the AM bearer."""
    file = path.web.make(f"{name}.bin", size)
    down, up = path.web.download(address(path, AM), file), path.web.upload(address(path, AM), file)
    assert (down.bytes, down.equal) == (up.bytes, up.equal) == (size, True)


def drops(end) -> dict[str, int]:
    return {name: n for worker in end.control.stats()["workers"] for name, n in worker["drops"].items() if n}


def finish(path: FullPath) -> tuple[dict, dict]:
    checks = Checks()
    ended = path.finish(checks)
    assert_passed(checks)
    return ended


def test_files_and_streams_pass_an_air_that_loses_blocks_and_dcis(path):
    path.set_loss(LOSS, DCI_LOSS)
    before = path.air()
    for which in (AM, UM):
        for downlink in (False, True):
            assert path.ping(address(path, which), downlink=downlink) >= (10 if which == AM else 8)
            print(f"RTT {'downlink' if downlink else 'uplink'} first, {'AM' if which == AM else 'UM'}: {path.rtt}")
    assert_both_ways(path, FILE_BYTES, "lossy")
    assert iperf(path.network, path.processes, address(path, AM), downlink=True, seconds=2, name="down") > 5
    assert iperf(path.network, path.processes, address(path, AM), downlink=False, seconds=2, name="up") > 5
    down, down_lost, up, up_lost = blocks(before, path.air())
    assert 0.03 < down_lost / (down + down_lost) < 0.07 and 0.03 < up_lost / (up + up_lost) < 0.07
    (phy,) = path.gnb.control.call("phy.show")
    for way in ("downlink", "uplink"):
        harq = phy["slots"][way]["harq"]
        assert harq["retransmissions"] > 0.03 * harq["blocks"] > 30, way
    gnb, _ = finish(path)
    assert not [name for worker in gnb["workers"] for name, n in worker["drops"].items() if n and "integrity" in name]


@pytest.mark.nightly
def test_harq_alone_repairs_what_a_udp_stream_over_um_lost(path):
    path.set_loss(LOSS)
    for downlink in (True, False):
        ue, name = address(path, UM), f"udp-{downlink}"
        sent, lost = iperf_udp(path.network, path.processes, ue, downlink=downlink, seconds=2, mbit=8, name=name)
        assert sent > 1000 and lost < 0.002 * sent, (sent, lost, drops(path.gnb), drops(path.phy))
    finish(path)


def test_both_ends_may_be_killed_and_started_again(path):
    path.set_loss(LOSS)
    assert_both_ways(path, 1_000_000, "first")
    path.phy.process.signal(signal.SIGKILL)
    path.processes.stop(path.phy.process)
    wait_until("the gNB to see it", lambda: path.gnb.control.call("phy.show")[0]["state"] != "running")
    path.start_phy()
    path.configure_ues()
    path.wait_for_air()
    assert_both_ways(path, 1_000_000, "second")
    path.gnb.process.signal(signal.SIGKILL)
    path.processes.stop(path.gnb.process)
    path.start_gnb(fresh=False)
    path.wait_for_air()
    assert_both_ways(path, 1_000_000, "third")
    assert path.ping(address(path, UM)) >= 8
    finish(path)


def test_a_second_reader_finds_every_packet_in_a_capture_of_the_air(folder):
    capture = folder / "air.pcapng"
    settings = {"seed": 3, "downlink": {"loss_percent": LOSS}, "uplink": {"loss_percent": LOSS}}
    with bed(folder, settings | {"capture": {"file": str(capture)}}) as path:
        first = write_bearers(path, folder / "first.json")
        file = path.web.make("captured.bin", 300_000)
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(way, address(path, AM), file) for way in (path.web.download, path.web.upload)]
            assert all(job.result().equal for job in jobs)
        assert path.ping(address(path, UM)) == 10
        last = path.gnb.control.bearers()
        _, phy = finish(path)
        judged = read_air(capture, [first], path.keys)
    counted = phy["capture"]
    assert counted["blocks"] == phy["air"]["dl_decoded"] + phy["air"]["ul_decoded"]
    assert (counted["too_long"], counted["no_room"], counted["stopped"]) == (0, 0, 0)
    assert not judged["faults"], judged
    for bearer in last:
        for way, sent in (("downlink", bearer["pdcp_tx_next"]), ("uplink", bearer["pdcp_rx_next"])):
            (row,) = [
                row
                for row in judged["bearers"]
                if row["rnti"] == bearer["rlc_full"]["rnti"] and row["direction"] == way
            ]
            assert row["ip_packets"] == sent, (bearer["id"], way, row)


def test_the_packets_of_many_ues_reach_them_and_those_without_the_tun_device_count_theirs(folder):
    """A cell of 300 UEs, of which three have the kernel's stack."""
    bearers = {"count": UES, "upf": "10.100.0.2", "ul_teid": 0x4000, "ue_ipv4": "10.46.0.1", "rlc": "um12"}
    bearers["security"] = {"cipher": "nea2", "integrity": "nia2", "key": 1}
    loss = {"downlink": {"loss_percent": LOSS}, "uplink": {"loss_percent": LOSS}}
    with bed(folder, loss, ue={"tun_ues": 3}, gnb={"bearers": [bearers]}) as path:
        assert path.ping(address(path, 2)) >= 8
        sent = generate(path, rate=20_000, seconds=2)
        wait_until("the queues of RLC to be empty", lambda: waiting(path) == 0)
        gnb, ues = (end.control.bearers() for end in (path.gnb, path.phy))
        finish(path)
    assert len(ues) == UES and all(bearer["downlink"]["transmitted"] > sent / UES / 2 for bearer in ues)
    given, came = (sum(bearer["downlink"]["received"] for bearer in end) for end in (gnb, ues))
    assert given >= sent and came > 0.999 * given, (sent, given, came)


def waiting(path: FullPath) -> int:
    return sum(bearer["rlc_full"]["held"] for bearer in path.gnb.control.bearers())


def generate(path: FullPath, rate: int, seconds: int) -> int:
    """Downlink packets for all UEs in turn, from the core's end of N3; returns how many the wire took."""
    file, results = path.folder / "gen.yaml", path.folder / "gen.json"
    results.unlink(missing_ok=True)
    tree = {
        "file_prefix": configs.prefix("full-gen"),
        "memory": MEMORY,
        "ports": {"p": {"device": f"net_af_packet0,iface={path.network.n3[0].upf_interface}"}},
        "gen": {
            "port": "p",
            "core": 1,
            "rate": rate,
            "duration_s": seconds,
            "gnb_ipv4": path.network.n3[0].gnb_ipv4,
            "bearers": to_bearers(path.bearers),
        },
    }
    file.write_text(json.dumps(tree))
    run([splitplane(), "gen", file, "--json", results], netns=path.network.core)
    return json.loads(results.read_text())["gen"]["sent"]


def write_bearers(path: FullPath, file: Path) -> Path:
    file.write_text(json.dumps({"bearers": path.gnb.control.bearers()}))
    return file

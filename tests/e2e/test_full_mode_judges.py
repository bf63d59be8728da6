"""Full mode before judges that are not ours: tshark from transport blocks to IP packets in one call, and an independent
decoder (tests/oracle/nfapi_judge) of every datagram between gNB and PHY."""

from __future__ import annotations

import collections
import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import yaml
from capture import Capture
from checks import Checks
from full_path import GNB, WIRE, FullPath
from paths import CONFIG, ROOT
from processes import run
from testbed import assert_passed
from upf import SERVER_IPV4

sys.path.insert(0, str(ROOT / "tests" / "oracle"))
from full_mode.bearers import read_bearers, read_keys  # noqa: E402
from full_mode.one_tshark_call import one_tshark_call  # noqa: E402
from nfapi_judge import OPEN, decode  # noqa: E402

# 16 bits hold no transport block above 65535 octets: OpenAirInterface and 222.10.04 have 32, too.
OURS = replace(OPEN, tx_tlv_length_bits=32)
PINGS = 60
PAYLOAD = 1100  # octets: some SDUs are cut


def finish(path: FullPath):
    checks = Checks()
    path.finish(checks)
    assert_passed(checks)


def one_bearer() -> dict:
    """The first bearer of the shipped file, without integrity protection, which tshark does not verify."""
    bearer = yaml.safe_load((CONFIG / GNB).read_text())["bearers"][0]
    return {"bearers": [bearer | {"sdap": False, "security": {"cipher": "nea2", "integrity": "none", "key": 1}}]}


def test_one_call_of_tshark_shows_the_packets_inside_the_transport_blocks(folder):
    capture = folder / "air.pcapng"
    settings = {"downlink": {}, "uplink": {}, "capture": {"file": str(capture)}}
    with FullPath(folder, "judge", settings, gnb=one_bearer()) as path:
        ue = path.bearers[0]["ue_ipv4"]
        command = ["ping", "-q", "-n", "-I", ue, "-s", PAYLOAD, "-c", PINGS, "-i", "0.01", "-W", "5", SERVER_IPV4]
        done = run(command, netns=path.network.ue, check=False, timeout=60)
        assert f" {PINGS} received" in done.stdout, done.stdout
        bearers = folder / "bearers.json"
        bearers.write_text(json.dumps({"bearers": path.gnb.control.bearers()}))
        finish(path)
        keys = read_keys(path.keys)
    rows = one_tshark_call(capture, read_bearers([bearers]), keys)
    seen = collections.Counter()
    for row in rows:
        for source, destination in zip(row["ip.src"], row["ip.dst"], strict=True):
            seen[source, destination] += 1
    assert seen[ue, SERVER_IPV4] == PINGS
    assert seen[SERVER_IPV4, ue] == PINGS


def datagrams(capture: Path) -> list[tuple[str, int, bytes]]:
    """Source address, port of the PHY, and octets of each UDP datagram, from tshark's reading of the capture."""
    command = ["tshark", "-r", str(capture), "-Y", "udp && !icmp", "-T", "fields", "-E", "separator=;"]
    for name in ("ip.src", "udp.srcport", "udp.dstport", "udp.payload"):
        command += ["-e", name]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [line.split(";") for line in lines]
    return [(row[0], min(int(row[1]), int(row[2])), bytes.fromhex(row[3])) for row in rows]


def test_an_independent_decoder_reads_every_nfapi_message_of_a_run(folder):
    capture = folder / "nfapi.pcapng"
    with FullPath(folder, "judge", {"downlink": {"loss_percent": 5}, "uplink": {"loss_percent": 5}}) as path:
        # From the second life of the PHY on, so that P5 is in it, too.
        path.phy.process.signal(signal.SIGTERM)
        path.processes.stop(path.phy.process)
        dump = Capture(path.processes, path.network.ue, WIRE.ue_interface, capture, octets=65535, packets=500_000)
        path.start_phy()
        path.configure_ues()
        path.wait_for_air()
        file = path.web.make("judged.bin", 1_000_000)
        ue = path.bearers[0]["ue_ipv4"]
        assert path.web.download(ue, file).equal and path.web.upload(ue, file).equal
        before = path.gnb.control.call("phy.show")[0]
        finish(path)
        assert dump.stop() == 0, "datagrams that the capture missed"
    counts = collections.Counter()
    by_way: dict[tuple[str, int], list[bytes]] = collections.defaultdict(list)
    for source, port, octets in datagrams(capture):
        by_way[source, port].append(octets)
    for (source, _), some in by_way.items():
        side = "L2" if source == WIRE.gnb_ipv4 else "PHY"
        counts.update((side, message["message"]) for message in decode(some, OURS))
    assert counts["L2", "CONFIG.request"] >= 1 and counts["PHY", "CONFIG.response"] >= 1
    assert counts["L2", "DL_TTI.request"] > 600
    assert counts["L2", "UL_TTI.request"] == counts["L2", "DL_TTI.request"]
    assert counts["PHY", "SLOT.indication"] > 600
    for side, name in (
        ("L2", "TX_DATA.request"),
        ("L2", "UL_DCI.request"),
        ("PHY", "UCI.indication"),
        ("PHY", "CRC.indication"),
        ("PHY", "RX_DATA.indication"),
    ):
        assert counts[side, name] > 50, (side, name, counts)
    assert before["messages_dropped"] == 0

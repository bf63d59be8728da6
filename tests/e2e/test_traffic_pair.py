"""`splitplane gen` and `splitplane sink`: packets of every kind judged by tshark and scapy, the latency log read by the
PyPI package hdrhistogram, two processes over memif, and the self-test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import air_views
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from judge import CHECKSUMS, N3_FIELDS, PDCP, PDCP_FIELDS, RLC, RLC_FIELDS, judge, number
from paths import splitplane
from processes import PATIENCE, wait_until

MEMORY = "memory: {hugepages: never, megabytes: 64, mbufs: 8191}\n"
# What the stamp holds is random enough for one or another of tshark's heuristics (Thrift): it is data.
DATA = ["-d", "udp.port==9,data"]
TEIDS = "    - {id: 0x04000000, count: 4, upf: %s, qfi: 5, ue_ipv4: 10.45.0.2, ue_ipv6: fd00:45::2}\n"


def run(folder: Path, name: str, config: str, *options: str, command: str = "gen", code: int = 0) -> dict:
    """Runs it to its end; the results."""
    file, results = folder / f"{name}.yaml", folder / f"{name}.json"
    file.write_text(f"file_prefix: sp-{name}-{os.getpid()}\n{config}")
    done = subprocess.run(
        [str(splitplane()), command, file, "--json", results, *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return json.loads(results.read_text())


def loop(more: str = "", sink: str = "") -> str:
    return (
        f"{MEMORY}ports:\n  p: {{device: net_ring0}}\n"
        f"gen:\n  port: p\n  rate: 100000\n  gnb_ipv4: 10.100.0.1\n{more}  bearers:\n{TEIDS % '10.100.0.2'}"
        f"sink:\n  port: p\n{sink}"
    )


@pytest.mark.parametrize(("outer", "inner"), [(4, 4), (4, 6), (6, 4), (6, 6)])
def test_downlink_frames_are_right_for_tshark_and_scapy(folder, outer, inner):
    from scapy.contrib.gtp import GTP_U_Header
    from scapy.layers.inet import IP, UDP
    from scapy.layers.inet6 import IPv6
    from scapy.utils import rdpcap

    capture = folder / "n3.pcap"
    upf, gnb = ("10.100.0.2", "10.100.0.1") if outer == 4 else ("fd00:100::2", "fd00:100::1")
    config = (
        f"{MEMORY}ports:\n  p: {{device: 'net_pcap0,tx_pcap={capture}'}}\n"
        f"gen:\n  port: p\n  rate: 1000000\n  packets: 400\n  inner: ipv{inner}\n  gnb_ipv{outer}: '{gnb}'\n"
        f"  sizes: [{{bytes: 80}}, {{bytes: 81}}, {{bytes: 1200}}]\n  bearers:\n{TEIDS % upf}"
    )
    assert run(folder, f"n3-{outer}{inner}", config)["gen"]["sent"] == 400

    verdict = judge(capture, N3_FIELDS, [*CHECKSUMS, *DATA])
    assert len(verdict.rows) == 400 and not verdict.complaints, verdict
    assert {number(row["gtp.teid"]) for row in verdict.rows} == {0x04000000 + i for i in range(4)}
    assert {row["gtp.ext_hdr.pdu_ses_con.qos_flow_id"] for row in verdict.rows} == {"5"}
    assert all(set(row["udp.checksum.status"].split(";")) == {"1"} for row in verdict.rows), "1: good"

    for packet in rdpcap(str(capture))[:60]:
        again = type(packet)(bytes(packet))
        for layer in (IP, IPv6, UDP):
            for n in (1, 2):
                part = again.getlayer(layer, n)
                if part is not None and hasattr(part, "chksum"):
                    part.chksum = None
        assert bytes(again) == bytes(packet), "scapy computes other checksums"
        header = packet[GTP_U_Header]
        assert header.teid in range(0x04000000, 0x04000004) and header.gtp_type == 255


@pytest.mark.parametrize("rlc", ["am18", "am12", "um12", "um6", "tm"])
@pytest.mark.parametrize("pdcp", [12, 18])
def test_uplink_frames_are_right_for_tshark(folder, rlc, pdcp):
    """5,000 packets on one bearer: numbers of 12 bits wrap."""
    capture = folder / "air.pcap"
    config = (
        f"{MEMORY}ports:\n  p: {{device: 'net_pcap0,tx_pcap={capture}'}}\n"
        f"gen:\n  port: p\n  direction: uplink\n  rate: 1000000\n  packets: 5000\n  bearers:\n"
        f"    - {{id: 0x04000007, qfi: 7, rlc: {rlc}, pdcp_sn: {pdcp}, ue_ipv4: 10.45.0.2}}\n"
    )
    assert run(folder, f"air-{rlc}-{pdcp}", config)["gen"]["sent"] == 5000
    numbers = [(pdu.rlc_sn(), pdu.pdcp_sn()) for pdu in air_views.read(capture)]
    assert [b for _, b in numbers] == [i % (1 << pdcp) for i in range(5000)]
    if rlc.startswith("am"):
        assert [a for a, _ in numbers] == [i % (1 << int(rlc[2:])) for i in range(5000)]
    rlc_view, pdcp_view, _ = air_views.translate(capture, folder)
    for view, fields, options in (
        (rlc_view, RLC_FIELDS, [*RLC, *DATA]),
        (pdcp_view, PDCP_FIELDS, [*PDCP, *CHECKSUMS, *DATA]),
    ):
        verdict = judge(view, fields, options)
        assert len(verdict.rows) == 5000 and not verdict.complaints, verdict
    assert {row["sdap.qfi"] for row in verdict.rows} == {"7"}


def decode(path: Path) -> HdrHistogram:
    reader = HistogramLogReader(str(path), HdrHistogram(1, 100_000_000_000, 3))
    histogram = reader.get_next_interval_histogram()
    assert histogram is not None and reader.get_next_interval_histogram() is None
    return histogram


def test_the_latency_log_holds_what_the_results_say(folder):
    log = folder / "latency.hlog"
    result = run(folder, "hlog", loop("  arrivals: poisson\n", f"  hlog: {log}\n"), "--duration", "1", "--strict")
    latency = result["sink"]["latency_ns"]
    histogram = decode(log)
    assert histogram.get_total_count() == latency["count"] == result["gen"]["sent"]
    for percent, name in ((50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99_9")):
        # HdrHistogram says the end of a step also where that is above the maximum.
        assert min(histogram.get_value_at_percentile(percent), latency["max"]) == latency[name], name
    assert latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["p99_9"] <= latency["max"]
    assert latency["clamped"] == 0
    assert histogram.get_max_value() == pytest.approx(latency["max"], rel=1e-3)
    assert histogram.get_min_value() == pytest.approx(latency["min"], rel=1e-3)


def test_gen_and_sink_in_two_processes(folder, processes, tmp_path_factory):
    """Over memif: the sink knows the run from its first packet, and ends when no more come."""
    socket = str(tmp_path_factory.mktemp("s") / "m")  # short enough for a socket
    device = "net_memif0,id=0,role=%s,socket=" + socket + ",socket-abstract=no"
    sink_file, results = folder / "sink.yaml", folder / "sink.json"
    sink_file.write_text(
        f"file_prefix: sp-sink-{os.getpid()}\n{MEMORY}ports: {{p: {{device: '{device % 'server'}'}}}}\n"
        "sink: {port: p, idle_s: 1, core: 0}\n"
    )
    sink = processes.start("sink", [splitplane(), "sink", sink_file, "--json", results])
    wait_until("the memif socket", lambda: Path(socket).exists(), processes=[sink])
    config = (
        f"{MEMORY}ports: {{p: {{device: '{device % 'client'}'}}}}\n"
        f"gen:\n  port: p\n  core: 1\n  rate: 20000\n  packets: 20000\n  gnb_ipv4: 10.100.0.1\n  bearers:\n"
        f"{TEIDS % '10.100.0.2'}"
    )
    sent = run(folder, "two", config)["gen"]
    assert sink.wait() == 0
    got = json.loads(results.read_text())["sink"]
    assert sent["sent"] == 20000 and got["unique"] == 20000
    assert got["lost"] == got["duplicates"] == got["reordered"] == got["from_future"] == 0
    assert got["flows_seen"] == 4


def test_a_replay_sends_what_was_captured(folder):
    """A generator's own capture comes out octet for octet."""
    capture, again = folder / "first.pcap", folder / "again.pcap"
    config = loop("  packets: 300\n").replace("net_ring0", f"'net_pcap0,tx_pcap={capture}'").split("sink:")[0]
    run(folder, "first", config)
    replay = (
        f"{MEMORY}ports: {{p: {{device: 'net_pcap0,tx_pcap={again}'}}}}\n"
        f"gen: {{port: p, replay: {capture}, packets: 300, rate: 100000}}\n"
    )
    assert run(folder, "again", replay)["gen"]["sent"] == 300
    assert len(frames_of(capture)) == 300 and frames_of(again) == frames_of(capture)


def frames_of(capture: Path) -> list[bytes]:
    from scapy.utils import RawPcapReader

    return [bytes(octets) for octets, _ in RawPcapReader(str(capture))]


def test_the_self_test_is_exact(folder):
    results = folder / "self.json"
    done = subprocess.run(
        [str(splitplane()), "gen", "--self-test", "--duration", "0.3", "--json", results],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "exact" in done.stdout
    found = json.loads(results.read_text())
    device, sink = found["exact"]["device"], found["exact"]["sink"]
    assert (device["lost"], device["duplicated"], device["reordered"]) == (
        sink["lost"],
        sink["duplicates"],
        sink["reordered"],
    )
    assert all(device.values()), "the device did something"


def test_gen_alone_checks_its_own_port_on_request(folder):
    result = run(folder, "own", loop().split("sink:")[0], "--sink", "--packets", "2000", "--strict")
    assert result["sink"]["unique"] == result["gen"]["sent"] == 2000


def test_what_a_full_port_refuses_is_counted(folder):
    """A ring that nobody empties: every packet is either sent, refused or unsent."""
    config = loop().split("sink:")[0]
    gen = run(
        folder,
        "full",
        f"{config}".replace("  rate: 100000", "  rate: 100000\n  on_refusal: give_up"),
        "--packets",
        "5000",
    )["gen"]
    assert gen["sent"] + gen["refused"] + gen["unsent"] == 5000 and gen["refused"] > 3000
    assert gen["lateness_ns"]["count"] == gen["sent"]


def loses_all(config: str) -> str:
    """The generator's packets go nowhere, and the sink looks elsewhere."""
    two = "ports: {p: {device: net_null0}, q: {device: net_ring0}}\n"
    config = config.replace("ports:\n  p: {device: net_ring0}\n", two).replace("megabytes: 64", "megabytes: 128")
    return config.replace("sink:\n  port: p\n", "sink:\n  port: q\n")


def test_what_is_lost_is_lost_in_the_flows_that_it_was_sent_in(folder):
    result = run(folder, "lost", loses_all(loop("  packets: 402\n")), "--strict", code=1)
    sink = result["sink"]
    assert (sink["lost"], sink["flows_hit"], sink["flows_seen"]) == (402, 4, 0)
    assert [(flow["flow"], flow["lost"]) for flow in sink["flows"]] == [(0, 101), (1, 101), (2, 100), (3, 100)]


def test_a_sink_waits_for_packets_under_way_as_long_as_it_is_told(folder):
    begin = time.monotonic()
    run(folder, "waits", loop("  packets: 100\n", "  idle_s: 2\n"), "--strict")
    assert time.monotonic() - begin > 2


def test_a_run_that_a_signal_ended_is_not_strict(folder):
    file = folder / "signal.yaml"
    file.write_text(f"file_prefix: sp-signal-{os.getpid()}\n{loop()}")
    child = subprocess.Popen(
        [str(splitplane()), "gen", file, "--strict", "--packets", "100000000"], stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    try:
        for line in child.stderr:
            if line.startswith("sent "):
                break
        child.send_signal(signal.SIGINT)
        assert "ended by a signal" in child.stderr.read()
        assert child.wait(PATIENCE) == 1
    finally:
        child.kill()
        child.wait()


def test_a_replay_of_one_moment_needs_a_rate(folder):
    from scapy.layers.l2 import Ether
    from scapy.utils import wrpcap

    capture, out = folder / "moment.pcap", folder / "moment-out.pcap"
    frames = [Ether(bytes([n]) * 60) for n in range(3)]
    for frame in frames:
        frame.time = 1_700_000_000
    wrpcap(str(capture), frames)
    config = f"{MEMORY}ports: {{p: {{device: 'net_pcap0,tx_pcap={out}'}}}}\ngen: {{port: p, replay: {capture}}}\n"
    file = folder / "moment.yaml"
    file.write_text(f"file_prefix: sp-moment-{os.getpid()}\n{config}")
    refused = subprocess.run(
        [str(splitplane()), "gen", file, "--packets", "4"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert refused.returncode == 1
    assert f"gen.replay: all frames of {capture} have one time; allowed: with rate" in refused.stderr
    assert run(folder, "moment-rate", config, "--packets", "4", "--rate", "1000")["gen"]["sent"] == 4

"""Several GPU rings give each number of a bearer once, however the NIC spreads the bearer's packets over them: judged
over all output frames by air_reader, which is no code of the driver's.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import air_reader  # noqa: E402
import n3_frames  # noqa: E402

PROGRAM = Path(__file__).resolve().parents[2] / "build" / "release" / "splitplane"
FRAMES, BEARERS = 6000, 40  # more bearers than one UE has, so that keys matter

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="build/release/splitplane is not built")


def run(folder: Path, traffic: n3_frames.Traffic, function: str, *flags: str) -> tuple[air_reader.Verdict, str]:
    before, after = folder / "in.pcap", folder / "out.pcap"
    n3_frames.write_pcap(before, traffic.frames)
    command = [PROGRAM, "gpu", "run", "--function", function, "--flows", str(BEARERS), "--duration", "60"]
    command += ["--pcap-in", before, "--pcap-out", after, *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found = air_reader.judge(traffic.sdus, air_reader.read_pcap(after), ciphered=function == "pdcp-nea2")
    return found, done.stdout


@pytest.mark.parametrize("threads", [(), ("--threads",)], ids=["one-thread", "threads"])
@pytest.mark.parametrize("rings", [4, 16])
@pytest.mark.parametrize("function", ["gnb-headers", "pdcp-nea2"])
def test_no_number_and_no_key_stream_is_used_twice(tmp_path, function, rings, threads) -> None:
    traffic = n3_frames.make(FRAMES, BEARERS, seed=rings)
    found, said = run(tmp_path, traffic, function, "--rings", str(rings), *threads)
    assert found.unique(), str(found)
    assert found.frames == FRAMES
    assert found.polls_wrong == 0
    assert f"dropped: {traffic.fragments} not_for_us" in said


def test_one_ring_keeps_the_order(tmp_path) -> None:
    found, _ = run(tmp_path, n3_frames.make(FRAMES, BEARERS, seed=1), "pdcp-nea2", "--rings", "1")
    assert found.unique(), str(found)
    assert found.reordered == 0


@pytest.mark.parametrize("rings", [4, 16])
def test_rss_without_ports_keeps_the_order_of_each_bearer(tmp_path, rings) -> None:
    traffic = n3_frames.make(FRAMES, BEARERS, seed=rings, one_family_a_bearer=True)
    found, _ = run(tmp_path, traffic, "gnb-headers", "--rings", str(rings), "--rss", "addresses", "--threads")
    assert found.unique(), str(found)
    assert found.reordered == 0


def test_a_run_with_own_traffic_says_whether_numbers_were_given_once() -> None:
    command = [PROGRAM, "gpu", "run", "--rings", "4", "--function", "pdcp-nea2", "--size", "200", "--packets", "5000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "\nnumbers of bearers: 0 given twice, 0 left out\n" in done.stdout

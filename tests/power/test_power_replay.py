"""`splitplane power replay` and `tune`: what they print, from generated and recorded arrivals, without privilege."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
POLICIES = ["busy", "yield", "paper", "paper_printed", "l3fwd", "metronome", "budget"]


@pytest.fixture(scope="module")
def splitplane() -> Path:
    program = Path(os.environ.get("SPLITPLANE", ROOT / "build" / "release" / "splitplane"))
    if not program.exists():
        pytest.skip(f"SKIPPED: {program} is not built (make build WHAT=all)")
    return program


def run(splitplane: Path, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([splitplane, "power", *args], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done


def replay(splitplane: Path, *args: str) -> dict:
    return json.loads(run(splitplane, "replay", "--json", *args).stdout)


@pytest.mark.parametrize("arrivals", ["constant", "poisson", "bursts", "tdd", "diurnal"])
def test_every_policy_accounts_for_all_time_and_all_packets(splitplane: Path, arrivals: str) -> None:
    found = replay(splitplane, "--arrivals", arrivals, "--rate", "5000", "--duration", "2", "--p-states", "4")
    assert [policy["policy"] for policy in found["policies"]] == POLICIES
    for policy in found["policies"]:
        assert sum(policy["residency"].values()) == pytest.approx(1)
        assert sum(policy["p_states"]) == pytest.approx(1)
        assert policy["arrived"] == policy["processed"] + policy["lost"] + policy["queued"]["at_end"]
        assert policy["arrived"] > 1000
        modelled = policy["modelled"]
        assert modelled["watts_low"] <= modelled["watts"] <= modelled["watts_high"]
        assert modelled["joules"] == pytest.approx(2 * modelled["watts"])


def test_a_sleeping_policy_is_less_active_and_later_than_busy(splitplane: Path) -> None:
    found = replay(splitplane, "--rate", "1000", "--no-c6", "--policy", "busy", "--policy", "budget")
    busy, budget = found["policies"]
    assert busy["active"] == pytest.approx(1)
    assert budget["active"] < 0.2
    assert busy["added_us"]["p50"] < budget["added_us"]["p50"] < 50


def test_the_same_seed_prints_the_same(splitplane: Path) -> None:
    def numbers(seed: str) -> list:
        found = replay(splitplane, "--duration", "1", "--seed", seed)["policies"]
        return [{key: value for key, value in policy.items() if key != "real_s"} for policy in found]

    assert numbers("7") == numbers("7")
    assert numbers("7") != numbers("8")


def test_a_capture_is_replayed_packet_by_packet(splitplane: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.pcap"
    packets = b"".join(struct.pack("<IIII", 100 + i // 100, i % 100 * 10_000, 4, 60) + b"abcd" for i in range(250))
    trace.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1) + packets)
    (budget,) = replay(splitplane, str(trace), "--policy", "budget")["policies"]
    assert budget["arrived"] == budget["processed"] == 250
    assert budget["simulated_s"] == pytest.approx(2.491)
    (faster,) = replay(splitplane, str(trace), "--policy", "budget", "--speed", "2")["policies"]
    assert faster["simulated_s"] == pytest.approx(1.246)


def test_a_capture_that_would_not_end_is_refused(splitplane: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.pcap"
    packets = b"".join(struct.pack("<IIII", second, 0, 4, 60) + b"abcd" for second in (0, 1_750_000_000, 1_750_000_001))
    trace.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1) + packets)
    for more in ([], ["--duration", "1"], ["--speed", "0.001"]):
        done = run(splitplane, "replay", str(trace), *more, code=2)
        assert done.stderr.count("\n") == 1
        assert "allowed: at most 1000000 s from its earliest packet to its latest" in done.stderr


def test_what_tune_prints_is_a_policy_that_a_configuration_takes(splitplane: Path, tmp_path: Path) -> None:
    printed = run(splitplane, "tune", "--rate", "20000", "--duration", "2").stdout
    table, policy = printed.split("\n\npolicy:\n")
    assert "<- best" in table
    assert "  kind: paper\n" in policy
    lines = "".join(f"      {line.strip()}\n" for line in policy.splitlines())
    config = tmp_path / "tuned.yaml"
    config.write_text(
        "memory: {megabytes: 300}\nports: {p: {device: net_null0}}\n"
        "workers:\n  w:\n    function: l2fwd\n    core: 0\n    rx: p\n    tx: p\n    policy:\n" + lines
    )
    done = subprocess.run([splitplane, "check", "--file-only", config], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--policy", "best"], "allowed: all, busy, yield, paper, paper_printed, l3fwd, metronome, budget"),
        (["--set", "budget.latency_us=0"], "latency_us"),
        (["--set", "busy_us=3"], "allowed: POLICY.NAME=VALUE"),
        (["--set", "paper.max_packets=5"], "climb_packets"),
        (["--cost", "c6_exti=5"], "did you mean 'c6_exit'?"),
        (["--cost", "poll=0"], "allowed: 1 to 1000000000 ns"),
        (["--arrivals", "tdd", "--pattern", "UU"], "letters D, S and U"),
        (["--rate", "100000000", "--duration", "10"], "more than 50000000 packets"),
        (["--rate", "nan"], "'nan' is no number"),
        (["/no/such.pcap"], "/no/such.pcap"),
    ],
)
def test_bad_usage_is_one_line_that_says_what_is_allowed(splitplane: Path, args: list[str], sentence: str) -> None:
    done = run(splitplane, "replay", *args, code=2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr

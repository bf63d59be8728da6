"""What `splitplane gpu run` cannot do is refused in one line before anything starts: numbers, files, cards."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "splitplane"
DEVICES = Path("/sys/bus/pci/devices")
ABSENT = "ffff:1f:1f.7"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="build/release/splitplane is not built")


def refusal(*flags: str) -> str:
    done = subprocess.run([PROGRAM, "gpu", "run", *flags], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--port", "net_null0"),
        ("--pcap-in", "in.pcap"),
        ("--json", "out.json"),
        ("--size", "512"),
        ("--rate", "1"),
        ("--packets", "100"),
        ("--flows", "8"),
        ("--window", "8"),
        ("--seed", "2"),
        ("--restore-order", None),
    ],
)
def test_flags_of_other_traffic_are_refused_beside_a_card(flag: str, value: str | None) -> None:
    said = refusal("--nic", ABSENT, flag, *([value] if value else []))
    assert "--nic" in said and flag in said


def test_more_rings_than_rss_has_are_refused() -> None:
    assert "--rings 17" in refusal("--nic", ABSENT, "--rings", "17")


@pytest.mark.parametrize("address", ["03:00.0", "eth0", "0000:03:00.8", "../../x"])
def test_an_address_of_another_form_is_refused_with_an_example(address: str) -> None:
    assert "like 0000:3b:00.0" in refusal(f"--nic={address}")


def test_an_empty_address_is_not_the_soft_nic() -> None:
    assert "--nic" in refusal("--nic=")


def test_a_card_that_is_not_there_is_named() -> None:
    assert f"PCI device {ABSENT}: there is none" in refusal("--nic", ABSENT)


def test_another_device_is_no_82599() -> None:
    others = [d.name for d in sorted(DEVICES.glob("*")) if (d / "vendor").read_text().strip() != "0x8086"]
    if not others:
        pytest.skip("no PCI device of another vendor here")
    assert f"{others[0]}: " in (said := refusal("--nic", others[0]))
    assert "is no Intel 82599 or X520" in said


def test_a_card_for_the_gpu_is_refused_by_what_is_missing() -> None:
    """Any device will do as the card: the GPU is asked about before it is touched."""
    devices = sorted(DEVICES.glob("*"))
    if not devices:
        pytest.skip("no PCI device here")
    said = refusal("--nic", devices[0].name, "--gpu")
    if not any((d / "vendor").read_text().strip() == "0x10de" for d in devices):
        assert said == "splitplane gpu run: --gpu with --nic: no GPU of NVIDIA is on the PCI bus\n"
    assert said.startswith("splitplane gpu run: --gpu with --nic: ")


def test_the_help_says_that_no_card_was_tried() -> None:
    done = subprocess.run([PROGRAM, "gpu", "run", "--help"], capture_output=True, text=True, timeout=30, check=True)
    assert "--nic" in done.stdout
    assert "not tried on hardware" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--packets", "0"), "not in range 1 to"),
        (("--packets", "-1"), "not in range 1 to"),
        (("--doorbell-within", "-1"), "not in range 0 to"),
        (("--early-within", "-5"), "not in range 0 to"),
        (("--seed", "-1"), "not in range 0 to"),
        (("--rate", "1e12"), "not in range 0.0"),
        (("--drop-en", "maybe"), "--drop-en: maybe not in {on,off}"),
        (("--rss", "teid"), "--rss: teid not in {ports,addresses}"),
        (("--size", "1519"), "size: 1519; allowed: 64 to 1518"),
        (("--report-every", "33"), "report_every is 33; allowed is 1 to 32"),
        (("--size", "63"), "size: 63; allowed: 64 to 1518"),
        (("--size", "64", "--function", "pdcp-nea2"), "to 1518 octets"),
        (("--pcap-in", "none.pcap"), "none.pcap: No such file"),
    ],
)
def test_what_cannot_be_is_refused(flags, words):
    assert words in refusal(*flags)


@pytest.mark.parametrize("name", ["a.pcap", "./a.pcap", "link.pcap"])
def test_a_capture_is_not_written_over_itself(tmp_path, name) -> None:
    capture = tmp_path / "a.pcap"
    capture.write_bytes(b"octets that must stay")
    (tmp_path / "link.pcap").symlink_to(capture)
    said = refusal("--pcap-in", capture, "--pcap-out", f"{tmp_path}/{name}")
    assert "--pcap-out" in said and "is --pcap-in" in said
    assert capture.read_bytes() == b"octets that must stay"

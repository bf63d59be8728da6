"""Starts that cannot work: one clear line, exit code 2, nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import configs
import pytest
import yaml
from core_yaml import load
from instance import Instance
from namespaces import N3Link, Network
from paths import CONFIG, splitplane
from processes import PATIENCE

LINK = N3Link()


@pytest.fixture(scope="module")
def network():
    with Network("bad") as made:
        yield made


def traces(name: str) -> set[str]:
    """Files that an instance of this prefix may leave."""
    places = [Path("/run/splitplane"), Path("/var/run/dpdk"), Path("/dev/hugepages"), Path("/tmp")]
    found = set()
    for place in places:
        if place.is_dir():
            found |= {str(path) for path in place.iterdir() if configs.prefix(name) in path.name}
    return found


def attempt(network: Network, folder: Path, name: str, tree: dict, *before: str, binary: Path | None = None) -> str:
    """Runs it, and demands exit code 2, one line on standard error and nothing left; returns the line."""
    had = traces(name)
    path = configs.write(folder, name, tree)
    done = subprocess.run(
        ["ip", "netns", "exec", network.gnb, *before, str(binary or splitplane()), "run", str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    lines = done.stderr.strip().splitlines()
    assert (done.returncode, len(lines), done.stdout) == (2, 1, ""), done
    assert str(path) in lines[0]
    assert traces(name) <= had
    return lines[0]


def good(name: str) -> dict:
    return configs.one_worker(name, [configs.bearer(1, upf=LINK.upf_ipv4)])


def test_a_second_instance_of_the_same_prefix_is_refused(network, folder, processes):
    first = Instance(processes, "first", "run", configs.write(folder, "first", good("twice")), network.gnb)
    line = attempt(network, folder, "twice", good("twice"))
    assert "file_prefix" in line and str(first.process.child.pid) in line
    assert first.control.answers()
    assert traces("twice")
    assert first.stop() == 0
    assert not traces("twice")


def test_a_killed_instance_leaves_no_memif_socket_in_the_way_of_the_next(folder, processes):
    tree = good("memif")
    for number, port in enumerate(tree.get("ports", {}).values()):  # the emulated PHY has none
        port["device"] = f"net_memif{number},id={number},role=server,socket={folder}/s,socket-abstract=no"
    path = configs.write(folder, "memif", tree)
    first = Instance(processes, "first", "run", path)
    first.process.signal(signal.SIGKILL)
    first.process.wait()
    assert (folder / "s").is_socket()
    second = Instance(processes, "second", "run", path)
    assert f"removed {folder}/s, which an earlier run left" in second.process.log.read_text()
    assert second.stop() == 0


def test_a_missing_interface_is_named(network, folder):
    tree = good("iface")
    tree["ports"]["n3"]["device"] = "net_af_packet0,iface=gnb-n33"
    assert "gnb-n33" in attempt(network, folder, "iface", tree)


@pytest.mark.parametrize("name", sorted(path.stem for path in CONFIG.glob("*.yaml")))
def test_shipped_files_also_hold_without_hugepages(folder, name):
    """On ordinary memory; those that need no other instance do start, with devices that are always there."""
    tree = load((CONFIG / f"{name}.yaml").read_text())
    for number, port in enumerate(tree.get("ports", {}).values()):  # the emulated PHY has none
        port["device"] = f"net_null{number},no-rx=1"
    tree["memory"] = tree.get("memory", {}) | {"hugepages": "never"}
    tree["file_prefix"] = configs.prefix("never")
    if tree.pop("baas", None):  # the buffering service shares memory, which needs hugepages
        for worker in tree["workers"].values():
            worker["baas"] = "inline"
    path = folder / "never.yaml"
    path.write_text(yaml.safe_dump(tree))
    starts = name in ("demo", "load-64k", "traffic-64k")
    command = ["run", str(path), "--duration", "0.2"] if starts else ["check", "--file-only", str(path)]
    done = subprocess.run([str(splitplane()), *command], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr


def test_missing_hugepages_are_refused_when_required(network, folder):
    tree = good("huge")
    tree["memory"] = {"hugepages": "require", "megabytes": 1 << 20}
    assert "hugepages" in attempt(network, folder, "huge", tree)


def test_without_root_it_says_so(network, folder):
    name = "user"
    # The checkout may lie where only root comes, such as root's home: the other user gets a copy of the binary.
    with tempfile.TemporaryDirectory(prefix="splitplane-user-", dir="/tmp") as place:
        elsewhere = Path(place)
        elsewhere.chmod(0o755)
        binary = Path(shutil.copy(splitplane(), elsewhere))
        line = attempt(
            network,
            elsewhere,
            name,
            good(name),
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "env",
            "-u",
            "XDG_RUNTIME_DIR",
            binary=binary,
        )
    assert "root" in line


def test_a_core_that_is_not_there_is_refused(network, folder):
    tree = good("core")
    tree["workers"]["w0"]["core"] = 1000
    assert "core" in attempt(network, folder, "core", tree)


def test_an_unknown_key_is_named_with_line_and_what_is_allowed(network, folder):
    tree = good("key")
    tree["workers"]["w0"]["polcy"] = "busy"
    line = attempt(network, folder, "key", tree)
    assert "polcy" in line and "policy" in line and f"{folder / 'key.yaml'}:" in line


def test_no_process_is_left(network):
    """The last test of this file: nothing of ours runs in the namespace any more."""
    done = subprocess.run(["ip", "netns", "pids", network.gnb], capture_output=True, text=True, check=True)
    assert [pid for pid in done.stdout.split() if int(pid) != os.getpid()] == []

"""`splitplane card` and `check` of its files: starts that cannot work, and where everything would lie."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import configs
import pytest
from card_files import N3, VF_AIR, VF_N3, gnb_card, l2fwd
from namespaces import Network
from paths import splitplane
from processes import PATIENCE, run

SPECS = Path(__file__).resolve().parents[2] / "p4" / "generated"


@pytest.fixture(scope="module")
def network():
    with Network("nicbad", n3=(N3, VF_N3, VF_AIR)) as made:
        yield made


def attempt(network: Network, folder: Path, tree: dict, *command: str) -> str:
    """Demands exit code 2 and one line on standard error, which is returned."""
    path = configs.write(folder, "bad", tree)
    done = subprocess.run(
        ["ip", "netns", "exec", network.gnb, str(splitplane()), *(command or ("card",)), str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert str(path) in done.stderr
    return done.stderr


@pytest.mark.parametrize("command", ["check", "card", "nic"])
def test_a_spec_that_is_missing_corrupt_or_of_another_program_is_refused(network, folder, command):
    tree = l2fwd("spec")
    tree["card"]["specs"] = str(folder)
    (folder / "l2fwd.spec").unlink(missing_ok=True)
    assert "card.specs" in (line := attempt(network, folder, tree, command)) and "No such file or directory" in line
    good = (SPECS / "l2fwd.spec").read_text()
    (folder / "l2fwd.spec").write_text(good[: len(good) // 2])
    assert f"{folder / 'l2fwd.spec'}:" in attempt(network, folder, tree, command)
    (folder / "l2fwd.spec").write_bytes(bytes(range(256)) * 20)
    assert f"{folder / 'l2fwd.spec'}:" in attempt(network, folder, tree, command)
    (folder / "l2fwd.spec").write_text((SPECS / "gnb-mat.spec").read_text())
    line = attempt(network, folder, tree, command)
    assert "holds program gnb" in line and "the card is to run l2fwd" in line


def test_numbers_of_vfs_queues_and_ports_that_do_not_work_are_refused(network, folder):
    tree = gnb_card("vfs")
    tree["card"]["vfs"] = []
    assert "1 to 64" in attempt(network, folder, tree)
    tree = gnb_card("vfs")
    for i in range(9):
        tree["ports"][f"v{i}"] = {"device": f"net_virtio_user{i},path=/x{i},queues=7", "rx_queues": 7, "tx_queues": 7}
    tree["card"]["vfs"] = ["vf-n3", "vf-air", *[f"v{i}" for i in range(9)]]
    assert "makes 65 VFs" in attempt(network, folder, tree)
    tree = gnb_card("vfs")
    tree["ports"]["v"] = {"device": "net_virtio_user0,path=/x,queues=9", "rx_queues": 9, "tx_queues": 9}
    tree["card"]["vfs"].append("v")
    assert "at most 8" in attempt(network, folder, tree)
    tree = gnb_card("vfs")
    for i in range(29):
        tree["ports"][f"v{i}"] = {"device": f"net_null{i}"}
        tree["card"]["vfs"].append(f"v{i}")
    assert "this build of DPDK carries 32" in attempt(network, folder, tree)


def test_cores_that_are_not_there_are_refused(network, folder):
    tree = gnb_card("cores")
    tree["card"]["cores"] = [tree["card"].pop("core"), 1000]
    line = attempt(network, folder, tree)
    assert "card.cores[1]: core 1000 is not there for this process; allowed: 0" in line
    tree["card"]["cores"] = [0, 0]
    assert "card.cores[1]: is core 0 again; allowed: each core once" in attempt(network, folder, tree)


def test_a_file_of_another_command_is_refused(network, folder):
    assert "is a file for `splitplane card`" in attempt(network, folder, l2fwd("other"), "run")


def test_check_prints_where_card_workers_and_buffers_lie(network, folder):
    """On a made-up machine of two packages, with a core on each."""
    sysfs = folder / "sys"
    for core in (0, 1):
        (sysfs / f"devices/system/cpu/cpu{core}/node{core}").mkdir(parents=True, exist_ok=True)
        (sysfs / f"devices/system/node/node{core}").mkdir(parents=True, exist_ok=True)
    tree = l2fwd("plan", sysfs_root=str(sysfs))
    path = configs.write(folder, "plan", tree)

    def check(*options: str) -> str:
        return run([splitplane(), "check", *options, path], netns=network.gnb).stdout

    text = check()
    assert "card0     0  core 0" in text and "warning" not in text
    tree["card"]["numa"] = 1
    path = configs.write(folder, "plan", tree)
    text = check()
    assert "card0     1  file" in text
    assert "warning: worker card0 is on node 0 (core 0), and its card card0 on node 1" in text
    plan = json.loads(check("--json"))["placement"]
    assert plan["cards"][0]["node"] == 1 and len(plan["warnings"]) == 1
    del tree["card"]["numa"], tree["card"]["core"]
    tree["card"]["cores"] = [1, 0]
    path = configs.write(folder, "plan", tree)
    text = check()
    assert "card0     1  core 1" in text and "card0.0 (core 1, node 1), card0.1 (core 0, node 0)" in text
    assert "warning: worker card0.1 is on node 0 (core 0), and its card card0 on node 1" in text

"""What a host does with a card that refuses: a change that it does not take is made nowhere, and a card that cannot
serve bearers gets none. The card is a double, since a real one takes all that this host sends."""

from __future__ import annotations

import json
import re
import socket
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import configs
import pytest
from card import card_state
from card_double import CardDouble
from instance import Instance
from namespaces import N3Link
from paths import splitplane
from processes import run, wait_until
from silent_worker import silent_worker

LINK = N3Link()
VFS = ["n3", "air"]


def behind_a_double(name: str) -> dict:
    return configs.gnb(
        name,
        ports={port: {"device": f"net_null{number},no-rx=1"} for number, port in enumerate(VFS)},
        n3=[configs.n3_entry("n3", LINK)],
        air=[{"port": "air"}],
        workers={"w0": {"core": 0, "function": "gnb", "n3": "n3", "air": "air", "policy": "yield"}},
        cards={"card0": {"control": configs.control(f"{name}-nic"), "vfs": VFS, "n3": "n3", "air": "air"}},
        bearers=[configs.bearer(1, upf=LINK.upf_ipv4, card="card0"), configs.bearer(2, upf=LINK.upf_ipv4)],
    )


@pytest.fixture
def double(request):
    name, features = request.param
    card = CardDouble(configs.control(f"{name}-nic"), VFS, features)
    yield card
    card.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def ctl(gnb: Instance, *words: object, code: int = 0) -> str:
    done = run([splitplane(), "ctl", "--config", gnb.config, *words], check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def answers(gnb: Instance) -> bool:
    """On a busy machine a worker that was stopped needs a while to be back."""
    return run([splitplane(), "ctl", "--config", gnb.config, "bearer", "list"], check=False).returncode == 0


@pytest.mark.parametrize("double", [("cdr", "clone")], indirect=True)
def test_a_change_that_the_card_refuses_is_made_nowhere(double, processes, folder):
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", behind_a_double("cdr")))
    wait_until("the card to be filled", lambda: card_state(gnb)["waiting"] == 0, processes=[gnb.process])
    double.refused_qfi = 5
    for bearer in gnb.control.bearers():  # on the card, and on the host behind it
        refused = ctl(gnb, "bearer", "modify", bearer["id"], "--qfi", 5, "--upf", "10.100.0.9", code=2)
        assert "card card0: qfi 5 is refused; allowed: another" in refused
        shown = json.loads(ctl(gnb, "--json", "bearer", "show", bearer["id"]))
        assert (shown["qfi"], shown["upf"]) == (bearer["qfi"], LINK.upf_ipv4)
        assert double.bearers[bearer["id"]]["qfi"] == bearer["qfi"]
        assert json.loads(ctl(gnb, "--json", "bearer", "modify", bearer["id"], "--qfi", 7))["qfi"] == 7
        assert double.bearers[bearer["id"]]["qfi"] == 7
    state = card_state(gnb)
    assert (state["state"], state["waiting"], state["refused"]) == ("up", 0, 2)
    peers = {peer["name"]: peer["bearers"] for peer in gnb.control.stats()["peers"]}
    assert peers == {LINK.upf_ipv4: 2}, "the refused UPF has no bearers"
    assert gnb.stop() == 0


@pytest.mark.parametrize("double", [("cdm", "mat")], indirect=True)
def test_metrics_and_telemetry_say_of_a_card_what_stats_say(double, processes, folder):
    port = free_port()
    double.show["punts"] = {"ip_options": 5, "arp": 2}
    tree = behind_a_double("cdm") | {"metrics": {"listen": f"127.0.0.1:{port}"}}
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", tree))
    wait_until("the card to be filled", lambda: card_state(gnb)["waiting"] == 0, processes=[gnb.process])
    state = card_state(gnb)
    assert (state["connects"], state["restarts"], state["installed"], state["punted"]) == (1, 0, 2, 7)
    # What it serves is derived from the others, for `ctl card` alone.
    numbers = {key: value for key, value in state.items() if isinstance(value, int) and key != "serves"}
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    found = {
        name.removesuffix("_total").removesuffix("_packets"): int(value)
        for name, value in re.findall(r'^splitplane_card_link_(\w+)\{card="card0"\} (\d+)$', text, re.M)
    }
    assert found == numbers | {"up": 1, "cut_off": 0}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.connect(f"/var/run/dpdk/{tree['file_prefix']}/dpdk_telemetry.v2")
        client.recv(1024)
        client.sendall(b"/splitplane/card,card0")
        told = json.loads(client.recv(1 << 16))["/splitplane/card"]
        told.pop("serves", None)
        assert told == numbers | {"name": "card0", "state": "up"}
    double.show |= {"boot": "another", "punt_n3": 1}
    double.bearers.clear()
    double.hang_up()
    wait_until("the gNB to fill it again", lambda: len(double.bearers) == 2, processes=[gnb.process])
    assert card_state(gnb)["restarts"] == 1 and card_state(gnb)["punted"] == 14
    warning = "what it cannot read from N3 comes by VF 1, and this host reads that side's from VF 0"
    assert gnb.process.log.read_text().count(warning) == 1, "of the second run alone"
    assert gnb.stop() == 0


@pytest.mark.parametrize("double", [("cdb", "clone")], indirect=True)
def test_a_busy_card_that_a_change_waits_for_keeps_others_from_nothing(double, processes, folder):
    metrics = f"127.0.0.1:{free_port()}"
    many = configs.bearer(1, upf=LINK.upf_ipv4, card="card0", count=4000)
    tree = behind_a_double("cdb") | {"metrics": {"listen": metrics}, "bearers": [many]}
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", tree))
    wait_until("the card to be filled", lambda: card_state(gnb)["waiting"] == 0, processes=[gnb.process])
    last = max(double.bearers)
    double.show |= {"boot": "another"}
    double.install_takes = 0.1
    double.bearers.clear()
    double.hang_up()
    wait_until("the gNB to fill it again", lambda: len(double.bearers) > 0, processes=[gnb.process])
    with ThreadPoolExecutor() as pool:
        change = pool.submit(ctl, gnb, "bearer", "modify", last, "--qfi", 7)
        time.sleep(0.3)
        for _ in range(3):
            begin = time.monotonic()
            with urllib.request.urlopen(f"http://{metrics}/metrics") as answer:
                answer.read()
            assert time.monotonic() - begin < 10, "the card needs 400 s for what it was asked"
            assert not change.done(), "it waits for its turn on the card"
        change.result()
    double.install_takes = 0
    wait_until("the card to be filled", lambda: card_state(gnb)["waiting"] == 0, processes=[gnb.process])
    assert double.bearers[last]["qfi"] == 7
    assert gnb.stop() == 0


@pytest.mark.parametrize("double", [("cds", "clone")], indirect=True)
def test_what_a_silent_worker_does_not_take_is_changed_on_the_card_neither(double, processes, folder):
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", behind_a_double("cds")))
    wait_until("the card to be filled", lambda: card_state(gnb)["waiting"] == 0, processes=[gnb.process])
    bearers = gnb.control.bearers()
    before = next(bearer for bearer in bearers if bearer.get("card"))
    number, qfi = before["id"], before["qfi"]
    silence = "worker w0 does not answer; nothing was changed"
    double.installed.clear()
    with silent_worker(gnb.process):
        assert silence in ctl(gnb, "bearer", "modify", number, "--qfi", 7, code=1)
        wait_until("the card to have what was", lambda: double.installed == [(number, 7), (number, qfi)])
        assert silence in ctl(gnb, "bearer", "release", number, code=1)
        assert double.bearers.keys() == {bearer["id"] for bearer in bearers}
    wait_until("the worker to answer again", lambda: answers(gnb), processes=[gnb.process])
    assert gnb.control.bearers() == bearers
    assert json.loads(ctl(gnb, "--json", "bearer", "modify", number, "--qfi", 7))["qfi"] == 7
    ctl(gnb, "bearer", "release", number)
    assert double.bearers.keys() == {bearer["id"] for bearer in bearers} - {number}
    assert gnb.stop() == 0


@pytest.mark.parametrize("double", [("cdp", "clone")], indirect=True)
def test_a_release_is_finished_and_an_add_taken_back_where_a_worker_beside_the_owner_is_silent(
    double, processes, folder
):
    double.show |= {"vfs": ["n3.0", "n3.1", "air.0", "air.1"], "punt_air": 2}
    tree = behind_a_double("cdp") | {"bearers": [configs.bearer(1, upf=LINK.upf_ipv4, card="card0", shard=130)]}
    for port in tree["ports"].values():
        port |= {"rx_queues": 2, "tx_queues": 2}
    worker = tree["workers"]["w0"]
    tree["workers"] = {
        "w0": worker | {"queue": 0, "shards": "0-127"},  # reads what the card punts, and hands it to the other
        "w1": worker | {"queue": 1, "shards": "128-255"},
    }
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", tree))
    wait_until("the card to be filled", lambda: card_state(gnb)["waiting"] == 0, processes=[gnb.process])
    (number,) = double.bearers
    another = ("bearer", "add", "--shard", 130, "--upf", LINK.upf_ipv4, "--ul-teid", 7, "--card", "card0")
    with silent_worker(gnb.process, 0):
        ctl(gnb, "bearer", "release", number)
        assert not double.bearers and gnb.control.bearers() == []
        refused = ctl(gnb, *another, code=1)
        assert "worker w0 does not answer; no bearer was added" in refused
        assert "may keep" not in refused, "the other has given it back"
        assert not double.bearers and gnb.control.bearers() == []
    assert f"worker w0 does not answer; it may keep keys of bearer {number:#010x}" in gnb.process.log.read_text()
    ctl(gnb, *another)
    assert len(double.bearers) == 1
    assert gnb.stop() == 0


@pytest.mark.parametrize("double", [("cdf", "headers")], indirect=True)
def test_a_card_that_looks_for_no_bearers_gets_none_and_says_why(double, processes, folder):
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", behind_a_double("cdf")))
    why = "its features are headers, which look for no bearers; allowed: mat, clone_drop, clone"
    wait_until("the gNB to see it", lambda: why in ctl(gnb, "card"), processes=[gnb.process])
    assert card_state(gnb)["state"] == "away" and not double.bearers
    log = gnb.process.log.read_text()
    assert log.count(why) == 1, "once, however often it is tried"
    assert gnb.stop() == 0

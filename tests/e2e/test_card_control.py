"""What a host does with a card that refuses: a change that it does not take is made nowhere, and a card that cannot
serve bearers gets none. The card is a double, since a real one takes all that this host sends."""

from __future__ import annotations

import json
import re
import socket
import urllib.request

import configs
import pytest
from card import card_state
from card_double import CardDouble
from instance import Instance
from namespaces import N3Link
from paths import splitplane
from processes import run, wait_until

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


def ctl(gnb: Instance, *words: object, code: int = 0) -> str:
    done = run([splitplane(), "ctl", "--config", gnb.config, *words], check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


@pytest.mark.parametrize("double", [("cdr", "clone")], indirect=True)
def test_a_change_that_the_card_refuses_is_made_nowhere(double, processes, folder):
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", behind_a_double("cdr")))
    wait_until("the card to be filled", lambda: card_state(gnb)["waiting"] == 0, 5, [gnb.process])
    double.refused_qfi = 5
    for bearer in gnb.control.bearers():  # on the card, and on the host behind it
        refused = ctl(gnb, "bearer", "modify", bearer["id"], "--qfi", 5, "--upf", "10.100.0.9", code=1)
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
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    double.show["punts"] = {"ip_options": 5, "arp": 2}
    tree = behind_a_double("cdm") | {"metrics": {"listen": f"127.0.0.1:{port}"}}
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", tree))
    wait_until("the card to be filled", lambda: card_state(gnb)["waiting"] == 0, 5, [gnb.process])
    state = card_state(gnb)
    assert (state["connects"], state["restarts"], state["installed"], state["punted"]) == (1, 0, 2, 7)
    numbers = {key: value for key, value in state.items() if isinstance(value, int)}
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    found = {
        name.removesuffix("_total").removesuffix("_packets"): int(value)
        for name, value in re.findall(r'^splitplane_card_link_(\w+)\{card="card0"\} (\d+)$', text, re.M)
    }
    assert found == numbers | {"up": 1}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.connect(f"/var/run/dpdk/{tree['file_prefix']}/dpdk_telemetry.v2")
        client.recv(1024)
        client.sendall(b"/splitplane/card,card0")
        assert json.loads(client.recv(1 << 16))["/splitplane/card"] == numbers | {"name": "card0", "state": "up"}
    double.show |= {"boot": "another", "punt_n3": 1}
    double.bearers.clear()
    double.hang_up()
    wait_until("the gNB to fill it again", lambda: len(double.bearers) == 2, 5, [gnb.process])
    assert card_state(gnb)["restarts"] == 1 and card_state(gnb)["punted"] == 14
    warning = "what it cannot read from N3 comes by VF 1, and this host reads that side's from VF 0"
    assert gnb.process.log.read_text().count(warning) == 1, "of the second run alone"
    assert gnb.stop() == 0


@pytest.mark.parametrize("double", [("cdf", "headers")], indirect=True)
def test_a_card_that_looks_for_no_bearers_gets_none_and_says_why(double, processes, folder):
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", behind_a_double("cdf")))
    why = "its features are headers, which look for no bearers; allowed: mat, clone_drop, clone"
    wait_until("the gNB to see it", lambda: why in ctl(gnb, "card"), 5, [gnb.process])
    assert card_state(gnb)["state"] == "away" and not double.bearers
    log = gnb.process.log.read_text()
    assert log.count(why) == 1, "once, however often it is tried"
    assert gnb.stop() == 0

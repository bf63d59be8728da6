"""A card that starts with 65,536 bearers to be put on it, and again after its death: how long until all are there."""

from __future__ import annotations

import signal
import time

import configs
import pytest
from card import card_state
from instance import Instance
from namespaces import N3Link
from processes import wait_until

LINK = N3Link()
BEARERS = 65536
PORTS = ("n3", "air", "v0", "v1")  # nothing comes and goes by them


def null_ports(count: int) -> dict:
    return {port: {"device": f"net_null{number},no-rx=1"} for number, port in enumerate(PORTS[:count])}


def host(name: str) -> dict:
    return configs.gnb(
        name,
        memory={"megabytes": 480, "mbufs": 16383},
        ports=null_ports(2),
        n3=[configs.n3_entry("n3", LINK)],
        air=[{"port": "air"}],
        workers={"w0": {"core": 0, "function": "gnb", "n3": "n3", "air": "air", "policy": "yield"}},
        cards={
            "card0": {"control": configs.control(f"{name}-nic"), "vfs": ["n3", "air"], "n3": "n3", "air": "air"},
        },
        bearers=[{"upf": LINK.upf_ipv4, "ul_teid": 0x1001, "card": "card0", "count": BEARERS}],
    )


def card(name: str) -> dict:
    section = {"program": "gnb", "policy": "yield", "core": 1, "n3": "n3", "air": "air", "vfs": ["v0", "v1"]}
    return {
        "file_prefix": configs.prefix(f"{name}-nic"),
        "memory": configs.SMALL_MEMORY,
        "ports": null_ports(4),
        "card": section,
    }


@pytest.mark.nightly
def test_65536_bearers_are_on_the_card_soon_after_each_of_its_starts(processes, folder):
    gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", host("fill")))
    tree = configs.write(folder, "card", card("fill"))
    took = []
    for start in range(2):
        one = Instance(processes, f"card-{start}", "card", tree)
        begin = time.monotonic()

        def filled() -> bool:
            state = card_state(gnb)
            return state["state"] == "up" and state["waiting"] == 0 and state["bearers"] == BEARERS

        wait_until("every bearer on the card", filled, processes=[gnb.process, one.process])
        took.append(time.monotonic() - begin)
        assert one.control.call("card.show")["bearers"] == BEARERS
        if start == 0:
            one.process.signal(signal.SIGKILL)
            one.process.wait()
            processes.stop(one.process)
            wait_until("the gNB to miss it", lambda: card_state(gnb)["state"] == "away", processes=[gnb.process])
    print(f"{BEARERS} bearers on the card after {took[0]:.2f} s, once more after its death {took[1]:.2f} s")
    one.finish()
    gnb.finish()

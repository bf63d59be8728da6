"""Many acknowledged bearers over an air that loses 2 %, their windows in the buffering service: counters add up to the
packet, memory stays flat, nothing is missing at the end. SPLITPLANE_SOAK_S and SPLITPLANE_SOAK_BEARERS make it long."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import configs
import pytest
from checks import Checks, check_balance
from instance import Control, Instance
from namespaces import Network
from paths import splitplane
from processes import wait_until
from testbed import assert_passed

SECONDS = int(os.environ.get("SPLITPLANE_SOAK_S", "4"))
BEARERS = int(os.environ.get("SPLITPLANE_SOAK_BEARERS", "4096"))
RATE = int(os.environ.get("SPLITPLANE_SOAK_RATE", "20000"))  # packets a second
NAME = "soak"
AM = {"t_poll_retransmit_ms": 50, "t_reassembly_ms": 10, "t_status_prohibit_ms": 5}


def memif(port: int, role: str) -> dict:
    socket = f"/run/splitplane/{configs.prefix(NAME)}.memif"
    return {"device": f"net_memif{port},id={port},role={role},socket={socket},socket-abstract=no", "mtu": 1600}


def gnb_tree() -> dict:
    group = {"count": BEARERS, "upf": "10.100.0.2", "ul_teid": 0x1001, "rlc": "am18", "pdcp_sn": 18, "am": AM}
    return {
        "file_prefix": configs.prefix(NAME),
        "max_bearers": 65536,
        "memory": {"megabytes": 480, "mbufs": 65535},
        "ports": {"n3": memif(0, "server"), "air": memif(1, "server")},
        "n3": [{"port": "n3", "ipv4": "10.100.0.1", "peer_mac": "02:00:00:00:00:02"}],
        "air": [{"port": "air"}],
        "workers": {"w0": {"function": "gnb", "core": 0, "n3": "n3", "air": "air", "baas": "process"}},
        "baas": {"cores": [1]},
        "bearers": [group | {"ue_ipv4": "10.45.0.2"}],
        "journal": "none",
    }


def ue_tree() -> dict:
    return {
        "file_prefix": configs.prefix(f"{NAME}-ue"),
        "memory": {"megabytes": 320, "mbufs": 32767},
        "ports": {"air": memif(1, "client")},
        "ue": {
            "port": "air",
            "tun": "splitsoak0",
            "core": 1,
            "gnb_control": configs.control(NAME),
            "air": {"seed": 7, "downlink": {"loss_percent": 2}, "uplink": {"loss_percent": 2}},
        },
    }


def gen_tree() -> dict:
    return {
        "file_prefix": configs.prefix(f"{NAME}-gen"),
        "memory": {"megabytes": 160, "mbufs": 16383},
        "ports": {"n3": memif(0, "client")},
        "gen": {
            "port": "n3",
            "core": 1,
            "direction": "downlink",
            "rate": RATE,
            "arrivals": "poisson",
            "sizes": 128,
            "duration_s": SECONDS,
            "gnb_ipv4": "10.100.0.1",
            "gnb_control": configs.control(NAME),
        },
    }


def resident_kb(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


@pytest.mark.nightly
def test_counters_add_up_memory_is_flat_and_nothing_is_missing(folder, processes):
    with Network(NAME) as network:
        gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", gnb_tree()), network.gnb)
        service = processes.start("baas", [splitplane(), "baas", gnb.config], network.gnb)
        wait_until("the service to serve", lambda: gnb.control.call("baas.show")["state"] == "serves")
        loops = Control(configs.control(f"{NAME}-baas"))
        ue = Instance(processes, "ue", "ue", configs.write(folder, "ue", ue_tree()), network.ue, timeout=120)
        wait_until("the UE side to know every bearer", lambda: ue.control.stats()["bearers"] >= BEARERS, timeout=120)
        result = folder / "gen.json"
        result.unlink(missing_ok=True)
        config = configs.write(folder, "gen", gen_tree())
        gen = processes.start("gen", [splitplane(), "gen", config, "--json", result], network.gnb)
        sizes: list[tuple[int, int]] = []
        while gen.poll() is None:
            time.sleep(max(SECONDS / 40, 0.2))
            sizes.append((resident_kb(gnb.process.child.pid), resident_kb(service.child.pid)))
        assert gen.poll() == 0, gen.tail()
        sent = json.loads(result.read_text())["gen"]["sent"]
        assert sent > 0.8 * RATE * SECONDS

        wait_until(
            "everything to be acknowledged",
            lambda: gnb.control.call("baas.show")["workers"][0]["held"] == 0,
            timeout=60,
        )
        loop = loops.stats()["workers"][0]["baas"]
        worker = gnb.control.stats()["workers"][0]
        refused = sum(worker["drops"].values())
        assert loop["held"] == 0 and loop["strays"] == 0 and loop["no_room"] == 0
        assert loop["copies"] == loop["released"] == sent - refused
        assert worker["rlc_retransmitted"] > sent * 0.015
        down = ue.control.stats()["downlink"]
        assert down["transmitted"] == sent - refused, "each SDU once"
        last_ue, last_gnb = ue.finish(), gnb.finish()
        checks = Checks()
        check_balance(checks, "gNB", last_gnb)
        check_balance(checks, "UE", last_ue)
        assert_passed(checks)
        early, late = sizes[len(sizes) // 4], sizes[-1]
        print(f"{sent} SDUs, {refused} refused, {worker['rlc_retransmitted']} sent again; RSS {early} -> {late} KiB")
        assert late[0] < early[0] * 1.05 + 4096 and late[1] < early[1] * 1.05 + 4096

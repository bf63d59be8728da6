"""The tree /splitplane/... by DPDK's own protocol: JSON over its telemetry socket, as dpdk-telemetry.py speaks it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from paths import ROOT
from processes import wait_until
from scrape import documented, get, value

PAGE = documented((ROOT / "docs" / "reference" / "metrics.md").read_text())


class Telemetry:
    def __init__(self, prefix: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(5)
        self.socket.connect(str(Path("/var/run/dpdk") / prefix / "dpdk_telemetry.v2"))
        self.limit = json.loads(self.socket.recv(1024))["max_output_len"]

    def ask(self, command: str):
        self.socket.sendall(command.encode())
        (answer,) = json.loads(self.socket.recv(self.limit)).values()
        return answer


@pytest.fixture
def telemetry(gnb):
    client = Telemetry(gnb.prefix)
    yield client
    client.socket.close()


def test_every_command_is_listed_and_has_a_help(telemetry):
    ours = [name for name in telemetry.ask("/") if name.startswith("/splitplane/")]
    assert sorted(ours) == sorted(
        f"/splitplane/{name}"
        for name in ("workers", "worker", "stages", "drops", "ports", "port", "gtpu", "cards", "card", "bearers")
        + ("bearer", "placement", "totals")
    )
    assert telemetry.ask("/splitplane/cards") == []
    for name in ours:
        assert telemetry.ask(f"/help,{name}")


def test_names_and_numbers_are_those_of_the_metrics(telemetry, gnb):
    assert telemetry.ask("/splitplane/workers") == ["w0"]
    assert sorted(telemetry.ask("/splitplane/ports")) == ["air", "n3"]
    before = telemetry.ask("/splitplane/worker,w0")
    text, _ = get(gnb.metrics_port)
    after = telemetry.ask("/splitplane/worker,w0")
    for name in set(before) - {"name", "core", "dropped", "held"}:
        units = ("", "_packets", "_cycles", "_bearers", "_blocks")
        samples = [f"splitplane_worker_{name}{unit}_total" for unit in units]
        (sample,) = [s for s in samples if s in PAGE]
        assert before[name] <= value(text, sample + '{worker="w0"}') <= after[name], name
    assert after["received"] >= before["received"] > 10_000
    wait_until("packets to pass", lambda: telemetry.ask("/splitplane/worker,w0")["received"] > before["received"])
    stages = telemetry.ask("/splitplane/stages,w0")
    assert stages["dl_headers"]["packets"] > 10_000 and stages["dl_headers"]["sampled_cycles"] > 0
    drops = telemetry.ask("/splitplane/drops")
    assert drops == telemetry.ask("/splitplane/drops,w0") and not any(drops.values())
    port = telemetry.ask("/splitplane/port,n3")
    assert port["received"] > 10_000 and port["received_bytes"] >= 128 * port["received"] - 128 * 4096
    gtpu = telemetry.ask("/splitplane/gtpu,n3")
    text, _ = get(gnb.metrics_port)
    assert len(gtpu) > 10 and gtpu.pop("name") == "n3"
    for name, count in gtpu.items():
        assert count <= value(text, f'splitplane_gtpu_{name}_total{{port="n3"}}'), name
    assert {f"splitplane_gtpu_{name}_total" for name in gtpu} == {name for name in PAGE if "_gtpu_" in name}
    totals = telemetry.ask("/splitplane/totals")
    assert totals["bearers"] == telemetry.ask("/splitplane/bearers")["bearers"] == 256
    bearer = telemetry.ask("/splitplane/bearer,0x04000000")
    assert bearer == telemetry.ask(f"/splitplane/bearer,{0x04000000}") | {
        "downlink_received": bearer["downlink_received"],
        "downlink_transmitted": bearer["downlink_transmitted"],
        "downlink_bytes": bearer["downlink_bytes"],
    }
    assert bearer["upf"] == "10.100.0.2" and bearer["downlink_received"] > 0


@pytest.mark.parametrize(
    "command",
    [
        "worker,nobody",
        "stages,",
        "stages,x",
        "port,nobody",
        "gtpu,air",
        "drops,nobody",
        "bearer",
        "bearer,",
        "bearer,zzz",
        "bearer,1",
    ]
    + ["bearer,0x", "bearer,99999999999", "worker," + 900 * "a", "nothing"],
)
def test_what_is_not_there_is_answered_with_null(telemetry, command):
    if command == "stages,":  # the only worker needs no name
        assert telemetry.ask("/splitplane/stages,")["dl_tx"]["packets"] > 0
    else:
        assert telemetry.ask("/splitplane/" + command) is None

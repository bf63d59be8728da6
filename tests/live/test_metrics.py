"""The metrics endpoint: both formats, a real Prometheus that scrapes it, promtool, and clients that misbehave."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from live_gnb import BEARERS, METRICS_BEARERS, LiveGnb, free_port
from paths import ROOT, splitplane
from processes import PATIENCE, wait_until
from scrape import OPEN_METRICS, documented, get, value

# Those of a card, of the buffering service and of a guard are what other commands than `run` have; those of watts need
# the section `power`.
WATTS = ("splitplane_power_", "splitplane_modelled_", "splitplane_estimated_")
PAGE = {
    name: row
    for name, row in documented((ROOT / "docs" / "reference" / "metrics.md").read_text()).items()
    if not name.startswith(tuple(f"splitplane_{of}_" for of in ("card", "baas", "placement", "phy", "guard")) + WATTS)
}


def tool(name: str) -> str:
    """From PATH, or where setup unpacked it."""
    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if not found:
        pytest.skip(f"SKIPPED: {name} is not here, so no real Prometheus has judged the endpoint (make setup)")
    return found


def test_open_metrics_for_who_asks_for_it_and_the_older_format_for_others(gnb):
    text, kind = get(gnb.metrics_port, OPEN_METRICS)
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert text.endswith("\n# EOF\n") and "# UNIT splitplane_port_received_bytes bytes\n" in text
    older, kind = get(gnb.metrics_port)
    assert kind == "text/plain; version=0.0.4; charset=utf-8" and "# EOF" not in older
    assert value(text, "splitplane_bearers") == BEARERS
    begin = gnb.stats()["workers"][0]["received"]
    wait_until("packets to pass", lambda: gnb.stats()["workers"][0]["received"] > begin)
    before = gnb.stats()["workers"][0]["received"]
    now = value(get(gnb.metrics_port)[0], 'splitplane_worker_received_packets_total{worker="w0"}')
    assert begin < before <= now <= gnb.stats()["workers"][0]["received"]


def test_bearers_are_bounded_by_the_configuration(gnb):
    text, _ = get(gnb.metrics_port)
    assert text.count("\nsplitplane_bearer_received_packets_total{") == 2 * METRICS_BEARERS


def test_other_paths_and_methods_are_refused(gnb):
    for method, path, code in (("GET", "/", 404), ("POST", "/metrics", 405), ("DELETE", "/x", 405)):
        request = urllib.request.Request(f"http://127.0.0.1:{gnb.metrics_port}{path}", method=method)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE)
        assert refused.value.code == code
        refused.value.close()


def test_a_port_that_is_taken_is_refused_before_anything_starts(gnb, processes, tmp_path):
    second = LiveGnb(tmp_path, processes, metrics_port=gnb.metrics_port)
    done = subprocess.run(
        [str(splitplane()), "run", str(second.config)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    listen = f"metrics.listen: 127.0.0.1:{gnb.metrics_port}: Address already in use; allowed: "
    assert listen in done.stderr and done.stderr.startswith(f"{second.config}:")


def test_promtool_finds_nothing_to_object_to(gnb):
    text, _ = get(gnb.metrics_port)
    done = subprocess.run(
        [tool("promtool"), "check", "metrics"],
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_real_prometheus_has_every_documented_metric_with_its_unit(gnb, folder, processes):
    port = free_port()
    config = folder / "prometheus.yaml"
    target = {"job_name": "gnb", "static_configs": [{"targets": [f"127.0.0.1:{gnb.metrics_port}"]}]}
    config.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": [target]}))
    store = folder / "prometheus-data"
    shutil.rmtree(store, ignore_errors=True)
    prometheus = processes.start(
        "prometheus",
        [
            tool("prometheus"),
            f"--config.file={config}",
            f"--storage.tsdb.path={store}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--log.level=warn",
        ],
    )

    def ask(path: str, **query: str):
        try:
            url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
            with urllib.request.urlopen(url, timeout=PATIENCE) as reply:
                return json.load(reply)["data"]
        except (urllib.error.URLError, ConnectionError):
            return None

    def scraped_twice() -> bool:
        rows = ask("query", query="count_over_time(splitplane_bearers[1m])")
        return bool(rows and rows["result"] and int(rows["result"][0]["value"][1]) >= 2)

    wait_until("Prometheus to scrape twice", scraped_twice, processes=[prometheus])
    (health,) = ask("targets")["activeTargets"]
    assert (health["health"], health["lastError"]) == ("up", "")

    metadata = ask("metadata")
    series = {row["metric"]["__name__"]: row for row in ask("query", query='{job="gnb"}')["result"]}
    labels = {name: set(row["metric"]) - {"__name__", "instance", "job"} for name, row in series.items()}
    assert len(PAGE) > 30
    unmeasured = {"splitplane_upf_rtt_microseconds"}  # this UPF is a capture, which answers no Echo Request
    for name, (kind, unit, expected) in PAGE.items():
        if name in unmeasured:
            continue
        assert name in series, f"{name} is documented and not scraped"
        family = (
            name.removesuffix("_total") if kind == "counter" else name.removesuffix("_info") if kind == "info" else name
        )
        (entry,) = metadata[family]
        assert (entry["type"], entry["unit"]) == (kind, unit), name
        assert entry["help"]
        assert labels[name] == set(expected), name
    assert {name for name in series if name.startswith("splitplane_")} == set(PAGE) - unmeasured
    rate = ask("query", query='rate(splitplane_worker_received_packets_total{worker="w0"}[1m])')
    assert float(rate["result"][0]["value"][1]) > 10_000
    processes.stop(prometheus)


def resident(process) -> int:
    status = Path(f"/proc/{process.child.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def test_100_silent_clients_and_readers_that_stop_hold_up_nobody(gnb):
    process = gnb.instance.process
    before = resident(process)
    silent = []
    try:
        for number in range(100):
            client = socket.create_connection(("127.0.0.1", gnb.metrics_port), timeout=PATIENCE)
            silent.append(client)
            if number % 2:  # asks, and never reads
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
            else:  # half a request, or garbage
                client.sendall(b"GET /metrics HTT" if number % 4 else bytes(range(256)) * 200)
        begin = time.monotonic()
        text, _ = get(gnb.metrics_port)
        assert time.monotonic() - begin < 20 and value(text, "splitplane_bearers") == BEARERS
        assert resident(process) - before < 64 << 20
    finally:
        for client in silent:
            client.close()

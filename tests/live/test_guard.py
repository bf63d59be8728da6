"""What a person meets before a running guard that is flooded: `ctl guard`, `top`, metrics, events, explain."""

from __future__ import annotations

import json
import subprocess

import pytest
from live_gnb import free_port
from live_guard import SERVER, LiveGuard, syn
from paths import ROOT, splitplane
from processes import wait_until
from scrape import OPEN_METRICS, documented, get, value


@pytest.fixture(scope="module")
def guard(folder, processes) -> LiveGuard:
    made = LiveGuard(folder, processes, free_port())
    made.start()
    wait_until("the guard to arm itself", lambda: made.server("web")["state"] == "armed")
    wait_until("answers", lambda: made.server("web")["challenged"] > 10_000)
    return made


def run(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(splitplane()), *map(str, words)], capture_output=True, text=True, timeout=60)


def ctl(guard: LiveGuard, *words: object) -> str:
    done = run("ctl", "-i", guard.prefix, "guard", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_arms_itself_by_a_flood_and_says_so_once(guard):
    text = ctl(guard, "show")
    assert "web" in text and "armed" in text and "10.70.0.0/24" in text, text
    events = json.loads(run("ctl", "--json", "-i", guard.prefix, "guard", "events").stdout)
    assert [(event["server"], event["what"]) for event in events["events"]][:1] == [("web", "armed")]
    assert len(events["events"]) == 1, "the flood has not ended"
    event = events["events"][0]
    # At so high a rate it arms before a SYN is old enough to be judged as half open.
    assert event["syns_per_second"] > 1000 and event["half_open_percent"] in (0, 100)
    assert "armed" in ctl(guard, "events")
    assert guard.instance.process.log.read_text().count("server web: armed") == 1


def test_no_syn_of_the_flood_reaches_the_server(guard):
    before = {port["name"]: port["transmitted"] for port in guard.call("stats")["ports"]}
    challenged = guard.server("web")["challenged"]
    wait_until("more of the flood", lambda: guard.server("web")["challenged"] > challenged + 100_000)
    stats = guard.call("stats")
    after = {port["name"]: port["transmitted"] for port in stats["ports"]}
    assert after["inside"] == before["inside"]
    assert stats["totals"]["balanced"] is True
    assert stats["guard"]["flows"]["used"] == 0, "a SYN leaves no state"


def test_a_server_is_added_changed_and_removed(guard):
    added = ctl(guard, "add", "mail", "--address", "10.70.0.3", "--ports", "25", "--mode", "auth")
    assert added.startswith("added:\n") and "mail" in added
    again = ctl(guard, "add", "mail", "--address", "10.70.0.3", "--ports", "25", "--mode", "auth")
    assert again.startswith("was there already:\n")
    assert "armed" in ctl(guard, "set", "mail", "--arm", "always")
    assert guard.server("mail")["settings"]["arm"] == "always"
    assert "is not protected any more" in ctl(guard, "remove", "mail")
    assert "was not there" in ctl(guard, "remove", "mail")


def test_clients_are_counted_and_one_is_allowed_and_forgotten(guard):
    assert "w0" in ctl(guard, "source")
    assert ctl(guard, "source", "192.0.2.200") == "192.0.2.200 on w0: none\n"
    assert ctl(guard, "source", "192.0.2.200", "--allow") == "192.0.2.200 on w0: cookie\n"
    assert ctl(guard, "source", "192.0.2.200") == "192.0.2.200 on w0: cookie\n"
    assert ctl(guard, "source", "192.0.2.200", "--forget") == "192.0.2.200 on w0: none\n"
    assert ctl(guard, "flows") == "0 of 0 connections shown\n"
    assert "keys so far: 1" in ctl(guard, "rotate")


def test_top_has_a_page_for_it(guard):
    page = run("top", "-i", guard.prefix, "--once", "--interval", 0.3, "--page", "guard").stdout
    assert "2 servers" in page and "every packet is accounted for" in page
    web = next(line.split() for line in page.splitlines() if line.startswith("web "))
    assert web[1:3] == ["proxy", "armed"]
    everything = run("top", "-i", guard.prefix, "--once", "--interval", 0.3).stdout
    assert "outside" in everything and "clients proven" in everything and "web" in everything


def test_metrics_are_those_of_the_page(guard):
    text, _ = get(guard.metrics_port, OPEN_METRICS)
    assert value(text, 'splitplane_guard_server_armed{worker="w0",server="web"}') == 1
    assert value(text, 'splitplane_guard_server_challenged_packets_total{worker="w0",server="web"}') > 10_000
    page = documented((ROOT / "docs" / "reference" / "metrics.md").read_text())
    served = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line.startswith("splitplane_guard_")}
    assert served == {name for name in page if name.startswith("splitplane_guard_")}


def test_power_policies_are_shown_and_set(guard):
    assert "w0" in run("power", "status", "-i", guard.prefix, "--over", 0).stdout
    for policy in ("busy", "budget", "paper", "yield"):
        assert policy in run("power", "set", "-i", guard.prefix, "w0", policy).stdout
    challenged = guard.server("web")["challenged"]
    wait_until("it still answers", lambda: guard.server("web")["challenged"] > challenged)


BAD = [
    "ctl -i {i} guard set none --mode auth",
    "ctl -i {i} guard set web",
    "ctl -i {i} guard set web --mode off",
    "ctl -i {i} guard set web --window-scale 15",
    "ctl -i {i} guard set web --hold-seconds 3600",
    "ctl -i {i} guard add web --address 10.70.0.9",
    "ctl -i {i} guard add x --address 10.70.0.9/24",
    "ctl -i {i} guard add x --address 10.70.0.9 --ports 9-8",
    "ctl -i {i} guard add x",
    "ctl -i {i} guard add a/b --address 10.70.0.9",
    "ctl -i {i} guard source nowhere",
    "ctl -i {i} guard source --allow",
    "ctl -i {i} guard source 192.0.2.1 --allow --forget",
    "ctl -i {i} guard flows --limit 100000",
    "ctl -i {i} guard frobnicate",
    "ctl -i {i} bearer list",
    "ctl -i {i} air set",
    "power set -i {i} w1 busy",
    "guard {config}",
    "guard /no/such.yaml",
    "run {config}",
    "explain 00 --config {config} --port n3",
    "explain 00 --config {config} --running",
]


@pytest.mark.parametrize("line", BAD)
def test_bad_input_ends_with_2_and_one_line(guard, line):
    done = run(*line.format(i=guard.prefix, config=guard.config).split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done


def test_a_gnb_does_not_serve_what_a_guard_does(guard):
    assert "with `splitplane run`" in run("ctl", "-i", guard.prefix, "bearer", "list").stderr


def test_explain_says_what_the_guard_would_do(guard):
    at_rest = run("explain", syn(1).hex(), "--config", guard.config)
    assert at_rest.returncode == 0, at_rest.stderr
    assert "passed_unarmed" in at_rest.stdout and f"to {SERVER}:8000" in at_rest.stdout
    armed = json.loads(run("explain", syn(1).hex(), "--config", guard.config, "--armed", "--json").stdout)
    assert armed["outcome"] == "challenged_syn" and armed["server"] == "web"
    assert [out["to"] for out in armed["out"]] == ["client"]
    assert len(bytes.fromhex(armed["out"][0]["hex"])) <= len(syn(1)), "an answer is no longer than the SYN"
    other = run("explain", syn(1, 22).hex(), "--config", guard.config, "--armed").stdout
    assert "rest: 10.70.0.0/24" in other and "mode observe" in other


def test_it_ends_with_every_packet_accounted_for(guard):
    assert guard.stop() == 0
    assert "guard: web:" in guard.instance.process.log.read_text()

"""The buffering service as a process of its own: files arrive whole over a bad air, also when the service is killed and
started again again and again, when the gNB is, and when the service is stopped for a while."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import configs
import pytest
from baas_bed import BaasBed, flood, transfer
from namespaces import N3Link
from paths import ROOT, own, splitplane
from processes import run, wait_until
from scrape import documented, value

LINK = N3Link()
AM = {"t_poll_retransmit_ms": 20, "t_reassembly_ms": 5, "t_status_prohibit_ms": 2}
OCTETS = 300_000
METRICS = "127.0.0.1:9466"  # in the gNB's network namespace
BEARERS = [
    configs.bearer(1, upf=LINK.upf_ipv4, shard=1, rlc="am18", pdcp_sn=18, am=AM),
    configs.bearer(2, upf=LINK.upf_ipv4, shard=2, rlc="am12", pdcp_sn=12, am=AM | {"max_unacked_octets": OCTETS}),
]
AM18, AM12 = (b["ue_ipv4"] for b in BEARERS)
KILLS = int(os.environ.get("SPLITPLANE_SERVICE_KILLS", "12"))
GNB_KILLS = int(os.environ.get("SPLITPLANE_GNB_KILLS", "1"))
LONGEST_S = float(os.environ.get("SPLITPLANE_LONGEST_S", "5"))  # without a service; a busy machine needs more


@pytest.fixture(scope="module")
def bed():
    folder = own("e2e") / "baas"
    folder.mkdir(parents=True, exist_ok=True)
    tree = configs.one_worker("baas", BEARERS)
    tree["workers"]["w0"]["baas"] = "process"
    tree["baas"] = {"cores": [0, 1], "metrics": {"listen": METRICS}}
    with BaasBed(folder, "baas", tree) as made:
        made.wait_for_neighbours()
        yield made


@pytest.mark.parametrize("ue", [AM18, AM12], ids=["am18", "am12"])
def test_files_arrive_equal_over_a_bad_air(bed, ue):
    bed.set_air(loss_percent=5)
    before = bed.loops()
    transfer(bed, ue, "over-a-service")
    bed.settle()
    bed.assert_right()
    after = bed.loops()
    assert sum(row["sent_again"] for row in after) > sum(row["sent_again"] for row in before)
    assert all(row["held"] == 0 and row["strays"] == 0 and row["no_room"] == 0 for row in after)
    assert all(row["copies"] == row["released"] for row in after)


def test_killed_again_and_again_while_files_pass(bed):
    """No octet is lost, no bearer stalls: what was sent waits in the gNB for the next service."""
    bed.set_air(loss_percent=2)
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    stop = threading.Event()
    kills, longest = 0, 0.0

    def killer():
        nonlocal kills, longest
        while not stop.wait(rng.uniform(0.02, 0.4)):
            begin = time.monotonic()
            bed.kill_service()
            bed.start_service()
            longest = max(longest, time.monotonic() - begin)
            kills += 1

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        while kills < KILLS:
            transfer(bed, rng.choice((AM18, AM12)), "over-killed-services", 800_000)
    finally:
        stop.set()
        thread.join()  # with it ends what it started last: the kernel tells children of a thread that it is gone
    bed.kill_service()
    bed.start_service()
    print(f"seed {seed}, {kills} kills, at most {longest:.2f} s without a service")
    assert longest < LONGEST_S
    bed.settle()
    bed.assert_right()
    row = bed.gnb.control.call("baas.show")
    assert row["ended"] > kills
    assert row["workers"][0]["held"] == 0
    assert row["workers"][0]["told_again"] > 0


def test_a_service_that_stands_still_holds_up_nothing_but_acknowledgements(bed):
    """SIGSTOP for two seconds: the gNB goes on until its windows are full, answers its control socket, catches up."""
    bed.set_air()
    bed.service.process.child.send_signal(signal.SIGSTOP)
    try:
        assert bed.ping(AM18, 20) == 20
        time.sleep(2)
        begin = time.monotonic()
        assert bed.gnb.control.call("baas.show")["workers"][0]["held"] >= 20
        assert time.monotonic() - begin < 2, "it does not wait for the service"
    finally:
        bed.service.process.child.send_signal(signal.SIGCONT)
    transfer(bed, AM18, "after-a-standstill", 300_000)
    bed.settle()
    bed.assert_right()


def test_the_service_has_metrics_of_its_own(bed):
    """What a scrape says is what `stats` says, and each name stands in the page of metrics."""
    bed.settle()
    text = run(["curl", "-sS", "--max-time", "5", f"http://{METRICS}/metrics"], netns=bed.network.gnb).stdout
    page = documented((ROOT / "docs" / "reference" / "metrics.md").read_text())
    for core, row in enumerate(bed.loops()):
        for name in ("copies", "released", "sent_again", "withdrawn"):
            metric = f"splitplane_baas_{name}_packets_total"
            assert metric in page
            assert value(text, f'{metric}{{worker="baas{core}"}}') == row[name]
        assert value(text, f'splitplane_baas_held_packets{{worker="baas{core}"}}') == 0
    assert value(text, 'splitplane_worker_rounds_total{worker="baas0"}') > 0


def test_octets_that_wait_have_a_limit_and_more_are_dropped_before_they_are_numbered(bed):
    """The UE's STATUS PDUs are lost for a while: what the gNB keeps stays below the bearer's max_unacked_octets."""
    bed.settle()
    before = bed.gnb.control.stats()["workers"][0]["drops"].get("rlc_window_full", 0)
    bed.ues[0].control.call("air.set", uplink={"loss_percent": 100})
    flood(bed.network.core, AM12, 600, octets=1000)

    def dropped() -> int:
        return bed.gnb.control.stats()["workers"][0]["drops"].get("rlc_window_full", 0) - before

    wait_until("all to be kept or dropped", lambda: dropped() + bed.am(2)[0]["unacked"] == 600)
    kept, _ = bed.am(2)
    assert OCTETS - 2 * 1500 < kept["octets_kept"] <= OCTETS
    assert dropped() + kept["unacked"] == 600
    bed.settle()
    assert bed.am(2)[0]["octets_kept"] == 0
    transfer(bed, AM12, "after-the-limit", 300_000)
    bed.settle()
    bed.assert_right()


def test_workers_look_for_messages_where_the_service_may_not_wake_them(bed):
    """A filter refuses pidfd_getfd to the service. What it says is found all the same, with a worker that sleeps."""
    bed.kill_service()
    bed.start_service((sys.executable, Path(__file__).parent / "without_wakeups.py"))
    assert bed.gnb.control.call("baas.show")["wakes"] == {"service": True, "workers": False}
    bed.set_air(loss_percent=5)
    transfer(bed, AM18, "without-wake-ups", 300_000)
    bed.settle()
    bed.assert_right()
    bed.kill_service()
    bed.start_service()
    assert bed.gnb.control.call("baas.show")["wakes"] == {"service": True, "workers": True}


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_the_same_service_serves_the_next_gnb(bed, kill):
    process = bed.service.process.child.pid
    for _ in range(GNB_KILLS if kill else 1):
        took = bed.restart_gnb(kill)
        assert took < LONGEST_S
    assert bed.service.process.child.pid == process
    prefix = configs.prefix("baas")
    megabytes = 2 * len(list(Path("/dev/hugepages").glob(f"{prefix}map_*")))
    assert megabytes <= bed.tree["memory"]["megabytes"] + 2, "memory of an earlier run"
    sockets = list((Path("/var/run/dpdk") / prefix).glob("mp_socket*"))
    assert len(sockets) == 2, "sockets of earlier processes beside those of the gNB and the service"
    bed.wait_for_neighbours()
    wait_until("packets to pass again", lambda: bed.ping(AM18, 5, wait_s=1) == 5)
    transfer(bed, AM18, "with-the-next-gnb", 300_000)
    bed.settle()
    bed.assert_accounted_for()


def test_a_service_that_is_told_to_stop_while_it_begins_anew_stops(bed):
    for after in (0, 0.02, 0.05):
        bed.kill_gnb()
        time.sleep(after)
        service = bed.service.process
        assert service.stop() in (0, -signal.SIGTERM), "it did not end by itself"
        bed.start_gnb()
        bed.start_service()


def test_a_second_service_is_refused(bed):
    second = bed.processes.start("second", [splitplane(), "baas", bed.gnb.config], bed.network.gnb)
    assert second.child.wait(timeout=20) == 2
    assert "is in use by another instance" in second.tail()
    assert bed.serves()


def test_a_service_without_a_gnb_waits_and_says_so(bed):
    tree = configs.one_worker("baas-alone", BEARERS)
    tree["workers"]["w0"]["baas"] = "process"
    tree["baas"] = {"cores": [1]}
    config = configs.write(bed.folder, "alone", tree)
    alone = bed.processes.start("alone", [splitplane(), "baas", config])
    wait_until("it to say that it waits", lambda: "waiting for the gNB" in alone.tail(), processes=[alone])
    assert bed.processes.stop(alone) == 0


def test_a_service_without_a_gnb_answers_and_can_be_stopped(bed):
    """It has served one that ended, and has begun anew since: `ping` and `stop`, and what else there is later."""
    bed.restart_gnb(kill=False)
    service, sock = bed.service.process, Path(configs.control(f"{bed.name}-baas"))
    ctl = [splitplane(), "ctl", "--socket", sock]

    def asked(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([*ctl, *words], capture_output=True, text=True, check=False)

    bed.kill_gnb()
    wait_until("it to wait", lambda: "allowed: when the gNB runs" in asked("stats").stderr, processes=[service])
    assert asked("ping").stdout.startswith(f"process {service.child.pid}, ")
    assert asked("stop").stdout == "stopping\n"
    assert service.child.wait(timeout=10) == 0
    assert not sock.exists()
    bed.start_gnb()
    bed.start_service()
    bed.kill_gnb()
    wait_until("it to wait", lambda: "allowed: when the gNB runs" in asked("stats").stderr)
    assert bed.service.process.stop() == 0
    assert not sock.exists()
    bed.start_gnb()
    bed.start_service()

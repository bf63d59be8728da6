"""A worker whose thread stands still: the others go on, and log, statistics, `top` and metrics name it."""

from __future__ import annotations

import json
import re
import time

import configs
from namespaces import N3Link
from paths import own, splitplane
from processes import run, wait_until
from silent_worker import silent_worker
from testbed import Testbed

LINK = N3Link()


def test_a_consumer_of_copies_that_hangs_stops_no_traffic_and_is_named():
    folder = own("e2e") / "silent-consumer"
    folder.mkdir(parents=True, exist_ok=True)
    tree = configs.one_worker("slc", [configs.bearer(1, upf=LINK.upf_ipv4)])
    tree["workers"]["copies"] = {"core": 1, "function": "copies", "from": ["w0"], "policy": "yield"}
    tree["memory"] = {"megabytes": 288, "mbufs": 2047}
    tree["metrics"] = {"listen": "127.0.0.1:19465"}
    with Testbed(folder, "slc", tree) as bed:
        bed.wait_for_neighbours()
        address = bed.bearers()[0]["ue_ipv4"]
        file = bed.web.make("a.bin", 6_000_000)  # more packets than there are buffers, twice over
        assert bed.web.download(address, file).equal
        with silent_worker(bed.gnb.process, 1):
            log = bed.gnb.process.log
            wait_until("the log to name it", lambda: "worker copies (core 1) has made no round" in log.read_text(), 5)
            assert bed.web.download(address, file).equal, "traffic goes on"
            began = time.monotonic()
            stats = bed.gnb.control.stats()
            assert time.monotonic() - began < 8, "and statistics are answered at once"
            first, consumer = stats["workers"]
            assert (first["name"], first["silent_s"], first["balanced"]) == ("w0", 0, True)
            assert consumer["name"] == "copies" and consumer["silent_s"] >= 1
            assert first["copies_lost"] > 3000 and first["drops"].get("no_mbuf", 0) == 0
            metrics = run(["curl", "-s", "http://127.0.0.1:19465/metrics"], netns=bed.network.gnb).stdout
            assert re.search(r'splitplane_worker_silent_seconds{worker="copies"} [1-9]', metrics)
            assert 'splitplane_worker_silent_seconds{worker="w0"} 0\n' in metrics
            command = [splitplane(), "top", bed.gnb.config, "--once"]
            assert re.search(r"copies +1  has made no round for \d+ s", run(command).stdout)
            began = time.monotonic()
            words = [splitplane(), "ctl", "--config", bed.gnb.config, "--json", "bearer", "list"]
            assert json.loads(run(words).stdout)["bearers"] and time.monotonic() - began < 8
        wait_until("it to be back", lambda: "worker copies (core 1) makes rounds again" in log.read_text(), 5)
        wait_until("its copies to be taken", lambda: bed.gnb.control.stats()["workers"][1]["silent_s"] == 0, 5)
        assert bed.web.download(address, file).equal
        bed.finish()


def test_a_worker_that_hangs_is_named_and_the_others_answer():
    folder = own("e2e") / "silent-worker"
    folder.mkdir(parents=True, exist_ok=True)
    tree = configs.one_worker("slw", [configs.bearer(1, upf=LINK.upf_ipv4)])
    tree["workers"]["copies"] = {"core": 1, "function": "copies", "from": ["w0"], "policy": "yield"}
    with Testbed(folder, "slw", tree) as bed:
        bed.wait_for_neighbours()
        with silent_worker(bed.gnb.process, 0):
            began = time.monotonic()
            first, consumer = bed.gnb.control.stats()["workers"]
            assert time.monotonic() - began < 8, "also when nothing was noticed yet"
            assert first["silent_s"] >= 1 and consumer["silent_s"] == 0
            log = bed.gnb.process.log
            wait_until("the log to name it", lambda: "worker w0 (core 0) has made no round" in log.read_text(), 5)
            began = time.monotonic()
            assert bed.gnb.control.stats()["workers"][0]["silent_s"] >= 1
            assert time.monotonic() - began < 8
        wait_until("it to be back", lambda: "worker w0 (core 0) makes rounds again" in log.read_text(), 5)
        assert bed.ping(bed.bearers()[0]["ue_ipv4"]) == 10
        bed.finish()

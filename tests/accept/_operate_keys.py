"""Foreign keys: a million of them in a running instance, what a lookup costs, real traffic by them."""

from __future__ import annotations

import sys
import time

from _tools import PYTHON, ROOT, last_line, load_bench, run, say
from report import Report

sys.path.insert(0, str(ROOT / "tests" / "demo"))
MILLION = 1_000_000


def million(report: Report) -> None:
    """A million bearers with foreign TEIDs at start, one more by the control socket, and the table's own numbers."""
    from instance import Instance
    from processes import Processes

    say("a million bearers with foreign TEIDs")
    folder = ROOT / "out" / "accept"
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "million.yaml"
    config.write_text(
        "file_prefix: sp-accept-million\nmax_bearers: 1048576\nforeign_teids: 1048576\n"
        "memory: {megabytes: 700, mbufs: 16383}\n"
        "ports: {n3: {device: net_null0}, air: {device: net_null1}}\n"
        "n3: [{port: n3, ipv4: 10.100.0.1, peer_mac: 02:00:00:00:00:02}]\nair: [{port: air}]\n"
        "workers: {w0: {function: gnb, core: 0, n3: n3, air: air, policy: yield}}\n"
        f"bearers: [{{count: {MILLION}, upf: 10.100.0.2, ul_teid: 1, dl_teid: 0x10000000}}]\n"
    )
    processes = Processes(folder)
    try:
        begin = time.monotonic()
        gnb = Instance(processes, "million", "run", config, timeout=60)
        started = time.monotonic() - begin
        gnb.control.call("bearer.add", upf="10.100.0.2", ul_teid=0x90000000, dl_teid=0x90000000)
        keys = gnb.control.stats()["workers"][0]["keys"]["dl_teid"]
    finally:
        processes.stop_all()
    report.judge("foreign_teids", keys["entries"], f"{MILLION + 1} entries", keys["entries"] == MILLION + 1, str(keys))
    report.judge("foreign_teids_refused", keys["refused"], "0", keys["refused"] == 0, str(keys))
    report.at_most("million_bearers_start_seconds", started, 30, "s")


def cost(report: Report) -> None:
    say("cycles per packet by foreign TEID")
    summary = load_bench().measure(repeats=3, one_core=True, micro=False)
    row = {name: values["median"] for name, values in summary["rows"].items()}
    added = row["mat_foreign_teid.65536"] - row["mat.65536"]
    if not summary["valid"]:
        report.skip("foreign_teid_added_cycles", "<=60", f"the machine was not quiet, so {added:.1f} says nothing")
        return
    report.at_most("foreign_teid_added_cycles", added, 60)


def items(report: Report) -> None:
    million(report)
    cost(report)
    say("end to end: foreign keys")
    status, output, _ = run(
        [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_foreign_keys.py"], 300
    )
    report.judge("foreign_keys_traffic", last_line(output), "every test passes", status == 0, last_line(output))

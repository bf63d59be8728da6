"""GTP-U complete: every message in both directions, judged by scapy, pycrate, tshark and the go-gtp peer."""

from __future__ import annotations

import re

from _tools import PYTHON, last_line, run, say
from report import Report

TESTS = {
    "gtpu_messages_scapy_pycrate_tshark": "tests/e2e/test_gtpu_messages.py",
    "gtpu_reorder_psc_qos_monitoring_checksums": "tests/e2e/test_gtpu_options.py",
    "gtpu_messages_go_gtp_peer": "tests/e2e/test_gtpu_upf_peer.py",
}


def items(report: Report) -> None:
    for name, file in TESTS.items():
        say(f"{file}")
        code, output, _ = run([PYTHON, "-m", "pytest", "-q", file], timeout=300)
        passed = int((re.search(r"(\d+) passed", output) or ["", "0"])[1])
        skipped = "skipped" in last_line(output)
        met = code == 0 and passed > 0 and not skipped
        report.judge(name, f"{passed} passed", "all", met, "" if met else last_line(output))

"""RLC in a running gNB and UE side: real TCP and UDP over a bad air, tshark on what passed."""

from __future__ import annotations

import json

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

TESTS = {
    "rlc_files_over_5_20_percent_bursts": (
        "test_files_arrive_equal_over_a_bad_air",
        "SHA-256 equal both ways, AM 12 and 18, 5 %, 20 %, bursts, duplicates with delay and jitter",
    ),
    "rlc_udp_over_am": ("test_no_datagram_is_lost_or_doubled_by_am", "0 of 400 lost or doubled each way at 20 % loss"),
    "rlc_um_waits_for_nothing": (
        "test_um_loses_what_the_air_loses_and_waits_for_nothing",
        "in order, the last within 0.2 s",
    ),
    "rlc_tshark_on_a_lossy_run": (
        "test_tshark_reads_every_pdu_of_a_lossy_run",
        "every PDU read, numbers and STATUS as counted",
    ),
    "rlc_reestablishment": ("test_reestablishment", "of a UE side that starts again, of a live pair: nothing lost"),
    "rlc_radio_link_failure": (
        "test_after_a_radio_link_failure or test_a_ue_that",
        "given up, begun anew, others go on",
    ),
}
RATES = "build/rlc_rates.json"


def items(report: Report) -> None:
    for name, (test, target) in TESTS.items():
        say(name)
        status, output, _ = run(
            [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_rlc.py", "-k", test], 200
        )
        skipped = "skipped" in last_line(output)
        report.judge(name, last_line(output), target, status == 0 and not skipped, last_line(output))
    say("iperf3 over 0, 5, 20 % and burst loss, 5 s each way")
    status, output, _ = run([PYTHON, "tests/e2e/rlc_rates.py", RATES], 300)
    if status != 0:
        report.judge("rlc_iperf3", f"exit_{status}", "a rate each", False, last_line(output))
        return
    for air, rates in json.loads((ROOT / RATES).read_text()).items():
        measured = f"{rates['down']:.1f} Mbit/s down, {rates['up']:.1f} up"
        report.judge(f"rlc_iperf3_{air}", measured, "at least 20 Mbit/s each", min(rates.values()) >= 20, "TCP, AM 18")

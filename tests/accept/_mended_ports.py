"""Ports whose other end leaves, and what is behind them; signals, open files, DPDK's lines."""

from __future__ import annotations

import os

from _judged_by_tests import Mended, judge
from report import Report

PORTS = "tests/e2e/test_ports.py"
# Of each end of each kind of port; the issue asks for 1,000.
EXITS = os.environ.get("SPLITPLANE_EXITS", "100")

ITEMS = [
    Mended(
        "first_3_waits",
        "a test that waited 10 s for splitplane to end failed on a busy machine; two runs of the tests met",
        pytest=["tests/e2e/test_waits.py"],
    ),
    Mended(
        "first_2_peer_leaves",
        "whoever polled a memif port died by SIGSEGV when the other end left: 5 of 5 runs of 60 exits in one process",
        gtest="MemifTest.the_other_end*:DriverGate.*",
        pytest=["tests/e2e/test_port_exits.py"],
        environment={"SPLITPLANE_EXITS": EXITS},
        timeout=6 * 3600,
    ),
    Mended(
        "b4_port_counters",
        "the counters of a memif port fell to 0 when the other end left",
        gtest="MemifTest.what_was_counted_stays*",
    ),
    Mended(
        "a9_fanout",
        "two processes with af_packet ports in one namespace failed to start at random",
        pytest=[f"{PORTS}::test_a_fanout_group_that_another_process_has_is_not_in_the_way"],
    ),
    Mended(
        "d9_mtu_and_link",
        "an MTU that shrank, or an interface that went down, was not seen; drops were counted as transmitted",
        gtest="PortWatchTest.*",
        pytest=[
            f"{PORTS}::test_an_mtu_that_shrinks_under_a_port_is_seen_and_longer_packets_are_dropped",
            f"{PORTS}::test_an_interface_that_goes_down_is_logged_within_a_second",
        ],
    ),
    Mended(
        "d7_signals_and_files",
        "a second SIGTERM and SIGHUP ended without the account; ulimit -n 64 ended in DPDK with files left",
        gtest="DescriptorLimit.*",
        pytest=[
            f"{PORTS}::test_a_signal_ends_with_the_account_however_often_it_comes",
            f"{PORTS}::test_too_few_open_files_are_a_clear_error",
            f"{PORTS}::test_as_many_open_files_as_the_error_asks_for_are_enough",
        ],
    ),
    Mended(
        "b6_dpdk_lines",
        "DPDK's lines stood raw in the log, each time they came",
        gtest="DpdkLinesTest.*",
        pytest=[f"{PORTS}::test_dpdks_lines_have_time_level_and_port"],
    ),
]


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)

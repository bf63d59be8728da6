"""Logs, captures, taps, slow clients and odd answers."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

ITEMS = [
    Mended(
        "first_1_newcomer",
        "in root's home two tests failed, because of the checkout's place and name",
        pytest=[
            "tests/e2e/test_bad_start.py::test_without_root_it_says_so",
            "tests/e2e/test_demo.py::test_what_a_killed_demo_started_ends_and_the_next_run_removes_its_namespaces",
        ],
    ),
    Mended(
        "d1_log",
        "with an unread pipe at stderr ctl timed out and SIGTERM did nothing; each ARP claim logged a line",
        gtest="LogSink.*:RepeatFolder.*",
        pytest=["tests/live/test_log_unread.py"],
    ),
    Mended(
        "e1_short_frames",
        "a frame of 0 octets in a capture was read past its end and sent empty",
        gtest="Replay.a_file_that_cannot_be_replayed_is_refused_in_one_sentence",
    ),
    Mended(
        "e2_tap_files",
        "a rotation renamed over any file, and a tap began any plain file anew",
        gtest=(
            "TapTest.only_a_missing*:TapTest.names_that_rotation*:TapTest.a_rotation_replaces_no*:"
            "TapTest.the_files_of_a_rotation*"
        ),
    ),
    Mended(
        "e3_slow_clients",
        "300 connections with an octet each 4 s shut the metrics endpoint for everybody",
        gtest="MetricsServerTest.*",
    ),
    Mended(
        "e5_tap_rule",
        "tap.on took names of 60,000 octets with control characters, and 300 taps",
        pytest=["tests/e2e/test_taps.py::test_tap_on_takes_what_the_file_takes"],
    ),
    Mended(
        "e6_deep_error_and_no_files",
        "a deep error ended ctl by SIGSEGV; commands waited at a FIFO",
        gtest="ControlClient.*:ShallowJson.*:PlainFile.*",
        pytest=["tests/config/test_corpus.py::test_a_fifo_is_no_file_for_any_command"],
    ),
]


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)

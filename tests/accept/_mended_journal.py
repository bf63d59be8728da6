"""Bearers and numbers that survive a restart of `run`, and bearers that are added twice."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

ITEMS = [
    Mended(
        "b3_added_twice",
        "bearer add took a UE address that a bearer had, and said `added 1` of one that was there",
        gtest=(
            "BearerStore.a_ue_address_is_one_bearers*:ControlMethods.a_repeated_add*:CtlTable.an_add_that_was_repeated*"
        ),
    ),
    Mended(
        "d8_journal",
        "after a restart of run bearers were gone and all numbers began at 0",
        gtest=("JournalRecord.*:BearerJournalTest.*:CountLeases.*:BearerStore.an_identity_that_is_kept*:CountLimit.*"),
        pytest=["tests/e2e/test_journal.py"],
        environment={"SPLITPLANE_JOURNAL_KILLS": "1000", "SPLITPLANE_RUN_KILLS": "50"},
        timeout=1800,
    ),
]


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)

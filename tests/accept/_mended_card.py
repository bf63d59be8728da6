"""A card and its host that are restarted in any order, and workers that hang."""

from __future__ import annotations

import os

from _judged_by_tests import Mended, judge
from report import Report

RESTARTS = "tests/e2e/test_card_host_restart.py"
SILENT = "tests/e2e/test_silent_worker.py"

ITEMS = [
    Mended(
        "b1_cut_off",
        "a restarted host's card said up, while its VFs led to nobody and everything was dropped",
        gtest="CardLinkTest.a_card_whose_vfs*:CardLinkTest.a_card_that_goes_while*:VfLinks*",
        pytest=[f"{RESTARTS}::test_a_card_that_answers_while_its_vfs_have_no_other_end_is_cut_off"],
    ),
    Mended(
        "b1_restarts",
        "traffic did not come back after a restart of the host: the card had to be started again",
        gtest=("VfKeeper*:VhostAnswers*:CardLinkRestart.a_lease_that_was_used_up*:OnRings.a_vf_without_a_host*"),
        pytest=[
            f"{RESTARTS}::test_traffic_comes_back_by_itself_whichever_side_is_restarted_in_whichever_order",
            f"{RESTARTS}::test_numbers_and_epoch_go_on_over_a_restart_of_the_host",
        ],
        environment={"SPLITPLANE_CARD_RESTARTS": os.environ.get("SPLITPLANE_CARD_RESTARTS", "50")},
        timeout=3 * 3600,
    ),
    Mended(
        "d6_host_kills",
        "with server=1 the next host's queues stayed off for good where a host ended while it connected",
        pytest=[
            f"{RESTARTS}::test_a_host_that_ends_while_it_is_connected_to_does_no_harm",
            f"{RESTARTS}::test_a_host_that_is_killed_again_and_again_under_load_leaves_no_vf_behind",
        ],
        environment={"SPLITPLANE_HOST_KILLS": os.environ.get("SPLITPLANE_HOST_KILLS", "1000")},
        timeout=3 * 3600,
    ),
    Mended(
        "d3_silent_worker",
        "a consumer of copies that hung took all buffers: traffic stopped, and ctl stats failed after 10 s",
        gtest="RoundWatch*",
        pytest=[SILENT],
    ),
]


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)

"""RLC AM: legal STATUS, shared memory, bounded work, a lost peer; and all of it against a foreign peer."""

from __future__ import annotations

import os

from _judged_by_tests import Mended, judge
from report import Report

ITEMS = [
    Mended(
        "a1_status_that_touches",
        "a STATUS with a NACK that begins in the SDU where the one before ended was ignored whole",
        gtest="LegalStatus.*:*a_range_may_begin_where_a_hole_ended*",
    ),
    Mended(
        "a2_cut_status",
        "a STATUS cut inside an SDU set ACK_SN behind it: holes counted as received",
        gtest="AmReport.*",
    ),
    Mended(
        "a3_shared_memory",
        "34 bearers with 63 PDUs each out of order took all pages for good, RX_Next was refused",
        gtest=(
            "AmReceive.rx_next_makes_progress*:Reassembly.what_completes_an_sdu_needs_no_memory:"
            "Reassembly.an_entity_takes*:ArqLimits.bearers_that_take_all_window_memory*"
        ),
    ),
    Mended(
        "a4_frame_sent_once",
        "a STATUS with k holes of one SDU made header mode send the frame k times",
        gtest="ArqLimits.a_status_with_many_holes_of_one_sdu_sends_its_frame_once",
    ),
    Mended(
        "a5_bounded_work",
        "4,000 holes of one SDU took 16.8 ms in one call, volume() was O(holes)",
        gtest="PendingIntervals.*:*thousands_of_nacks_are_taken_in_bounded_steps*",
    ),
    Mended(
        "a6_stale_and_malformed",
        "a NACK range that reached ACK_SN cost the whole STATUS, polls beyond max_unacked were not answered",
        gtest=(
            "*nacks_at_or_above_ack_say_nothing*:*a_stale_one_is_counted_apart*:"
            "ArqLimits.a_poll_beyond_max_unacked_is_answered"
        ),
    ),
    Mended(
        "a8_count_ends",
        "COUNT wrapped from 2^32-1 to 0 without a word",
        gtest="CountLimit*:*counts_never_come_round_to_0*:CardLease.ends_with_the_last_count",
    ),
    Mended(
        "d2_lost_peer",
        "after 4,999 forged PDUs a bearer answered nothing for 92 s, without radio link failure",
        gtest=(
            "AmRetx.a_peer_that_acknowledges_nothing_for_many_polls_is_lost:"
            "ArqLimits.a_peer_with_other_numbers*:ArqLimits.invalid_status_pdus_of_a_stranger*:"
            "FailureWatch*:ReestablishLimit*"
        ),
    ),
    Mended(
        "rlc_models",
        "the model in Python shared the two wrong rules",
        pytest=["tests/oracle/test_rlc_against_model.py"],
    ),
    Mended(
        "rlc_foreign_peer",
        "14 to 55 of 100 random runs against foreign implementations hung",
        pytest=["tests/oracle/test_rlc_foreign.py"],
        environment={"SPLITPLANE_FOREIGN_RUNS": os.environ.get("SPLITPLANE_FOREIGN_RUNS", "500")},
        timeout=3600,
    ),
]


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)

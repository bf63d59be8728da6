"""What runs with secured bearers and with sessions show, judged by tshark and by Python that shares nothing with us."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

SECURED, SESSIONS = "tests/e2e/test_secured.py", "tests/e2e/test_sessions.py"
FLOWS = "tests/e2e/test_session_flows.py"
BUILT = (
    # The test for tshark reads what the one before it captured.
    Mended(
        "run_deciphered",
        shows="NEA2 and NIA2 PDUs of a run, both directions, by Python and tshark; loss, wrong key, restarts",
        pytest=[SECURED],
    ),
    Mended(
        "no_count_twice_after_rekey",
        shows="by key, bearer, direction and COUNT, over all PDUs with UM, AM over a bad air, TCP, sessions, crashes",
        gtest="Rekey.*:RekeyTest.*:SessionRekeyTest.*",
        pytest=[
            f"{SECURED}::{test}"
            for test in (
                "test_am_gets_new_keys_over_a_bad_air_and_loses_nothing",
                "test_tcp_goes_on_while_keys_change",
                "test_um_gets_new_keys_and_delivers_nothing_that_others_protected",
                "test_new_keys_survive_a_crash_of_either_end",
            )
        ]
        + [f"{FLOWS}::test_bearers_of_a_session_get_new_keys_while_their_flows_pass_and_one_moves"],
    ),
    Mended("two_bearers_of_a_session", shows="own numbers for each flow, restart, kill, bad input", pytest=[SESSIONS]),
    Mended(
        "two_flows_on_two_bearers",
        shows="real TCP on RLC AM and a probe on RLC UM, both ways at once, by tshark",
        pytest=[f"{FLOWS}::test_two_flows_have_different_treatment_both_ways_and_tshark_says_which"],
    ),
    # The test for COUNTs reads what the one before it captured.
    Mended(
        "moved_flow_keeps_its_order",
        shows="both ways over an air that loses 20 %, by session.flow and by RDI; nothing lost, no COUNT twice",
        pytest=[
            f"{FLOWS}::test_a_moved_flow_keeps_its_order_and_loses_nothing",
            f"{FLOWS}::test_a_flow_on_a_reflective_bearer_takes_its_uplink_there",
            f"{FLOWS}::test_a_killed_gnb_uses_no_count_of_a_secured_session_twice",
        ],
    ),
)


def items(report: Report) -> None:
    for item in BUILT:
        judge(report, item)

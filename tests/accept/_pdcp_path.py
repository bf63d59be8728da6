"""What runs with secured bearers and with sessions show, judged by tshark and by Python that shares nothing with us."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

SECURED, SESSIONS = "tests/e2e/test_secured.py", "tests/e2e/test_sessions.py"
BUILT = (
    # The test for tshark reads what the one before it captured.
    Mended(
        "run_deciphered",
        shows="NEA2 and NIA2 PDUs of a run, both directions, by Python and tshark; loss, wrong key, restarts",
        pytest=[SECURED],
    ),
    Mended("two_bearers_of_a_session", shows="own numbers for each flow, restart, kill, bad input", pytest=[SESSIONS]),
)
NOT_BUILT = {
    "no_count_twice_after_rekey": "by key, bearer, direction and COUNT, over all PDUs of a run",
    "moved_flow_keeps_its_order": "real TCP and a probe on two bearers of a session; one moves",
}


def items(report: Report) -> None:
    for item in BUILT:
        judge(report, item)
    for name, target in NOT_BUILT.items():
        report.judge(name, "none", target, False, "not built")

"""What a run with secured bearers shows. No program uses ran/pdcp yet, so each item is short."""

from __future__ import annotations

from report import Report

NOT_BUILT = {
    "run_deciphered_by_tshark": "NEA2 and NIA2 PDUs of a run, both directions",
    "no_count_twice_after_rekey": "by key, bearer, direction and COUNT, over all PDUs of a run",
    "two_flows_of_a_session": "real TCP and a probe on two bearers; a moved flow keeps its order",
    "gtpu_to_rlc_nea2_1500": "<=350ns",
    "ecn_p99_delay": "at most a quarter of that without marks, at 95 % of the throughput",
}


def items(report: Report) -> None:
    for name, target in NOT_BUILT.items():
        report.judge(name, "none", target, False, "not built: no program uses ran/pdcp yet")

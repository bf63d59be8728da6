"""Real ends through a running guard, judged octet by octet; files of every kind; connections that outlive changes."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from _tools import ROOT, say
from bed import Bed
from ends import Link
from guarded import Guard
from report import Report

FLOOD, STREAMS, LIVES = (f"tests/e2e/test_guard{name}.py" for name in ("", "_streams", "_lives"))
PROMISES = [
    Mended(
        "guard_judge_of_octets",
        shows="the judge passes a right trace and finds each fault that is put in, and scapy agrees with its reader",
        pytest=["tests/guard"],
    ),
    Mended(
        "guard_real_ends_judged",
        shows="each mode idle and armed, IPv4 and IPv6, floods, half-closed, refused, ECN, TFO, odd and mutated frames",
        pytest=[FLOOD],
    ),
    Mended(
        "guard_20_mb_sha256",
        shows="TS, SACK, scale off at either end, scale 0 and 14, MSS 536, loss, wrap, IPv6, VLAN, PMTU, fragments",
        pytest=[STREAMS],
    ),
    Mended(
        "guard_established_flows_survive",
        shows="mode changes, arming, three key rotations, kill -9 and restart with state_file",
        pytest=[LIVES],
    ),
]
LONG = 4_500_000_000  # both directions' numbers wrap, wherever they began
ROUND = 60_000_000


def wraps(report: Report) -> None:
    """One proxied connection that carries more than 4 GiB each way."""
    say("guard: more than 4 GiB each way through one proxied connection")
    with Bed(ROOT / "out" / "accept-guard", "wrap") as bed, Guard(bed, "proxy", "always"), Link(bed) as link:
        rounds = LONG // ROUND + 1
        equal = sum(link.get(ROUND) for _ in range(rounds)), sum(link.put(ROUND) for _ in range(rounds))
        text = f"{equal[0]} and {equal[1]} of {rounds} rounds of {ROUND // 1_000_000} MB equal"
        report.judge("guard_numbers_wrap_both_ways", text, "all", equal == (rounds, rounds), "SHA-256 of each round")


def items(report: Report) -> None:
    for promise in PROMISES:
        judge(report, promise)
    wraps(report)

"""Kills of the service and of the gNB, bearers on a card, many bearers for long: judged by tests."""

from __future__ import annotations

from _judged_by_tests import Mended, judge
from report import Report

KILLS = "1000"

ITEMS = (
    Mended(
        "baas_one_rule_for_both_places",
        shows="RLC AM on a worker: the same tests with the windows inline and in the service",
        gtest="Windows/ArqPath.*:Windows/ArqLimits.*",
    ),
    Mended(
        "baas_random_kills_and_little_room",
        shows="random traffic, kills, standstills, full rings, little memory, re-establishment: nothing lost",
        gtest="ArqService.*",
    ),
    Mended(
        "baas_1000_kills_inside_ring_operations",
        shows="a process killed under load, every other time between the moves of a ring's head and tail",
        gtest="ArqServiceProcess.*",
        environment={"SPLITPLANE_KILLS": KILLS},
    ),
    Mended(
        "baas_1000_kills_under_real_tcp",
        shows="splitplane baas killed under curl over 2 % loss: SHA-256 equal, no bearer without it for more than 1 s",
        pytest=["tests/e2e/test_baas.py", "-k", "again_and_again or equal_over or stands_still or second or waits"],
        environment={"SPLITPLANE_SERVICE_KILLS": KILLS, "SPLITPLANE_LONGEST_S": "1"},
        timeout=1800,
    ),
    Mended(
        "baas_100_kills_of_the_gnb",
        shows="the same service serves the next gNB within 2 s, no file of an earlier run is left",
        pytest=["tests/e2e/test_baas.py", "-k", "next_gnb"],
        environment={"SPLITPLANE_GNB_KILLS": "100"},
    ),
    Mended(
        "baas_of_a_card",
        shows="100 % on the card, 5 % loss, windows in worker and service: SHA-256 equal, each SDU acknowledged and "
        "delivered once; re-establishment, the window's end, kills of card, gNB and service",
        pytest=["tests/e2e/test_card_baas.py"],
    ),
    Mended(
        "baas_ten_minutes_with_65536_bearers",
        shows="2 % loss: counters add up to the packet, memory flat, nothing missing",
        pytest=["tests/e2e/test_baas_soak.py"],
        environment={"SPLITPLANE_SOAK_S": "600", "SPLITPLANE_SOAK_BEARERS": "65536", "SPLITPLANE_SOAK_RATE": "40000"},
        timeout=1500,
    ),
)


def items(report: Report) -> None:
    for item in ITEMS:
        judge(report, item)

"""Power policies on a real pair of processes: no packet is lost, whoever sleeps, and a policy changes while traffic
flows. What each costs and adds: `make accept PART=power`."""

from __future__ import annotations

import os
import time

import idle
import pytest
from pair import POLICIES, WARM_S, Pair
from paths import own

RATE, SECONDS = 5_000, 1.0


@pytest.fixture(scope="module")
def pair():
    if (os.cpu_count() or 1) < 2:
        pytest.skip("SKIPPED: needs two cores: one for the traffic, one for the device")
    with Pair(own("e2e") / "power", "e2e") as made:
        yield made


def asleep(counters: dict[str, int]) -> float:
    return counters["asleep"] / sum(counters[state] for state in ("busy", "idle", "asleep"))


@pytest.mark.parametrize("policy", POLICIES)
def test_no_packet_is_lost(pair, policy):
    pair.use(policy)
    sent, measured = pair.traffic(RATE, SECONDS)
    assert sent.offered > RATE * SECONDS
    assert (sent.lost, sent.odd) == (0, 0)
    assert measured.counters["dropped"] == 0
    if policy == "busy":
        assert measured.counters["sleeps"] == measured.counters["pauses"] == 0
    if policy == "budget":
        assert asleep(measured.counters) > 0.5
        assert measured.counters["wakeups"] > 0, "packets end its sleep"


def test_without_traffic_a_budget_worker_only_wakes_when_its_longest_sleep_ends(pair):
    pair.use("budget")
    measured = pair.idle(SECONDS)
    assert asleep(measured.counters) > 0.95
    assert measured.per_second("sleeps") < 250, "max_sleep_ms is 10"


def test_a_policy_changes_while_traffic_flows(pair):
    """Every policy from every other, each for some hundred packets."""
    pair.use(POLICIES[-1])
    slept = {}

    def switch(running: Pair) -> None:
        for policy in (*POLICIES, *reversed(POLICIES)):
            running.use(policy)
            before = running.counters()["sleeps"]
            time.sleep(0.1)
            slept[policy] = running.counters()["sleeps"] - before

    # Long enough for all of them: a switch is a program of its own that starts and ends.
    sent, _ = pair.traffic(RATE, WARM_S, during=switch, after_s=8)
    assert (sent.lost, sent.odd) == (0, 0)
    assert slept["busy"] == 0
    assert slept["budget"] > 0 and slept["yield"] > 0


def test_the_default_policy_wakes_an_idle_worker_seldom():
    """Each sleep that found nothing doubles the next, up to 500 us: the steady state of an idle worker."""
    seen = idle.measure(seconds=2)
    assert seen.sleep_us > 400 and seen.sleeps_per_second < 2_500, seen

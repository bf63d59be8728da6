"""Connections that outlive what happens to `splitplane guard`: it arms, changes its mode and its keys, is killed and
comes back."""

from __future__ import annotations

import itertools
import time
from contextlib import ExitStack

import pytest
from bed import SERVER_IPV4, WEB_PORT, Bed, crowd_ipv4
from crowd import Running
from ends import Link, speak
from flood import Flood
from guarded import QUICK, Guard
from paths import own

ACTING = ("auth", "proxy")
SIZE = 200_000
ALL_CHANGES = ("proxy", "auth", "proxy", "observe", "auth", "bypass", "proxy")


@pytest.fixture(scope="module")
def bed():
    with Bed(own("e2e") / "guard-lives", "lives") as made:
        yield made


@pytest.fixture
def guard(bed):
    with Guard(bed, state=True, each=QUICK) as made:
        yield made


@pytest.fixture(scope="module")
def new():
    numbers = itertools.count()
    return lambda: crowd_ipv4(next(numbers))


def in_each_mode(bed: Bed, guard: Guard, new, stack: ExitStack) -> dict[str, Link]:
    """A connection opened under each mode."""
    links = {}
    for mode, arm in (("bypass", "auto"), ("observe", "auto"), ("auth", "always"), ("proxy", "always")):
        guard.set(mode=mode, arm=arm)
        if mode in ACTING:
            guard.wait_armed(True)
        links[mode] = stack.enter_context(Link(bed, new()))
        assert links[mode].get(SIZE), f"opened in {mode}"
    return links


def test_connections_of_every_mode_outlive_every_change_of_mode(bed, guard, new):
    with ExitStack() as stack:
        links = in_each_mode(bed, guard, new, stack)
        del links["bypass"]  # of it nothing was learnt; see below
        for mode in ALL_CHANGES:
            guard.set(mode=mode, arm="always")
            for opened, link in links.items():
                assert link.get(SIZE), f"opened in {opened}, now {mode}"
                assert link.put(SIZE), f"opened in {opened}, now {mode}"


def test_connections_that_it_did_not_learn_survive_its_arming_by_their_own_segments(bed, guard, new):
    """Opened in bypass, silent since: the next segment is of an unknown source, and no SYN."""
    guard.set(mode="bypass")
    with Link(bed, new()) as first, Link(bed, new()) as second:
        assert first.get(SIZE) and second.get(SIZE)
        for mode, link in zip(ACTING, (first, second), strict=True):
            guard.set(mode=mode, arm="always")
            guard.wait_armed(True)
            assert link.get(SIZE), mode


@pytest.mark.parametrize("mode", ACTING)
def test_known_clients_notice_nothing_when_a_flood_arms_it(bed, guard, new, mode):
    guard.set(mode=mode, arm="auto")
    bed.fresh_server()
    known = [new() for _ in range(5)]
    with ExitStack() as stack:
        links = []
        for source in known:
            links.append(stack.enter_context(Link(bed, source)))
            assert links[-1].get(SIZE)
        with Flood(bed, seconds=10, pause_us=200):  # as in test_guard.py
            guard.wait_armed(True)
            assert all(link.get(SIZE) and link.put(SIZE) for link in links)
            crowd = Running(bed, known, SERVER_IPV4, WEB_PORT, 0.02, 3.0).result()
        assert crowd.answered == crowd.tried
        assert crowd.connect_ms < 500, "they were known: no second of waiting"
        guard.wait_armed(False)
        assert all(link.get(SIZE) for link in links)


@pytest.mark.parametrize("mode", ACTING)
def test_keys_change_twice_under_connections_and_new_clients(bed, guard, new, mode):
    guard.set(mode=mode, arm="always")
    guard.wait_armed(True)
    with Link(bed, new()) as link, speak(bed, new()) as other:
        for _ in range(3):
            assert link.get(SIZE) and other.line(b"still here") == b"still here"
            crowd = Running(bed, [new() for _ in range(6)], SERVER_IPV4, WEB_PORT, 0.02, 5.0)
            time.sleep(0.15)
            guard.rotate()
            found = crowd.result()
            assert found.answered == found.tried, found


def test_connections_of_every_mode_outlive_a_kill_and_a_restart_with_a_state_file(bed, guard, new):
    with ExitStack() as stack:
        links = in_each_mode(bed, guard, new, stack)
        guard.kill()
        guard.start()
        guard.set(mode="proxy", arm="always")
        for opened, link in links.items():
            assert link.get(SIZE) and link.put(SIZE), f"opened in {opened}"
        known = Running(bed, [links["auth"].socket.getsockname()[0]], SERVER_IPV4, WEB_PORT, 0, 3.0).result()
        assert known.answered == 1


def test_a_proven_client_stays_proven_over_a_restart(bed, guard, new):
    guard.set(mode="auth", arm="always")
    guard.wait_armed(True)
    source = new()
    with Link(bed, source) as link:
        assert link.get(64)
    assert guard.outcomes()["from_clients"]["challenged_rst"] > 0
    guard.kill()
    guard.start()
    guard.set(mode="auth", arm="always")
    guard.wait_armed(True)
    with Link(bed, source) as link:
        assert link.get(64)
    assert guard.outcomes()["from_clients"]["challenged_rst"] == 0

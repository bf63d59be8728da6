"""`splitplane run` ends well at any moment of its load, also while workers wait for leases of COUNTs."""

from __future__ import annotations

import random

from processes import wait_until

STOPS = 8


def test_a_stop_at_any_moment_ends_with_exit_code_0(gnb):
    draw = random.Random(1)
    for _ in range(STOPS):
        assert gnb.stop() == 0, gnb.instance.process.tail()
        gnb.start()
        # All bearers come to the mark of their lease at once, each few hundred thousand packets.
        wanted = 3_000_000 + draw.randrange(3_000_000)
        wait_until("the worker to receive", lambda: gnb.stats()["workers"][0]["received"] > wanted)  # noqa: B023
    assert gnb.stop() == 0

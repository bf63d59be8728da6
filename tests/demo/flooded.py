"""The demo's SYN flood: hping3 from random addresses, and people who connect meanwhile, with nobody in between and with
`splitplane guard`, which arms itself and rests again."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from checks import Checks
from paths import OUT

TESTS = Path(__file__).resolve().parent.parent
HEAD = (
    "in the middle",
    "connected",
    "connect, ms",
    "half open at the server",
    "SYNs of the flood",
    "answered by cookies",
)
PEOPLE, PAUSE_S, PATIENCE_S = 20, 0.04, 1.5
FLOOD_SECONDS, PAUSE_US = 12.0, 200  # 5,000 a second at most: see tests/e2e/test_guard.py


def flooded(say, checks: Checks) -> list[list[object]]:
    """A row without and one with the guard, for the summary."""
    sys.path += [str(TESTS / "guard"), str(TESTS / "e2e")]
    from bed import SERVER_IPV4, WEB_PORT, Bed, crowd_ipv4
    from crowd import Running
    from flood import Flood
    from guarded import QUICK, Guard
    from middles import Bridge

    rows, sources = [], [crowd_ipv4(number) for number in range(PEOPLE)]
    for name, put in (
        ("nobody", Bridge),
        ("splitplane guard, mode proxy", lambda bed: Guard(bed, "proxy", each=QUICK)),
    ):
        say(f"hping3 --rand-source floods a server, and {PEOPLE} people connect; in the middle: {name}")
        with Bed(OUT / "log", "demo") as bed, put(bed) as middle:
            with Flood(bed, seconds=FLOOD_SECONDS, pause_us=PAUSE_US) as flood:
                if isinstance(middle, Guard):
                    middle.wait_armed(True)
                else:
                    time.sleep(1.2)  # until the server's backlog is full
                crowd = Running(bed, sources, SERVER_IPV4, WEB_PORT, PAUSE_S, PATIENCE_S).result()
                half_open = bed.half_open()
            answered = middle.outcomes()["from_clients"]["challenged_syn"] if isinstance(middle, Guard) else "-"
            time_ms = f"{crowd.connect_ms:.1f}" if crowd.answered else "-"
            rows.append([name, f"{crowd.answered} of {crowd.tried}", time_ms, half_open, flood.sent, answered])
            if isinstance(middle, Guard):
                seconds = middle.wait_armed(False)
                checks.add(
                    "guard: people connect through a SYN flood, and it rests again",
                    f"{crowd.answered} of {crowd.tried}, {answered} SYNs answered, at rest {seconds:.1f} s after it",
                    crowd.answered == crowd.tried and half_open < bed.backlog * 3 / 4,
                )
    return rows

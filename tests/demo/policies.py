"""The gNB's worker under three power policies, switched while it runs: how awake it is without packets, and TCP."""

from __future__ import annotations

import time
from collections import Counter

from checks import Checks
from instance import Instance
from traffic import Web

IDLE_SECONDS, SETTLE_SECONDS = 0.6, 0.2
FILE_BYTES = 5_000_000


def under_each_policy(say, web: Web, gnb: Instance, bearer: dict, checks: Checks) -> list[list[object]]:
    """A row a policy: its name, how awake it was, Mbit/s, what the file's SHA-256 says."""
    say("splitplane power set: the worker idles and carries TCP under the policies busy, paper and budget")
    file = web.make("policies.bin", FILE_BYTES)
    before = gnb.control.call("power.show")["workers"][0]
    name = before["name"]

    def cycles() -> Counter:
        return Counter(next(each for each in gnb.control.stats()["workers"] if each["name"] == name)["cycles"])

    awake, rows = {}, []
    for kind in ("busy", "paper", "budget"):
        gnb.control.call("power.set", worker=name, kind=kind)
        time.sleep(SETTLE_SECONDS)
        then = cycles()
        time.sleep(IDLE_SECONDS)
        now = cycles()
        spent = {each: now[each] - then[each] for each in now}
        awake[kind] = 100 * (1 - spent["asleep"] / sum(spent.values()))
        done = web.download(bearer["ue_ipv4"], file)
        rows.append([kind, f"{awake[kind]:.1f}", f"{done.mbit:.0f}", "equal" if done.equal else "DIFFERENT"])
    gnb.control.call("power.set", worker=name, **before["policy"])
    checks.add(
        "power policies: awake without packets",
        ", ".join(f"{kind} {share:.1f} %" for kind, share in awake.items()),
        awake["busy"] > 99 and awake["budget"] < 80,
    )
    checks.add(
        "power policies: SHA-256 equal under each",
        f"{sum(row[3] == 'equal' for row in rows)} of 3",
        all(row[3] == "equal" for row in rows),
    )
    return rows

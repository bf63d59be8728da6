"""What may protect a server, each in the same place of the same bed, and one trial of it: who gets through a flood."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bed import SERVER_IPV4, WEB_PORT, Bed, crowd_ipv4
from crowd import Crowd, Running
from ends import Link, Wrk, curl, iperf, wrk
from flood import Flood
from guarded import Guard
from middles import Bridge, Synproxy, XdpSynproxy

FLOOD_WARM_S = 1.0  # a backlog is full and a guard armed by then
UNCAPPED = {"syn_per_second": 65535}  # wrk opens all its connections from one address
MANY = 10_000  # addresses of the crowd


@dataclass(frozen=True)
class Protector:
    name: str
    put: Callable[[Bed], object]  # a context manager
    server_cookies: bool = False
    is_guard: bool = False


def guard(mode: str, policy: object) -> Callable[[Bed], Guard]:
    return lambda bed: Guard(bed, mode, "auto", policy=policy, sources=UNCAPPED)


NOBODY = Protector("nobody", Bridge)
KERNEL_COOKIES = Protector("kernel_cookies", Bridge, server_cookies=True)
SYNPROXY = Protector("synproxy", Synproxy)
XDP_SYNPROXY = Protector("xdp_synproxy", XdpSynproxy)


def guards(policy: object = "budget") -> tuple[Protector, ...]:
    name = policy if isinstance(policy, str) else "custom"
    return tuple(Protector(f"guard_{mode}_{name}", guard(mode, policy), is_guard=True) for mode in ("auth", "proxy"))


@dataclass
class Trial:
    """One flood and those who came meanwhile."""

    crowd: Crowd
    sent: int  # by the flood
    flood_s: float
    half_open: int  # at the server, at the end of the flood
    old: bool  # whether a connection from before the flood still carried data in it
    curl: int = 0  # of three
    wrk: Wrk | None = None
    iperf_mbit: float = 0.0


def sources() -> Iterator[str]:
    return (crowd_ipv4(number) for number in itertools.count())


def trial(
    folder: Path,
    protector: Protector,
    pause_us: int | None,
    *,
    people: int,
    pause_s: float,
    patience_s: float,
    flooded: bool = True,
    more: bool = False,
) -> Trial:
    """In a bed of its own: what an earlier flood left at the server would decide the next one. `more`: curl, wrk and
    iperf3 after the crowd, the flood still going."""
    new = sources()
    with ExitStack() as stack:
        bed = stack.enter_context(Bed(folder, "trial", server_cookies=protector.server_cookies))
        stack.enter_context(protector.put(bed))
        old = stack.enter_context(Link(bed, next(new), patience_s=patience_s))
        assert old.get(1000), f"{protector.name}: no connection without a flood"
        longest = people * pause_s + 2 * patience_s + (25 if more else 5)
        flood = Flood(bed, seconds=longest, pause_us=pause_us) if flooded else None
        time.sleep(FLOOD_WARM_S)
        crowd = Running(bed, [next(new) for _ in range(people)], SERVER_IPV4, WEB_PORT, pause_s, patience_s).result()
        found = Trial(crowd, 0, 0.0, bed.half_open(), carries(old))
        if more:
            found.curl = sum(curl(bed, next(new), patience_s=patience_s)["ok"] for _ in range(3))
            found.wrk = wrk(bed, 2)
            found.iperf_mbit = iperf(bed, 2, reverse=True)
        if flood:
            found.sent = flood.stop()
            found.flood_s = flood.seconds
        return found


def carries(link: Link) -> bool:
    try:
        return link.get(100_000)
    except OSError:
        return False

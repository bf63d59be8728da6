"""Who gets through a flood: real clients from addresses that nobody saw before, with no protector, the kernel's SYN
cookies, nftables' SYNPROXY and the guard in the same place, in turns."""

from __future__ import annotations

import json
import random
import statistics
from dataclasses import asdict
from functools import cache

from _tools import ROOT, say
from bed import BACKLOG, Bed
from figures import interval, median, with_interval
from processes import Failure
from protectors import KERNEL_COOKIES, NOBODY, SYNPROXY, XDP_SYNPROXY, Protector, Trial, guards, trial
from report import Report

FOLDER = ROOT / "out" / "accept-guard"
REPEATS = 5
PEOPLE, PAUSE_S, PATIENCE_S = 40, 0.05, 5.0
# Microseconds between two SYNs of hping3: the wires have room (some 10,000 a second), and as fast as it can.
FLOODS = {"with_room": 50, "full": None}
SUCCESS_PERCENT = 99


@cache
def xdp_fails() -> str:
    """Why the program for XDP is not there; nothing if it is."""
    try:
        with Bed(FOLDER, "xdp") as bed, XDP_SYNPROXY.put(bed):
            return ""
    except Failure as failed:
        return str(failed)


def protectors() -> tuple[Protector, ...]:
    in_kernel = (NOBODY, KERNEL_COOKIES, SYNPROXY, *(() if xdp_fails() else (XDP_SYNPROXY,)))
    return (*in_kernel, *guards("budget"), *guards("busy"))


def success(trials: list[Trial]) -> float:
    return 100 * sum(one.crowd.answered for one in trials) / sum(one.crowd.tried for one in trials)


def connects_ms(trials: list[Trial]) -> list[float]:
    """Of each repeat in which someone connected, the median."""
    return [one.crowd.connect_ms for one in trials if one.crowd.answered]


def row(name: str, trials: list[Trial]) -> str:
    ms = connects_ms(trials)
    cells = [f"{success(trials):.1f}% of {sum(one.crowd.tried for one in trials)}"]
    cells.append(f"connect {with_interval(ms, ' ms', median)}" if ms else "connect never")
    cells.append(f"half-open at the server {max(one.half_open for one in trials)}")
    cells.append(f"old connections {sum(one.old for one in trials)} of {len(trials)}")
    tools = next((one for one in trials if one.wrk), None)
    if tools and tools.wrk:
        cells.append(f"curl {tools.curl} of 3, wrk {tools.wrk.requests_per_second:.0f}/s {tools.wrk.errors} errors")
        cells.append(f"iperf3 {tools.iperf_mbit:.0f} Mbit/s")
    rates = [one.sent / one.flood_s for one in trials if one.flood_s]
    if rates:
        cells.append(f"flood {statistics.fmean(rates):.0f}/s")
    return ", ".join(cells)


def measure(flood: str | None) -> dict[str, list[Trial]]:
    """In an order drawn anew for each repeat, so that what else the machine does meets all of them."""
    order, found = random.Random(1), {one.name: [] for one in protectors()}
    for repeat in range(REPEATS if flood else 2):
        for one in order.sample(protectors(), len(protectors())):
            shape = {"people": PEOPLE, "pause_s": PAUSE_S, "patience_s": PATIENCE_S}
            more = repeat == 0
            pause_us = FLOODS[flood] if flood else None
            found[one.name].append(trial(FOLDER, one, pause_us, **shape, flooded=flood is not None, more=more))
    return found


def items(report: Report) -> None:
    kept = {}
    if why := xdp_fails():
        report.skip("guard_table_xdp_synproxy", "built by clang and taken by the kernel", why)
    for flood in (None, *FLOODS):
        name = f"guard_table_{flood or 'quiet'}"
        say(f"guard: who gets through, {'without a flood' if not flood else f'flood {flood}'}")
        found = kept[name] = measure(flood)
        for who, trials in found.items():
            report.judge(f"{name}_{who}", row(who, trials), "measured", True, f"{len(trials)} repeats, in turns")
        if not flood:
            continue
        others = {who: success(trials) for who, trials in found.items() if not who.startswith("guard")}
        for one in (each for each in protectors() if each.is_guard):
            trials, best = found[one.name], max(others.values())
            mine = success(trials)
            why = ", ".join(f"{who} {share:.1f}%" for who, share in others.items())
            report.judge(f"{name}_success_{one.name}", f"{mine:.1f}%", f">={best:.1f}%", mine >= best, why)
            half_open = max(each.half_open for each in trials)
            report.judge(
                f"{name}_half_open_{one.name}",
                half_open,
                f"<{3 * BACKLOG // 4}: the server is not full",
                half_open < 3 * BACKLOG // 4,
                "what came before the guard armed itself, and what is just connecting",
            )
            if flood == "with_room":
                why = f"{sum(each.sent for each in trials)} SYNs of the flood"
                report.at_least(f"guard_success_with_room_{one.name}", mine, SUCCESS_PERCENT, "%", why)
        lower_connect_time(report, name, found)
    path = FOLDER / "table.json"
    path.write_text(
        json.dumps({k: {w: [asdict(t) for t in ts] for w, ts in v.items()} for k, v in kept.items()}) + "\n"
    )


def lower_connect_time(report: Report, name: str, found: dict[str, list[Trial]]) -> None:
    """Mode proxy against SYNPROXY, which does the same in the kernel, and against each other that lets people in."""
    for mine in ("guard_proxy_busy", "guard_proxy_budget"):
        for other in [one.name for one in protectors() if not one.is_guard]:
            theirs, ours = connects_ms(found[other]), connects_ms(found[mine])
            item = f"{name}_connect_{mine}_below_{other}"
            if not theirs:
                report.judge(
                    item, f"{median(ours):.3g} ms; {other} never", "lower", bool(ours), "none got through there"
                )
                continue
            if success(found[other]) < SUCCESS_PERCENT:
                why = f"{other} let only {success(found[other]):.0f}% in, and its time is of those few"
                report.judge(item, f"{median(ours):.3g} against {median(theirs):.3g} ms", "measured", True, why)
                continue
            low, high = interval([o - t for o, t in zip(ours, theirs, strict=False)], median)
            text = f"{median(ours):.3g} against {median(theirs):.3g} ms, difference in [{low:.3g}, {high:.3g}]"
            met = median(ours) < median(theirs)
            if not met and low <= 0:
                report.skip(item, "lower", f"measured {text}: no difference that repeats show")
            else:
                why = "the guard's wires are AF_PACKET sockets, woken through the kernel; theirs is the kernel itself"
                report.judge(item, text, "lower", met, why)

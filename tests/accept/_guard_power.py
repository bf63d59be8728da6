"""What sleeping costs a guard that is flooded, and what it saves when it is not: polling, interrupt at low load (paper
PWR's Algorithm 1), and ours. Theirs: paper INT, 10 GbE at 14.88 M SYNs a second, a DPDK SYN-flood protection.

Ours: SYNs of 64 K sources over vhost between two cores, mode auth, each SYN answered. CPU is measured; watts are
modelled by INT's own table, and nothing else of a machine is in them.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict

from _tools import ROOT, say
from figures import interval, median, rate_name, spread, with_interval
from flooded_pair import FloodedPair
from pair import Pair
from report import Report
from turns import Row, Turns

POLICIES = ("busy", "paper", "budget")  # polling, interrupt, ours
LADDER = (500_000, 700_000, 1_000_000, 1_400_000, 2_000_000, 2_800_000, 4_000_000, 5_600_000)
SUSTAINED_PERCENT = 0.05
TRIES, TRY_SECONDS = 3, 0.3
REPEATS, SECONDS = 15, 0.3
RATES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
RATE_REPEATS, RATE_SECONDS = 5, 0.5
# Loss of polling and of interrupt in INT, percent of 74.4 M. The slow clock is 1.2 GHz there, half of ours here.
THEIRS = {"full": (0.39, 0.51), "slow": (44.3, 46.0)}
SLOW_CLOCK = 0.5
WIDEST = 2.0
IDLE_WATTS, ONE_THREAD_WATTS = 86.0, 100.0  # INT: idle, and one thread at full load
MET_PERCENT = 95.0  # of polling's CPU: no difference any more


def percent(sent) -> float:
    return 100 * sent.lost / sent.offered


def watts(cpu_percent: float) -> float:
    """Modelled: linear between INT's idle machine and one with one busy thread."""
    return IDLE_WATTS + (ONE_THREAD_WATTS - IDLE_WATTS) * min(100.0, cpu_percent) / 100


def highest_sustained(pair: FloodedPair) -> int:
    pair.use("busy")
    best = 0
    for rate in LADDER:
        tries = [pair.unwatched_flood(rate, TRY_SECONDS, seed) for seed in range(1, TRIES + 1)]
        if median([percent(sent) for sent in tries]) > SUSTAINED_PERCENT or median([sent.unsent for sent in tries]) > 0:
            break
        best = rate
    return best


def loss(report: Report, pair: FloodedPair, rate: int, name: str, clock: str) -> Turns:
    """Ours must not lose more above polling than theirs did; the interval of the median decides."""
    say(f"guard: {name}: loss at {rate_name(rate)} SYNs a second, {REPEATS} repeats")
    turns = Turns(pair, POLICIES, REPEATS, 3, lambda _: Row(pair.unwatched_flood(rate, SECONDS)))
    polling, interrupt = THEIRS[clock]
    theirs = f"theirs {polling}% polling, {interrupt}% interrupt"
    why = (
        f"{rate_name(rate)} SYNs/s over vhost, {len(turns.used)} repeats of {SECONDS:g} s; {theirs}; {turns.machine()}"
    )
    for policy in POLICIES:
        text = with_interval(turns.of(policy, lambda r: percent(r.sent)), "%", median)
        report.judge(f"{name}_{policy}", text, "measured", True, why)
    allowed = interrupt - polling
    for policy in POLICIES[1:]:
        more = turns.pairs(lambda r, p=policy: percent(r[p].sent) - percent(r["busy"].sent))
        low, high = interval(more, median)
        target, text = f"95% interval of the median up to {allowed:.2g} points", with_interval(more, " points", median)
        item, good = f"{name}_{policy}_above_polling", high <= allowed
        doubt = turns.doubt if not good else ""
        if not good and low <= allowed and high - low > WIDEST * allowed:
            doubt = f"the interval is {high - low:.2g} points wide"
        if doubt:
            report.skip(item, target, f"measured {text}, but {doubt}; {why}")
        else:
            report.judge(item, text, target, good, why)
    return turns


def crossing(rates: list[int], share: list[float], limit: float) -> str:
    """The first rate at which a growing share reaches `limit`, between two measured ones by their logarithms."""
    if share[0] >= limit:
        return f"at or below {rate_name(rates[0])}/s"
    for at in range(1, len(rates)):
        if share[at] >= limit:
            part = (limit - share[at - 1]) / (share[at] - share[at - 1])
            low, high = math.log(rates[at - 1]), math.log(rates[at])
            return f"about {rate_name(round(math.exp(low + part * (high - low)), -2))}/s"
    return f"above {rate_name(rates[-1])}/s"


def against_rate(report: Report, pair: FloodedPair, highest: int) -> dict[str, Turns]:
    """int-power-rate: CPU and modelled watts of the three policies against the rate."""
    rates = [rate for rate in RATES if rate <= highest]
    found: dict[int, Turns] = {}
    for rate in rates:
        say(f"guard: int-power-rate: {rate_name(rate)} SYNs a second")
        run_one = lambda repeat, rate=rate: Row(*pair.flooded(rate, RATE_SECONDS, seed=repeat + 1))  # noqa: E731
        found[rate] = turns = Turns(pair, POLICIES, RATE_REPEATS, rate, run_one)
        cells = []
        for policy in POLICIES:
            cpu = turns.of(policy, lambda r: r.measured.cpu)
            sleeps = median(turns.of(policy, lambda r: r.measured.per_second("sleeps")))
            lost = turns.total(policy, "lost")
            cells.append(
                f"{policy} cpu {spread(cpu, '%')} modelled {watts(median(cpu)):.1f} W sleeps {sleeps:.0f}/s lost {lost}"
            )
        report.judge(f"int_power_rate_{rate_name(rate)}", "; ".join(cells), "measured", True, turns.machine())
    cpu = {policy: [median(found[rate].of(policy, lambda r: r.measured.cpu)) for rate in rates] for policy in POLICIES}
    model = "watts are modelled by INT's table (86 W idle, 100 W with one busy thread), linear between, so that the "
    model += "ends are theirs by construction; no P-states, no C-states, no NIC"
    for policy in POLICIES[1:]:
        share = [100 * mine / polling for mine, polling in zip(cpu[policy], cpu["busy"], strict=True)]
        sleeps = [median(found[rate].of(policy, lambda r: r.measured.per_second("sleeps"))) for rate in rates]
        awake = next((rate for rate, count in zip(rates, sleeps, strict=True) if count < 10), None)
        text = f"as polling from {crossing(rates, share, MET_PERCENT)}, half of it at {crossing(rates, share, 50.0)}, "
        text += f"never asleep from {rate_name(awake)}/s" if awake else "asleep at times at every rate"
        report.judge(f"int_power_rate_crossing_{policy}", text, "measured", True, model)
    below = [rate for at, rate in enumerate(rates) if cpu["budget"][at] <= cpu["paper"][at]]
    low = min(1, len(rates) - 1)
    report.judge(
        "int_power_rate_ours_below_interrupt",
        f"at {', '.join(map(rate_name, below)) or 'no rate'}",
        "at 1k and 3k at least, where theirs equals idle",
        all(rate in below for rate in rates[: low + 1]),
        "; ".join(f"{policy} " + " ".join(f"{share:.3g}%" for share in cpu[policy]) for policy in POLICIES),
    )
    return {rate_name(rate): turns for rate, turns in found.items()}


def idle(report: Report, pair: Pair) -> Turns:
    """A guard that acts for its server and gets nothing."""
    turns = Turns(pair, POLICIES, 3, 5, lambda _: Row(measured=pair.idle(1.0)))
    for policy in POLICIES:
        cpu = turns.of(policy, lambda r: r.measured.cpu)
        text = f"cpu {spread(cpu, '%')} modelled {watts(median(cpu)):.1f} W"
        report.judge(f"int_power_idle_{policy}", text, "measured", True, turns.machine())
    cpu = median(turns.of("budget", lambda r: r.measured.cpu))
    if cpu >= 1 and turns.doubt:
        report.skip("int_power_idle_cpu_budget", "<1%", f"measured {cpu:.2g}%, but {turns.doubt}")
    else:
        report.judge("int_power_idle_cpu_budget", f"{cpu:.2g}%", "<1%", cpu < 1, turns.machine())
    return turns


def items(report: Report) -> None:
    out = ROOT / "out" / "accept-guard"
    found: dict[str, Turns] = {}
    with FloodedPair(out, "loss", "auth") as pair:
        rate = highest_sustained(pair)
        target, why = (
            ">=500k SYNs/s",
            "polling, in steps of a ladder; generator and sink share a core, and are the limit",
        )
        if rate < LADDER[0]:
            rate = LADDER[0]
            report.skip("int_highest_rate", target, f"{why}; {rate_name(rate)} is used, which loses some")
        else:
            report.judge("int_highest_rate", f"{rate_name(rate)} SYNs/s", target, True, why)
        found["idle"] = idle(report, pair)
        found["loss"] = loss(report, pair, rate, "int_loss", "full")
        found |= against_rate(report, pair, rate)
    with FloodedPair(out, "slow", "auth", slow_clock=SLOW_CLOCK) as pair:
        found["slow"] = loss(report, pair, rate, "int_loss_slow", "slow")
    kept = {name: [asdict(repeat) for repeat in turns.all] for name, turns in found.items()}
    (out / "power.json").write_text(json.dumps(kept, indent=1) + "\n")

"""What sleeping loses: from idle to the full rate at once, and at the highest rate that polling sustains, with the
device's clock as it is and slowed down.

Theirs: paper INT, 10G hardware at 14.88 Mpps against a SYN flood. Ours: l2fwd on vhost between two cores.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from _tools import ROOT, say
from figures import interval, median, rate_name, with_interval
from pair import POLICIES, RING, Pair, Sent
from report import Report
from trains import Trains
from turns import Row, Turns

LADDER = (1_000_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000, 5_000_000)
SUSTAINED_PERCENT = 0.05  # median loss of polling at a rate that it sustains
TRIES, TRY_SECONDS = 3, 0.3
TRAIN_REPEATS, TRAINS, TRAIN_SECONDS = 11, 2, 0.01
BURST = RING - 32  # the ring holds them all, whoever sleeps
BURST_REPEATS, BURSTS_A_SECOND = 2, 5
LOSS_REPEATS, LOSS_SECONDS = 17, 0.25
COMPARED = ("busy", "paper", "budget")
# Loss of polling and of their hybrid, percent; the slow clock is 1.2 GHz there, half of ours here.
THEIRS = {"full": (0.39, 0.51), "slow": (44.3, 46.0)}
SLOW_CLOCK = 0.5
FROM_IDLE_POINTS = SUSTAINED_PERCENT  # above polling: as little as polling may lose at a rate that it sustains
WIDEST = 2.0  # times what is allowed: the widest interval around no difference that is not partly above it
PAPER = "theirs: 10G hardware, SYN flood; ours: vhost, l2fwd"


def percent(sent: Sent) -> float:
    return 100 * sent.lost / sent.offered


def highest_sustained(pair: Pair) -> int:
    """The highest rate of the ladder that the generator reaches and at which polling loses next to nothing."""
    pair.use("busy")
    best = 0
    for rate in LADDER:
        tries = [pair.unwatched(rate, TRY_SECONDS, seed) for seed in range(1, TRIES + 1)]
        if median([percent(sent) for sent in tries]) > SUSTAINED_PERCENT or median([sent.unsent for sent in tries]) > 0:
            break
        best = rate
    return best


def judge(report: Report, turns: Turns, name: str, policy: str, allowed: float, why: str) -> None:
    """Met when the whole interval of what the policy loses above polling is allowed: noise makes that harder. A wide
    interval decides nothing, unless all of it lies above. By the median of many short repeats: what the host takes from
    a core in one of them loses more than any policy does, and is in the mean."""
    more = turns.pairs(lambda r: percent(r[policy].sent) - percent(r["busy"].sent))
    low, high = interval(more, median)
    lost, offered = turns.total(policy, "lost"), turns.total(policy, "offered")
    text = f"{lost} of {offered} lost, median {with_interval(more, ' points', median)} above busy"
    why = f"{why}; mean {with_interval(more, ' points')}"
    target = (
        f"95% interval of the median up to {allowed:.2g} points above busy, and at most {WIDEST * allowed:.2g} wide"
    )
    good = high <= allowed
    doubt = "" if good else turns.doubt
    if low <= allowed and high - low > WIDEST * allowed:
        doubt = f"the interval is {high - low:.2g} points wide" + (f" and {turns.doubt}" if turns.doubt else "")
    if doubt:
        report.skip(f"{name}_{policy}", target, f"measured {text}, but {doubt}; {why}")
    else:
        report.judge(f"{name}_{policy}", text, target, good, f"{why}; {turns.machine()}")


def from_idle(report: Report, pair: Pair, rate: int) -> Turns:
    say(f"power: from idle to {rate_name(rate)} packets a second at once, {TRAIN_REPEATS} repeats")
    trains = Trains(rate=rate, packets=int(rate * TRAIN_SECONDS), trains=TRAINS)
    capture = trains.write(pair.folder / "trains.pcap")
    turns = Turns(pair, POLICIES, TRAIN_REPEATS, 1, lambda _: Row(pair.replay(capture, trains.total)))
    why = f"{TRAINS} trains of {trains.packets} packets after 200 ms of nothing"
    lost = f"{turns.total('busy', 'lost')} of {turns.total('busy', 'offered')} lost"
    report.judge("power_from_idle_busy", lost, "measured", True, f"{why}; {turns.machine()}")
    for policy in POLICIES[1:]:
        judge(report, turns, "power_from_idle", policy, FROM_IDLE_POINTS, why)
    return turns


def ring_from_idle(report: Report, pair: Pair) -> Turns:
    """As many packets as the ring holds, as fast as the generator can."""
    arrivals = {"kind": "bursts", "packets": BURST}
    rate = BURST * BURSTS_A_SECOND
    turns = Turns(pair, POLICIES, BURST_REPEATS, 2, lambda _: Row(pair.unwatched(rate, 1.0, arrivals=arrivals)))
    why = f"bursts of {BURST} packets at the generator's full speed each 200 ms, a ring of {RING}"
    for policy in POLICIES:
        refused, offered = turns.total(policy, "refused"), turns.total(policy, "offered")
        report.judge(f"power_ring_from_idle_{policy}", f"{refused} of {offered} lost", "0", refused == 0, why)
    return turns


def at_highest(report: Report, pair: Pair, rate: int, clock: str) -> Turns:
    say(f"power: loss at {rate_name(rate)} packets a second, {clock} clock, {LOSS_REPEATS} repeats")
    turns = Turns(pair, COMPARED, LOSS_REPEATS, 3, lambda _: Row(pair.unwatched(rate, LOSS_SECONDS)))
    polling, hybrid = THEIRS[clock]
    name = f"power_loss_{clock}_clock"
    losses = {policy: with_interval(turns.of(policy, lambda r: percent(r.sent)), "%") for policy in COMPARED}
    why = f"at {rate_name(rate)} packets/s, {len(turns.used)} repeats of {LOSS_SECONDS:g} s"
    theirs = f"theirs {polling}% polling, {hybrid}% hybrid ({PAPER})"
    report.judge(f"{name}_busy", losses["busy"], "measured", True, f"{why}; {theirs}; {turns.machine()}")
    for policy in COMPARED[1:]:
        judge(report, turns, name, policy, hybrid - polling, f"loss {losses[policy]}; {theirs}")
    return turns


def items(report: Report) -> None:
    out = ROOT / "out" / "accept-power"
    found: dict[str, Turns] = {}
    with Pair(out, "loss") as pair:
        rate = highest_sustained(pair)
        why = "polling, in steps of a ladder; generator and sink share a core"
        if rate < LADDER[0]:
            rate = LADDER[0]
            report.skip(
                "power_highest_rate", ">=1M packets/s", f"{why}; {rate_name(rate)} is used, which loses packets"
            )
        else:
            report.judge("power_highest_rate", f"{rate_name(rate)} packets/s", ">=1M packets/s", True, why)
        found["from_idle"] = from_idle(report, pair, rate)
        found["ring_from_idle"] = ring_from_idle(report, pair)
        found["full"] = at_highest(report, pair, rate, "full")
    with Pair(out, "slow", slow_clock=SLOW_CLOCK) as pair:
        found["slow"] = at_highest(report, pair, rate, "slow")
    kept = {name: [asdict(repeat) for repeat in turns.all] for name, turns in found.items()}
    (out / "loss.json").write_text(json.dumps(kept, indent=1) + "\n")

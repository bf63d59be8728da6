"""What sleeping loses: from idle to the full rate at once, and at the highest rate that polling sustains, with the
device's clock as it is and slowed down. All policies take turns; a policy is compared with `busy` of the same repeat.

Theirs: paper INT, 10G hardware at 14.88 Mpps against a SYN flood. Ours: l2fwd on vhost between two cores.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict

from _tools import ROOT, say
from figures import interval, mean_with_interval, median, rate_name
from pair import POLICIES, RING, Pair, Sent
from report import Report
from trains import Trains

LADDER = (1_000_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000, 5_000_000)
SUSTAINED_LOSS = 0.0005  # median share that polling may lose at a rate that it sustains
TRIES, TRY_SECONDS = 3, 0.3
TRAIN_REPEATS, TRAINS, TRAIN_SECONDS = 5, 4, 0.01
LOSS_REPEATS, LOSS_SECONDS = 8, 0.8
COMPARED = ("busy", "paper", "budget")
# Loss of polling and of their hybrid, percent; the slow clock is 1.2 GHz there, half of ours here.
THEIRS = {"full": (0.39, 0.51), "slow": (44.3, 46.0)}
SLOW_CLOCK = 0.5
PAPER = "theirs: 10G hardware, SYN flood; ours: vhost, l2fwd"

Found = dict[str, list[Sent]]


def percent(sent: Sent) -> float:
    return 100 * sent.lost / sent.offered


def highest_sustained(pair: Pair) -> int:
    """The highest rate of the ladder at which polling loses next to nothing."""
    pair.use("busy")
    best = 0
    for rate in LADDER:
        losses = [percent(pair.unwatched(rate, TRY_SECONDS, seed)) for seed in range(1, TRIES + 1)]
        if median(losses) > 100 * SUSTAINED_LOSS:
            break
        best = rate
    return best


def in_turns(pair: Pair, policies: tuple[str, ...], repeats: int, run: Callable[[], Sent]) -> Found:
    order = random.Random(repeats)
    found: Found = {policy: [] for policy in policies}
    for _ in range(repeats):
        for policy in order.sample(policies, len(policies)):
            pair.use(policy)
            found[policy].append(run())
    return found


def above_busy(found: Found, policy: str) -> list[float]:
    return [percent(mine) - percent(polls) for mine, polls in zip(found[policy], found["busy"], strict=True)]


def judge(report: Report, name: str, found: Found, policy: str, allowed: float, target: str, reason: str) -> None:
    """Short when the interval of what the policy loses above polling lies above what is allowed."""
    more = above_busy(found, policy)
    lost, offered = sum(sent.lost for sent in found[policy]), sum(sent.offered for sent in found[policy])
    text = f"{lost} of {offered} lost, {mean_with_interval(more, ' points')} above busy"
    report.judge(f"{name}_{policy}", text, target, interval(more)[0] <= allowed, reason)


def from_idle(report: Report, pair: Pair, rate: int) -> Found:
    say(f"power: from idle to {rate_name(rate)} packets a second at once, {TRAIN_REPEATS} repeats")
    trains = Trains(rate=rate, packets=int(rate * TRAIN_SECONDS), trains=TRAINS)
    capture = trains.write(pair.folder / "trains.pcap")
    found = in_turns(pair, POLICIES, TRAIN_REPEATS, lambda: pair.replay(capture, trains.total))
    why = f"{TRAINS} trains of {trains.packets} packets after 200 ms of nothing, {TRAIN_REPEATS} repeats"
    for policy in POLICIES:
        judge(report, "power_from_idle", found, policy, 0, "no more than busy (95% interval)", why)
    # As many packets as the ring holds, as fast as the generator can: whoever sleeps finds them all there.
    whole_ring = {"kind": "bursts", "packets": RING - 32}
    found_ring = in_turns(pair, POLICIES, 2, lambda: pair.unwatched((RING - 32) * 5, 1.0, arrivals=whole_ring))
    for policy in POLICIES:
        refused = sum(sent.refused for sent in found_ring[policy])
        why = f"bursts of {RING - 32} packets at the generator's full speed each 200 ms, a ring of {RING}"
        report.judge(f"power_ring_from_idle_{policy}", f"{refused} lost", "0", refused == 0, why)
    return found


def at_highest(report: Report, pair: Pair, rate: int, clock: str) -> Found:
    say(f"power: loss at {rate_name(rate)} packets a second, {clock} clock, {LOSS_REPEATS} repeats")
    found = in_turns(pair, COMPARED, LOSS_REPEATS, lambda: pair.unwatched(rate, LOSS_SECONDS))
    polling, hybrid = THEIRS[clock]
    name = f"power_loss_{clock}_clock"
    losses = [percent(sent) for sent in found["busy"]]
    why = f"at {rate_name(rate)} packets/s, {LOSS_REPEATS} repeats of {LOSS_SECONDS:g} s; theirs {polling}% ({PAPER})"
    report.judge(f"{name}_busy", f"{mean_with_interval(losses, '%')}", "measured", True, why)
    for policy in COMPARED[1:]:
        mine = mean_with_interval([percent(sent) for sent in found[policy]], "%")
        why = f"loss {mine}; theirs {hybrid}% against {polling}% polling ({PAPER})"
        allowed = hybrid - polling
        judge(report, name, found, policy, allowed, f"<={allowed:.2g} points above busy, as theirs", why)
    return found


def items(report: Report) -> None:
    out = ROOT / "out" / "accept-power"
    everything: dict[str, Found] = {}
    with Pair(out, "loss") as pair:
        rate = highest_sustained(pair)
        enough = rate >= LADDER[0]
        why = "in steps of a ladder; generator and sink share a core"
        report.judge("power_highest_rate", f"{rate_name(rate)} packets/s", ">=1M", enough, why)
        rate = max(rate, LADDER[0])
        everything["from_idle"] = from_idle(report, pair, rate)
        everything["full"] = at_highest(report, pair, rate, "full")
    with Pair(out, "slow", slow_clock=SLOW_CLOCK) as pair:
        everything["slow"] = at_highest(report, pair, rate, "slow")
    rows = {
        name: {policy: [asdict(sent) for sent in all_of_them] for policy, all_of_them in found.items()}
        for name, found in everything.items()
    }
    (out / "loss.json").write_text(json.dumps(rows, indent=1) + "\n")

"""What each policy costs and adds: thread CPU, sleeps, wake-ups, latency and loss, idle and at four rates."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from _tools import ROOT, say
from figures import median, rate_name, spread
from pair import POLICIES, Pair
from report import Report
from turns import Repeat, Row, Turns

RATES = (1_000, 10_000, 100_000, 1_000_000)
JUDGED = (10_000, 100_000)  # budget against paper
REPEATS, SECONDS, IDLE_SECONDS = 5, 0.6, 1.0
FEW_REPEATS, JUDGED_REPEATS = 3, 13  # of all policies where some are judged; of these
COMPARED = ("busy", "paper", "budget")
ADDED_P99_US = 100
REACHED = 0.95  # of the rate, else it is said
COUNTED = ("sleeps", "wakeups", "pauses")


def cpu(row: Row) -> float:
    return row.measured.cpu


def judge(
    report: Report, turns: Turns, name: str, values: list[float], target: str, met: Callable[[float], bool], unit: str
) -> None:
    """By the median. Short on a machine that was not quiet is no verdict."""
    good, text = met(median(values)), spread(values, unit)
    if not good and turns.doubt:
        report.skip(name, target, f"measured {text}, but {turns.doubt}")
    else:
        report.judge(name, text, target, good, turns.doubt or f"median of {len(values)} repeats")


def rows(report: Report, turns: Turns, name: str) -> None:
    """One line a policy: all its figures."""
    for policy in POLICIES:
        cells = [f"cpu {spread(turns.of(policy, cpu), '%')}"]
        for counter in COUNTED:
            per_second = median(turns.of(policy, lambda r, c=counter: r.measured.per_second(c)))
            cells.append(f"{counter} {per_second:.0f}/s")
        odd = 0
        if turns.used[0].rows[policy].sent:
            odd = turns.total(policy, "odd")
            for part in ("p50", "p99", "p99_9"):
                added = turns.pairs(lambda r, y=policy, p=part: getattr(r[y].sent, p) - r["busy"].sent.p50)
                cells.append(f"added {part} {median(added):.1f} us")
            cells.append(f"lost {turns.total(policy, 'lost')} of {turns.total(policy, 'offered')}")
        wrong = f"{odd} packets came twice or out of order; " if odd else ""
        report.judge(f"{name}_{policy}", ", ".join(cells), "measured", odd == 0, wrong + turns.machine())


def loss_above_busy(report: Report, turns: Turns, name: str) -> None:
    """What budget lost and busy in the same repeat did not, in all repeats: one quiet repeat that lost is enough."""

    def lost(repeats: list[Repeat]) -> int:
        return sum(max(0, one.rows["budget"].sent.lost - one.rows["busy"].sent.lost) for one in repeats)

    quiet = [repeat for repeat in turns.all if repeat.quiet]
    sent = sum(repeat.rows["budget"].sent.offered for repeat in turns.all)
    text, in_quiet = f"{lost(turns.all)} of {sent}", lost(quiet)
    if in_quiet == 0 and lost(turns.all) > 0:
        report.skip(name, "0", f"measured {text}, but the machine was not quiet in any repeat that lost")
    else:
        why = f"total of {len(turns.all)} repeats, {in_quiet} in the {len(quiet)} quiet ones"
        report.judge(name, text, "0", in_quiet == 0, why)


def p99_above_busy(report: Report, turns: Turns, name: str) -> None:
    """By the repeats that were quiet for these two. Where polling itself is late, the machine was measured."""
    repeats, quiet = turns.quiet_for("busy", "budget")
    tail = [repeat.rows["budget"].sent.p99 - repeat.rows["busy"].sent.p99 for repeat in repeats]
    busy = median([repeat.rows["busy"].sent.p99 for repeat in repeats])
    text, target = spread(tail, "us"), f"<={ADDED_P99_US}us"
    why = f"{len(repeats)} of {len(turns.all)} repeats, p99 of busy {busy:.0f} us"
    why += "" if quiet else ": the machine was not quiet"
    good = median(tail) <= ADDED_P99_US
    if busy > ADDED_P99_US or not (good or quiet):
        report.skip(name, target, f"measured {text}, but {why}")
    else:
        report.judge(name, text, target, good, why)


def idle(report: Report, pair: Pair) -> Turns:
    say(f"power: idle, {REPEATS} repeats of {len(POLICIES)} policies")
    turns = Turns(pair, POLICIES, REPEATS, 0, lambda _: Row(measured=pair.idle(IDLE_SECONDS)))
    rows(report, turns, "power_idle")
    judge(report, turns, "power_idle_cpu_budget", turns.of("budget", cpu), "<1%", lambda x: x < 1, "%")
    judge(report, turns, "power_idle_cpu_busy", turns.of("busy", cpu), ">=95%", lambda x: x >= 95, "%")
    whole = spread(turns.of("budget", lambda row: row.measured.process_cpu), "%")
    report.judge("power_idle_cpu_budget_whole_process", whole, "measured", True, "all threads")
    return turns


def loaded(report: Report, pair: Pair, rate: int) -> dict[str, Turns]:
    name = rate_name(rate)
    repeats = FEW_REPEATS if rate in JUDGED else REPEATS
    say(f"power: {name} packets a second, {repeats} repeats of {len(POLICIES)} policies")

    def run(repeat: int) -> Row:
        """The same packets at the same times for each policy of a repeat."""
        return Row(*pair.traffic(rate, SECONDS, seed=repeat + 1))

    turns = Turns(pair, POLICIES, repeats, rate, run)
    rows(report, turns, f"power_{name}")
    offered, unsent = turns.total("busy", "offered"), turns.total("busy", "unsent")
    if offered < REACHED * (offered + unsent):
        reached = offered / (offered + unsent)
        report.skip(f"power_{name}_reached", f"{rate}_packets/s", f"only {reached:.0%} of it left the generator")
    if rate not in JUDGED:
        return {name: turns}
    say(f"power: {name} packets a second, {JUDGED_REPEATS} repeats of {len(COMPARED)} policies")
    judged = Turns(pair, COMPARED, JUDGED_REPEATS, 2 * rate, run)
    part = judged.pairs(lambda r: cpu(r["budget"]) / cpu(r["paper"]))
    judge(report, judged, f"power_{name}_cpu_of_paper", part, "<=0.5", lambda x: x <= 0.5, "")
    p99_above_busy(report, judged, f"power_{name}_p99_above_busy")
    loss_above_busy(report, judged, f"power_{name}_loss_above_busy")
    return {name: turns, f"{name}_judged": judged}


def items(report: Report) -> None:
    out = ROOT / "out" / "accept-power"
    with Pair(out, "cost") as pair:
        found = {"idle": idle(report, pair)}
        for rate in RATES:
            found |= loaded(report, pair, rate)
    kept = {name: [asdict(repeat) for repeat in turns.all] for name, turns in found.items()}
    (out / "cost.json").write_text(json.dumps(kept, indent=1) + "\n")

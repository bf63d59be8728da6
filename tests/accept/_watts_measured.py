"""The replay beside what is measured: CPU of a worker on a real pair of processes, and the active share that the replay
predicts for the same load with the costs that `splitplane power calibrate` found here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from _tools import ROOT, say
from figures import median, rate_name, spread
from pair import Pair
from paths import splitplane
from processes import Failure, run
from report import Report
from steady import Steady, arrivals, steady
from turns import Row, Turns

FOLDER = ROOT / "out" / "accept-watts"
RATES = (1_000, 10_000, 100_000)
POLICIES = ("paper", "budget")
REPEATS, SECONDS = 7, 0.8
REPLAY_SECONDS = 5.0
LOOP_RATE = 10_000  # where a packet's cost is taken
LOOK_SECONDS, CALIBRATE_SECONDS = 1.0, 12.0  # of the loop; in which calibrate has ended, on a busy machine too
LOOP_COSTS = ("packet", "poll", "round")
WITHIN_PERCENT = 25.0


class CalibratedPair(Pair):
    """Its own loop gives the costs of a packet and of an empty round."""

    def loop_costs(self) -> dict[str, int]:
        """With a worker that polls: first while nothing comes, then with traffic."""
        self.use("busy")
        sink, _ = self._start("sink", None)
        try:
            self.measure(LOOK_SECONDS)  # it has started
            found = calibrated(self.config)
        finally:
            self.processes.stop(sink)

        def look(_: Pair) -> None:
            found.update(calibrated(self.config))

        self.traffic(LOOP_RATE, 0.2, during=look, after_s=CALIBRATE_SECONDS)
        return {name: found[name] for name in LOOP_COSTS if name in found}


def calibrated(*of: object) -> dict[str, int]:
    """Costs in ns by their names, those that were measured."""
    look = ("--over", str(LOOK_SECONDS)) if of else ()
    said = json.loads(run([splitplane(), "power", "calibrate", "--json", *look, *of]).stdout)
    return {name: each["ns"] for name, each in said.items() if each["ns"] is not None}


def machine(costs: dict[str, int]) -> list[str]:
    """Without a driver of idle states there is no C6 that the replay could know of."""
    words = [word for name, ns in costs.items() for word in ("--cost", f"{name}={ns}")]
    return words if "c6_after" in costs else [*words, "--no-c6"]


def difference(replayed: float, measured: float) -> float:
    """Percent of what was measured."""
    return 100 * (replayed / measured - 1) if measured > 0 else float("inf")


def judge(report: Report, turns: Turns, rate: int, replayed: Iterable[Steady]) -> None:
    for one in replayed:
        cpu = turns.of(one.policy, lambda r: r.measured.cpu)
        sleeps = median(turns.of(one.policy, lambda r: r.measured.per_second("sleeps")))
        pauses = median(turns.of(one.policy, lambda r: r.measured.per_second("pauses")))
        off = difference(100 * one.active, median(cpu))
        text = f"cpu {spread(cpu, '%')}, replay {100 * one.active:.3g}%: {off:+.0f}%"
        why = f"sleeps {sleeps:.0f}/s measured, {one.sleeps:.0f}/s replayed; pauses {pauses:.0f}/s measured; "
        why += f"replayed {states(one)}; {turns.machine()}"
        name, target = f"watts_replay_{rate_name(rate)}_{one.policy}", f"within {WITHIN_PERCENT:g}%"
        met = abs(off) <= WITHIN_PERCENT
        if not met and turns.doubt:
            report.skip(name, target, f"measured {text}, but {turns.doubt}; {why}")
        else:
            report.judge(name, text, target, met, why)


def states(run_: Steady) -> str:
    """Where the time goes, without what is below a thousandth."""
    return " ".join(f"{state} {100 * share:.2g}%" for state, share in run_.residency.items() if share >= 1e-3)


def items(report: Report) -> None:
    say("watts: costs of this machine")
    costs = calibrated()
    found: dict[str, Turns] = {}
    replayed: dict[int, list[Steady]] = {}
    with CalibratedPair(FOLDER, "measured") as pair:
        try:
            costs |= pair.loop_costs()
        except Failure as failed:
            report.judge("watts_replay_costs", "none", "a packet and an empty round", False, str(failed))
            return
        missing = [name for name in LOOP_COSTS if name not in costs]
        text = " ".join(f"{name}={ns}" for name, ns in sorted(costs.items()))
        why = (
            f"ns, measured; all else of the replay is assumed{'; not found: ' + ', '.join(missing) if missing else ''}"
        )
        report.judge("watts_replay_costs", text, "a packet and an empty round", not missing, why)
        for rate in RATES:
            say(f"watts: replay beside {rate_name(rate)} packets a second, {REPEATS} repeats")
            replayed[rate] = steady([*arrivals(rate), *machine(costs)], POLICIES, REPLAY_SECONDS)
            turns = Turns(pair, POLICIES, REPEATS, rate, lambda n, r=rate: Row(*pair.traffic(r, SECONDS, seed=n + 1)))
            judge(report, turns, rate, replayed[rate])
            found[rate_name(rate)] = turns
    kept = {
        "costs_ns": costs,
        "replayed": {rate_name(rate): [asdict(one) for one in runs] for rate, runs in replayed.items()},
        "measured": {name: [asdict(repeat) for repeat in turns.all] for name, turns in found.items()},
    }
    (FOLDER / "measured.json").write_text(json.dumps(kept, indent=1) + "\n")

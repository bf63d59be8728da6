"""int-power: the table of watts by threads of paper INT, its fit with residuals, and what the fit says of polling,
their hybrid and ours. What would be circular is said."""

from __future__ import annotations

import math
import re

from _tools import ROOT, say
from core_watts import Core, Profile
from figures import rate_name
from report import Report
from steady import Steady, arrivals, steady

PROFILE = ROOT / "config" / "power" / "ssp2022.yaml"
RATES = (0.001, 1_000, 10_000, 100_000, 1_000_000, 3_000_000, 7_000_000)  # no packet comes in time at the first
SECONDS = 3.0
POLICIES = ("busy", "paper", "budget")  # polling, their hybrid's rule, ours
SAME = 0.011  # watts: the file gives its errors with two digits
# Their VNF: watts idle and at full load.
THEIRS = {"polling": (100, 101), "interrupt": (86, 100)}
NOISE_WATTS = 0.01
BOUND_US = 80.0  # of budget, by default


def table(citation: str) -> dict[int, float]:
    """Watts by threads, from "0, 1 and 12 threads at 86, 100 and 124 W"."""
    found = re.search(r"([\d, and]+) threads at ([\d, and]+) W", citation)
    if not found:
        return {}
    threads, watts = ([int(word) for word in re.findall(r"\d+", part)] for part in found.groups())
    return dict(zip(threads, map(float, watts), strict=True))


def fitted(profile: Profile, threads: int) -> float:
    cores, values = profile.text["range"]["cores"], profile.values
    first = values["first_core_watts"] if threads else 0.0
    second = values["second_thread_watts"] * max(threads - cores, 0)
    return values["base_watts"] + first + values["active_watts"] * min(threads, cores) + second


def rmse(errors: list[float]) -> float:
    return math.sqrt(sum(error * error for error in errors) / len(errors))


def residuals(report: Report, profile: Profile) -> None:
    points = table(profile.text["citation"])
    errors = {threads: fitted(profile, threads) - watts for threads, watts in points.items()}
    for threads, watts in points.items():
        text = f"{fitted(profile, threads):.2f} W, theirs {watts:g} W: {errors[threads]:+.2f} W"
        why = "fitted; exactly by construction" if threads in (0, 12) else "fitted"
        report.judge(f"int_power_fit_{threads}_threads", text, "a row", True, why)
    said, found = profile.text["fit"], rmse(list(errors.values()))
    most = max(map(abs, errors.values()), default=math.nan)
    met = abs(found - said["rmse_watts"]) <= SAME and abs(most - said["max_watts"]) <= SAME
    met = met and len(points) == said["points"]
    target = f"as the profile says: {said['rmse_watts']} and {said['max_watts']} W of {said['points']} points"
    why = f"{said['parameters']} parameters for {said['points']} points; {profile.text['note']}"
    report.judge("int_power_fit_error", f"RMSE {found:.2f} W, at most {most:.2f} W", target, met, why)


def circular(report: Report) -> None:
    said = "100 against 86 W of idle polling and idle interrupts are one thread against none of the same table. So a "
    said += "model with this profile gives them back by construction, and that proves nothing"
    theirs = "; ".join(f"{mode} {idle} W idle, {full} W full" for mode, (idle, full) in THEIRS.items())
    report.judge("int_power_circular", theirs, "a row: said", True, said)


def watts_of(profile: Profile, run: Steady) -> tuple[float, float, float]:
    """With the least and most of the band, and the fit's largest error in addition."""
    core = Core.of(0, run, 0.0, 1.0)
    each = [profile.watts([core]), *(variant.watts([core]) for _, variant in profile.variants())]
    error = profile.text["fit"]["max_watts"]
    return each[0], min(each) - error, max(each) + error


def name_of(rate: float) -> str:
    return rate_name(round(rate)) if rate >= 1 else "idle"


def against_rate(report: Report, profile: Profile) -> None:
    say(f"watts: int-power against rate, {len(RATES)} rates")
    found: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    above: dict[bool, list[str]] = {True: [], False: []}  # by whether paper keeps the bound
    for rate in RATES:
        cells = []
        runs = {run.policy: run for run in steady(arrivals(rate), POLICIES, SECONDS)}
        for policy, run in runs.items():
            watts, low, high = watts_of(profile, run)
            found[policy].append(watts)
            cells.append(f"{policy} {watts:.1f} W ({low:.1f} to {high:.1f}) p99 {run.p99:.1f} us lost {run.lost}")
        if found["budget"][-1] > found["paper"][-1] + NOISE_WATTS:
            above[0 < runs["paper"].p99 <= BOUND_US].append(name_of(rate))
        why = "modelled: a simulated core of 100 ns a packet, and the fit. It has no P-states, and its C1 is assumed"
        report.judge(f"int_power_rate_{name_of(rate)}", "; ".join(cells), "a row", True, why)
    text = f"above paper's at {', '.join(above[True])}" if above[True] else "at no such rate above paper's"
    idle = profile.watts([])
    rows = "; ".join(f"{policy} {' '.join(f'{watts - idle:.1f}' for watts in found[policy])}" for policy in POLICIES)
    why = f"modelled; W above an idle machine at {' '.join(map(name_of, RATES))}: {rows}"
    if above[False]:
        why += f"; at {', '.join(above[False])} paper takes less and does not keep {BOUND_US:g} us, or nothing comes"
    target = f"modelled watts at most those of paper where paper keeps {BOUND_US:g} us"
    report.judge("int_power_rate_ours", text, target, not above[True], why)
    report.skip(
        "int_loss_measured", "loss of polling and hybrid at the highest rate",
        "PART=power (int-loss) and PART=guard (int-loss, int-power-rate) measure it on two processes",
    )  # fmt: skip


def items(report: Report) -> None:
    profile = Profile.load(PROFILE)
    residuals(report, profile)
    circular(report)
    against_rate(report, profile)

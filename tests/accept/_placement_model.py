"""The on-card cost model beside the papers' points: the fit, the predictions, and that the fit saw no hold-out."""

from __future__ import annotations

from dataclasses import replace

from _tools import say
from report import Report

from lab import papers
from lab.model.fit import FitPoints, fit_costs
from lab.model.predict import Model, Row, make_model, rows

# Percent. Set after the first run, to notice a change of the model: they are no claim about how good it is.
FITTED_WITHIN, LEFT_OUT_WITHIN, HOLD_OUT_WITHIN = 10, 15, 35
PLACE = ("cores", "offload", "baas_cores")  # of a point, in the item's name
SHARES = tuple(percent / 100 for percent in range(0, 101))
CORES = range(1, 9)


def items(report: Report) -> None:
    say("placement: the on-card cost model")
    points = papers.load()
    model = make_model(points)
    parameters(report, model, points)
    for row in rows(model, points):
        if row.point.figure != "p4-tab1":
            judge_row(report, row)
    memory(report, model)
    between_the_ends(report, model)


def parameters(report: Report, model: Model, points: list[papers.Point]) -> None:
    costs = vars(model.card.costs)
    words = ", ".join(f"{name} {value:.0f}" for name, value in costs.items())
    report.judge(
        "model_parameters", f"{len(costs)} ({words} cycles)", "<=3, fitted to Fig. 7", len(costs) <= 3, "modelled"
    )
    # The same fit with every other point three times as high.
    other = [point if point.figure == "p4-fig7" else replace(point, value=3 * point.value) for point in points]
    again = fit_costs(model.card.machine, FitPoints.of(other).throughput)
    report.judge(
        "model_fit_sees_no_hold_out",
        "the same parameters" if again == model.card.costs else f"other parameters: {again}",
        "the same parameters when all other points are three times as high",
        again == model.card.costs,
        "the fit is given Fig. 7 and Table I only",
    )


def judge_row(report: Report, row: Row) -> None:
    limits = {"fitted": FITTED_WITHIN, "leave-one-out": LEFT_OUT_WITHIN, "hold-out": HOLD_OUT_WITHIN}
    place = "_".join([row.point.x, *(f"{name}_{value}" for name, value in row.point.at.items() if name in PLACE)])
    name = f"model_{row.point.figure}_{place}" + ("_left_out" if row.kind == "leave-one-out" else "")
    why = f"modelled; {row.kind}"
    if row.kind == "anchor":
        report.judge(name, f"{row.predicted:.2f} {row.point.unit}", "a row: it sets the host's scale", True, why)
    elif row.error_percent is None:
        met = bool(row.holds)
        measured = f"{row.predicted:.2f} {row.point.unit}"
        report.judge(name, measured, f"most of the paper's {row.point.value:g}", met, why)
    else:
        limit = limits[row.kind]
        measured = f"{row.predicted:.2f} {row.point.unit}, the paper {row.point.value:g}: {row.error_percent:+.1f} %"
        met = abs(row.error_percent) <= limit
        report.judge(name, measured, f"within {limit} %", met, why if met else f"{why}; the model is wrong here")


def memory(report: Report, model: Model) -> None:
    tables = model.memory
    report.judge(
        "model_p4_tab1",
        f"an entry: {tables.entry_octets('emu_cache'):.0f} octets of the cache, {tables.entry_octets('emu'):.0f} of "
        f"the memory; {tables.cache_entries()} entries in the cache, {tables.entries()} in all",
        "a row: at least the paper's own 64 K table fits",
        tables.cache_tables() >= 1,
        f"modelled; {tables.cache_tables()} tables of 64 K in the cache",
    )


def between_the_ends(report: Report, model: Model) -> None:
    outside = []
    for cores in CORES:
        low, high = sorted((model.split(0, cores), model.split(1, cores)))
        for share in SHARES:
            rate = model.split(share, cores)
            if not low - 1e-9 <= rate <= high + 1e-9 or rate > model.resource_bound(share, cores) + 1e-9:
                outside.append(f"{share:.0%} with {cores} cores")
    report.judge(
        "model_between_the_ends",
        f"{len(SHARES) * len(CORES) - len(outside)} of {len(SHARES) * len(CORES)} splits",
        "all between card only and host only, none above what engines and cores allow",
        not outside,
        f"modelled; outside: {', '.join(outside[:3])}" if outside else "modelled",
    )

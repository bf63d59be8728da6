"""The on-card cost model: what it is fitted to, what it may not see, and what any rate of it must keep."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lab import papers
from lab.model.card import FEATURES, THROUGH_HOST, Card, Costs, Machine, Work
from lab.model.fit import FitPoints, fit_costs, fit_line, leave_one_out, loss
from lab.model.host import Host, OwnCosts, own_costs
from lab.model.memory import TABLE_ENTRIES
from lab.model.predict import Model, make_model, predict, rows

ROOT = Path(__file__).resolve().parents[2]
POINTS = papers.load()
SHARES = [percent / 100 for percent in range(101)]


@pytest.fixture(scope="module")
def model() -> Model:
    return make_model(POINTS, own_costs(ROOT / "no-bench.json"))


def test_a_fit_finds_the_costs_that_made_its_points() -> None:
    costs = Costs(1500, 60, 900)
    made = {name: Card(Machine(), costs).mpps(work) for name, work in FEATURES.items()}
    found = fit_costs(Machine(), made)
    assert vars(found) == pytest.approx(vars(costs), rel=1e-3)


@pytest.mark.parametrize("start", [(300, 10, 3000), (3000, 300, 100), (500, 500, 500)])
def test_the_fit_does_not_depend_on_its_start(model: Model, start: tuple[float, float, float]) -> None:
    throughput = FitPoints.of(POINTS).throughput
    assert vars(fit_costs(Machine(), throughput, start)) == pytest.approx(vars(model.card.costs), rel=1e-3)


def test_no_change_of_one_cost_by_a_percent_is_a_better_fit(model: Model) -> None:
    throughput, best = FitPoints.of(POINTS).throughput, model.card.costs
    for name in vars(best):
        for factor in (0.99, 1.01):
            other = replace(best, **{name: factor * getattr(best, name)})
            assert loss(Machine(), other, throughput) > loss(Machine(), best, throughput)


@pytest.mark.parametrize("figure", sorted({p.figure for p in POINTS if p.use != "fit"}))
def test_the_value_of_a_hold_out_changes_no_parameter(model: Model, figure: str) -> None:
    other = [replace(p, value=3 * p.value) if p.figure == figure else p for p in POINTS]
    changed = make_model(other, model.host.own)
    assert changed.card == model.card and changed.memory == model.memory


def test_a_point_of_fig_7_does_change_the_parameters(model: Model) -> None:
    other = [replace(p, value=10) if p.figure == "p4-fig7" and p.x == "mat" else p for p in POINTS]
    assert make_model(other, model.host.own).card != model.card


@pytest.mark.parametrize("figure", ["pwr-fig2", "p4-fig9", "p4-fig11"])
def test_a_hold_out_that_is_marked_for_the_fit_is_refused(figure: str) -> None:
    other = [replace(p, use="fit") if p.figure == figure else p for p in POINTS]
    with pytest.raises(ValueError, match=f"{figure} .* allowed: p4-fig7, p4-tab1"):
        make_model(other)


def test_the_95_mpps_and_40_percent_are_hold_outs() -> None:
    assert [(p.value, p.use) for p in papers.of(POINTS, "pwr-fig2")] == [(95, "hold-out"), (40, "hold-out")]


def test_a_left_out_point_is_not_seen_by_its_prediction() -> None:
    throughput = FitPoints.of(POINTS).throughput
    for name in throughput:
        other = throughput | {name: throughput[name] / 2}
        assert leave_one_out(Machine(), other)[name] == leave_one_out(Machine(), throughput)[name]


def test_leave_one_out_stays_within_15_percent() -> None:
    throughput = FitPoints.of(POINTS).throughput
    for name, predicted in leave_one_out(Machine(), throughput).items():
        assert predicted == pytest.approx(throughput[name], rel=0.15), name


@pytest.mark.parametrize("cores", range(1, 9))
def test_every_split_is_between_card_only_and_host_only(model: Model, cores: int) -> None:
    low, high = sorted((model.card.mpps(FEATURES["mat"]), model.through_host("mat", cores)))
    rates = [model.split(share, cores) for share in SHARES]
    assert rates[0] == pytest.approx(model.card.mpps(FEATURES["mat"]))
    assert rates[-1] == pytest.approx(model.through_host("mat", cores))
    assert all(low - 1e-9 <= rate <= high + 1e-9 for rate in rates)


@pytest.mark.parametrize("cores", range(1, 9))
def test_no_split_exceeds_what_engines_line_and_cores_allow(model: Model, cores: int) -> None:
    for share in SHARES:
        rate = model.split(share, cores)
        assert rate <= model.resource_bound(share, cores) + 1e-9
        assert rate * share <= model.host.gnb_mpps("mat", cores) + 1e-9


def test_more_cores_never_make_it_slower(model: Model) -> None:
    for few, more in zip(range(1, 8), range(2, 9), strict=True):
        for step in ("drop", *(name for name in FEATURES if name != "clone_drop")):
            assert model.through_host(step, few) <= model.through_host(step, more)
        assert all(model.split(share, few) <= model.split(share, more) for share in SHARES)
        assert model.baas_behind_card(few) <= model.baas_behind_card(more)
        assert model.baas_behind_gnb(8, few) <= model.baas_behind_gnb(8, more)


def test_one_core_more_helps_less_once_the_card_is_the_bound(model: Model) -> None:
    gains = [model.through_host("l2fwd", n + 1) - model.through_host("l2fwd", n) for n in range(1, 8)]
    assert gains[0] > 0 and gains[-1] == 0
    assert all(later <= earlier + 1e-9 for earlier, later in zip(gains, gains[1:], strict=False))


def test_threads_hide_memory_until_they_are_too_few() -> None:
    work, costs = Work(passes=1, lookups=20), Costs(1000, 50, 20)
    rates = [Card(Machine(threads=threads), costs).mpps(work) for threads in range(1, 33)]
    assert rates == sorted(rates)
    assert Card(Machine(threads=1), costs).bound_by(work) == "threads"
    assert Card(Machine(threads=1), costs).mpps(work) == pytest.approx(60 * 800 / (1400 + work.waiting_cycles))
    assert Card(Machine(threads=32), costs).bound_by(work) == "engines"
    assert rates[-1] == pytest.approx(60 * 800 / 1400)


def test_a_cited_latency_three_times_as_long_changes_no_rate_of_eight_threads(model: Model) -> None:
    for work in FEATURES.values():
        cycles = model.card.costs.cycles(work)
        assert (cycles + 3 * work.waiting_cycles) / Machine().threads < cycles


def test_a_line_through_table_1_is_the_least_squares_one() -> None:
    line = fit_line({0: 1.0, 1: 2.0, 2: 6.0})
    assert (line.percent, line.percent_per_entry) == pytest.approx((0.5, 2.5))


def test_the_tables_that_fit_into_the_cache_fit_and_one_more_does_not(model: Model) -> None:
    memory = model.memory
    assert memory.cache.at(memory.cache_tables() * TABLE_ENTRIES) <= 100
    assert memory.cache.at((memory.cache_tables() + 1) * TABLE_ENTRIES) > 100
    assert memory.memory.at(memory.entries()) <= 100


def test_the_anchor_is_met_and_belongs_to_no_prediction(model: Model) -> None:
    (anchor,) = [row for row in rows(model, POINTS) if row.kind == "anchor"]
    assert anchor.predicted == pytest.approx(anchor.point.value)
    assert anchor.point.figure not in ("p4-fig7", "p4-tab1", "pwr-fig2")


def test_the_scale_of_the_anchor_leaves_the_card_and_the_service_alone(model: Model) -> None:
    slower = replace(model, host=Host(model.host.own, 2 * model.host.scale))
    assert slower.nics(5) == model.nics(5) == 5 * model.card.mpps(THROUGH_HOST)
    assert slower.host.baas_mpps(2) == model.host.baas_mpps(2)
    assert slower.host.gnb_mpps("mat", 4) == pytest.approx(model.host.gnb_mpps("mat", 4) / 2)


def test_every_point_of_the_papers_has_a_prediction(model: Model) -> None:
    assert all(predict(model, point) > 0 for point in POINTS)
    assert [row.point for row in rows(model, POINTS) if row.kind != "leave-one-out"] == POINTS


def test_a_valid_bench_replaces_the_documented_costs_and_an_invalid_one_does_not(tmp_path: Path) -> None:
    names = ("drop", "l2fwd", "decap", "headers", "clone", "mat.65536", "l2fwd_on_null")
    run = {"valid": True, "rows": {name: {"median": 100.0 + index} for index, name in enumerate(names)}}
    bench = tmp_path / "bench.json"
    bench.write_text(json.dumps(run))
    found = own_costs(bench)
    assert found.gnb["mat"] == 105 + (106 - 101) and found.gnb["drop"] == 100
    assert "bench.json" in found.source
    bench.write_text(json.dumps(run | {"valid": False}))
    assert own_costs(bench) == own_costs(tmp_path / "none.json")


@pytest.mark.parametrize("text", ["", "{", '{"valid": true, "rows": {}}'])
def test_a_bench_that_was_cut_off_is_not_used(tmp_path: Path, text: str) -> None:
    bench = tmp_path / "bench.json"
    bench.write_text(text)
    assert own_costs(bench) == own_costs(tmp_path / "none.json")


def test_a_faster_core_of_ours_is_the_same_host_because_the_anchor_sets_it() -> None:
    slow = OwnCosts({"clone": 80.0, "mat": 60.0}, 450.0, "a test")
    fast = OwnCosts({"clone": 40.0, "mat": 30.0}, 450.0, "a test")
    one, other = (Host.anchored(own, "clone", 8, 12.75) for own in (slow, fast))
    assert one.gnb_mpps("mat", 3) == pytest.approx(other.gnb_mpps("mat", 3))
    assert one.scale == pytest.approx(other.scale / 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"use": "guess"}, "allowed: use fit, anchor, hold-out"),
        ({"stated": "memory"}, "stated text, table, plot"),
    ],
)
def test_a_point_that_does_not_say_what_it_is_is_refused(change: dict, message: str) -> None:
    point = {"x": "mat", "value": 1, "unit": "Mpps", "stated": "text", "use": "hold-out"}
    assert papers.read({"p4-fig8": [point]})[0].value == 1
    with pytest.raises(ValueError, match=message):
        papers.read({"p4-fig8": [point | change]})
    with pytest.raises(ValueError, match="has no unit"):
        papers.read({"p4-fig8": [{name: value for name, value in point.items() if name != "unit"}]})


def test_the_command_prints_every_point_and_marks_it_as_modelled() -> None:
    command = [sys.executable, "-m", "lab.model"]
    found = json.loads(
        subprocess.run([*command, "--json"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    )
    assert found["modelled"] is True and len(found["parameters_cycles"]) <= 3
    assert {(row["figure"], row["x"]) for row in found["rows"]} == {(p.figure, p.label) for p in POINTS}
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "Modelled, beside the papers' points" in shown and "hold-out" in shown and "leave-one-out" in shown

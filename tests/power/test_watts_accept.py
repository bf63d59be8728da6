"""`make accept PART=watts`: which cells of the grid are late or dear, a replay without its beginning, and the second
reading of power profiles."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
for folder in ("accept", "power", "demo"):
    sys.path.insert(0, str(ROOT / "tests" / folder))
sys.path.append(str(ROOT))  # for the lab

import _watts_figures as pwr  # noqa: E402
import _watts_grid as grid  # noqa: E402
import _watts_measured as measured  # noqa: E402
import _watts_power as int_power  # noqa: E402
import steady  # noqa: E402
from core_watts import Core, Profile  # noqa: E402
from report import Report  # noqa: E402

PLACE = grid.Place(rate=1000, burst=1, tpause=False, p_states=1)


def cell(budget: tuple[float, float, int], bound: int = 80, **others: tuple[float, float, int]) -> grid.Cell:
    """Watts, p99 and lost packets of each policy."""
    ran = {name: grid.Ran(name, *numbers) for name, numbers in {"busy": (4.0, 0.2, 0), **others}.items()}
    return grid.Cell(PLACE, bound, grid.Ran("budget", *budget), tuple(ran.values()))


def test_a_cell_is_late_only_where_busy_keeps_the_bound() -> None:
    assert cell((1, 80.1, 0)).late
    assert not cell((1, 80.0, 0)).late
    assert not cell((1, 90, 0), busy=(4.0, 85, 0)).late
    assert not cell((1, 90, 0), busy=(4.0, 0.2, 1)).late


def test_a_cell_is_dear_by_the_cheapest_other_policy_that_keeps_the_bound_and_loses_nothing() -> None:
    assert not cell((1.05, 50, 0), paper=(1.0, 20, 0)).dear
    found = cell((1.06, 50, 0), paper=(1.0, 20, 0), l3fwd=(0.5, 81, 0), yield_=(0.4, 20, 1))
    assert found.dear and found.best == grid.Ran("paper", 1.0, 20, 0)
    assert found.ratio == pytest.approx(1.06)


def test_no_cell_is_dear_where_no_other_policy_keeps_the_bound() -> None:
    found = cell((9, 50, 0), busy=(4.0, 85, 0), paper=(1.0, 100, 0))
    assert found.best is None and not found.dear


def test_the_worst_cells_come_first_and_those_left_out_are_counted() -> None:
    cells = [cell((1, 80 + n, 0)) for n in range(1, 24)]
    behind = grid.late([*cells, cell((1, 50, 0))])
    assert len(behind) == 23 and behind[0].budget.p99 == 103
    words = grid.named(behind, "late")
    assert words.count("p99") == grid.NAMED and words.endswith("3 more in grid.csv")


def test_the_grid_passes_only_without_such_cells() -> None:
    good, bad = Report(), Report()
    grid.judge(good, [cell((1, 50, 0), paper=(1.2, 20, 0))])
    grid.judge(bad, [cell((2, 90, 3), paper=(1, 20, 0))])
    assert [item.verdict for item in good.items] == ["pass"] * 4
    assert [item.verdict for item in bad.items] == ["short", "short", "short", "pass"]


def test_a_place_runs_each_policy_and_budget_once_for_each_bound(tmp_path: Path) -> None:
    jobs = grid.jobs_of(PLACE)
    names = [name for job in jobs for name in ([job.name] if job.name else job.policies)]
    assert len(names) == len(set(names)) == len(grid.PLAIN) + 1 + len(grid.METRONOME_US) + len(grid.BOUNDS_US)
    found = {name: run(watts=1.0) for name in names}
    cells = grid.cells_of(PLACE, found)
    assert [each.bound_us for each in cells] == list(grid.BOUNDS_US)
    assert {each.name for each in cells[0].others} == {name for name in names if not name.startswith("budget@")}
    grid.write(tmp_path, {PLACE: found}, cells)
    assert len((tmp_path / "grid.csv").read_text().splitlines()) == 1 + len(cells)
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 1 + len(names)


STATES = ("busy", "polling", "pause", "tpause", "entering", "sleep_c1", "sleep_c6", "waking", "halted")


def run(watts: float, p_states: tuple[float, ...] = (1.0,), **residency: float) -> steady.Steady:
    shares = dict.fromkeys(STATES, 0.0) | (residency or {"busy": 1.0})
    return steady.Steady("budget", 10, watts, 1.0, shares, list(p_states), 0, 1.0, 2.0, 100, 0)


def test_the_beginning_of_a_replay_comes_off_its_times_and_not_off_its_packets() -> None:
    def said(seconds: float, watts: float, busy: float) -> dict:
        shares = dict.fromkeys(STATES, 0.0) | {"busy": busy, "sleep_c1": 1 - busy}
        return {
            "policy": "budget", "simulated_s": seconds, "modelled": {"watts": watts}, "active": busy,
            "residency": shares, "p_states": [busy, 1 - busy], "sleeps": 10 * seconds,
            "added_us": {"p99": 7, "max": 9}, "arrived": 50, "lost": 1,
        }  # fmt: skip

    found = steady.rest(said(2, 4.0, 1.0), said(10, 1.6, 0.4))
    assert found.seconds == 8
    assert found.watts == pytest.approx(1.0)
    assert found.residency["busy"] == pytest.approx(0.25) and found.residency["sleep_c1"] == pytest.approx(0.75)
    assert found.p_states == pytest.approx([0.25, 0.75]) and found.sleeps == 10
    assert (found.p99, found.arrived, found.lost) == (7, 50, 1)


@pytest.fixture
def profile() -> Profile:
    return Profile.load(ROOT / "config" / "power" / "xeon-assumed.yaml")


def test_a_core_counts_as_in_the_profiles_own_reader(profile: Profile) -> None:
    """src/power/model/profile.h: leakage by the voltage, the rest by the clock and the square of the voltage."""
    assert profile.active_watts(2200) == pytest.approx(4.0)
    volts = 0.66 / 0.9
    assert profile.active_watts(800) == pytest.approx(0.4 * volts + 3.6 * 800 / 2200 * volts**2)
    asleep = Core.of(0, run(1.0, sleep_c6=1.0), 3800, 1.0)
    assert profile.watts([asleep] * 3) == pytest.approx(185 + 3 * 0.1)
    awake = Core.of(1, run(1.0, busy=0.5, sleep_c6=0.5), 2200, 1.0)
    assert profile.watts([asleep, awake]) == pytest.approx(185 + 0.1 + 0.5 * 18 + 0.5 * 4 + 0.5 * 0.1)


def test_the_states_of_a_core_have_its_mix_of_p_states(profile: Profile) -> None:
    core = Core.of(0, run(1.0, p_states=(0.25, 0.75), busy=0.4, pause=0.4, sleep_c1=0.2), 3800, 0.5)
    for entry, expected in zip(core.running, ((3800, 0.1, 0.1), (1900, 0.3, 0.3)), strict=True):
        assert entry == pytest.approx(expected)
    assert (core.tpause, core.c1, core.c6) == (0, 0.2, 0)


def test_the_band_halves_and_doubles_each_assumption_and_all_at_once(profile: Profile) -> None:
    variants = dict(profile.variants())
    assert len(variants) == 2 * (len(profile.assumed) + 1)
    assert variants["c1_watts x2"].values["c1_watts"] == pytest.approx(2 * profile.values["c1_watts"])
    assert variants["pause_share x2"].values["pause_share"] == 1
    assert variants["volts x0.5"].volts_at(3800) == pytest.approx((0.9 + 1.15) / 2)
    assert variants["volts x2"].volts_at(2200) == pytest.approx(0.9)
    assert variants["all x0.5"].values["base_watts"] == pytest.approx(185 / 2)


def test_a_clock_outside_of_the_profile_is_refused(profile: Profile) -> None:
    with pytest.raises(ValueError, match="799 MHz"):
        profile.active_watts(799)


def test_the_table_of_threads_is_read_from_the_citation_and_the_fit_is_as_far_off_as_the_profile_says() -> None:
    table = Profile.load(ROOT / "config" / "power" / "ssp2022.yaml")
    points = int_power.table(table.text["citation"])
    assert points[0] == 86 and points[12] == 124 and len(points) == 8
    report = Report()
    int_power.residuals(report, table)
    assert [item.verdict for item in report.items] == ["pass"] * 9
    assert int_power.table("watts of some threads") == {}


def test_cores_grow_with_the_share_until_a_package_has_no_more() -> None:
    figures = pwr.Figures()
    report = Report()
    pwr.fig2(report, figures)
    assert {item.verdict for item in report.items} == {"pass"}
    assert figures.as_needed[0].cores == (0, 0) and figures.as_needed[-1].cores[0] == 24
    assert figures.always[1].cores == figures.always[-1].cores
    for load in (*figures.as_needed, *figures.always):
        assert load.mpps * load.share == pytest.approx(
            sum(cores * mpps for cores, mpps in zip(load.cores, load.core_mpps, strict=True))
        )


def test_a_clock_follows_the_load_if_it_grows_and_hardly_falls() -> None:
    assert pwr.follows([800, 1000, 990, 2000])
    assert not pwr.follows([800, 800, 810])
    assert not pwr.follows([800, 2000, 1500, 2400])


def test_the_power_of_a_package_holds_the_clock_of_many_cores_that_poll(profile: Profile) -> None:
    assert pwr.held_clock_mhz(profile, 1) == 3800
    clock = pwr.held_clock_mhz(profile, 24)
    assert 24 * profile.active_watts(clock) <= 155 < 24 * profile.active_watts(clock + pwr.CLOCK_STEP_MHZ)


def test_replay_takes_the_costs_that_were_measured_and_no_c6_where_none_is_known() -> None:
    assert measured.machine({"poll": 40}) == ["--cost", "poll=40", "--no-c6"]
    assert "--no-c6" not in measured.machine({"c6_after": 600_000, "c6_exit": 90_000})
    assert measured.difference(20, 16) == pytest.approx(25)

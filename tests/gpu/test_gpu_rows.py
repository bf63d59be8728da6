"""What rows of repeated runs may say: which count, what pairs agree on, and that every row of a page says so."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import gpu_figures  # noqa: E402
import gpu_page  # noqa: E402
from gpu_rows import CANNOT_TELL, DOES_NOT, HOLDS, compare, groups, matrix_of_log  # noqa: E402


def row(repeat: int, mpps: float, **other: object) -> dict:
    scenario = {
        "mode": "bypass", "function": "echo", "rings": 1, "size": 300, "offered_mpps": 0.0, "window": 128,
        "bin_seconds": 0.0, "doorbell_every": 32, "restore_order": False,
    }  # fmt: skip
    result = {
        "repeat": repeat, "mpps": mpps, "gbps": mpps * 2.4, "sent_of_due": None, "sound": True, "valid": True,
        "had_cores": True, "loss": 0.0, "reordered": 0.0, "reordered_in_flow": 0, "doorbells_per_packet": 0.1,
        "host_cpu_seconds": 1.0, "measured_seconds": 1.0, "findings": [], "quantiles_us": [[50.0, 4.0], [99.0, 9.0]],
        "latency_us": {"mean": 5.0, "deviation": 1.0, "p50": 4.0, "p99": 9.0, "p99.9": 10.0, "max": 20.0},
    }  # fmt: skip
    return scenario | result | other


def pair(these: list[float], those: list[float], **other: object):
    found = groups(
        [row(i, value, rings=2, **other) for i, value in enumerate(these)]
        + [row(i, value) for i, value in enumerate(those)]
    )
    return compare(found[0], found[1], gpu_page.mpps)


@pytest.mark.parametrize(
    ("these", "verdict"),
    [
        ([2, 2, 2, 2, 2], HOLDS),
        ([0.5, 0.5, 0.5, 0.5, 0.5], DOES_NOT),
        ([2, 2, 2, 2, 0.5], CANNOT_TELL),
        ([2, 2, 2, 2], CANNOT_TELL),
        ([2, 2, 2, 2, 1], CANNOT_TELL),  # one pair is alike: four are left
        ([2] * 9 + [0.5], HOLDS),  # 9 of 10: 1.1 % by chance
        ([2] * 8 + [0.5] * 2, CANNOT_TELL),  # 8 of 10: 5.5 %
    ],
)
def test_a_direction_holds_only_where_chance_would_hardly_do_it(these: list[float], verdict: str) -> None:
    assert pair(these, [1.0] * len(these)).verdict == verdict


def test_a_row_whose_generator_fell_behind_is_in_no_pair_and_in_no_median() -> None:
    rows = [row(i, 2.0) for i in range(4)] + [row(4, 9.0, valid=False, sent_of_due=0.9)]
    (group,) = groups(rows)
    assert group.median(gpu_page.mpps) == 2.0
    assert group.mark == "4 of 5: rate not kept"
    assert group.kept == 0.9
    ones = groups([row(i, 1.0, rings=1) for i in range(5)])[0]
    assert compare(group, ones, gpu_page.mpps).pairs == 4


@pytest.mark.parametrize(
    ("other", "mark"),
    [
        ({}, "5 of 5"),
        ({"sound": False, "valid": False}, "0 of 5: packets wrong"),
        ({"had_cores": False}, "0 of 5: no core of its own"),
    ],
)
def test_a_mark_says_why_repeats_do_not_count(other: dict, mark: str) -> None:
    assert groups([row(i, 1.0, **other) for i in range(5)])[0].mark == mark


def test_repeats_are_paired_by_number_and_not_by_place() -> None:
    these = groups([row(i, 10.0 + i, rings=2) for i in (4, 2, 0, 1, 3)])[0]
    those = groups([row(i, 9.5 + i) for i in (3, 1, 4, 0, 2)])[0]
    assert compare(these, those, gpu_page.mpps).text() == f"{HOLDS} (5 of 5 pairs)"


def test_an_error_is_no_row_of_a_group() -> None:
    assert groups([{"mode": "gpu-e1", "error": "the CUDA program ended"}]) == []


def whole_run() -> dict:
    load = gpu_page.PAPER_GBPS * 1e3 / 8 / 320
    open_loop = {"offered_mpps": load, "sent_of_due": 1.0}
    series = {"series_us": [[10, 5.0, 9.0]], "bin_seconds": 0.01}
    return {
        "machine": {"cpu": "a CPU", "cores": 2, "kernel": "6", "compiler": "12", "gpu": "no GPU: CPU threads"},
        "plan": {"program": "0.1.0", "matrix": True, "scale": 1.0, "repeats": 5},
        "seconds": 1.0,
        "interrupted": False,
        "matrix": {
            "tab2": [
                row(i, 1.0, rings=rings, loss=0.8 / rings, **open_loop) for i in range(5) for rings in (1, 2, 4, 8)
            ],
            "fig7": [row(i, 1.0, rings=rings, size=1000, **open_loop) for i in range(5) for rings in (1, 2, 4, 8)],
            "fig5": [
                row(i, 1.0, mode=mode, rings=8, **open_loop, **series) for i in range(5) for mode in ("bypass", "plain")
            ],
            "throughput": [
                row(i, 8.0 / rings, rings=rings, size=size)
                for i in range(5)
                for rings in (1, 2, 4)
                for size in (64, 1500)
            ],  # fmt: skip
            "load": [row(i, 1.0, offered_mpps=part, sent_of_due=1.0) for i in range(5) for part in (0.5, 1.0)],
            "functions": [
                row(i, rate, function=name) for i in range(5) for name, rate in (("echo", 2.0), ("macswap", 1.9))
            ],
            "window": [row(i, window / 10, window=window) for i in range(5) for window in (1, 4)],
            "doorbells": [row(i, 1.0, doorbell_every=every) for i in range(5) for every in (1, 8)],
            "order": [row(i, 1.0, restore_order=restore) for i in range(5) for restore in (False, True)],
        },
    }


def on_a_gpu(run: dict) -> dict:
    """The same with a GPU: each run of CPU threads also in the modes that the matrix then has for it."""
    run["machine"]["gpu"] = json.dumps({"gpu": "a GPU"})
    for name, rows in run["matrix"].items():
        modes = ("gpu-e2",) if name == "tab2_drop_en_off" else ("gpu-e1", "gpu-e2")
        rows += [same | {"mode": mode} for same in rows if same["mode"] == "bypass" for mode in modes]
    return run


def test_a_page_of_a_gpu_has_rows_in_each_table_also_where_the_nic_model_must_be() -> None:
    run = whole_run()
    run["matrix"]["tab2_drop_en_off"] = [again | {"drop_en": False} for again in run["matrix"]["tab2"]]
    text = gpu_page.page(on_a_gpu(run), "name")
    for heading in ("## gpu-tab2: ", "## gpu-tab2 without DROP_EN"):
        table = text.split(heading)[1].split("## ")[0]
        assert [line.split(" | ")[0] for line in table.splitlines() if " | 300 | " in line] == [
            "| 1",
            "| 2",
            "| 4",
            "| 8",
        ]
    assert "Mode: GPU, rings in host memory (E2)" in text


def test_rows_of_a_bench_that_was_ended_make_a_page_as_far_as_they_go() -> None:
    run = whole_run()
    head = {key: run[key] for key in ("machine", "plan")}
    lines = [json.dumps(one | {"section": name}) for name in ("tab2", "fig7") for one in run["matrix"][name]]
    log = "\n".join([json.dumps(head), *lines, lines[-1][:40]])
    found = matrix_of_log(log)
    assert {name: len(rows) for name, rows in found["matrix"].items()} == {"tab2": 20, "fig7": 20}
    text = gpu_page.page(found, "name")
    assert "| 2 | 300 |" in text
    assert "Not run." in text  # throughput


def test_a_page_judges_each_row_and_says_that_rings_scale_the_other_way_here() -> None:
    text = gpu_page.page(whole_run(), "name")
    assert "More rings are slower here, and faster on a GPU" in text
    tab2 = next(line for line in text.splitlines() if line.startswith("| 2 | 300 |"))
    assert f"{HOLDS} (5 of 5 pairs)" in tab2  # less loss than with one ring
    assert "| 1887 |" in tab2  # 1000 us of 3.902 Mpps, less 51.64 %
    throughput = [line for line in text.splitlines() if line.startswith("| host bypass | 4 | 5 of 5 |")]
    assert throughput and throughput[0].count(f"{DOES_NOT} (0 of 5 pairs)") == 2
    for line in text.splitlines():
        if line.startswith("| host bypass |"):
            assert " 5 of 5 " in line, line


def test_a_page_can_be_made_again_from_the_rows_that_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(gpu_figures.packed(whole_run()))
    again = gpu_figures.load(file)
    assert gpu_page.page(again, "name") == gpu_page.page(whole_run(), "name")
    assert gpu_figures.packed(again) == file.read_text()
    assert "series_us" in again["matrix"]["fig5"][0]
    assert all(line.count('"repeat"') <= 1 for line in file.read_text().splitlines())

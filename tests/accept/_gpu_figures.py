"""`splitplane gpu bench --matrix` in one command, and gpu-fig5, gpu-fig7 and gpu-tab2 made of it, labelled."""

from __future__ import annotations

import importlib.util
import json

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

OUT = ROOT / "out"
LIMIT_MINUTES, LIMIT_MINUTES_WITH_GPU = 12, 30
SCALE = 0.5  # of the time of each run: a figure for the page takes `make gpu-results`


def on_time(row: dict) -> bool:
    """A packet that was due a moment ago is not late."""
    return row["sent"] + 1 >= 0.995 * row["due"]


def items(report: Report) -> None:
    say("the matrix, 5 interleaved repeats of each run, about 8 minutes on CPU threads")
    file = OUT / "gpu-matrix.json"
    file.unlink(missing_ok=True)
    OUT.mkdir(exist_ok=True)
    program = ROOT / "build" / "release" / "splitplane"
    if missing := [what for what in (program, ROOT / "bench" / "gpu_figures.py") if not what.exists()]:
        report.skip("matrix", "one command", f"{missing[0].relative_to(ROOT)} is not here")
        return
    code, output, seconds = run([program, "gpu", "bench", "--matrix", "--scale", str(SCALE), "--json", file], 2400)
    found = json.loads(file.read_text()) if file.exists() else None
    if found is None or found["interrupted"]:
        report.judge("matrix", f"exit {code}", "one command", False, last_line(output))
        return
    rows = [row for section in found["matrix"].values() for row in section]
    made = [row for row in rows if "error" not in row]
    sound = sum(row.get("sound", False) for row in rows)
    honest = all(row["valid"] == (row["sound"] and (row["sent_of_due"] is None or on_time(row))) for row in made)
    kept = sum(row.get("valid", False) for row in rows)
    report.judge(
        "matrix_rows_that_count", f"{kept} of {len(rows)}, the others are marked",
        "each row of an offered rate has sent/due, below 0.995 it does not count",
        honest,
        "" if honest else "a row counts whose generator fell behind, or does not though it kept its rate",
    )  # fmt: skip
    limit = LIMIT_MINUTES if found["machine"]["gpu"].startswith("no GPU") else LIMIT_MINUTES_WITH_GPU
    report.at_most("matrix_minutes", seconds / 60, limit, "_min")
    report.judge(
        "matrix_runs_sound", f"{sound} of {len(rows)}", "nothing corrupt, twice, missing or out of its flow's order",
        sound == len(rows), "" if sound == len(rows) else "see out/gpu-matrix.json",
    )  # fmt: skip
    where = (
        "CPU threads, no GPU"
        if found["machine"]["gpu"].startswith("no GPU")
        else json.loads(found["machine"]["gpu"])["gpu"]
    )
    if where == "CPU threads, no GPU":
        report.skip("matrix_on_a_gpu", "where a GPU is at hand", found["machine"]["gpu"])
    if importlib.util.find_spec("matplotlib") is None:
        for figure in ("gpu_fig5", "gpu_fig7", "gpu_tab2", "matrix_verdicts"):
            report.skip(figure, "JSON, table, plot, labelled", "no matplotlib here; out/gpu-matrix.json has the rows")
        return
    code, output, _ = run([PYTHON, "bench/gpu_figures.py", file, OUT / "gpu-matrix"], 300)
    page = (OUT / "gpu-matrix.md").read_text() if code == 0 else ""
    verdicts = {word: page.count(word) for word in ("direction holds", "does not (", "cannot tell (")}
    report.judge(
        "matrix_verdicts", ", ".join(f"{word.rstrip(' (')}: {n}" for word, n in verdicts.items()),
        "each comparison of 5 interleaved repeats has one", sum(verdicts.values()) > 20,
        "the page has hardly any verdict" if sum(verdicts.values()) <= 20 else "",
    )  # fmt: skip
    for figure in ("gpu-fig5", "gpu-fig7", "gpu-tab2"):
        plot = OUT / f"gpu-matrix-{figure.removeprefix('gpu-')}.png"
        there = figure in page and (figure == "gpu-tab2" or (plot.exists() and plot.stat().st_size > 10_000))
        good = there and page.startswith(f"# Host bypass: {where}")
        report.judge(
            figure.replace("-", "_"), f"out/gpu-matrix.md, on: {where}", "JSON, table, plot, labelled", good,
            "" if good else last_line(output),
        )  # fmt: skip

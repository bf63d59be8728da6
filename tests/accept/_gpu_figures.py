"""`splitplane gpu bench --matrix` in one command, and gpu-fig5, gpu-fig7 and gpu-tab2 made of it, labelled."""

from __future__ import annotations

import importlib.util
import json
import sys
from statistics import median

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

OUT = ROOT / "out"
LIMIT_MINUTES, LIMIT_MINUTES_WITH_GPU = 12, 30
SCALE = 0.5  # of the time of each run: a figure for the page takes `make gpu-results`
VERDICTS = ("direction holds", "does not (", "cannot tell (")
INSIDE = (1900, 2200)  # packets that the issue reads out of the paper's Table II
SMALL_RINGS = ("--ring-size", "64", "--slots", "128")
RATES = (3.902, 2.6, 2.2)  # Mpps: 9.99 Gbit/s of 300 octets, and less where the generator does not keep that


def on_time(row: dict) -> bool:
    """Judged from the counts again: the program is not believed. A packet that was due a moment ago is not late."""
    return row["sent"] + 1 >= 0.995 * row["due"]


def below_what_goes(matrix: dict) -> list[dict]:
    """Rows of the section "load" that were offered at most nine tenths of what the closed loop had found to go."""
    found: dict[tuple, list[float]] = {}
    for row in matrix["throughput"]:
        if "error" not in row:
            found.setdefault((row["mode"], row["rings"], row["size"]), []).append(row["mpps"])
    most = {key: median(rates) for key, rates in found.items()}
    return [
        row
        for row in matrix["load"]
        if "error" not in row and row["offered_mpps"] <= 0.91 * most.get((row["mode"], row["rings"], row["size"]), 0.0)
    ]


def rows_that_count(report: Report, matrix: dict) -> None:
    rows = [row for section in matrix.values() for row in section]
    made = [row for row in rows if "error" not in row]
    honest = all(row["valid"] == (row["sound"] and (row["sent_of_due"] is None or on_time(row))) for row in made)
    kept = sum(row["valid"] for row in made)
    easy = below_what_goes(matrix)
    easy_kept = sum(row["valid"] for row in easy)
    reason = ""
    if not honest:
        reason = "a row counts whose generator fell behind, or does not though it kept its rate"
    elif 2 * easy_kept <= len(easy) or not easy:
        reason = "the generator falls behind where the driver does not: most rows say nothing"
    report.judge(
        "matrix_rows_that_count",
        f"{kept} of {len(rows)}, the others are marked; offered up to 90 % of what goes: {easy_kept} of {len(easy)}",
        "sent/due in each row of an offered rate, below 0.995 it does not count; most of those below what goes do",
        not reason, reason,
    )  # fmt: skip


def window_verdicts(matrix: dict) -> dict[str, str]:
    """By mode: are 64 packets under way faster than 1? Nothing in these runs is plainer than that."""
    sys.path.insert(0, str(ROOT / "bench"))
    from gpu_rows import compare, groups

    found = groups(matrix["window"])
    by_mode: dict[str, dict[int, object]] = {}
    for group in found:
        by_mode.setdefault(group.first["mode"], {})[group.first["window"]] = group
    return {
        mode: compare(windows[64], windows[1], lambda row: row["mpps"], 0.02).verdict
        for mode, windows in by_mode.items()
        if 1 in windows and 64 in windows
    }


def verdicts(report: Report, page: str, matrix: dict) -> None:
    count = {word: page.count(word) for word in VERDICTS}
    window = window_verdicts(matrix)
    reason = ""
    if sum(count.values()) <= 20:
        reason = "the page has hardly any verdict"
    elif "direction holds" not in window.values() or "does not" in window.values():
        reason = "not even 64 packets under way against 1 are told apart"
    report.judge(
        "matrix_verdicts",
        ", ".join(f"{word.rstrip(' (')}: {n}" for word, n in count.items())
        + f"; 64 under way faster than 1: {', '.join(f'{mode} {verdict}' for mode, verdict in window.items()) or '-'}",
        "each comparison of 5 interleaved repeats has one, the plainest is decided", not reason, reason,
    )  # fmt: skip


def overloaded(rate: float, *rings: str) -> list[dict]:
    """Rows of 300 octets without DROP_EN, of a function that is too slow for the rate on any CPU."""
    file = OUT / "accept-gpu-buffer.json"
    file.unlink(missing_ok=True)
    load = ("--function", "pdcp-nea2", "--size", "300", "--rate", str(rate), "--drop-en", "off", "--rings", "1,2,4")
    program = ROOT / "build" / "release" / "splitplane"
    runs = ("--duration", "0.5", "--repeats", "5", "--json", file)
    run([program, "gpu", "bench", "--cpu", *load, *rings, *runs], 120)
    return json.loads(file.read_text())["rows"] if file.exists() else []


def inside_under_overload(*rings: str) -> dict[int, float]:
    """Of the highest rate that the generator kept with each number of rings; what waits does not depend on it."""
    inside: dict[int, float] = {}
    for rate in RATES:
        for number, packets in packets_inside(overloaded(rate, *rings)).items():
            inside.setdefault(number, packets)
        if len(inside) == 3:
            break
    return inside


def packets_inside(rows: list[dict]) -> dict[int, float]:
    """By rings: Little's law, the median of the repeats that count and lost more than a hundredth."""
    import gpu_page
    from gpu_rows import groups

    return {
        group.first["rings"]: group.median(gpu_page.packets_inside)
        for group in groups(row for row in rows if "error" not in row and row["loss"] > 0.01)
        if group.valid
    }


def buffer_in_front_of_the_rings(report: Report) -> None:
    """Judged with the rings of Table II's runs; printed with small ones too, which hold little beside the buffer."""
    name, target = "drop_en_off_buffer", f"{INSIDE[0]} to {INSIDE[1]} packets inside whatever the rings"
    if missing := [file for file in ("build/release/splitplane", "bench/gpu_page.py") if not (ROOT / file).exists()]:
        report.skip(name, target, f"{missing[0]} is not here")
        return
    say("the NIC's packet buffer in front of the rings, under overload")
    sys.path.insert(0, str(ROOT / "bench"))
    from gpu_page import PAPER_TAB2, paper_packets_inside

    OUT.mkdir(exist_ok=True)
    paper = {ring[0]: paper_packets_inside(ring[1], row) for ring, row in PAPER_TAB2.items() if row[2] > 1}
    judge_buffer(report, name, target, paper, inside_under_overload(), inside_under_overload(*SMALL_RINGS))


def judge_buffer(report: Report, name: str, target: str, paper: dict, inside: dict, small: dict) -> None:
    def words(found: dict[int, float]) -> str:
        return ", ".join(f"{rings}r {n:.0f}" for rings, n in sorted(found.items())) or "none"

    measured = f"{words(inside)}; with 64 descriptors a ring: {words(small)}; the paper's rows imply {words(paper)}"
    if set(inside) != set(paper):
        report.skip(name, target, f"no overload that counts with each number of rings, on this machine: {measured}")
        return
    outside = [f"{rings}" for rings, n in inside.items() if not INSIDE[0] <= n <= INSIDE[1]]
    reason = f"not with {', '.join(outside)} rings: their descriptors hold packets besides the buffer's"
    report.judge(name, measured, target, not outside, reason if outside else "")


def items(report: Report) -> None:
    buffer_in_front_of_the_rings(report)
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
    sound = sum(row.get("sound", False) for row in rows)
    rows_that_count(report, found["matrix"])
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
    verdicts(report, page, found["matrix"])
    for figure in ("gpu-fig5", "gpu-fig7", "gpu-tab2"):
        plot = OUT / f"gpu-matrix-{figure.removeprefix('gpu-')}.png"
        there = figure in page and (figure == "gpu-tab2" or (plot.exists() and plot.stat().st_size > 10_000))
        good = there and page.startswith(f"# Host bypass: {where}")
        report.judge(
            figure.replace("-", "_"), f"out/gpu-matrix.md, on: {where}", "JSON, table, plot, labelled", good,
            "" if good else last_line(output),
        )  # fmt: skip
